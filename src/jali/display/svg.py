"""Draw a stream as SVG for notebooks: its lines and bands as one small drawing, without a library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jali.display.stream_view_models import STREAM_COLOURS, LinePoints, StreamLine, StreamOutline, StreamPlot

_WIDTH, _HEIGHT, _LEFT, _BELOW, _TOP = 640, 200, 56, 20, 8
_FONT = "font-family:system-ui,sans-serif"
_TEXT = 'font-size="11" fill="currentColor" fill-opacity=".65"'


def draw_stream_svg(streamed: StreamPlot) -> str:
    """Draw the first lines of a stream, each in its band; nothing before the first tick."""
    if not streamed.ticks:
        return ""
    outline = StreamOutline.of(streamed)
    drawn = [
        _draw_line(outline, *paths, paint) for paths, paint in zip(outline.paths, STREAM_COLOURS, strict=False)
    ]
    parts = [_draw_grid(outline), _write_ends(streamed), *drawn]
    return (
        f"{_write_note(streamed.said)}"
        f'<svg class="jali-stream" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(streamed.name)}" style="{_FONT};display:block;max-width:100%">'
        f"{''.join(parts)}</svg>{_write_names(outline.strands, outline.left_out)}"
    )


def _to_x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - 4)


def _to_y(share: float) -> float:
    return _TOP + share * (_HEIGHT - _TOP - _BELOW)


def _draw_grid(outline: StreamOutline) -> str:
    return "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{_to_y(place):.1f}" y2="{_to_y(place):.1f}" stroke="currentColor" '
        f'stroke-opacity=".12"/><text x="{_LEFT - 6}" y="{_to_y(place) + 4:.1f}" text-anchor="end" {_TEXT}>'
        f"{text}</text>"
        for text, place in outline.marks()
    )


def _write_ends(streamed: StreamPlot) -> str:
    """Write the first and the last tick below the axis."""
    first, last = (escape(streamed.name_tick(place)) for place in (0, -1))
    found = f'<text x="{_LEFT}" y="{_HEIGHT - 5}" {_TEXT}>{first}</text>'
    if len(streamed.ticks) > 1:
        found += f'<text x="{_WIDTH - 4}" y="{_HEIGHT - 5}" text-anchor="end" {_TEXT}>{last}</text>'
    return found


def _draw_line(outline: StreamOutline, line: LinePoints, band: LinePoints, paint: str) -> str:
    """Draw a line and its band."""
    around, along = (outline.write_points(points, _to_x, _to_y) for points in (band, line))
    return (
        f'<polygon points="{around}" fill="{paint}" fill-opacity=".2"/>'
        f'<polyline points="{along}" fill="none" stroke="{paint}" stroke-width="1.6"/>'
    )


def _write_note(text: str) -> str:
    return f'<div style="{_FONT};font-size:12px;opacity:.65;padding:2px 0">{escape(text)}</div>' if text else ""


def _write_names(strands: Sequence[StreamLine], left_out: int) -> str:
    """Name the colours, where there are several, and count the keys that are not drawn."""
    if len(strands) < 2:
        return ""
    named = "".join(
        f'<span style="color:{paint};margin-right:14px">■ {escape(strand.name)}</span>'
        for strand, paint in zip(strands, STREAM_COLOURS, strict=False)
    )
    more = f"{left_out:,} further keys are not drawn" if left_out else ""
    return f'<div style="{_FONT};font-size:12px">{named}{more}</div>'
