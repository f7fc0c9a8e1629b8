"""Texts about where a ledger is kept."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "damage-schema-number": Text("the number of its schema was changed"),
    "damage-text": Text("a text cannot be read"),
    "file-exists": Text("{path} is there already.", "Name a file that is not there yet."),
    "file-not-made": Text("{path} cannot be made.", "Name a directory that is there and can be written."),
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
    "ledger-schema-foreign": Text("{ledger} is not a Jali ledger.", "Name another schema: ?schema=..."),
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
    "postgres-address-malformed": Text(
        "The address of the database cannot be read.", "Write postgresql://jali@db.example.org/clinic."
    ),
    "postgres-schema-malformed": Text(
        "The schema's name must be a word of up to 63 letters.",
        "Write postgresql://jali@db.example.org/clinic?schema=jali.",
    ),
    "process-forked": Text(
        "This process was forked while the ledger was in use.", "Start a fresh process (spawn or exec)."
    ),
    "process-other": Text(
        "This ledger belongs to the process that opened it.",
        "Open it in a process that was started afresh, or before any fork.",
    ),
    "text-not-unicode": Text("A text is not valid Unicode.", "Nothing was spent; mend the text."),
}
