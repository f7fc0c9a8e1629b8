"""A stream as a frame of letters: the chart of each key that there is room for, and what it shows now."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jali.display.chart import SHADE, chart
from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_error, show_number
from jali.display.streamed import Strand, Streamed, chosen
from jali.display.text import cell_width, clean

# A chart is at least and at most so many lines high, with its heading and its axis.
_LEAST, _MOST = 7, 22


def frame(
    streamed: Streamed, keys: Sequence[str] | None = None, *, width: int, height: int, ink: Ink = PLAIN
) -> list[str]:
    """Draw a stream in at most so many letters and lines; keys that find no room are counted below."""
    strands = _chosen(streamed, keys)
    head = [ink.strong(_cut(clean(streamed.heading), width))]
    if not streamed.ticks:
        return [*head, "Nothing was published yet."]
    room = max(_LEAST, height - 3)
    shown = strands[: max(1, room // _LEAST)]
    each = min(_MOST, room // len(shown))
    charts = [line for strand in shown for line in _one(streamed, strand, width, each, ink)]
    return [*head, *charts, *_foot(streamed, len(strands) - len(shown), width, ink)]


def _chosen(streamed: Streamed, keys: Sequence[str] | None) -> Sequence[Strand]:
    if not keys:
        return streamed.strands
    return list(chosen(keys, {strand.name: strand for strand in streamed.strands}, streamed.name).values())


def _one(streamed: Streamed, strand: Strand, width: int, height: int, ink: Ink) -> list[str]:
    now = "" if streamed.said else _now(strand)
    heading = _cut(f"{clean(strand.name)}  {now}".strip(), width)
    return [ink.accent(heading), *chart(streamed, strand, width=width, height=height - 1, ink=ink)]


def _now(strand: Strand) -> str:
    """Write the value of the last tick with its error bar."""
    value, span = strand.values[-1], (strand.lows[-1], strand.highs[-1])
    if math.isnan(value) or any(math.isnan(end) for end in span):
        return "unknown"
    return f"{show_number(value, (span[1] - span[0]) / 2)} {show_error(value, span)}"


def _foot(streamed: Streamed, left_out: int, width: int, ink: Ink) -> list[str]:
    more = f" · {left_out:,} further keys: --key NAME" if left_out else ""
    band = f"{SHADE} {streamed.between or f'{100 * streamed.confidence:g} % interval for the bounded truth'}"
    return [ink.faint(_cut(band + more, width))]


def _cut(text: str, width: int) -> str:
    """Cut a line to the width of the terminal: one that wraps would not be drawn over."""
    while cell_width(text) > width:
        text = text[:-1]
    return text
