"""Where numbers, dates and times stand on a small axis: for bars beside the numbers of a table."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Any

from jali.display.numbers import Interval, is_number

# Room at both ends of a bar.
_EDGE = 5


def scale_of(spans: Iterable[Interval]) -> tuple[float, float]:
    """Return the ends of a common axis, from 0 where that does not squeeze the bars."""
    ends = [end for span in spans if span is not None for end in map(position, span) if math.isfinite(end)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    if 0 < low <= high / 2:
        low = 0.0
    return (low, high) if high > low else (low - 1, high + 1)


def position(value: Any) -> float:
    """Return where a number, date or time stands on an axis; NaN for what has no place there."""
    if isinstance(value, datetime.datetime):
        return value.toordinal() + (value.hour * 3600 + value.minute * 60 + value.second) / 86400
    if isinstance(value, datetime.date):
        return float(value.toordinal())
    return float(value) if is_number(value) else math.nan


def place(value: Any, scale: tuple[float, float], width: float) -> float:
    """Return how far from the left a value stands in a bar of so many pixels; what lies outside is at the edge."""
    return _EDGE + share(position(value), *scale) * (width - 2 * _EDGE)


def share(value: float, low: float, high: float) -> float:
    """Return where a number lies between two ends, from 0 to 1; what lies outside is at the end.

    Halves of numbers have a difference where the numbers themselves are too large for one.

    Example:
        >>> share(1.0, 0.0, 4.0), share(9.0, 0.0, 4.0), share(0.0, -1e308, 1e308), share(1e300, 1e300, 1e300)
        (0.25, 1.0, 0.5, 0.5)
    """
    width = high / 2 - low / 2
    return (min(max(value, low), high) / 2 - low / 2) / width if width > 0 else 0.5
