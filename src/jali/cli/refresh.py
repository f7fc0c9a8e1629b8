"""`jali refresh`: say that the data of a table is new."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import Stages
from jali.cli.writing import write_json


def refresh(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Whose data is new.")],
    as_json: AsJson = False,
) -> None:
    """Say that the data of a table is new, so that questions are answered anew. Budgets never reset.

    A prepared copy is written anew.

    Example: [bold]jali refresh clinic.jali visits[/bold]
    """
    with open_database(database) as opened, Stages() as stages:
        opened.refresh(table, on_stage=stages)
    if as_json:
        write_json({"table": table, "refreshed": True})
    else:
        print(f"Questions on {table} will be answered anew, and paid anew. What was spent stays spent.")
