"""The arguments and options that several verbs share, so that one word always means one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from jali.errors import QueryError

if TYPE_CHECKING:
    from jali.planner.terms import Given

DatabasePath = Annotated[
    str,
    typer.Argument(
        metavar="DATABASE", help="The database file, such as clinic.jali; or postgresql://USER@HOST/NAME."
    ),
]
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
Within = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]NUMBER",
        help="Instead of a loss: how close each number is to come, or those of one output; the loss is found.",
    ),
]
NoiseName = Annotated[
    str | None, typer.Option("--noise", metavar="NAME", help="With --within: laplace (epsilon) or gaussian (rho).")
]
GroupRows = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="A guess of the rows of a group, for forecasts only.")
]
PartName = Annotated[
    str | None,
    typer.Option("--part", metavar="COLUMN=KEY", help="Only the part of the table with this declared key."),
]
Relation = Annotated[
    str | None, typer.Option(metavar="NAME", help="The table inside a DuckDB file or a database: clinic.visits.")
]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="The loss in zCDP instead, by Gaussian noise.")]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Whose grant pays too; the curator has none.")]
Confidence = Annotated[float, typer.Option(metavar="NUMBER", help="The confidence of each interval.")]
BudgetEpsilon = Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="The limit on epsilon, for ever.")]
BudgetDelta = Annotated[str, typer.Option("--delta", metavar="NUMBER", help="The limit on delta, for ever.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of text.")]


def terms_named(part: str | None, within: list[str] | None, confidence: float, /, **plain: Unpack[Given]) -> Given:
    """Return the terms of a question: those that are written in words of their own, and all others as they are."""
    terms: Given = {**plain, "part": part_named(part), "within": within_named(within)}
    return terms | {"confidence": confidence} if within else terms


def part_named(text: str | None) -> dict[str, str] | None:
    """Read COLUMN=KEY; the key is what follows the last equality sign, so that a column may be an expression."""
    if text is None:
        return None
    by, sign, key = text.rpartition("=")
    if not sign or not by.strip():
        raise QueryError("part-option-malformed", given=text)
    return {by.strip(): key.strip()}


def within_named(texts: list[str] | None) -> str | dict[str, str] | None:
    """Read NUMBER, or NAME=NUMBER for some outputs.

    Example:
        >>> within_named(["20"]), within_named(["n=20", "age=0.5"])
        ('20', {'n': '20', 'age': '0.5'})
    """
    if not texts:
        return None
    found = [text.rpartition("=") for text in texts]
    named = {name.strip(): number.strip() for name, sign, number in found if sign}
    if not named and len(texts) == 1:
        return texts[0]
    if len(named) < len(texts):
        raise QueryError("within-option-ambiguous", given=tuple(texts))
    return dict(named)
