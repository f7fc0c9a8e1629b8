"""HTML for notebooks: one self-contained fragment each. Every text is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from jali.display.numbers import Interval, half_width, show_error, show_number

_FONT = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
_HEAD = "text-align:{side};padding:4px 12px;border-bottom:1px solid rgba(128,128,128,.5);font-weight:600"
_CELL = "text-align:{side};padding:3px 12px;font-variant-numeric:tabular-nums;white-space:nowrap"
_FAINT = "opacity:.65"
_CAPTION = f"caption-side:bottom;text-align:left;padding:6px 12px;{_FAINT}"
_SVG_WIDTH, _SVG_HEIGHT = 140, 14


def answer_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    intervals: Sequence[Sequence[Interval]],
    caption: str,
) -> str:
    """Write an answer as a table: keys, and each noisy number with its error bar, drawn to a common scale."""
    made = [_column(name, [row[j] for row in rows], [s[j] for s in intervals]) for j, name in enumerate(columns)]
    head = "".join(column[0] for column in made)
    body = "".join(f"<tr>{''.join(column[1][i] for column in made)}</tr>" for i in range(len(rows)))
    foot = f'<caption style="{_CAPTION}">{escape(caption)}</caption>'
    return (
        f'<table class="jali-answer" style="border-collapse:collapse;{_FONT}">{foot}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Write labelled facts as a small table."""
    lines = (
        f'<tr><th scope="row" style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;'
        f'font-weight:400;{_FAINT}">{escape(label)}</th>'
        f'<td style="text-align:left;padding:1px 0">{escape(fact)}</td></tr>'
        for label, fact in pairs
    )
    return f'<table style="border-collapse:collapse;{_FONT}">{"".join(lines)}</table>'


def section(title: str, body: str, *, remark: str = "") -> str:
    """Write a titled part."""
    note = f' <span style="font-weight:400;{_FAINT}">{escape(remark)}</span>' if remark else ""
    return f'<div style="margin:10px 0 4px;font-weight:600">{escape(title)}{note}</div>{body}'


def folded(title: str, text: str) -> str:
    """Write long text that opens on a click."""
    return (
        f'<details style="margin:10px 0"><summary>{escape(title)}</summary>'
        f'<pre style="font-size:12px;white-space:pre-wrap">{escape(text)}</pre></details>'
    )


def card(body: str) -> str:
    """Write the frame around a whole explanation."""
    return (
        f'<div class="jali-plan" style="{_FONT};max-width:60em;padding:10px 16px;'
        f'border:1px solid rgba(128,128,128,.4);border-radius:8px">{body}</div>'
    )


def _column(name: str, values: list[Any], spans: list[Interval]) -> tuple[str, list[str]]:
    if all(span is None for span in spans):
        return _head(name, "left"), [_cell(escape(show_number(value)), "left") for value in values]
    scale = _scale(spans)
    cells = [
        _cell(_number(value, span), "right") + _cell(_bar(value, span, scale), "left")
        for value, span in zip(values, spans, strict=True)
    ]
    return _head(name, "right") + _head("", "left"), cells


def _number(value: Any, span: Interval) -> str:
    bar = f' <span style="{_FAINT}">{escape(show_error(value, span))}</span>' if span is not None else ""
    return escape(show_number(value, half_width(span))) + bar


def _head(name: str, side: str) -> str:
    return f'<th scope="col" style="{_HEAD.format(side=side)}">{escape(name)}</th>'


def _cell(inner: str, side: str) -> str:
    return f'<td style="{_CELL.format(side=side)}">{inner}</td>'


def _scale(spans: Iterable[Interval]) -> tuple[float, float]:
    """Return the ends of a common axis, from 0 where that does not squeeze the bars."""
    ends = [end for span in spans if span is not None for end in span if math.isfinite(end)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    if 0 < low <= high / 2:
        low = 0.0
    return (low, high) if high > low else (low - 1, high + 1)


def _bar(value: Any, span: Interval, scale: tuple[float, float]) -> str:
    """Draw the interval as a line and the value as a dot."""
    if span is None or not isinstance(value, int | float) or not math.isfinite(value):
        return ""
    left, right, dot = (_place(x, scale) for x in (*span, float(value)))
    middle = _SVG_HEIGHT / 2
    return (
        f'<svg width="{_SVG_WIDTH}" height="{_SVG_HEIGHT}" role="img" aria-label="interval">'
        f'<line x1="{left:.1f}" y1="{middle}" x2="{right:.1f}" y2="{middle}" stroke="currentColor" '
        f'stroke-opacity=".35" stroke-width="5" stroke-linecap="round"/>'
        f'<circle cx="{dot:.1f}" cy="{middle}" r="3.2" fill="#0f766e"/></svg>'
    )


def _place(x: float, scale: tuple[float, float]) -> float:
    share = (min(max(x, scale[0]), scale[1]) - scale[0]) / (scale[1] - scale[0])
    return 5 + share * (_SVG_WIDTH - 10)
