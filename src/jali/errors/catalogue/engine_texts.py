"""Texts about engines: DuckDB, files and frames, Postgres, Spark."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text, Words

TEXTS: Mapping[str, Text] = {
    "address-option-unknown": Text(
        "The address of a Postgres database has no option {option}.", "Supported options are schema, {options}."
    ),
    "address-with-password": Text(
        "The address contains a password, which would be stored.",
        "Leave the password out, and give it in PGPASSWORD or a pgpass file.",
    ),
    "arrow-invalid": Text("The Arrow table is not valid.", "Call its validate(full=True) for details."),
    "copy-in-memory": Text(
        "A copy of {table} would outlive this in-memory database.",
        "Keep the database in a file: jali.connect('clinic.jali').",
    ),
    "copy-needs-disk": Text(
        "Check that the disk has free space and that no program writes to the source meanwhile."
    ),
    "copy-needs-postgres": Text(
        "Check that the server is running and has free space, and that the table matches its declaration."
    ),
    "copy-needs-schema": Text(
        "The owner of the database can let {role} write there: CREATE SCHEMA {schema} AUTHORIZATION {role}."
    ),
    "copy-needs-spark": Text("Check that Spark has free space for tables and permission to write them."),
    "copy-not-written": Text("The copy of {table} could not be written."),
    "copy-schema-distrusted": Text(
        "The schema {schema} belongs to another role, which could replace its tables: make your role the owner."
    ),
    "csv-header-missing": Text("{location} has no header line with distinct column names."),
    "engine-away": Text("The server of the table cannot be reached."),
    "engine-away-postgres": Text(
        "The Postgres server of table {table} cannot be reached. Nothing was spent.",
        "Start the server, or check the password in PGPASSWORD or the pgpass file.",
    ),
    "engine-away-spark": Text("Spark at {location} cannot be reached.", "Start it, or check the address."),
    "engine-away-spark-process": Text(
        "This process is connected to another Spark than {location}. Nothing was spent.", "Use a separate process."
    ),
    "engine-away-spark-source": Text(
        "The source of table {table} cannot be read through Spark. Nothing was spent.",
        "Check that Spark is running and that the table or files still exist.",
    ),
    "engine-away-spark-table": Text(
        "{relation} cannot be read through Spark. Nothing was spent.",
        "Check that Spark is running and that the table or files still exist.",
    ),
    "engine-cancelled": Text("The question was cancelled."),
    "engine-cannot-run": Text(
        "{engine} cannot run this question on any data. Nothing was spent.",
        "Rephrase the question, and please report this error.",
    ),
    "engine-disk": Text("The disk that the engine uses is full."),
    "engine-failed": Text("The engine could not run this question."),
    "engine-time": Text("The question exceeded the time limit."),
    "frame-kind": Text(
        "A {kind} cannot be protected.",
        "Give the path of a Parquet, CSV, JSON or DuckDB file, or a pandas, polars or Arrow table.",
    ),
    "frames-not-installed": Text(
        "Frames need a package that is not installed.", "Run: pip install 'jali[frames]'."
    ),
    "function-unknown-on-engine": Text(
        "{function} is not supported on {engine}.", "Leave it out, or compute it in a column of the table."
    ),
    "json-columns-missing": Text(
        "JSON Lines files have no header, so the columns of {location} must be declared.",
        "Write columns={{'age': 'integer'}}. Other fields are ignored.",
    ),
    "link-not-unique": Text(
        "Column {column} of {table} is not unique, so it does not determine the owner of a row.",
        "Link the tables by a unique column.",
    ),
    "postgres-copy-undeleted": Text(
        "The copy of {table} could not be deleted; questions no longer read it.",
        "Check that the server is running and that the role owns the copy, then drop it again.",
    ),
    "postgres-not-installed": Text(
        "Postgres needs a package that is not installed.", "Run: pip install 'jali[postgres]'."
    ),
    "postgres-pattern": Text(
        "Postgres interprets this regular expression differently.",
        "Use only letters, classes, groups, alternatives and repetitions, or use LIKE.",
    ),
    "postgres-table-missing": Text(
        "There is no table {relation} in the Postgres database (a view cannot be protected).",
        "Name it with its schema: relation='clinic.visits'; the role must be allowed to read it.",
    ),
    "postgres-unique-without-key": Text(
        "No constraint keeps {unit} unique in {table}: it needs a PRIMARY KEY or UNIQUE constraint on this column alone.",
        "Add such a constraint, or leave unique out: rows are then weighted.",
    ),
    "postgres-unreachable": Text(
        "The Postgres database cannot be reached.",
        "Check host, port, user and database; the password comes from PGPASSWORD or a pgpass file.",
    ),
    "postgres-unreadable": Text(
        "{relation} could not be read.",
        "Check that the server is running and has free space, and that the table matches its declaration.",
    ),
    "relation-of-copies": Text(
        "{relation} is reserved for copies of protected tables.", "Protect the table itself."
    ),
    "resource-malformed": Text("{resource} must be a number above 0, not {given}.", "Leave {resource} out."),
    "source-changed-csv": Text(
        "The columns of the CSV file of table {table} differ from its declaration. Nothing was spent.",
        "Restore the columns in their order, or protect the file under another name.",
    ),
    "source-changed-duckdb": Text(
        "The DuckDB file of table {table} has no table with the declared columns. Nothing was spent.",
        "Restore the table, or protect it under another name.",
    ),
    "source-changed-key": Text(
        "The source of table {table} no longer has a key on {unit}. Nothing was spent.",
        "Restore the key, or protect {table} without unique.",
    ),
    "source-changed-postgres": Text(
        "Postgres has no table {relation} with the declared columns. Nothing was spent.",
        "Restore the table, or protect it under another name.",
    ),
    "source-changed-postgres-key": Text(
        "The source of table {table} no longer has a key on its unit column. Nothing was spent.",
        "Restore the key, or protect {table} without unique.",
    ),
    "source-changed-spark": Text(
        "The columns of the source of table {table} differ from its declaration. Nothing was spent.",
        "Restore the columns, or protect the source under another name.",
    ),
    "source-changed-while-read": Text("The source changed while it was read."),
    "source-missing": Text("The file of table {table} is missing. Nothing was spent.", "Restore the file."),
    "source-missing-copy": Text(
        "The prepared copy of table {table} is missing. Nothing was spent.",
        "Write it again: db.prepare({table!r}).",
        command_line=Words(remedy="Write it again: jali prepare {asked_database} {table:shell}"),
    ),
    "source-missing-frame": Text(
        "The frame of table {table} is not attached. Nothing was spent.",
        "Attach it again: db.tables.attach({table!r}, frame).",
        command_line=Words(remedy="The frame is in the memory of a Python program: ask from there."),
    ),
    "source-missing-spark": Text(
        "No Spark session was given. Nothing was spent.", "Attach it again: db.tables.attach(name, session)."
    ),
    "source-unreadable": Text(
        "{location} cannot be read as {format}.",
        "Check the path, the format and the name of the table (a view cannot be protected).",
    ),
    "spark-columns-case": Text("{relation} has columns whose names differ only in case.", "Rename them."),
    "spark-copy-undeleted": Text(
        "The copy of {table} could not be deleted; questions no longer read it.",
        "Check that Spark is running, then drop it again.",
    ),
    "spark-copy-without-place": Text(
        "A copy of {table} cannot be kept, because the catalog of this Spark is temporary.",
        "Use a Spark with a persistent catalog (enableHiveSupport), or a local one.",
    ),
    "spark-path-malformed": Text(
        "{path!r} cannot be the path of one source.",
        "Give one file or folder whose name contains none of * ? [ ] {{ }}.",
    ),
    "spark-pattern": Text(
        "The pattern {pattern!r} cannot be translated to one that always terminates on Spark.",
        "Repeat only characters and classes, or compute the match in a column of the table.",
    ),
    "spark-relation-malformed": Text(
        "{relation!r} is not a Spark table.", "Write db.visits, db.`my visits` or parquet:/path."
    ),
    "spark-session-expected": Text(
        "{given} is not a Spark session.",
        "Write the DataFrame to a table or to Parquet first, then pass the session.",
    ),
    "spark-table-missing": Text(
        "Spark at {location} has no table {relation}.",
        "Check the address, the path and the name of the table (a view cannot be protected).",
    ),
    "spark-unique": Text(
        "Spark has no constraint that keeps {unit} unique in {table}.", "Leave unique out: rows are then weighted."
    ),
    "spark-values-unreadable": Text(
        "{relation} has values that cannot be read.", "Write all files again with the same columns."
    ),
    "table-in-postgres": Text(
        "Table {table} is in Postgres, so a frame cannot be attached.", "Refresh the table instead."
    ),
    "tables-apart": Text(
        "{tables:* and } are in different places, and no engine can read both.",
        "Join tables of one database, or put the public table where the protected one is.",
    ),
    "text-with-zero-byte": Text("Postgres cannot store text with a zero byte.", "Leave it out."),
    "unique-without-key": Text(
        "No constraint keeps {unit} unique in {table}: it needs a PRIMARY KEY or UNIQUE constraint of a DuckDB table on this column alone.",
        "Create the table with such a constraint, or leave unique out: rows are then weighted.",
    ),
    "values-unreadable": Text(
        "{location} has values that cannot be read.",
        "Write the file again. Text must be UTF-8, and times must be within range.",
    ),
}
