"""`jali refresh`, `jali check` and `jali prepare`: declare the data of a table new, check it, copy it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.options import AsJson, DatabasePath, open_database
from jali.cli.output import StageProgress, write_json

if TYPE_CHECKING:
    from jali.execution.data_guard import DataState


def refresh(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table with new data.")],
    as_json: AsJson = False,
) -> None:
    """Declare that a table has new data, so that questions are answered again. Budgets never reset.

    A prepared copy is rewritten.

    Example: [bold]jali refresh clinic.jali visits[/bold]
    """
    with open_database(database) as opened, StageProgress() as stages:
        opened.refresh(table, on_stage=stages)
    if as_json:
        write_json({"table": table, "refreshed": True})
    else:
        print(f"Questions on {table} will be answered and charged again. What was spent stays spent.")


_WARNING = "What the engine said, for the curator alone. It is NOT private: it may quote rows."


def check(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table to check.")],
    cause: Annotated[
        bool,
        typer.Option(
            "--cause", help="Run the failed question again and show the engine's error message. NOT private."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read all data of a table, and reopen the table if it was closed. Nothing is spent.

    A table is closed for everybody when an engine fails on a question for a reason that may depend on the data,
    and when a refresh was refused. If the data has changed since the last check, questions are answered again.

    Example: [bold]jali check clinic.jali visits --cause[/bold]
    """
    with open_database(database) as opened, StageProgress() as stages:
        state = opened.tables.state(table)
        said = opened.ledger.failure(state.receipt) if cause and state.receipt else None
        before = opened.tables.check(table, on_stage=stages)
    if as_json:
        shown = {"table": table, "was": before.closed or "open", "receipt": before.receipt or None}
        write_json(shown | ({"cause": said} if cause else {}))
        return
    _print_state(table, before, said if cause else None)


def _print_state(table: str, before: DataState, said: str | None) -> None:
    if before.closed == "failure":
        print(f"{table} was closed: an engine failed on the question of receipt {before.receipt}.")
    elif before.closed:
        print(f"{table} was closed: its data was not checked to the end.")
    if said is not None:
        print(f"{_WARNING}\n  {said}")
    print(f"The data of {table} was read in full without errors. The table is open.")


_ANEW = "Questions asked before are answered and charged again."


def prepare(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table to copy.")],
    drop: Annotated[bool, typer.Option("--drop", help="Delete the copy and read the source again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a protected copy of a table, clustered by person, which answers questions faster.

    The copy holds the current rows; `jali refresh` rewrites it. Nothing is spent.

    Example: [bold]jali prepare clinic.jali visits[/bold]
    """
    with open_database(database) as opened:
        had = opened.tables.find(table).copy is not None
        if drop:
            made = opened.tables.drop_prepared(table)
        else:
            with StageProgress() as stages:
                made = opened.prepare(table, on_stage=stages)
    if as_json:
        write_json({"table": made.name, "prepared": made.copy is not None})
    elif drop and not had:
        print(f"{made.name} has no copy: questions read the source, as before.")
    elif drop:
        print(f"Questions on {made.name} read the source again. {_ANEW}")
    else:
        print(f"Prepared {made.name}. Questions are answered from the copy. {_ANEW} A refresh writes it again.")
