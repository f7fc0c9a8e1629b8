"""Weighted marks: a column as a sparse histogram of integer weights on the marks of a ruler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.ruler import Marks

Integers: TypeAlias = NDArray[Any]

_SAFE = 1 << 60


@dataclass(frozen=True, eq=False)
class WeightedMarks:
    """Distinct marks in rising order, each with a weight above 0.

    Attributes:
        marks: Where rows are.
        weights: What they weigh together: int64 if no sum of them overflows, Python ints otherwise.
    """

    marks: Marks
    weights: Integers

    @classmethod
    def of(cls, value: Any, top: int) -> WeightedMarks:
        """Read (marks, weights), in any order, a mark as often as it comes.

        Total in the data: marks beyond the ruler count as its ends, and weights below 0 as 0. Types and lengths
        are the caller's.
        """
        marks, weights = _pair(value)
        inside = np.clip(marks, 0, top).astype(np.int64)
        return cls._merged(inside, _summable(np.maximum(weights, 0)))

    @classmethod
    def ones(cls, marks: Marks, top: int) -> WeightedMarks:
        """Return the marks of a column on a short ruler, each value with a weight of one."""
        counts = np.bincount(marks, minlength=top + 1)
        held = np.flatnonzero(counts)
        return cls(held, counts[held])

    @classmethod
    def _merged(cls, marks: Marks, weights: Integers) -> WeightedMarks:
        held = np.flatnonzero(weights)
        order = held[np.argsort(marks[held], kind="stable")]
        marks, weights = marks[order], weights[order]
        starts = np.flatnonzero(np.diff(marks, prepend=-1))
        if len(starts) == len(marks):
            return cls(marks, weights)
        return cls(marks[starts], np.add.reduceat(weights, starts))

    @cached_property
    def sums(self) -> Integers:
        """The weight below each mark, and the total at the end."""
        return np.concatenate((np.zeros(1, self.weights.dtype), np.cumsum(self.weights)))

    @property
    def total(self) -> int:
        """What all rows weigh together."""
        return int(self.sums[-1])


def _pair(value: Any) -> tuple[Integers, Integers]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise MechanismError("weighted-marks-not-a-pair")
    marks, weights = _integers(value[0], "marks"), _integers(value[1], "weights")
    if len(marks) != len(weights):
        raise MechanismError("weighted-marks-differ")
    return marks, weights


def _integers(values: Any, name: str) -> Integers:
    """Read integers by their type; numpy would make doubles of [2**63, 1]."""
    array = values if isinstance(values, np.ndarray) else _listed(values, name)
    if array.ndim != 1:
        raise MechanismError("parameter-not-one-dimensional", name=name)
    if array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "uO" or not all(type(item) is int for item in array.tolist()):
        raise MechanismError("parameter-not-integers", name=name)
    return array.astype(object)


def _listed(values: Any, name: str) -> Integers:
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise MechanismError("parameter-not-a-list-of-integers", name=name)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _summable(weights: Integers) -> Integers:
    """Return int64 if no sum can overflow, Python ints otherwise: the same numbers."""
    largest = int(weights.max()) if len(weights) else 0
    return weights.astype(np.int64 if largest * len(weights) < _SAFE else object, copy=False)
