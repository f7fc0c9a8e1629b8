"""`jali check`: look at the data of a table, and open it again if a failure has closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.terminal import Stages
from jali.cli.writing import write_json

if TYPE_CHECKING:
    from jali.database.data_guard import DataState

_WARNING = "What the engine said, for the curator alone. It is NOT private: it may quote rows."


def check(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Whose data to check.")],
    cause: Annotated[
        bool,
        typer.Option(
            "--cause", help="Run the question that failed once more and show the engine's own words. NOT private."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read the data of a table in full, and open the table if it was closed. Nothing is spent.

    A table is closed for everybody when an engine fails on a question for a reason that may lie in the data, and
    when a refresh was refused. If the data was changed since it was last checked, questions are answered anew.

    Example: [bold]jali check clinic.jali visits --cause[/bold]
    """
    with open_database(database) as opened, Stages() as stages:
        state = opened.state(table)
        said = opened.failure(state.receipt) if cause and state.receipt else None
        before = opened.check(table, on_stage=stages)
    if as_json:
        shown = {"table": table, "was": before.closed or "open", "receipt": before.receipt or None}
        write_json(shown | ({"cause": said} if cause else {}))
        return
    _print(table, before, said if cause else None)


def _print(table: str, before: DataState, said: str | None) -> None:
    if before.closed == "failure":
        print(f"{table} was closed: an engine failed on the question of receipt {before.receipt}.")
    elif before.closed:
        print(f"{table} was closed: its data was not checked to the end.")
    if said is not None:
        print(f"{_WARNING}\n  {said}")
    print(f"The data of {table} was read in full and is sound. The table is open.")
