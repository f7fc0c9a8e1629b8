"""Write HTML for notebooks: one self-contained fragment each. Every text is escaped.

Numbers, dates and times stand on a small axis, for bars beside the numbers of a table.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from jali.display.numbers import Interval, half_width, is_number, show_error, show_key, show_number
from jali.display.stream_view_models import find_ends
from jali.display.view_models import CellLine, Intervals, has_labels, split_cells

# Room at both ends of a bar.
_EDGE = 5


def find_scale(spans: Iterable[Interval]) -> tuple[float, float]:
    """Return the ends of a common axis, from 0 where that does not squeeze the bars."""
    low, high = find_ends(find_position(end) for span in spans if span is not None for end in span)
    if 0 < low <= high / 2:
        low = 0.0
    return (low, high) if high > low else (low - 1, high + 1)


def find_position(value: Any) -> float:
    """Return where a number, date or time stands on an axis; NaN for what has no place there."""
    if isinstance(value, datetime.datetime):
        return value.toordinal() + (value.hour * 3600 + value.minute * 60 + value.second) / 86400
    if isinstance(value, datetime.date):
        return float(value.toordinal())
    return float(value) if is_number(value) else math.nan


def place_in_bar(value: Any, scale: tuple[float, float], width: float) -> float:
    """Return how far from the left of a bar a value stands, in pixels; what lies outside is at the edge."""
    return _EDGE + locate(find_position(value), *scale) * (width - 2 * _EDGE)


def locate(value: float, low: float, high: float) -> float:
    """Return where a number lies between two ends, from 0 to 1; what lies outside is at the end.

    Halves of numbers have a difference where the numbers themselves are too large for one.

    Example:
        >>> locate(1.0, 0.0, 4.0), locate(9.0, 0.0, 4.0), locate(0.0, -1e308, 1e308), locate(1e300, 1e300, 1e300)
        (0.25, 1.0, 0.5, 0.5)
    """
    width = high / 2 - low / 2
    return (min(max(value, low), high) / 2 - low / 2) / width if width > 0 else 0.5


_FONT = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
_HEAD = "text-align:{side};padding:4px 12px;border-bottom:1px solid rgba(128,128,128,.5);font-weight:600"
_CELL = (
    "text-align:{side};padding:3px 12px;vertical-align:top;font-variant-numeric:tabular-nums;white-space:nowrap"
)
_FAINT = "opacity:.65"
_CAPTION = f"caption-side:bottom;text-align:left;padding:6px 12px;{_FAINT}"
_SVG_WIDTH, _SVG_HEIGHT = 140, 14
# What a row of HTML cells holds: one tuple of cells a line.
_Stack = list[str]


def write_answer_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    intervals: Sequence[Sequence[Intervals]],
    caption: str,
    remarks: Sequence[str] = (),
) -> str:
    """Write an answer as a table: keys, and each noisy number with its error bar, drawn to a common scale.

    A cell that holds several values takes a line for each; the other cells of its row reach over all of them.
    """
    cells, heights = split_cells(rows, intervals)
    made = [
        _write_column(name, [row[j] for row in cells], heights, labelled=has_labels([row[j] for row in rows]))
        for j, name in enumerate(columns)
    ]
    head = "".join(heading for heading, _ in made)
    body = "".join(
        f"<tr>{''.join(stacks[i][k] for _, stacks in made)}</tr>"
        for i, height in enumerate(heights)
        for k in range(height)
    )
    foot = "".join(f"<div>{escape(line)}</div>" for line in (*remarks, caption))
    return (
        f'<table class="jali-answer" style="border-collapse:collapse;{_FONT}">'
        f'<caption style="{_CAPTION}">{foot}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def write_facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Write labelled facts as a small table."""
    lines = (
        f'<tr><th scope="row" style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;'
        f'font-weight:400;{_FAINT}">{escape(label)}</th>'
        f'<td style="text-align:left;padding:1px 0">{escape(fact)}</td></tr>'
        for label, fact in pairs
    )
    return f'<table style="border-collapse:collapse;{_FONT}">{"".join(lines)}</table>'


