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
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The total privacy loss of all releases.")],
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="For partition selection: without a delta, no keys are proposed."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="COLUMN",
            help="A column, or max_rows; by default all columns without range and keys. Repeatable.",
        ),
    ] = None,
    most_rows: Annotated[int, typer.Option(metavar="NUMBER", help="The largest max_rows to consider.")] = 1000,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be released and charged. Free.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Propose --max-rows, --range and --keys for a table, from private releases charged to its budget.

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
