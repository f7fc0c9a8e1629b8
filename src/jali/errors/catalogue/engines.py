"""Texts about engines."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "copy-in-memory": Text(
        "A copy of {table} would outlive this database, which is in memory.",
        "Keep the database in a file: jali.connect('clinic.jali').",
    ),
    "copy-needs-disk": Text("See that the disk has room, and that nobody writes to the source meanwhile."),
    "copy-needs-postgres": Text(
        "See that the server runs and has room, and that the table is as it was declared."
    ),
    "copy-needs-schema": Text(
        "The owner of the database lets {role} write there: CREATE SCHEMA {schema} AUTHORIZATION {role}."
    ),
    "copy-needs-spark": Text("See that Spark has room where it keeps tables, and may write there."),
    "copy-not-written": Text("The copy of {table} could not be written."),
    "copy-schema-distrusted": Text(
        "The schema {schema} is another role's, who could put its own tables there: see that yours owns it."
    ),
    "engine-away": Text("The server of the table cannot be reached."),
    "engine-cancelled": Text("The question was cancelled."),
    "engine-cannot-run": Text(
        "{engine} cannot run this question, whatever the data. Nothing was spent.",
        "Ask it in another way, and please report it: this should not happen.",
    ),
    "engine-disk": Text("The disk that the engine uses is full."),
    "engine-failed": Text("The engine could not run this question."),
    "engine-time": Text("The question took longer than the limit of time."),
    "function-unknown-on-engine": Text(
        "{function} is not known on {engine}.", "Ask without it, or compute it in a column of the table."
    ),
    "relation-of-copies": Text(
        "{relation} is where copies of protected tables are kept.", "Protect the table itself."
    ),
    "resource-malformed": Text("{resource} must be a number above 0, not {given}.", "Leave {resource} out."),
    "source-changed-while-read": Text("The source was changed while it was read."),
    "source-missing-copy": Text(
        "The prepared copy of table {table} is missing. Nothing was spent.",
        "Write it again: db.prepare({table!r}).",
        command_line=Words(remedy="Write it again: jali prepare {asked_database} {table:shell}"),
    ),
    "tables-apart": Text(
        "{tables:* and } are in different places, and no engine reads both.",
        "Join tables of one database; put a public table where the protected one is.",
    ),
}
