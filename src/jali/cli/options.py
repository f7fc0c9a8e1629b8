"""The arguments and options that several verbs share, so that one word always means one thing."""

from __future__ import annotations

from typing import Annotated

import typer

DatabasePath = Annotated[str, typer.Argument(metavar="DATABASE", help="The database file, such as clinic.jali.")]
Question = Annotated[
    str, typer.Argument(metavar="SQL", help="One SELECT statement; [bold]-[/bold] reads it from stdin.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="The loss of the whole question, by Laplace noise; or the SQL says it."),
]
Delta = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Pays for choosing groups that nobody declared, and for --min-people."),
]
MaxRows = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="For how many rows one person may count, if not as declared.")
]
MaxGroups = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="In how many groups one person may count, where groups are chosen."),
]
MinPeople = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="Show a group only if so many people stand behind it.")
]
Relation = Annotated[str | None, typer.Option(metavar="NAME", help="The table inside a DuckDB file.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="The loss in zCDP instead, by Gaussian noise.")]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Whose grant pays too; the curator has none.")]
Confidence = Annotated[float, typer.Option(metavar="NUMBER", help="The confidence of each interval.")]
BudgetEpsilon = Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="The limit on epsilon, for ever.")]
BudgetDelta = Annotated[str, typer.Option("--delta", metavar="NUMBER", help="The limit on delta, for ever.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of text.")]