def write_section(title: str, body: str, *, remark: str = "") -> str:
    """Write a titled part."""
    note = f' <span style="font-weight:400;{_FAINT}">{escape(remark)}</span>' if remark else ""
    return f'<div style="margin:10px 0 4px;font-weight:600">{escape(title)}{note}</div>{body}'


def write_details(title: str, text: str) -> str:
    """Write long text that opens on a click."""
    return (
        f'<details style="margin:10px 0"><summary>{escape(title)}</summary>'
        f'<pre style="font-size:12px;white-space:pre-wrap">{escape(text)}</pre></details>'
    )


def write_card(body: str) -> str:
    """Write the frame around a whole explanation."""
    return (
        f'<div class="jali-plan" style="{_FONT};max-width:60em;padding:10px 16px;'
        f'border:1px solid rgba(128,128,128,.4);border-radius:8px">{body}</div>'
    )


def _write_column(
    name: str, cells: list[list[CellLine]], heights: list[int], *, labelled: bool
) -> tuple[str, list[_Stack]]:
    """Return the heading of an output, and per row of the answer its cells, line by line."""
    every = [line for cell in cells for line in cell]
    spans = [line.interval for line in every]
    noisy = any(span is not None for span in spans)
    scale = find_scale(spans)
    stacks = [
        _fill_row(
            [_write_cells(line, scale, labelled=labelled, noisy=noisy) for line in cell],
            height,
            labelled + 1 + noisy,
        )
        for cell, height in zip(cells, heights, strict=True)
    ]
    side = "right" if noisy else "left"
    heads = [_write_head(name, "left"), _write_head("value", side)] if labelled else [_write_head(name, side)]
    return "".join([*heads, *([_write_head("", "left")] if noisy else [])]), stacks


def _write_cells(
    line: CellLine, scale: tuple[float, float], *, labelled: bool, noisy: bool
) -> list[tuple[str, str]]:
    """Return the cells of one value, each with its side: its label, itself with its error, and a bar."""
    made = [(escape(show_key(line.label)), "left")] if labelled else []
    if not noisy:
        return [*made, (escape(show_key(line.value)), "left")]
    number, bar = _write_number(line.value, line.interval), _draw_bar(line.value, line.interval, scale)
    return [*made, (number, "right"), (bar, "left")]


def _fill_row(stack: list[list[tuple[str, str]]], height: int, width: int) -> _Stack:
    """Write the lines of a cell; the last one reaches down to the end of its row."""
    stack = stack or [[("", "left")] * width]
    rest = height - len(stack)
    reach = [1] * (len(stack) - 1) + [rest + 1]
    written = ["".join(_write_cell(*cell, rows=r) for cell in line) for line, r in zip(stack, reach, strict=True)]
    return written + [""] * rest


def _write_number(value: Any, span: Interval) -> str:
    bar = f' <span style="{_FAINT}">{escape(show_error(value, span))}</span>' if span is not None else ""
    return escape(show_number(value, half_width(span))) + bar


def _write_head(name: str, side: str) -> str:
    return f'<th scope="col" style="{_HEAD.format(side=side)}">{escape(name)}</th>'


def _write_cell(inner: str, side: str, *, rows: int = 1) -> str:
    reach = f' rowspan="{rows}"' if rows > 1 else ""
    return f'<td{reach} style="{_CELL.format(side=side)}">{inner}</td>'


def _draw_bar(value: Any, span: Interval, scale: tuple[float, float]) -> str:
    """Draw the interval as a line and the value as a dot."""
    if span is None or not math.isfinite(find_position(value)):
        return ""
    left, right, dot = (place_in_bar(x, scale, _SVG_WIDTH) for x in (*span, value))
    middle = _SVG_HEIGHT / 2
    return (
        f'<svg width="{_SVG_WIDTH}" height="{_SVG_HEIGHT}" role="img" aria-label="interval">'
        f'<line x1="{left:.1f}" y1="{middle}" x2="{right:.1f}" y2="{middle}" stroke="currentColor" '
        f'stroke-opacity=".35" stroke-width="5" stroke-linecap="round"/>'
        f'<circle cx="{dot:.1f}" cy="{middle}" r="3.2" fill="#0f766e"/></svg>'
    )
