"""Texts about Spark."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
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
    "source-changed-spark": Text(
        "The source of table {table} has other columns than were declared. Nothing was spent.",
        "Put the columns back as they were, or protect the source under another name.",
    ),
    "source-missing-spark": Text(
        "No Spark session was given. Nothing was spent.", "Give it again: db.attach(name, session)."
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
}
