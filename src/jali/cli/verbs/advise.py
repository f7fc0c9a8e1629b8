"""`jali advise`: propose declarations for a table from a small release that its budget pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import attach_context
from jali.cli.options import AsJson, DatabasePath, open_database
from jali.cli.output import write_json
from jali.display.text import clean, write_facts

if TYPE_CHECKING:
    from jali.execution.advice import Advice


def advise(
    database: DatabasePath,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A protected table.")],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The loss of all releases together.")],
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Pays for choosing keys; without one, none are looked for."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="COLUMN",
            help="A column to look at, or max_rows; else all without range and keys. Repeatable.",
        ),
    ] = None,
    most_rows: Annotated[
        int, typer.Option(metavar="NUMBER", help="Up to how many rows of a person are told apart.")
    ] = 1000,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be asked and charged. Free.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Propose --max-rows, --range and --keys for a table, from releases that its budget pays for.

    Each is an ordinary release with a receipt. Nothing is declared: the command that would do so is printed.

    Example: [bold]jali advise clinic.jali visits --epsilon 0.1 --delta 1e-7 --dry-run[/bold]
    """
    with open_database(database) as opened, attach_context(database):
        advice = opened.advise(
            table, epsilon=epsilon, delta=delta, columns=column, most_rows=most_rows, dry_run=dry_run
        )
    if as_json:
        write_json(advice.to_json() | {"command": advice.command(database) if advice.paid else None})
        return
    _write_advice(advice, database)


def _write_advice(advice: Advice, database: str) -> None:
    verb = "Charged" if advice.paid else "It would cost"
    print(f"{verb} {advice.cost}, from the budget of {advice.table.name}.\n")
    print(write_facts([(clean(subject), clean(text)) for subject, text in advice.facts()]))
    if not advice.paid:
        print("\nThis was free: nothing was read or charged.")
    elif advice.table.source.format == "frame":
        print("\n".join(["\nTo declare this:\n", *map(clean, advice.call.splitlines())]))
    else:
        print(f"\nTo declare this:\n\n  {clean(advice.command(database))}")
