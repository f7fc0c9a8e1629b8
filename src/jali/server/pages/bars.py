"""Charts of answers: drawn by the server, in shares of their width, so that letters keep their size on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jali.display.axes import share
from jali.display.numbers import Interval, half_width, is_number, show_amount, show_error, show_number
from jali.display.plotted import Point
from jali.display.streamed import ends_of, round_numbers

# With more values than this there is a mark for each, side by side; of even more the first are drawn.
MOST_BARS, MOST_MARKS = 24, 400


@dataclass(frozen=True)
class Mark:
    """A round number on an axis, and where it stands, in percent."""

    text: str
    place: float
    side: str = "middle"


@dataclass(frozen=True)
class Bar:
    """One value: where it begins and ends, where its error bar does, all in percent; and what it says."""

    label: str
    text: str
    start: float
    end: float
    low: float
    high: float
    across: float = 0.0

    @property
    def value(self) -> float:
        """Where the value itself stands: the end of the bar that is not zero."""
        return self.end

    @property
    def left(self) -> float:
        """Where the bar begins."""
        return min(self.start, self.end)

    @property
    def width(self) -> float:
        """How long the bar is."""
        return abs(self.end - self.start)


@dataclass(frozen=True)
class Chart:
    """A chart of one column.

    Attributes:
        name: Of the column.
        bars: Its values.
        marks: The axis of the values.
        upright: Whether values stand side by side, since they are many.
        labels: Below the axis then: the first, the middle and the last key.
        left_out: How many values are not drawn.
    """

    name: str
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    upright: bool
    labels: tuple[Mark, ...] = ()
    left_out: int = 0


def chart_of(name: str, points: Sequence[Point]) -> Chart:
    """Place values and their intervals between round numbers."""
    known = [point for point in points if is_number(point[1]) and math.isfinite(point[1])]
    drawn, upright = known[:MOST_MARKS], len(known) > MOST_BARS
    low, high = _ends(drawn)
    marks = round_numbers(low, high, 5)
    low, high = min(low, *marks), max(high, *marks)
    bars = tuple(_bar(point, low, high, (i + 0.5) / len(drawn) * 100) for i, point in enumerate(drawn))
    axis = tuple(_mark(mark, low, high) for mark in marks)
    return Chart(name, bars, axis, upright, _labels(bars) if upright else (), len(points) - len(drawn))


def _ends(points: Sequence[Point]) -> tuple[float, float]:
    """Return the ends of the axis: zero is on it, as bars begin there."""
    numbers = [end for _, value, span in points for end in (value, *_span(value, span))]
    low, high = ends_of([0.0, *numbers])
    return (low, high) if high > low else (low, low + 1)


def _span(value: Any, span: Any) -> tuple[float, float]:
    """Return the ends of an interval; the value itself where there is none, or one of something else."""
    ends = span if span is not None and all(is_number(end) for end in span) else (value, value)
    return float(ends[0]), float(ends[1])


def _bar(point: Point, low: float, high: float, across: float) -> Bar:
    label, value, span = point
    zero, end, first, last = (_percent(x, low, high) for x in (0.0, float(value), *_span(value, span)))
    text = f"{show_number(value, half_width(span))} {error_of(value, span)}".strip()
    return Bar(label or "all", text, zero, end, first, last, across)


def error_of(value: Any, span: Interval) -> str:
    """Write an error bar beside its value: two ends stand in brackets."""
    said = show_error(value, span)
    return said if said.startswith("±") or not said else f"({said})"


def _percent(x: float, low: float, high: float) -> float:
    return 100 * share(x, low, high)


def _mark(mark: float, low: float, high: float) -> Mark:
    place = _percent(mark, low, high)
    side = "start" if place < 4 else "end" if place > 96 else "middle"
    return Mark(show_amount(mark), place, side)


def _labels(bars: Sequence[Bar]) -> tuple[Mark, ...]:
    middle = bars[len(bars) // 2]
    return (Mark(bars[0].label, 0, "start"), Mark(middle.label, middle.across), Mark(bars[-1].label, 100, "end"))
