"""Texts about engines: DuckDB, files and frames, Postgres, Spark."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "address-option-unknown": Text(
        "The address of a Postgres database has no option {option}.", "Known ones are schema, {options}."
    ),
    "address-with-password": Text(
        "An address with a password would be stored with it.",
        "Leave the password out: give it in PGPASSWORD, or in a pgpass file.",
    ),
    "arrow-invalid": Text("The Arrow table is not valid.", "See what its validate(full=True) says."),
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
    "csv-header-missing": Text("{location} has no header line with distinct column names."),
    "engine-away": Text("The server of the table cannot be reached."),
    "engine-away-postgres": Text(
        "The Postgres server of table {table} cannot be reached. Nothing was spent.",
        "Start the server, or see that PGPASSWORD or the pgpass file still opens it.",
    ),
    "engine-away-spark": Text("Spark at {location} cannot be reached.", "Start it, or check the address."),
    "engine-away-spark-process": Text(
        "This process drives another Spark than {location}. Nothing was spent.", "Ask from a process of its own."
    ),
    "engine-away-spark-source": Text(
        "The source of table {table} cannot be read through Spark. Nothing was spent.",
        "See that Spark runs, and that the table or the files are where they were.",
    ),
    "engine-away-spark-table": Text(
        "{relation} cannot be read through Spark. Nothing was spent.",
        "See that Spark runs, and that the table or the files are where they were.",
    ),
    "engine-cancelled": Text("The question was cancelled."),
    "engine-cannot-run": Text(
        "{engine} cannot run this question, whatever the data. Nothing was spent.",
        "Ask it in another way, and please report it: this should not happen.",
    ),
    "engine-disk": Text("The disk that the engine uses is full."),
    "engine-failed": Text("The engine could not run this question."),
    "engine-time": Text("The question took longer than the limit of time."),
    "frame-kind": Text(
        "A {kind} cannot be protected.",
        "Give a path to Parquet, CSV, JSON or a DuckDB file, or a pandas, polars or Arrow table.",
    ),
    "frames-not-installed": Text(
        "Frames need a package that is not installed.", "Run: pip install 'jali[frames]'."
    ),
    "function-unknown-on-engine": Text(
        "{function} is not known on {engine}.", "Ask without it, or compute it in a column of the table."
    ),
    "json-columns-missing": Text(
        "Lines of JSON have no header: the columns of {location} must be declared.",
        "Write columns={{'age': 'integer'}}; the rest of each line is not read.",
    ),
    "link-not-unique": Text(
        "Column {column} of {table} is not unique, so it cannot tell who owns a row.",
        "Reach the unit through a column that is unique.",
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
    "relation-of-copies": Text(
        "{relation} is where copies of protected tables are kept.", "Protect the table itself."
    ),
    "resource-malformed": Text("{resource} must be a number above 0, not {given}.", "Leave {resource} out."),
    "source-changed-csv": Text(
        "The CSV file of table {table} has other columns than were declared. Nothing was spent.",
        "Put the columns back in their order, or protect the file under another name.",
    ),
    "source-changed-duckdb": Text(
        "The DuckDB file of table {table} has no table with the columns that were declared. Nothing was spent.",
        "Put the table back as it was, or protect it under another name.",
    ),
    "source-changed-key": Text(
        "The source of table {table} no longer has a key on {unit}. Nothing was spent.",
        "Put the key back, or protect {table} without unique.",
    ),
    "source-changed-postgres": Text(
        "Postgres has no table {relation} with the columns that were declared. Nothing was spent.",
        "Put the table back as it was, or protect it under another name.",
    ),
    "source-changed-postgres-key": Text(
        "The source of table {table} no longer has a key on its unit. Nothing was spent.",
        "Put the key back, or protect {table} without unique.",
    ),
    "source-changed-spark": Text(
        "The source of table {table} has other columns than were declared. Nothing was spent.",
        "Put the columns back as they were, or protect the source under another name.",
    ),
    "source-changed-while-read": Text("The source was changed while it was read."),
    "source-missing": Text(
        "The file of table {table} is missing. Nothing was spent.", "Put it back where it was."
    ),
    "source-missing-copy": Text(
        "The prepared copy of table {table} is missing. Nothing was spent.",
        "Write it again: db.prepare({table!r}).",
        command_line=Words(remedy="Write it again: jali prepare {asked_database} {table:shell}"),
    ),
    "source-missing-frame": Text(
        "The frame of table {table} is not attached. Nothing was spent.",
        "Give it again: db.tables.attach({table!r}, frame).",
        command_line=Words(remedy="It is in the memory of a Python program: ask it from there."),
    ),
    "source-missing-spark": Text(
        "No Spark session was given. Nothing was spent.", "Give it again: db.tables.attach(name, session)."
    ),
    "source-unreadable": Text(
        "{location} cannot be read as {format}.",
        "Check the path, the format and the name of the table (a view cannot be protected).",
    ),
    "spark-columns-case": Text("{relation} has columns whose names differ in their case alone.", "Rename them."),
    "spark-copy-undeleted": Text(
        "The copy of {table} could not be deleted; questions no longer read it.",
        "See that Spark runs, and drop it again.",
    ),
    "spark-copy-without-place": Text(
        "There is no place for a copy of {table}: the catalog of this Spark is forgotten with it.",
        "Use a Spark with a catalog that lasts (enableHiveSupport), or a local one.",
    ),
    "spark-path-malformed": Text(
        "{path!r} cannot be the path of one source.",
        "Give one file or folder, whose name has none of * ? [ ] {{ }}.",
    ),
    "spark-pattern": Text(
        "The pattern {pattern!r} has no twin on Spark that is sure to end.",
        "Repeat characters and classes only, or compute it in a column of the table.",
    ),
    "spark-relation-malformed": Text(
        "{relation!r} is no table of Spark.", "Write db.visits, db.`my visits` or parquet:/path."
    ),
    "spark-session-expected": Text(
        "{given} is no Spark session.", "Give the session, and write the DataFrame to a table or to Parquet first."
    ),
    "spark-table-missing": Text(
        "Spark at {location} has no table {relation}.",
        "Check the address, the path and the name of the table (a view cannot be protected).",
    ),
    "spark-unique": Text(
        "Spark has no keys that keep {unit} unique in {table}.", "Leave unique out: then rows are weighed."
    ),
    "spark-values-unreadable": Text(
        "{relation} has values that cannot be read.", "Write the files again, all of them with the same columns."
    ),
    "table-in-postgres": Text("Table {table} is in Postgres: no frame can be attached.", "Refresh it instead."),
    "tables-apart": Text(
        "{tables:* and } are in different places, and no engine reads both.",
        "Join tables of one database; put a public table where the protected one is.",
    ),
    "text-with-zero-byte": Text("A text with a zero byte is in no table of Postgres.", "Leave it out."),
    "unique-without-key": Text(
        "No key of the source keeps {unit} unique in {table}: that takes a PRIMARY KEY or UNIQUE constraint of a DuckDB table, on this column alone.",
        "Make the table with such a key, or leave unique out: then rows are weighed.",
    ),
    "values-unreadable": Text(
        "{location} has values that cannot be read.",
        "Write the file again: text must be UTF-8, and times must fit their type.",
    ),
}
