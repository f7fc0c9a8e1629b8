"""Lines with bands: a stream as a small drawing that fits any width."""

from __future__ import annotations

from dataclasses import dataclass

from jali.display.streamed import Outline, Streamed
from jali.server.pages.bars import Mark

# How many units wide and high the drawing is, which is stretched to its place.
_SIDE = 1000


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
    outline = Outline.of(streamed)
    paths = ([outline.written(points, _stretched, _stretched) for points in path] for path in outline.paths)
    return Picture(
        streamed.heading,
        streamed.bands,
        tuple(Drawn(s.name, i, *path) for i, (s, path) in enumerate(zip(outline.strands, paths, strict=True))),
        tuple(Mark(text, _stretched(place) / _SIDE * 100) for text, place in outline.marks()),
        streamed.shown(0),
        streamed.shown(-1),
        outline.left_out,
    )


def _stretched(share: float) -> float:
    return share * _SIDE
