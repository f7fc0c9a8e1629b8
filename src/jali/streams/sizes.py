"""Integers and doubles of any size: what fits into machine words, and what is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.linear import doubles
from jali.mechanisms.workloads.workload import Floats

# Many ticks are passed so many at a time: what fits into a processor's cache is passed faster.
CHUNK = 1 << 16
_HUGE = 1 << 900
_SAFE = 1 << 61


def largest_size(array: Any) -> int:
    """Return the largest absolute value; 0 if there is none."""
    array = np.asarray(array)
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def kind_for(size: int) -> type:
    """Return the type in which integers of at most some size can be added and subtracted once more."""
    return np.int64 if size < _SAFE else object


def as_double(number: int) -> float:
    """Return an integer as a double; what is beyond 2^900 is cut to it, as `as_doubles` does."""
    return float(number) if -_HUGE < number < _HUGE else float(max(-_HUGE, min(_HUGE, number)))


def as_doubles(rows: NDArray[Any]) -> Floats:
    """Return integers as doubles, in an array of their own; what is beyond 2^900 is cut to it."""
    return rows.astype(np.float64) if rows.dtype != object else doubles(rows.ravel()).reshape(rows.shape)


def number_or_row(row: NDArray[Any]) -> Any:
    """Return the number in a row of one, or a copy of a longer row."""
    return row.item() if row.size == 1 else row.copy()
