"""What a picture of an answer shows, as plain values: no library is needed to make or to test it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jali.display.cells import ALL, Intervals, Line, lines
from jali.display.numbers import Interval, is_number, show_key

Point: TypeAlias = tuple[str, Any, Interval]
# More series than this are drawn one below the other.
MOST_SERIES = 6


@dataclass(frozen=True)
class Series:
    """One colour of a picture: its name, and a line for each label that it has a value for."""

    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Plotted:
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
        return [point for row in self._rows for point in _points(*row)]

    @property
    def series(self) -> tuple[Series, ...]:
        """A series for each histogram, or for each second key; none where they would be too many."""
        if self.values and all(isinstance(value, dict) for value in self.values):
            found = [Series(_joined(key), tuple(lines(value, span))) for key, value, span in self._rows]
        elif self._crossed:
            found = self._by_second_key()
        else:
            return ()
        return tuple(found) if len(found) <= MOST_SERIES else ()

    @property
    def stepped(self) -> bool:
        """Whether the series are distribution functions over numbers; the label of the rest may be a word."""
        counts = [sum(is_number(line.label) for line in series.lines) for series in self.series]
        return self.cumulative and bool(counts) and min(counts) >= 2

    @property
    def _rows(self) -> list[tuple[tuple[Any, ...], Any, Intervals]]:
        return list(zip(self.keys, self.values, self.intervals, strict=True))

    @property
    def _crossed(self) -> bool:
        plain = not any(isinstance(value, list | dict) for value in self.values)
        two = bool(self.keys) and all(len(key) == 2 and ALL not in key for key in self.keys)
        return plain and two and len({key[1] for key in self.keys}) > 1

    def _by_second_key(self) -> list[Series]:
        found: dict[Any, list[Line]] = {}
        for (first, second), value, span in self._rows:
            found.setdefault(second, []).append(Line(show_key(first), value, span))
        return [Series(show_key(second), tuple(held)) for second, held in found.items()]


def _points(key: tuple[Any, ...], value: Any, interval: Intervals) -> list[Point]:
    if not isinstance(value, list | dict):
        return [(_joined(key), value, interval)]
    return [
        (_joined((*key, f"[{place}]" if line.label is None else line.label)), line.value, line.interval)
        for place, line in enumerate(lines(value, interval), 1)
    ]


def _joined(key: tuple[Any, ...]) -> str:
    return ", ".join(show_key(part) for part in key)
