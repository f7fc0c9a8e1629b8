"""Texts about the ledger: its entries, its stores, its anchors, and the format of what is stored and sent."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

_VERSION_REMEDY = "Use the version of Jali that wrote it."

TEXTS: Mapping[str, Text] = {
    "account-unknown": Text(
        "There is no account {account}.", "The curator must protect the table or grant a budget first."
    ),
    "anchor-away": Text(
        "The anchor {anchor} cannot be reached.",
        "What was paid stays paid, and is answered when the anchor can be reached again.",
    ),
    "anchor-away-file": Text(
        "The anchor {anchor} cannot be read or written: {problem}.",
        "Check the directory, its rights and its room. What was paid is answered then.",
    ),
    "anchor-damaged": Text(
        "The anchor {anchor} is damaged.",
        "Put an undamaged copy back. If there is none and this is the latest state of the ledger: `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-damaged-there": Text("The anchor {anchor} is damaged.", "See what changed it."),
    "anchor-directory-missing": Text(
        "There is no directory {place} for the anchor.",
        "Name a directory that is there, postgresql://USER@HOST/NAME or https://HOST/PATH.",
    ),
    "anchor-missing": Text(
        "The anchor of the ledger, {anchor}, is missing: this may be a copy, or a ledger that was restored.",
        "Put the anchor back. To look at a copy: `jali verify`. If the anchor is lost for good and this is the latest state of the ledger: `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-unknowing": Text("There is no anchor that knows what was spent.", "Put the anchor back."),
    "anchor-url-with-password": Text(
        "The URL of an anchor has no name or password in it.", "Give a token in JALI_ANCHOR_TOKEN."
    ),
    "budget-fixed": Text(
        "The budget of {account} is {budget} for ever; it cannot become {given}.",
        "Give the budget that it was opened with.",
    ),
    "damage-account-missing": Text("the account {account} is missing"),
    "damage-anchor": Text("an anchor cannot be read"),
    "damage-declaration": Text("the declaration of {name} cannot be found"),
    "damage-entry-changed": Text("entry {entry} was changed"),
    "damage-entry-missing": Text("entry {entry} is missing or was changed"),
    "damage-found": Text("{problem}"),
    "damage-identity": Text("its name or one of its keys was changed"),
    "damage-part-missing": Text("a part of {account} is missing"),
    "damage-record": Text("a record cannot be read"),
    "damage-row": Text("a row of {table} was changed"),
    "damage-row-of-entry": Text("a row of {table} is not the one that entry {entry} wrote"),
    "damage-schema-number": Text("the number of its schema was changed"),
    "damage-stream-receipt": Text("the receipt of the stream {stream} is missing"),
    "damage-stream-state": Text("the state of a stream is missing"),
    "damage-stream-ticks": Text("the stream {stream} lacks ticks that were published"),
    "damage-sum-missing": Text("a sum of {account} is missing"),
    "damage-text": Text("a text cannot be read"),
    "damage-text-of-receipt": Text("the text of {receipt} in {table} is not the one in its entry"),
    "damage-tick": Text("what was published at tick {tick} is not what its entry says"),
    "database-missing": Text("There is no database {place}.", "Make one: jali init {written}"),
    "declaration-missing": Text("Nothing is declared under the name {name!r}.", "Declare it first."),
    "file-exists": Text("{path} is there already.", "Name a file that is not there yet."),
    "file-not-made": Text("{path} cannot be made.", "Name a directory that is there and can be written."),
    "head-foreign": Text(
        "{path} is not a head that `jali ledger anchor` wrote.",
        "Name the file that `jali ledger anchor DATABASE --out FILE` wrote.",
    ),
    "head-unreadable": Text(
        "{path} cannot be read.", "Name the file that `jali ledger anchor DATABASE --out FILE` wrote."
    ),
    "ledger-behind": Text(
        "The ledger {ledger} is not the one of before: its anchor knows {anchored:,} entries, and the ledger has {here:,} or others. An older copy was put in its place, or its journal (ending in -wal) is missing.",
        "Put the latest state back, with its journal. If it is lost for good, `jali ledger recover` goes on from this copy with everything charged that the anchor knows of.",
    ),
    "ledger-behind-file": Text(
        "{path} is missing, but its journal {journal}-wal is there.",
        "Put both back; or move the journal away to start a new ledger.",
    ),
    "ledger-behind-missing": Text(
        "{path} is missing, but its anchor {anchor} is there, with {entries:,} entries.",
        "Put the ledger back, with its journal; or move the anchor away to start a new ledger.",
    ),
    "ledger-behind-replaced": Text(
        "The ledger {ledger} was moved or replaced while it was open.",
        "Put it back, close all programs that use it, and start again.",
    ),
    "ledger-busy": Text("The ledger is busy: {ledger} was not free in time.", "Nothing was spent; try again."),
    "ledger-busy-conflict": Text(
        "The ledger {ledger} is busy: others used it at the same time.", "Nothing was spent; try again."
    ),
    "ledger-busy-elsewhere": Text(
        "The ledger {ledger} is busy: another program holds it.", "Nothing was spent; try again."
    ),
    "ledger-busy-stopped": Text(
        "The ledger {ledger} is busy: Postgres stopped waiting.", "Nothing was spent; try again."
    ),
    "ledger-busy-with-others": Text(
        "The ledger {ledger} is busy: others used it for too long.", "Nothing was spent; try again."
    ),
    "ledger-closed": Text("The ledger is closed.", "Open it again."),
    "ledger-damaged": Text(
        "The ledger is damaged: {damage}.",
        "Stop all programs that use it and run `jali verify`. If that finds problems, put an undamaged copy in its place: `jali ledger recover` then charges what the copy does not know of.",
    ),
    "ledger-damaged-copy": Text(
        "This copy is not sound: {problem}", "Put an undamaged copy in its place, and recover that."
    ),
    "ledger-damaged-file": Text("The ledger {ledger} is not a Jali ledger.", "Name another file."),
    "ledger-damaged-foreign": Text("{ledger} is not a Jali ledger.", "Name another file."),
    "ledger-damaged-pages": Text(
        "The ledger {ledger} is damaged, or could not be read.",
        "Run `jali verify`; if it finds problems, `jali ledger recover` goes on from an undamaged copy.",
    ),
    "ledger-damaged-unreadable": Text(
        "The ledger {ledger} is damaged, or is not a ledger.",
        "Run `jali verify`; if it finds problems, `jali ledger recover` goes on from an undamaged copy.",
    ),
    "ledger-damaged-upgrade": Text(
        "The ledger {ledger} is not sound, so it cannot be upgraded: {problem}",
        "It was left as it is. Put an undamaged copy in its place.",
    ),
    "ledger-disk": Text(
        "The ledger {ledger} could not be read or written: the disk failed.",
        "Check the disk; then run `jali verify`.",
    ),
    "ledger-disk-io": Text(
        "The ledger {ledger} could not be read or written: {problem}.", "Check the disk; then run `jali verify`."
    ),
    "ledger-disk-memory": Text(
        "The ledger {ledger} could not be read or written: memory is short.", "Nothing was spent; try again."
    ),
    "ledger-disk-open": Text(
        "The ledger {path} cannot be opened: {problem}.", "Check the directory and its rights."
    ),
    "ledger-exists": Text("{ledger} has a ledger already.", "Name another schema: ?schema=..."),
    "ledger-full": Text(
        "The ledger {ledger} could not be written: the disk is full.", "Make room; then try again."
    ),
    "ledger-locks": Text(
        "The ledger {ledger} could not be locked.", "Nothing was spent; keep it on a local disk."
    ),
    "ledger-locks-file": Text("The lock {path} cannot be taken: {problem}.", "Keep the ledger on a local disk."),
    "ledger-locks-journal": Text("The ledger {ledger} cannot keep a journal.", "Keep it on a local disk."),
    "ledger-locks-link": Text("{path} has a second name (a hard link).", "Remove one of them."),
    "ledger-locks-mount": Text(
        "{path} is mounted as a single file: other places would keep locks and journals of their own.",
        "Mount its directory instead; or keep the ledger in Postgres.",
    ),
    "ledger-locks-network": Text(
        "{path} is on a network file system ({filesystem}), where locks may hold on one machine only.",
        "Keep it on a local disk; or keep the ledger in Postgres.",
    ),
    "ledger-lost-undecided": Text(
        "The ledger's database {ledger} was lost as a step was recorded, and cannot be asked whether it was.",
        "Do it again once Postgres is back: what was recorded is found, and nothing is charged twice.",
    ),
    "ledger-lost-unrecorded": Text(
        "The ledger's database {ledger} was lost before a step was recorded.", "Nothing was spent; try again."
    ),
    "ledger-missing": Text("There is no ledger in {ledger}.", "Make one: jali init {written}"),
    "ledger-moved": Text(
        "This ledger has moved to {place}: nothing is charged or changed here any more.",
        "Open it there. If the move was cut off, finish it: jali ledger move.",
    ),
    "ledger-name-too-long": Text(
        "The ledger {ledger} cannot keep a name as long as this.", "Nothing was spent; take a shorter name."
    ),
    "ledger-names-too-long": Text(
        "The ledger has names in {table} that Postgres cannot look up: of over {most} letters.",
        "Keep it in a file.",
    ),
    "ledger-not-utf8": Text("The database {database} is not in UTF8.", "Create one with ENCODING 'UTF8'."),
    "ledger-on-standby": Text(
        "The ledger {ledger} cannot be written: it is a standby.", "Name the primary, or all hosts in one address."
    ),
    "ledger-out-of-resources": Text(
        "The ledger {ledger} could not be written: Postgres has run out of something.",
        "See the log of Postgres; then try again.",
    ),
    "ledger-postgres-damaged": Text(
        "The ledger {ledger} is damaged.",
        "See the log of Postgres; restore a copy; never repair a ledger by hand.",
    ),
    "ledger-postgres-disk": Text(
        "The ledger {ledger} could not be read or written: the disk failed.",
        "See the log of Postgres; then run `jali verify`.",
    ),
    "ledger-postgres-foreign": Text(
        "The ledger {ledger} is not a Jali ledger, or lacks a table.", "Name another schema: ?schema=..."
    ),
    "ledger-postgres-not-installed": Text(
        "A ledger in Postgres needs packages that are not installed.",
        "Install them from a checkout of Jali: pip install -e '.[postgres]'",
    ),
    "ledger-postgres-unreadable": Text(
        "The ledger {ledger} is damaged, or is not a ledger.", "Run `jali verify`."
    ),
    "ledger-public-tables": Text(
        "The tables of {ledger} can be read by everybody.",
        "Run: REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC",
    ),
    "ledger-replaced": Text(
        "The ledger {ledger} is not the one of before, or has lost entries: it was restored, or made anew.",
        "Compare its head (`jali verify`) with one that was noted elsewhere; then start again.",
    ),
    "ledger-rights": Text(
        "{path} can be read by others.",
        "Run: chmod 600 {path}",
        command_line=Words(remedy="Run: chmod 600 {path:shell}"),
    ),
    "ledger-rights-file": Text("{path} is not a file.", "Name a file on a local disk."),
    "ledger-rights-lock": Text(
        "The lock {path} cannot be opened: {problem}.", "Check the directory and its rights."
    ),
    "ledger-rights-open": Text("The ledger {ledger} cannot be opened.", "Check the directory and its rights."),
    "ledger-rights-read-only": Text(
        "The ledger {ledger} cannot be written.", "Check the rights of the file and of its directory."
    ),
    "ledger-role-rights": Text(
        "The ledger {ledger} may not be used by this role.", "Grant the role what docs/postgres.md lists."
    ),
    "ledger-schema": Text(
        "{ledger} has the ledger schema {found}; this version of Jali reads up to 6.",
        "Use the version of Jali that wrote it.",
    ),
    "ledger-schema-foreign": Text("{ledger} is not a Jali ledger.", "Name another schema: ?schema=..."),
    "ledger-schema-upgraded": Text(
        "The ledger {ledger} was upgraded to schema {schema} by another version of Jali.",
        "Stop this program, and start it again with that version.",
    ),
    "ledger-step-too-long": Text(
        "The ledger {ledger} gave up on a step that took too long.", "Nothing was spent; try again."
    ),
    "ledger-too-many-connections": Text(
        "The ledger {ledger} has too many connections.",
        "Nothing was spent; try again. Or raise max_connections of Postgres.",
    ),
    "ledger-unreachable": Text(
        "The ledger's database {ledger} cannot be reached.",
        "Nothing was spent. See that Postgres runs and lets this role in: with its password in PGPASSWORD or ~/.pgpass.",
    ),
    "ledger-without-fsync": Text(
        "The Postgres of {ledger} runs with fsync = off: what it commits may be lost.",
        "Set fsync = on in postgresql.conf.",
    ),
    "loss-digits": Text("A loss or budget has too many digits.", "Write it with fewer digits."),
    "loss-not-chargeable": Text("A loss below zero, or of endless digits, cannot be charged to {account}."),
    "move-copy-differs": Text("What was copied is not the ledger that has left.", "Try again."),
    "move-empty": Text("The ledger {ledger} is empty: it cannot be moved.", "Make another."),
    "move-target-taken": Text(
        "{place} holds another ledger by now.", "Take that away, and finish the move by the same command."
    ),
    "move-target-unsound": Text("{place} is not sound.", "Run `jali verify`."),
    "move-unsound": Text("The ledger {ledger} is not sound: it cannot be moved.", "Run `jali verify`."),
    "payer-not-analyst": Text("{account} does not pay for what {analyst} sees."),
    "postgres-address-malformed": Text(
        "The address of the database cannot be read.", "Write postgresql://jali@db.example.org/clinic."
    ),
    "postgres-schema-malformed": Text(
        "The schema's name must be a word of up to 63 letters.",
        "Write postgresql://jali@db.example.org/clinic?schema=jali.",
    ),
    "private-key-missing": Text(
        "{path} has no private Ed25519 key without a password.",
        "Make one: openssl genpkey -algorithm ed25519 -out KEY.pem",
    ),
    "process-forked": Text(
        "This process was forked while the ledger was in use.", "Start a fresh process (spawn or exec)."
    ),
    "process-other": Text(
        "This ledger belongs to the process that opened it.",
        "Open it in a process that was started afresh, or before any fork.",
    ),
    "public-key-missing": Text(
        "{path} has no public Ed25519 key.", "Write it: openssl pkey -in KEY.pem -pubout -out PUBLIC.pem"
    ),
    "question-without-debit": Text("A question without a debit cannot be reserved.", "Name who pays for it."),
    "receipt-tried-out": Text(
        "The receipt {receipt} was tried {attempts} times without an answer.",
        "It stays spent; ask the question anew.",
    ),
    "receipt-unknown": Text(
        "There is no receipt {receipt}.",
        "Look at your list of receipts.",
        command_line=Words(remedy="See: jali ledger {asked_database}"),
    ),
    "recover-nothing": Text("The ledger lacks nothing that was anchored.", "Open it as usual."),
    "scheme-not-chargeable": Text("The scheme {scheme!r} cannot be charged to {account} like this."),
    "stored-part-missing": Text("A stored {tag} has no {part}.", _VERSION_REMEDY),
    "stored-part-unknown": Text("A stored {tag} has a part {part}, which is not known here.", _VERSION_REMEDY),
    "stored-parts-differ": Text("A stored {tag} lacks parts, or has others.", _VERSION_REMEDY),
    "stored-plan-not-integers": Text("A stored plan adds noise to integers only."),
    "stored-tag-unknown": Text("A stored value has the tag '{tag}', which is not known here.", _VERSION_REMEDY),
    "stored-value-unreadable": Text("A stored value cannot be read.", _VERSION_REMEDY),
    "stored-version-unknown": Text(
        "A stored {tag} has version {version}; known here are versions up to {newest}.", _VERSION_REMEDY
    ),
    "stream-ended-by-recovery": Text(
        "The stream {stream} ended when the ledger was recovered from an older copy.",
        "Make another stream; what this one published stays.",
    ),
    "stream-over-in-ledger": Text(
        "The horizon of {stream} is over: all of its {most} ticks are published.",
        "Make another stream; what this one published stays.",
    ),
    "stream-unknown-in-ledger": Text("There is no stream {stream}.", "Make it with db.stream."),
    "text-not-unicode": Text("A text is not valid Unicode.", "Nothing was spent; mend the text."),
    "token-unknown": Text("There is no token {token}.", "See which there are: jali token list."),
}
