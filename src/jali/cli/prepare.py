"""`jali prepare`: a private copy of a table on which a person's bound is a filter."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import Stages
from jali.cli.writing import write_json

_ANEW = "Those that were asked before are answered anew, and charged again."


def prepare(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table to copy.")],
    drop: Annotated[bool, typer.Option("--drop", help="Delete the copy, and read the source again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a private copy of a table, clustered by person, and answer questions from it: they take less time.

    It has the rows as they are now; `jali refresh` writes it anew. Nothing is spent.

    Example: [bold]jali prepare clinic.jali visits[/bold]
    """
    with open_database(database) as opened:
        had = opened.table_named(table).copy is not None
        if drop:
            made = opened.drop_prepared(table)
        else:
            with Stages() as stages:
                made = opened.prepare(table, on_stage=stages)
    if as_json:
        write_json({"table": made.name, "prepared": made.copy is not None})
    elif drop and not had:
        print(f"{made.name} has no copy: questions read the source, as before.")
    elif drop:
        print(f"Questions on {made.name} read the source again. {_ANEW}")
    else:
        print(f"Prepared {made.name}. Questions are answered from the copy. {_ANEW} A refresh writes it again.")
