"""Texts about Postgres as an engine."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "address-option-unknown": Text(
        "The address of a Postgres database has no option {option}.", "Known ones are schema, {options}."
    ),
    "address-with-password": Text(
        "An address with a password would be stored with it.",
        "Leave the password out: give it in PGPASSWORD, or in a pgpass file.",
    ),
    "engine-away-postgres": Text(
        "The Postgres server of table {table} cannot be reached. Nothing was spent.",
        "Start the server, or see that PGPASSWORD or the pgpass file still opens it.",
    ),
    "postgres-copy-undeleted": Text(
        "The copy of {table} could not be deleted; questions no longer read it.",
        "See that the server runs and that the role owns the copy; then drop it again.",
    ),
    "postgres-not-installed": Text(
        "Postgres needs a package that is not installed.", "Run: pip install 'jali[postgres]'."
    ),
    "postgres-pattern": Text(
        "This regular expression is read differently by Postgres.",
        "Write it with letters, classes, groups, choices and repeats only, or use LIKE.",
    ),
    "postgres-table-missing": Text(
        "There is no table {relation} in the Postgres database (a view cannot be protected).",
        "Name it with its schema: relation='clinic.visits'; the role must be allowed to read it.",
    ),
    "postgres-unique-without-key": Text(
        "No key of the source keeps {unit} unique in {table}: that takes a PRIMARY KEY or UNIQUE constraint, on this column alone.",
        "Make such a key, or leave unique out: then rows are weighed.",
    ),
    "postgres-unreachable": Text(
        "The Postgres database cannot be reached.",
        "Check host, port, user and database; the password comes from PGPASSWORD or a pgpass file.",
    ),
    "postgres-unreadable": Text(
        "{relation} could not be read.",
        "See that the server runs and has room, and that the table is as it was declared.",
    ),
    "source-changed-postgres": Text(
        "Postgres has no table {relation} with the columns that were declared. Nothing was spent.",
        "Put the table back as it was, or protect it under another name.",
    ),
    "source-changed-postgres-key": Text(
        "The source of table {table} no longer has a key on its unit. Nothing was spent.",
        "Put the key back, or protect {table} without unique.",
    ),
    "table-in-postgres": Text("Table {table} is in Postgres: no frame can be attached.", "Refresh it instead."),
    "text-with-zero-byte": Text("A text with a zero byte is in no table of Postgres.", "Leave it out."),
}
