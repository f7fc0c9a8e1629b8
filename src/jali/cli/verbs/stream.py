"""`jali stream` and `jali stream create`: declare a stream, choose its mechanism and charge its whole loss."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.errors import attach_context
from jali.cli.options import (
    AsJson,
    DatabasePath,
    StreamName,
    number_option,
    open_database,
    read_horizon,
    read_stream_keys,
    read_stream_range,
    read_whole_number,
    rename_stream_parameters,
)
from jali.cli.output import choose_ink, write_json
from jali.cli.verbs import stream_show, stream_ticks
from jali.client.catalog_documents import encode_stream
from jali.display.text import clean
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.stream import Stream


def create(
    database: DatabasePath,
    name: StreamName,
    horizon: Annotated[str | None, number_option("The number of ticks; none if unknown.")] = None,
    last: Annotated[
        str | None, number_option("Publish the number over a sliding window of this many ticks.")
    ] = None,
    restart: Annotated[str | None, number_option("Restart after this many ticks; 1 for each tick.")] = None,
    epsilon: Annotated[str | None, number_option("The total epsilon of the stream.")] = None,
    delta: Annotated[str | None, number_option("With --epsilon: allows Gaussian noise.")] = None,
    rho: Annotated[str | None, number_option("The privacy loss in zCDP instead, with Gaussian noise.")] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="WORD", help="The privacy unit that owns an item, such as patient.")
    ] = None,
    no_unit: Annotated[bool, typer.Option("--no-unit", help="Each item is a person.")] = False,
    measure: Annotated[str, typer.Option(metavar="NAME", help="count, sum, mean or cdf.")] = "count",
    keys: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="One number per key: a list, or @FILE with one per line."),
    ] = None,
    range_: Annotated[
        str | None,
        typer.Option("--range", metavar="LOW:HIGH", help="The clamping bounds of a sum, mean or cdf."),
    ] = None,
    bins: Annotated[str | None, typer.Option(metavar="10,20,...", help="The bin edges of a cdf.")] = None,
    every: Annotated[
        str | None, typer.Option(metavar="STEP", help="The length of a tick: minute, hour, day, week or month.")
    ] = None,
    start: Annotated[str | None, typer.Option(metavar="DATE", help="The start of the first tick.")] = None,
    max_ticks: Annotated[str, number_option("Contribution bound: ticks per person.")] = "1",
    separation: Annotated[str, number_option("The least distance between two of them: 2 allows 1 and 3.")] = "1",
    max_items: Annotated[str, number_option("Contribution bound: items per person and tick.")] = "1",
    replace_one: Annotated[
        bool, typer.Option("--replace-one", help="Use replace-one adjacency instead of add-remove.")
    ] = False,
    oblivious: Annotated[
        bool, typer.Option("--oblivious", help="Assert that increments never depend on published values.")
    ] = False,
    mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="A counter such as binary-tree; the best one by default.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="A query over a protected table, which is charged: one time key, one number."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="With --query: the column that identifies rows, if each row is a person."
        ),
    ] = None,
    late: Annotated[
        str | None,
        number_option("With --query: the number of past ticks in which to look for late rows; all by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Declare a stream: a number that is published as it grows. All ticks are charged once, now.

    Everything declared here is public. The counter with the least forecast error is chosen. Items of one
    person beyond --max-ticks, --separation and --max-items are dropped. The same declaration again changes
    nothing; a different one of that name is refused. With --last or --restart, --horizon is optional: without it
    the stream has no end.

    Example: [bold]jali stream create clinic.jali admissions --unit patient --keys A,B --horizon 365 --epsilon 1
    --delta 1e-6 --every day --start 2026-01-01[/bold]

    Over a table: [bold]jali stream create clinic.jali daily --query "SELECT date_trunc('day', admitted) AS
    day, COUNT(*) FROM visits GROUP BY day" --start 2026-01-01 --horizon 365 --epsilon 1[/bold]
    """
    _check_loss(epsilon, delta, rho)
    _check_unit(unit, query, no_unit=no_unit)
    if query is not None:
        _check_query(measure, keys, range_, bins, every, replace_one=replace_one)
    said: dict[str, Any] = {
        "unit": unit,
        "measure": measure,
        "keys": None if keys is None else read_stream_keys(keys),
        "value": None if range_ is None else read_stream_range(range_),
        "bins": _read_bins(bins),
        "every": every,
        "start": start,
        "mechanism": mechanism,
        "query": query,
        "key": key,
        "late": read_whole_number(late, "--late"),
        "last": read_whole_number(last, "--last"),
        "restart": read_whole_number(restart, "--restart"),
        "adjacency": "replace-one" if replace_one else None,
    }
    given = {option: value for option, value in said.items() if value is not None}
    with open_database(database) as held, attach_context(database, query), rename_stream_parameters():
        before = name in held.streams.list()
        stream = held.stream(
            name,
            horizon=read_horizon(horizon, windowed=last is not None or restart is not None),
            max_ticks=read_whole_number(max_ticks, "--max-ticks") or 1,
            separation=read_whole_number(separation, "--separation") or 1,
            max_items=read_whole_number(max_items, "--max-items") or 1,
            adaptive=not oblivious,
            **({"unit": None} if no_unit else {}),
            **given,
            **_build_loss(query, epsilon, delta, rho),
        )
        _write_stream(stream, before=before, as_json=as_json)


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


def _read_bins(text: str | None) -> list[Fraction] | None:
    """Read the ends of the steps of a cdf, exactly."""
    from jali.privacy.rationals import rational

    return None if text is None else [rational(end.strip(), "--bins") for end in text.split(",")]


def _build_loss(query: str | None, epsilon: str | None, delta: str | None, rho: str | None) -> dict[str, Any]:
    """Return who pays how much: the stream's own budget, or the table that it follows."""
    from jali.privacy import Budget

    if query is None and epsilon is not None:
        return {"budget": Budget(epsilon=epsilon, delta=delta or "0")}
    given = {"epsilon": epsilon, "delta": delta, "rho": rho}
    return {option: value for option, value in given.items() if value is not None}


def _write_stream(stream: Stream, *, before: bool, as_json: bool) -> None:
    if as_json:
        write_json(encode_stream(stream) | {"explanation": stream.explain()})
        return
    verb = "was declared like this already. Nothing changed" if before else "is declared and charged"
    print(f"{choose_ink(sys.stdout).strong(clean(stream.name))} {verb}.\n\n{stream.explain()}")


VERBS = (
    create,
    stream_ticks.append,
    stream_ticks.publish,
    stream_show.show,
    stream_show.watch,
)

group = typer.Typer()
for _verb in VERBS:
    group.command()(_verb)


@group.callback(invoke_without_command=True)
def stream(context: typer.Context) -> None:
    """Publish numbers continually, tick after tick, private over their whole life and charged once.

    Example: [bold]jali stream create clinic.jali admissions --unit patient --horizon 365 --epsilon 1[/bold]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
