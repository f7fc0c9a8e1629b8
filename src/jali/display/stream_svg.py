"""A stream for notebooks: its lines and bands as one small drawing, without a library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jali.display.streamed import COLOURS, Outline, Points, Strand, Streamed

_WIDTH, _HEIGHT, _LEFT, _BELOW, _TOP = 640, 200, 56, 20, 8
_FONT = "font-family:system-ui,sans-serif"
_TEXT = 'font-size="11" fill="currentColor" fill-opacity=".65"'


def stream_svg(streamed: Streamed) -> str:
    """Draw the first lines of a stream, each in its band; nothing before the first tick."""
    if not streamed.ticks:
        return ""
    outline = Outline.of(streamed)
    drawn = [_strand(outline, *paths, paint) for paths, paint in zip(outline.paths, COLOURS, strict=False)]
    parts = [_grid(outline), _ends(streamed), *drawn]
    return (
        f"{_said(streamed.said)}"
        f'<svg class="jali-stream" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(streamed.name)}" style="{_FONT};display:block;max-width:100%">'
        f"{''.join(parts)}</svg>{_names(outline.strands, outline.left_out)}"
    )


def _across(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - 4)


def _down(share: float) -> float:
    return _TOP + share * (_HEIGHT - _TOP - _BELOW)


def _grid(outline: Outline) -> str:
    return "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{_down(place):.1f}" y2="{_down(place):.1f}" stroke="currentColor" '
        f'stroke-opacity=".12"/><text x="{_LEFT - 6}" y="{_down(place) + 4:.1f}" text-anchor="end" {_TEXT}>'
        f"{text}</text>"
        for text, place in outline.marks()
    )


def _ends(streamed: Streamed) -> str:
    """Write the first and the last tick below the axis."""
    first, last = (escape(streamed.shown(place)) for place in (0, -1))
    found = f'<text x="{_LEFT}" y="{_HEIGHT - 5}" {_TEXT}>{first}</text>'
    if len(streamed.ticks) > 1:
        found += f'<text x="{_WIDTH - 4}" y="{_HEIGHT - 5}" text-anchor="end" {_TEXT}>{last}</text>'
    return found


def _strand(outline: Outline, line: Points, band: Points, paint: str) -> str:
    """Draw a line and its band."""
    around, along = (outline.written(points, _across, _down) for points in (band, line))
    return (
        f'<polygon points="{around}" fill="{paint}" fill-opacity=".2"/>'
        f'<polyline points="{along}" fill="none" stroke="{paint}" stroke-width="1.6"/>'
    )


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
