"""Lines with bands: a stream as a small drawing that fits any width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jali.display.numbers import show_amount
from jali.display.streamed import COLOURS, Strand, Streamed, ends_of, round_numbers, spread_out
from jali.server.pages.bars import Mark

# Points of the drawing, which is stretched to its place; more than so many are no better to see.
_SIDE, _POINTS = 1000, 600
Place = Callable[[float], float]


@dataclass(frozen=True)
class Drawn:
    """One line: its name, its colour's number, and the points of the line and of the band."""

    name: str
    colour: int
    line: str
    band: str


@dataclass(frozen=True)
class Picture:
    """A stream, drawn.

    Attributes:
        heading: What it is about.
        bands: What the bands are.
        strands: The lines.
        marks: The axis of the values, from above, in percent.
        first: What the first tick is called;
        last: and the last.
        left_out: How many keys are not drawn.
    """

    heading: str
    bands: str
    strands: tuple[Drawn, ...]
    marks: tuple[Mark, ...]
    first: str
    last: str
    left_out: int


def picture_of(streamed: Streamed) -> Picture | None:
    """Draw the first lines of a stream, each in its band; nothing before the first tick."""
    if not streamed.ticks:
        return None
    held = streamed.strands[: len(COLOURS)]
    low, high = ends_of(end for strand in held for end in strand.ends)
    high = high if high > low else low + 1
    up, places = _up(low, high), spread_out(len(streamed.ticks), _POINTS)
    marks = tuple(Mark(show_amount(mark), up(mark) / _SIDE * 100) for mark in round_numbers(low, high, 5))
    return Picture(
        streamed.heading,
        streamed.bands,
        tuple(_drawn(strand, i, places, up) for i, strand in enumerate(held)),
        marks,
        streamed.shown(0),
        streamed.shown(-1),
        len(streamed.strands) - len(held),
    )


def _up(low: float, high: float) -> Place:
    return lambda number: (high - min(max(number, low), high)) / (high - low) * _SIDE


def _drawn(strand: Strand, colour: int, places: Sequence[int], up: Place) -> Drawn:
    """Draw a line and its band as steps: a value holds until the next tick."""
    known = [place for place in places if not math.isnan(strand.values[place])]
    count = len(strand.values)
    steps = list(zip(known, [*known[1:], count], strict=True))
    line = [(x, strand.values[place]) for place, end in steps for x in (place, end)]
    above = [(x, strand.highs[place]) for place, end in steps for x in (place, end)]
    below = [(x, strand.lows[place]) for place, end in reversed(steps) for x in (end, place)]
    return Drawn(strand.name, colour, _path(line, count, up), _path([*above, *below], count, up))


def _path(points: Sequence[tuple[int, float]], count: int, up: Place) -> str:
    return " ".join(f"{x / count * _SIDE:.1f},{up(y):.1f}" for x, y in points if not math.isnan(y))
