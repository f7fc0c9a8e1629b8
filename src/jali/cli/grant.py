"""`jali grant`: let an analyst spend a part of a table's budget."""

from __future__ import annotations

from typing import Annotated

import typer

from jali.cli.opening import open_database
from jali.cli.options import AsJson, BudgetDelta, BudgetEpsilon, DatabasePath
from jali.cli.writing import write_json
from jali.documents.accounts import remaining_json


def grant(
    database: DatabasePath,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="Who may ask.")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="What about.")],
    epsilon: BudgetEpsilon,
    delta: BudgetDelta = "0",
    as_json: AsJson = False,
) -> None:
    """Let an analyst spend up to a budget on a table, within the table's own budget.

    Example: [bold]jali grant clinic.jali ana visits --epsilon 1[/bold]
    """
    from jali.privacy import Budget

    budget = Budget(epsilon=epsilon, delta=delta)
    with open_database(database) as opened:
        opened.grant(analyst, table, budget)
        left = opened.remaining(table, analyst=analyst)
    if as_json:
        write_json({"analyst": analyst, "table": table, "remaining": remaining_json(left)})
    else:
        print(f"{analyst} may spend {budget} on {table}; left {left}.")
