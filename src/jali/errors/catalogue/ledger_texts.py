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
        "Reserved budget stays reserved; the question is answered when the anchor can be reached again.",
    ),
    "anchor-away-file": Text(
        "The anchor {anchor} cannot be read or written: {problem}.",
        "Check the directory, its permissions and the free disk space. Reserved questions are answered then.",
    ),
    "anchor-damaged": Text(
        "The anchor {anchor} is damaged.",
        "Restore an undamaged copy. If none exists and this is the latest state of the ledger, run `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-damaged-there": Text("The anchor {anchor} is damaged.", "Find out what changed it."),
    "anchor-directory-missing": Text(
        "There is no directory {place} for the anchor.",
        "Name an existing directory, postgresql://USER@HOST/NAME or https://HOST/PATH.",
    ),
    "anchor-missing": Text(
        "The anchor of the ledger, {anchor}, is missing. The ledger may be a copy, or may have been restored.",
        "Restore the anchor. To inspect a copy, run `jali verify`. If the anchor is permanently lost and this is the latest state of the ledger, run `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-unknowing": Text("No anchor records what was spent.", "Restore the anchor."),
    "anchor-url-with-password": Text(
        "The URL of an anchor must not contain a user name or password.", "Put the token into JALI_ANCHOR_TOKEN."
    ),
    "budget-fixed": Text(
        "The budget of {account} is fixed at {budget}; it cannot be changed to {given}.",
        "Use the budget that the account was opened with.",
    ),
    "damage-account-missing": Text("the account {account} is missing"),
    "damage-anchor": Text("an anchor cannot be read"),
    "damage-declaration": Text("the declaration of {name} cannot be found"),
    "damage-entry-changed": Text("entry {entry} was changed"),
    "damage-entry-missing": Text("entry {entry} is missing or was changed"),
    "damage-found": Text("{problem}"),
    "damage-identity": Text("its name or one of its keys has changed"),
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
    "database-missing": Text("There is no database {place}.", "Create one: jali init {written}"),
    "declaration-missing": Text("Nothing is declared under the name {name!r}.", "Declare it first."),
    "file-exists": Text("{path} already exists.", "Name a new file."),
    "file-not-made": Text("{path} cannot be created.", "Name an existing, writable directory."),
    "head-foreign": Text(
        "{path} is not a ledger head written by `jali ledger anchor`.",
        "Name a file written by `jali ledger anchor DATABASE --out FILE`.",
    ),
    "head-unreadable": Text(
        "{path} cannot be read.", "Name a file written by `jali ledger anchor DATABASE --out FILE`."
    ),
    "ledger-behind": Text(
        "The ledger {ledger} does not match its anchor: the anchor records {anchored:,} entries, but the ledger has {here:,} or different ones. It was replaced by an older copy, or its journal (ending in -wal) is missing.",
        "Restore the latest state with its journal. If it is permanently lost, `jali ledger recover` continues from this copy and charges everything that the anchor records.",
    ),
    "ledger-behind-file": Text(
        "{path} is missing, but its journal {journal}-wal is there.",
        "Restore both, or move the journal away to start a new ledger.",
    ),
    "ledger-behind-missing": Text(
        "{path} is missing, but its anchor {anchor} records {entries:,} entries.",
        "Restore the ledger with its journal, or move the anchor away to start a new ledger.",
    ),
    "ledger-behind-replaced": Text(
        "The ledger {ledger} was moved or replaced while it was open.",
        "Restore it, close all programs that use it, and start again.",
    ),
    "ledger-busy": Text("The ledger is busy: waiting for {ledger} timed out.", "Nothing was spent. Try again."),
    "ledger-busy-conflict": Text(
        "The ledger {ledger} is busy: another transaction conflicted.", "Nothing was spent. Try again."
    ),
    "ledger-busy-elsewhere": Text(
        "The ledger {ledger} is busy: another program has locked it.", "Nothing was spent. Try again."
    ),
    "ledger-busy-stopped": Text(
        "The ledger {ledger} is busy: Postgres gave up waiting for a lock.", "Nothing was spent. Try again."
    ),
    "ledger-busy-with-others": Text(
        "The ledger {ledger} is busy: other transactions took too long.", "Nothing was spent. Try again."
    ),
    "ledger-closed": Text("The ledger is closed.", "Open it again."),
    "ledger-damaged": Text(
        "The ledger is damaged: {damage}.",
        "Stop all programs that use it and run `jali verify`. If that finds problems, replace it with an undamaged copy; `jali ledger recover` then charges what the copy does not record.",
    ),
    "ledger-damaged-copy": Text(
        "This copy is damaged: {problem}", "Replace it with an undamaged copy, and recover that."
    ),
    "ledger-damaged-file": Text("The ledger {ledger} is not a Jali ledger.", "Name another file."),
    "ledger-damaged-foreign": Text("{ledger} is not a Jali ledger.", "Name another file."),
    "ledger-damaged-pages": Text(
        "The ledger {ledger} is damaged or could not be read.",
        "Run `jali verify`. If it finds problems, `jali ledger recover` continues from an undamaged copy.",
    ),
    "ledger-damaged-unreadable": Text(
        "The ledger {ledger} is damaged or is not a ledger.",
        "Run `jali verify`. If it finds problems, `jali ledger recover` continues from an undamaged copy.",
    ),
    "ledger-damaged-upgrade": Text(
        "The ledger {ledger} is damaged, so it cannot be upgraded: {problem}",
        "The file was not changed. Replace it with an undamaged copy.",
    ),
    "ledger-disk": Text(
        "The ledger {ledger} could not be read or written: the disk failed.",
        "Check the disk, then run `jali verify`.",
    ),
    "ledger-disk-io": Text(
        "The ledger {ledger} could not be read or written: {problem}.", "Check the disk, then run `jali verify`."
    ),
    "ledger-disk-memory": Text(
        "The ledger {ledger} could not be read or written: out of memory.", "Nothing was spent. Try again."
    ),
    "ledger-disk-open": Text(
        "The ledger {path} cannot be opened: {problem}.", "Check the directory and its permissions."
    ),
    "ledger-exists": Text("{ledger} already has a ledger.", "Name another schema: ?schema=..."),
    "ledger-full": Text(
        "The ledger {ledger} could not be written: the disk is full.", "Free some disk space, then try again."
    ),
    "ledger-locks": Text(
        "The ledger {ledger} could not be locked.", "Nothing was spent. Keep the ledger on a local disk."
    ),
    "ledger-locks-file": Text(
        "The lock {path} cannot be acquired: {problem}.", "Keep the ledger on a local disk."
    ),
    "ledger-locks-journal": Text(
        "The ledger {ledger} cannot use a write-ahead journal.", "Keep the ledger on a local disk."
    ),
    "ledger-locks-link": Text("{path} has a second name (a hard link).", "Remove one of them."),
    "ledger-locks-mount": Text(
        "{path} is mounted as a single file, so other mounts would have separate locks and journals.",
        "Mount its directory instead, or keep the ledger in Postgres.",
    ),
    "ledger-locks-network": Text(
        "{path} is on a network file system ({filesystem}), where locks may only work within one machine.",
        "Keep the ledger on a local disk or in Postgres.",
    ),
    "ledger-lost-undecided": Text(
        "The connection to the ledger's database {ledger} was lost during a commit, so it is unknown whether the commit succeeded.",
        "Repeat the operation once Postgres is back: committed entries are found, and nothing is charged twice.",
    ),
    "ledger-lost-unrecorded": Text(
        "The connection to the ledger's database {ledger} was lost before the commit.",
        "Nothing was spent. Try again.",
    ),
    "ledger-missing": Text("There is no ledger in {ledger}.", "Create one: jali init {written}"),
    "ledger-moved": Text(
        "This ledger has moved to {place} and no longer accepts changes here.",
        "Open it there. If the move was interrupted, finish it with jali ledger move.",
    ),
    "ledger-name-too-long": Text(
        "The name is too long for the ledger {ledger}.", "Nothing was spent. Use a shorter name."
    ),
    "ledger-names-too-long": Text(
        "The ledger has names in {table} that are too long for an index in Postgres: more than {most} characters.",
        "Keep the ledger in a file.",
    ),
    "ledger-not-utf8": Text(
        "The encoding of the database {database} is not UTF8.", "Create one with ENCODING 'UTF8'."
    ),
    "ledger-on-standby": Text(
        "The ledger {ledger} cannot be written: the server is a standby.",
        "Name the primary, or all hosts in one address.",
    ),
    "ledger-out-of-resources": Text(
        "The ledger {ledger} could not be written: Postgres ran out of resources.",
        "See the Postgres log, then try again.",
    ),
    "ledger-postgres-damaged": Text(
        "The ledger {ledger} is damaged.",
        "See the Postgres log and restore a backup. Never repair a ledger by hand.",
    ),
    "ledger-postgres-disk": Text(
        "The ledger {ledger} could not be read or written: the disk failed.",
        "See the Postgres log, then run `jali verify`.",
    ),
    "ledger-postgres-foreign": Text(
        "The ledger {ledger} is not a Jali ledger, or a table is missing.", "Name another schema: ?schema=..."
    ),
    "ledger-postgres-not-installed": Text(
        "A ledger in Postgres needs packages that are not installed.",
        "Install them from a checkout of Jali: pip install -e '.[postgres]'",
    ),
    "ledger-postgres-unreadable": Text("The ledger {ledger} is damaged or is not a ledger.", "Run `jali verify`."),
    "ledger-public-tables": Text(
        "The tables of {ledger} can be read by everybody.",
        "Run: REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC",
    ),
    "ledger-replaced": Text(
        "The ledger {ledger} was replaced, or has lost entries: it was restored or recreated.",
        "Compare its head (`jali verify`) with one that you recorded elsewhere, then start again.",
    ),
    "ledger-rights": Text(
        "{path} is readable by other users.",
        "Run: chmod 600 {path}",
        command_line=Words(remedy="Run: chmod 600 {path:shell}"),
    ),
    "ledger-rights-file": Text("{path} is not a regular file.", "Name a file on a local disk."),
    "ledger-rights-lock": Text(
        "The lock {path} cannot be opened: {problem}.", "Check the directory and its permissions."
    ),
    "ledger-rights-open": Text(
        "The ledger {ledger} cannot be opened.", "Check the directory and its permissions."
    ),
    "ledger-rights-read-only": Text(
        "The ledger {ledger} cannot be written.", "Check the permissions of the file and of its directory."
    ),
    "ledger-role-rights": Text(
        "This role may not use the ledger {ledger}.", "Grant the role the privileges listed in docs/postgres.md."
    ),
    "ledger-schema": Text(
        "{ledger} has ledger schema {found}, but this version of Jali only reads schemas up to 6.",
        "Use the version of Jali that wrote it.",
    ),
    "ledger-schema-foreign": Text("{ledger} is not a Jali ledger.", "Name another schema: ?schema=..."),
    "ledger-schema-upgraded": Text(
        "The ledger {ledger} was upgraded to schema {schema} by another version of Jali.",
        "Restart this program with that version.",
    ),
    "ledger-step-too-long": Text(
        "An operation on the ledger {ledger} timed out.", "Nothing was spent. Try again."
    ),
    "ledger-too-many-connections": Text(
        "The ledger {ledger} has too many connections.",
        "Nothing was spent. Try again, or raise max_connections of Postgres.",
    ),
    "ledger-unreachable": Text(
        "The ledger's database {ledger} cannot be reached.",
        "Nothing was spent. Check that Postgres is running and that this role can log in, with its password in PGPASSWORD or ~/.pgpass.",
    ),
    "ledger-without-fsync": Text(
        "The Postgres server of {ledger} runs with fsync = off, so committed data may be lost.",
        "Set fsync = on in postgresql.conf.",
    ),
    "loss-digits": Text("A loss or budget has too many digits.", "Use fewer digits."),
    "loss-not-chargeable": Text("A negative or irrational loss cannot be charged to {account}."),
    "move-copy-differs": Text("The copy differs from the ledger that was moved.", "Try again."),
    "move-empty": Text(
        "The ledger {ledger} is empty, so it cannot be moved.", "Create a new ledger at the target."
    ),
    "move-target-taken": Text(
        "{place} now holds another ledger.", "Move that ledger away, and finish the move with the same command."
    ),
    "move-target-unsound": Text("The ledger in {place} is damaged.", "Run `jali verify`."),
    "move-unsound": Text("The ledger {ledger} is damaged, so it cannot be moved.", "Run `jali verify`."),
    "payer-not-analyst": Text("{account} cannot be charged for answers to {analyst}."),
    "postgres-address-malformed": Text(
        "The address of the database is malformed.", "Write postgresql://jali@db.example.org/clinic."
    ),
    "postgres-schema-malformed": Text(
        "The schema name must be a word of up to 63 letters.",
        "Write postgresql://jali@db.example.org/clinic?schema=jali.",
    ),
    "private-key-missing": Text(
        "{path} has no unencrypted private Ed25519 key.",
        "Create one: openssl genpkey -algorithm ed25519 -out KEY.pem",
    ),
    "process-forked": Text(
        "The process was forked while the ledger was in use.", "Start a fresh process (spawn or exec)."
    ),
    "process-other": Text(
        "This ledger belongs to the process that opened it.",
        "Open the ledger in this process, started without fork (spawn or exec).",
    ),
    "public-key-missing": Text(
        "{path} has no public Ed25519 key.", "Extract it: openssl pkey -in KEY.pem -pubout -out PUBLIC.pem"
    ),
    "question-without-debit": Text(
        "A question without a charge cannot be reserved.", "Name the account to charge."
    ),
    "receipt-tried-out": Text(
        "The receipt {receipt} was attempted {attempts} times without an answer.",
        "The reserved loss stays spent. Ask the question again.",
    ),
    "receipt-unknown": Text(
        "There is no receipt {receipt}.",
        "Check the list of your receipts.",
        command_line=Words(remedy="See: jali ledger {asked_database}"),
    ),
    "recover-nothing": Text(
        "The ledger has every anchored entry: there is nothing to recover.", "Open it as usual."
    ),
    "scheme-not-chargeable": Text("A loss of scheme {scheme!r} cannot be charged to {account}."),
    "stored-part-missing": Text("A stored {tag} has no field {part}.", _VERSION_REMEDY),
    "stored-part-unknown": Text("A stored {tag} has an unknown field {part}.", _VERSION_REMEDY),
    "stored-parts-differ": Text("A stored {tag} lacks fields, or has unknown ones.", _VERSION_REMEDY),
    "stored-plan-not-integers": Text("A stored plan must add noise to integers only."),
    "stored-tag-unknown": Text("A stored value has the unknown tag '{tag}'.", _VERSION_REMEDY),
    "stored-value-unreadable": Text("A stored value cannot be read.", _VERSION_REMEDY),
    "stored-version-unknown": Text(
        "A stored {tag} has version {version}, but this version of Jali only reads versions up to {newest}.",
        _VERSION_REMEDY,
    ),
    "stream-ended-by-recovery": Text(
        "The stream {stream} ended when the ledger was recovered from an older copy.",
        "Create another stream; the published values of this one stay.",
    ),
    "stream-over-in-ledger": Text(
        "All {most} ticks of {stream} are published.",
        "Create another stream; the published values of this one stay.",
    ),
    "stream-unknown-in-ledger": Text("There is no stream {stream}.", "Create it with db.stream."),
    "text-not-unicode": Text("A string is not valid Unicode.", "Nothing was spent. Correct the string."),
    "token-unknown": Text("There is no token {token}.", "List the tokens with jali token list."),
}
