"""`jali plan stream`: which counter a stream should take, and how far its values will be off."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.numbers import naming_options, number, whole
from jali.cli.options import AsJson
from jali.cli.terminal import ink_for
from jali.cli.writing import write_json
from jali.display.text import NARROWEST, TextColumn, table
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.streams import Alternative, Choices, Participation

# The parameters of the chooser, and the options that set them.
_OPTIONS = {
    "horizon": "--horizon",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "ticks": "--max-ticks",
    "separation": "--separation",
    "l1": "--max-items",
    "memory": "--memory",
    "by": "--by",
    "last": "--last",
    "restart": "--restart",
}
_LEGEND = (
    "largest, rms: the largest standard deviation over all ticks, and the root of the mean squared error."
    " ± 95 %: what the error after the worst tick stays within. keeps: numbers kept for each key, besides noise"
    " drawn ahead."
)


def stream(
    horizon: Annotated[str | None, number("For how many ticks the stream lives; none if nobody knows.")] = None,
    last: Annotated[str | None, number("Values over the last so many ticks, instead of so far.")] = None,
    restart: Annotated[
        str | None, number("Values that begin anew after so many ticks: with 1, of each tick.")
    ] = None,
    epsilon: Annotated[str | None, number("What the whole stream may spend.")] = None,
    delta: Annotated[str | None, number("Its delta: with one, Gaussian noise competes.")] = None,
    rho: Annotated[str | None, number("The loss in zCDP instead, by Gaussian noise.")] = None,
    max_ticks: Annotated[str, number("In how many ticks one person may take part.")] = "1",
    separation: Annotated[str, number("How many ticks two of them are apart, at least.")] = "1",
    max_items: Annotated[
        str, number("How many items one person may have in a tick; of a sum, how much they may add.")
    ] = "1",
    replace_one: Annotated[
        bool, typer.Option("--replace-one", help="Neighbours replace one person; by default they add or remove.")
    ] = False,
    oblivious: Annotated[
        bool, typer.Option("--oblivious", help="What is counted never depends on what was published.")
    ] = False,
    memory: Annotated[str | None, number("How many numbers the stream may keep, for each key.")] = None,
    by: Annotated[str, typer.Option(metavar="FIGURE", help="What is to be small: largest or rms.")] = "largest",
    as_json: AsJson = False,
) -> None:
    """Plan a stream: which counter, and how far its running sums will be off, tick after tick. Free.

    Example: [bold]jali plan stream --horizon 365 --epsilon 1[/bold]
    """
    from jali.streams import Participation, choose

    _check_loss(epsilon, delta, rho)
    with naming_options(_OPTIONS):
        person = Participation(
            adjacency="replace-one" if replace_one else "add-remove",
            ticks=whole(max_ticks, "--max-ticks") or 1,
            separation=whole(separation, "--separation") or 1,
            l1=max_items,
        )
        choices = choose(
            horizon=_horizon(horizon, windowed=last is not None or restart is not None),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            person=person,
            adaptive=not oblivious,
            memory=whole(memory, "--memory"),
            by=by,  # type: ignore[arg-type]
            last=whole(last, "--last"),
            restart=whole(restart, "--restart"),
        )
    if as_json:
        write_json(_document(choices, person))
    else:
        _write(choices)


def _check_loss(epsilon: str | None, delta: str | None, rho: str | None) -> None:
    if epsilon is None and rho is None:
        raise CatalogError("plan-stream-loss-missing")
    if epsilon is not None and rho is not None:
        raise CatalogError("plan-stream-epsilon-and-rho")
    if rho is not None and delta is not None:
        raise CatalogError("stream-option-delta-with-rho")


def _horizon(text: str | None, *, windowed: bool) -> int | None:
    if text is None and windowed:
        return None
    if text is None:
        raise CatalogError("stream-option-horizon-missing")
    return None if text.lower() == "none" else whole(text, "--horizon")


def _write(choices: Choices) -> None:
    ink = ink_for(sys.stdout)
    columns = zip(choices.headings, zip(*choices.cells(), strict=True), strict=True)
    last = len(choices.headings) - 1
    shown = [TextColumn(head, cells, right=1 < j < last) for j, (head, cells) in enumerate(columns)]
    print(f"{_wrapped(choices.title, ink.strong)}\n\n{table(shown, ink=ink)}\n")
    for text in (_LEGEND, *(f"Left out: {reason}" for reason in choices.reasons)):
        print(_wrapped(text, ink.faint))
    print(_wrapped(choices.advice, ink.accent))


def _wrapped(text: str, mark: Callable[[str], str]) -> str:
    """Return a text in lines as wide as the table, which every terminal takes."""
    return "\n".join(mark(line) for line in textwrap.wrap(text, NARROWEST, break_on_hyphens=False))


def _document(choices: Choices, person: Participation) -> dict[str, Any]:
    """Return the plan as plain values: exact rationals as text, errors as numbers."""
    return {
        "title": choices.title,
        "person": {
            "adjacency": str(person.adjacency),
            "max_ticks": person.ticks,
            "separation": person.separation,
            "max_items": str(person.l1),
        },
        "by": choices.by,
        "best": choices.best.name,
        "advice": choices.advice,
        "counters": [_row(row) for row in choices.alternatives],
    }


def _row(row: Alternative) -> dict[str, Any]:
    return {
        "counter": row.name,
        "noise": row.noise,
        "epsilon": _text(row, "epsilon"),
        "rho": _text(row, "rho"),
        "largest": row.largest,
        "rms": row.rms,
        "error": row.error,
        "keeps": row.numbers_kept,
        "left_out": row.said or None,
    }


def _text(row: Alternative, name: str) -> str | None:
    value: Fraction | None = getattr(row.counter, name, None)
    return None if value is None else str(value)
