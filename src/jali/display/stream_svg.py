"""A stream for notebooks: its lines and bands as one small drawing, without a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from jali.display.numbers import show_amount
from jali.display.streamed import COLOURS, Strand, Streamed, ends_of, round_numbers, spread_out

_WIDTH, _HEIGHT, _LEFT, _BELOW, _TOP = 640, 200, 56, 20, 8
_FONT = "font-family:system-ui,sans-serif"
# More points than this are no better to see.
_POINTS = 600
_TEXT = 'font-size="11" fill="currentColor" fill-opacity=".65"'

Place = Callable[[float], float]


def stream_svg(streamed: Streamed) -> str:
    """Draw the first lines of a stream, each in its band; nothing before the first tick."""
    strands = streamed.strands[: len(COLOURS)]
    if not streamed.ticks:
        return ""
    low, high = ends_of(end for strand in strands for end in strand.ends)
    high = high if high > low else low + 1
    across, up = _across(len(streamed.ticks)), _up(low, high)
    parts = [_grid(low, high, up), _ends(streamed)]
    places = spread_out(len(streamed.ticks), _POINTS)
    parts += [_strand(strand, places, across, up, paint) for strand, paint in zip(strands, COLOURS, strict=False)]
    return (
        f"{_said(streamed.said)}"
        f'<svg class="jali-stream" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(streamed.name)}" style="{_FONT};display:block;max-width:100%">'
        f"{''.join(parts)}</svg>{_names(strands, len(streamed.strands) - len(strands))}"
    )


def _across(count: int) -> Place:
    return lambda place: _LEFT + place / count * (_WIDTH - _LEFT - 4)


def _up(low: float, high: float) -> Place:
    span = _HEIGHT - _TOP - _BELOW
    return lambda number: _TOP + (high - min(max(number, low), high)) / (high - low) * span


def _grid(low: float, high: float, up: Place) -> str:
    return "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{up(mark):.1f}" y2="{up(mark):.1f}" stroke="currentColor" '
        f'stroke-opacity=".12"/><text x="{_LEFT - 6}" y="{up(mark) + 4:.1f}" text-anchor="end" {_TEXT}>'
        f"{show_amount(mark)}</text>"
        for mark in round_numbers(low, high, 5)
    )


def _ends(streamed: Streamed) -> str:
    """Write the first and the last tick below the axis."""
    first, last = (escape(streamed.shown(place)) for place in (0, -1))
    found = f'<text x="{_LEFT}" y="{_HEIGHT - 5}" {_TEXT}>{first}</text>'
    if len(streamed.ticks) > 1:
        found += f'<text x="{_WIDTH - 4}" y="{_HEIGHT - 5}" text-anchor="end" {_TEXT}>{last}</text>'
    return found


def _strand(strand: Strand, places: Sequence[int], across: Place, up: Place, paint: str) -> str:
    """Draw a line and its band as steps: a value holds until the next tick."""
    known = [place for place in places if not math.isnan(strand.values[place])]
    ends = [*known[1:], len(strand.values)]
    steps = list(zip(known, ends, strict=True))
    line = _path([(x, strand.values[place]) for place, end in steps for x in (place, end)], across, up)
    above = [(x, strand.highs[place]) for place, end in steps for x in (place, end)]
    below = [(x, strand.lows[place]) for place, end in reversed(steps) for x in (end, place)]
    return (
        f'<polygon points="{_path([*above, *below], across, up)}" fill="{paint}" fill-opacity=".2"/>'
        f'<polyline points="{line}" fill="none" stroke="{paint}" stroke-width="1.6"/>'
    )


def _path(points: Sequence[tuple[float, float]], across: Place, up: Place) -> str:
    return " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points if not math.isnan(y))


def _said(text: str) -> str:
    return f'<div style="{_FONT};font-size:12px;opacity:.65;padding:2px 0">{escape(text)}</div>' if text else ""


def _names(strands: Sequence[Strand], left_out: int) -> str:
    """Name the colours, where there are several, and count the keys that are not drawn."""
    if len(strands) < 2:
        return ""
    named = "".join(
        f'<span style="color:{paint};margin-right:14px">■ {escape(strand.name)}</span>'
        for strand, paint in zip(strands, COLOURS, strict=False)
    )
    more = f"{left_out:,} further keys are not drawn" if left_out else ""
    return f'<div style="{_FONT};font-size:12px">{named}{more}</div>'
