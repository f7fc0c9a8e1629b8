"""View models of answers: cells of several values, and what a plot of a column shows, as plain values.

A cell may hold several values: a list (quantiles, top-k) or a mapping (histograms). No library is needed to
make or to test what a plot shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jali.display.numbers import Interval, half_width, is_number, show_error, show_key, show_number

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
class CellLine:
    """One value of a cell.

    Attributes:
        label: What a mapping calls it; None in a list, or where there is one value only.
        value: The value.
        interval: Its interval.
    """

    label: Any
    value: Any
    interval: Interval


def split_lines(value: Any, interval: Intervals) -> list[CellLine]:
    """Return what a cell holds, one value a line; an empty list or mapping has none.

    Example:
        >>> [(line.label, line.value) for line in split_lines({"A": 1, "B": 2}, None)]
        [('A', 1), ('B', 2)]
        >>> split_lines(5, (3, 7))
        [CellLine(label=None, value=5, interval=(3, 7))]
    """
    if isinstance(value, dict):
        known = interval if isinstance(interval, dict) else {}
        return [CellLine("NULL" if k is None else k, inner, known.get(k)) for k, inner in value.items()]
    if isinstance(value, list):
        spans: list[Interval] = interval if isinstance(interval, list) else [None] * len(value)
        return [CellLine(None, inner, span) for inner, span in zip(value, spans, strict=True)]
    return [CellLine(None, value, interval)]


def split_cells(
    rows: Sequence[Sequence[Any]], intervals: Sequence[Sequence[Intervals]]
) -> tuple[list[list[list[CellLine]]], list[int]]:
    """Return the values of each cell, and how many lines each row of cells takes."""
    cells = [
        [split_lines(*pair) for pair in zip(row, spans, strict=True)]
        for row, spans in zip(rows, intervals, strict=True)
    ]
    return cells, [max(1, *(len(cell) for cell in row)) for row in cells]


def flatten_cells(
    rows: Sequence[Sequence[Any]], intervals: Sequence[Sequence[Intervals]]
) -> tuple[list[Any], list[Interval]]:
    """Return all values of an answer with their intervals, as two lists."""
    every = [line for row in split_cells(rows, intervals)[0] for cell in row for line in cell]
    return [line.value for line in every], [line.interval for line in every]


def has_labels(values: Sequence[Any]) -> bool:
    """Return whether a column holds mappings."""
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
    shown = [_shorten_line(line) for line in split_lines(value, interval)]
    more = [f"… {len(shown)} values"] if len(shown) > _SHOWN else []
    inner = ", ".join(shown[:_SHOWN] + more)
    return f"{{{inner}}}" if isinstance(value, dict) else f"[{inner}]"


def _shorten_line(line: CellLine) -> str:
    known = line.interval is not None
    shown = show_number(line.value, half_width(line.interval)) if known else show_key(line.value)
    return shown if line.label is None else f"{show_key(line.label)}: {shown}"


Point: TypeAlias = tuple[str, Any, Interval]
# More series than this are drawn one below the other.
MOST_SERIES = 6


@dataclass(frozen=True)
class Series:
    """One colour of a picture: its name, and a line for each label that it has a value for."""

    name: str
    lines: tuple[CellLine, ...]


@dataclass(frozen=True)
class ColumnPlot:
    """One column of an answer, ready to be drawn.

    Attributes:
        name: Of the column.
        keys: The keys of each row.
        values: The value of each row.
        intervals: Its interval.
        cumulative: Whether the values are distribution functions.
    """

    name: str
    keys: Sequence[tuple[Any, ...]]
    values: Sequence[Any]
    intervals: Sequence[Intervals]
    cumulative: bool = False

    @property
    def points(self) -> list[Point]:
        """Label, value and interval, one for each value; several values of a row are numbered or labelled."""
        return [point for row in self._rows for point in _list_points(*row)]

    @property
    def series(self) -> tuple[Series, ...]:
        """A series for each histogram, or for each second key; none where they would be too many."""
        if self.values and all(isinstance(value, dict) for value in self.values):
            found = [Series(_join_key(key), tuple(split_lines(value, span))) for key, value, span in self._rows]
        elif self._has_two_keys:
            found = self._split_by_second_key()
        else:
            return ()
        return tuple(found) if len(found) <= MOST_SERIES else ()

    @property
    def has_steps(self) -> bool:
        """Whether the series are distribution functions over numbers; the label of the rest may be a word."""
        counts = [sum(is_number(line.label) for line in series.lines) for series in self.series]
        return self.cumulative and bool(counts) and min(counts) >= 2

    @property
    def _rows(self) -> list[tuple[tuple[Any, ...], Any, Intervals]]:
        return list(zip(self.keys, self.values, self.intervals, strict=True))

    @property
    def _has_two_keys(self) -> bool:
        plain = not any(isinstance(value, list | dict) for value in self.values)
        two = bool(self.keys) and all(len(key) == 2 and ALL not in key for key in self.keys)
        return plain and two and len({key[1] for key in self.keys}) > 1

    def _split_by_second_key(self) -> list[Series]:
        found: dict[Any, list[CellLine]] = {}
        for (first, second), value, span in self._rows:
            found.setdefault(second, []).append(CellLine(show_key(first), value, span))
        return [Series(show_key(second), tuple(held)) for second, held in found.items()]


def _list_points(key: tuple[Any, ...], value: Any, interval: Intervals) -> list[Point]:
    if not isinstance(value, list | dict):
        return [(_join_key(key), value, interval)]
    return [
        (_join_key((*key, f"[{place}]" if line.label is None else line.label)), line.value, line.interval)
        for place, line in enumerate(split_lines(value, interval), 1)
    ]


def _join_key(key: tuple[Any, ...]) -> str:
    return ", ".join(show_key(part) for part in key)
