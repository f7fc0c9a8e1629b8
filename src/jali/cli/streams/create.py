"""`jali stream create`: a stream is declared, its mechanism chosen, and its whole loss paid."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.failures import about
from jali.cli.numbers import number, whole
from jali.cli.opening import open_database
from jali.cli.options import AsJson, DatabasePath
from jali.cli.streams.options import StreamName, in_stream_options, read_keys, read_range
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import clean
from jali.documents.streams import stream_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.stream import Stream


def create(
    database: DatabasePath,
    name: StreamName,
    horizon: Annotated[str | None, number("For how many ticks it lives; none if nobody knows.")] = None,
    last: Annotated[str | None, number("The number over the last so many ticks, instead of so far.")] = None,
    restart: Annotated[
        str | None, number("Begin anew after so many ticks: with 1, the number of each tick.")
    ] = None,
    epsilon: Annotated[str | None, number("What the whole stream costs, for all of its ticks.")] = None,
    delta: Annotated[str | None, number("With --epsilon: lets Gaussian noise compete.")] = None,
    rho: Annotated[str | None, number("The loss in zCDP instead, by Gaussian noise.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="WORD", help="Who an item is about, such as patient: its owner.")
    ] = None,
    no_unit: Annotated[bool, typer.Option("--no-unit", help="Each item is a person.")] = False,
    measure: Annotated[str, typer.Option(metavar="NAME", help="count, sum, mean or cdf.")] = "count",
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="A number for each of these: a list, or @FILE with one in each line."
        ),
    ] = None,
    range_: Annotated[
        str | None,
        typer.Option("--range", metavar="LOW:HIGH", help="Of the values of a sum, mean or cdf; they are clamped."),
    ] = None,
    bins: Annotated[str | None, typer.Option(metavar="10,20,...", help="Of a cdf: the ends of its steps.")] = None,
    every: Annotated[
        str | None, typer.Option(metavar="STEP", help="A clock: minute, hour, day, week or month.")
    ] = None,
    start: Annotated[str | None, typer.Option(metavar="DATE", help="When the first tick begins.")] = None,
    max_ticks: Annotated[str, number("In how many ticks one person may take part.")] = "1",
    separation: Annotated[str, number("How far apart two of them are at least: 2 lets 1 and 3.")] = "1",
    max_items: Annotated[str, number("How many items one person may have in a tick.")] = "1",
    replace_one: Annotated[
        bool, typer.Option("--replace-one", help="Neighbours replace one person; by default they add or remove.")
    ] = False,
    oblivious: Annotated[
        bool, typer.Option("--oblivious", help="What is counted never depends on what was published.")
    ] = False,
    mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="A counter such as binary-tree; the best one by default.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Follow a protected table, which pays: one time step, one number."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --query: what names rows, where each row is a person."),
    ] = None,
    late: Annotated[
        str | None, number("With --query: how many ticks back to look for rows that came late; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Declare a stream: a number that is published as it grows. All of its ticks are paid now, once.

    Everything declared here is public knowledge. The counter with the least forecast error is taken. What one
    person has beyond --max-ticks, --separation and --max-items is dropped. The same declaration again changes
    nothing; another one of that name is refused. With --last or --restart a stream has no end, unless a --horizon
    is given.

    Example: [bold]jali stream create clinic.jali admissions --unit patient --keys A,B --horizon 365 --epsilon 1
    --delta 1e-6 --every day --start 2026-01-01[/bold]

    Following a table: [bold]jali stream create clinic.jali daily --query "SELECT date_trunc('day', admitted) AS
    day, COUNT(*) FROM visits GROUP BY day" --start 2026-01-01 --horizon 365 --epsilon 1[/bold]
    """
    _check_loss(epsilon, delta, rho)
    _check_unit(unit, query, no_unit=no_unit)
    if query is not None:
        _check_query(measure, keys, range_, bins, every, replace_one=replace_one)
    said: dict[str, Any] = {
        "unit": unit,
        "measure": measure,
        "keys": None if keys is None else read_keys(keys),
        "value": None if range_ is None else read_range(range_),
        "bins": _ends(bins),
        "every": every,
        "start": start,
        "mechanism": mechanism,
        "query": query,
        "key": key,
        "late": whole(late, "--late"),
        "last": whole(last, "--last"),
        "restart": whole(restart, "--restart"),
        "adjacency": "replace-one" if replace_one else None,
    }
    given = {option: value for option, value in said.items() if value is not None}
    with open_database(database) as held, about(database, query), in_stream_options():
        before = name in held.streams()
        stream = held.stream(
            name,
            horizon=_horizon(horizon, windowed=last is not None or restart is not None),
            max_ticks=whole(max_ticks, "--max-ticks") or 1,
            separation=whole(separation, "--separation") or 1,
            max_items=whole(max_items, "--max-items") or 1,
            adaptive=not oblivious,
            **({"unit": None} if no_unit else {}),
            **given,
            **_paid(query, epsilon, delta, rho),
        )
        _write(stream, before=before, as_json=as_json)


def _check_loss(epsilon: str | None, delta: str | None, rho: str | None) -> None:
    if (epsilon is None) == (rho is None):
        raise CatalogError("stream-option-loss-missing")
    if rho is not None and delta is not None:
        raise CatalogError("stream-option-delta-with-rho")


def _check_unit(unit: str | None, query: str | None, *, no_unit: bool) -> None:
    """Have it said whose privacy counts; a table has said so itself."""
    if unit is not None and no_unit:
        raise CatalogError("stream-unit-and-no-unit")
    if query is None and unit is None and not no_unit:
        raise CatalogError("stream-unit-missing")
    if query is not None and (no_unit or unit is not None):
        raise CatalogError("stream-unit-of-table")


def _check_query(
    measure: str, keys: str | None, range_: str | None, bins: str | None, every: str | None, *, replace_one: bool
) -> None:
    """Refuse, beside a question, what the question or its table says."""
    given = {"--keys": keys, "--range": range_, "--bins": bins, "--every": every, "--replace-one": replace_one}
    given["--measure"] = None if measure == "count" else measure
    if extra := [option for option, value in given.items() if value not in (None, False)]:
        raise CatalogError("stream-option-with-query", option=extra[0])


def _horizon(text: str | None, *, windowed: bool) -> int | None:
    if text is None and windowed:
        return None
    if text is None:
        raise CatalogError("stream-option-horizon-missing")
    return None if text.lower() == "none" else whole(text, "--horizon")


def _ends(text: str | None) -> list[Fraction] | None:
    """Read the ends of the steps of a cdf, exactly."""
    from jali.privacy.rationals import rational

    return None if text is None else [rational(end.strip(), "--bins") for end in text.split(",")]


def _paid(query: str | None, epsilon: str | None, delta: str | None, rho: str | None) -> dict[str, Any]:
    """Return who pays how much: the stream's own budget, or the table that it follows."""
    from jali.privacy import Budget

    if query is None and epsilon is not None:
        return {"budget": Budget(epsilon=epsilon, delta=delta or "0")}
    given = {"epsilon": epsilon, "delta": delta, "rho": rho}
    return {option: value for option, value in given.items() if value is not None}


def _write(stream: Stream, *, before: bool, as_json: bool) -> None:
    if as_json:
        write_json(stream_json(stream) | {"explanation": stream.explain()})
        return
    verb = "was declared like this already. Nothing changed" if before else "is declared and paid"
    print(f"{ink_for(sys.stdout).strong(clean(stream.name))} {verb}.\n\n{stream.explain()}")
