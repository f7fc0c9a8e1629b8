"""`jali publish`: a table that is nobody's secret, for questions to join."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jali.cli.declarations import read_columns
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath, Relation
from jali.cli.tables import public_facts
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import clean, facts
from jali.documents.tables import public_json


def publish(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="What questions will call it.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A Parquet, CSV or DuckDB file; postgresql://...; spark://...")
    ],
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=KIND", help="What a column of a CSV file holds: floor=integer. Repeatable."),
    ] = None,
    relation: Relation = None,
    as_json: AsJson = False,
) -> None:
    """Declare a public table: its rows are nobody's secret, and questions may join it freely.

    Its values become keys and its numbers ranges: read now, once. Publish it again when it changes. Columns of
    a CSV file are text, unless --kind says what they hold.

    Example: [bold]jali publish clinic.jali wards wards.csv[/bold]
    """
    with open_database(database) as opened:
        before = opened.version(table)
        kinds = read_columns([], [], kind or [])
        made = opened.publish(table, source, kinds={c: str(k) for c, k in kinds.items()}, relation=relation)
        version = opened.version(made.name)
    if as_json:
        write_json(public_json(made) | {"version": version})
        return
    ink = ink_for(sys.stdout)
    verb = "Published" if before == 0 else "Published again"
    print(f"{verb} {clean(made.name)} (version {version}). Everybody may see all of it.")
    print(facts(public_facts(made), ink=ink))
