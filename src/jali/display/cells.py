"""Cells of an answer that hold several values: lists (quantiles, top-k) and mappings (histograms)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jali.display.numbers import Interval, half_width, show_error, show_key, show_number

# An interval; or a list or a mapping of such, like the value beside it.
Intervals: TypeAlias = Any
_SHOWN = 3


class _All:
    """Stands where a total leaves out a key. It is no value: a NULL key is shown as NULL."""

    def __str__(self) -> str:
        return "(all)"

    __repr__ = __str__


ALL = _All()


@dataclass(frozen=True)
class Line:
    """One value of a cell.

    Attributes:
        label: What a mapping calls it; None in a list, or where there is one value only.
        value: The value.
        interval: Its interval.
    """

    label: Any
    value: Any
    interval: Interval


def lines(value: Any, interval: Intervals) -> list[Line]:
    """Return what a cell holds, one value a line; an empty list or mapping has none.

    Example:
        >>> [(line.label, line.value) for line in lines({"A": 1, "B": 2}, None)]
        [('A', 1), ('B', 2)]
        >>> lines(5, (3, 7))
        [Line(label=None, value=5, interval=(3, 7))]
    """
    if isinstance(value, dict):
        known = interval if isinstance(interval, dict) else {}
        return [Line("NULL" if k is None else k, inner, known.get(k)) for k, inner in value.items()]
    if isinstance(value, list):
        spans: list[Interval] = interval if isinstance(interval, list) else [None] * len(value)
        return [Line(None, inner, span) for inner, span in zip(value, spans, strict=True)]
    return [Line(None, value, interval)]


def flat(
    rows: Sequence[Sequence[Any]], intervals: Sequence[Sequence[Intervals]]
) -> tuple[list[Any], list[Interval]]:
    """Return all values of an answer with their intervals, as two lists."""
    pairs = (pair for row, spans in zip(rows, intervals, strict=True) for pair in zip(row, spans, strict=True))
    every = [line for value, span in pairs for line in lines(value, span)]
    return [line.value for line in every], [line.interval for line in every]


def has_labels(values: Sequence[Any]) -> bool:
    """Whether a column holds mappings."""
    return any(isinstance(value, dict) for value in values)


def show_cell(value: Any, interval: Intervals) -> str:
    """Write a cell in one line: a value with its error bar, or the first values of several.

    Example:
        >>> show_cell(10, (8.0, 12.0)), show_cell(50, (44, 57)), show_cell({"A": 1.25}, None)
        ('10 ± 2.0', '50 (44 … 57)', '{A: 1.25}')
    """
    if not isinstance(value, dict | list):
        if interval is None:
            return show_key(value)
        bar = show_error(value, interval)
        around = bar if bar.startswith("±") else f"({bar})"
        return f"{show_number(value, half_width(interval))} {around}"
    shown = [_short(line) for line in lines(value, interval)]
    more = [f"… {len(shown)} values"] if len(shown) > _SHOWN else []
    inner = ", ".join(shown[:_SHOWN] + more)
    return f"{{{inner}}}" if isinstance(value, dict) else f"[{inner}]"


def _short(line: Line) -> str:
    known = line.interval is not None
    shown = show_number(line.value, half_width(line.interval)) if known else show_key(line.value)
    return shown if line.label is None else f"{show_key(line.label)}: {shown}"
