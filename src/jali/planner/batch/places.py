"""Where each cell of a partition counts: expressions over all cells at once, each looked at once.

A condition is a table of truth values along the dimensions it looks at, in SQL's logic of three values. Questions
share most of what they look at, the condition of all weighed rows above all: its table is made for the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.planner.batch.partition import NO_KEY, Counted, Partition, absent
from jali.query.aggregation import KeySet
from jali.query.evaluate import evaluate
from jali.query.nodes import Call, Expression, Literal, walk

Truth: TypeAlias = NDArray[np.int8]
Numbers: TypeAlias = NDArray[np.int64]
NOT_COUNTED = -1
# SQL's AND is then the least of two truth values and OR the greatest; NOT changes the sign.
_FALSE, _UNKNOWN, _TRUE = -1, 0, 1


class Places:
    """Looks up in which number of a release each cell counts."""

    def __init__(self, partition: Partition) -> None:
        self._dimensions = partition.dimensions
        self._shape = tuple(len(choices) for choices in partition.dimensions)
        self._axes = {e: axis for axis, choices in enumerate(partition.dimensions) for e in choices[0]}
        self._truths: dict[Expression, Truth] = {}

    def of(self, counted: Counted) -> Numbers:
        """Return, for each cell, which number it is counted in; -1 for none, -2 if only its key is missing."""
        holds = [self._truth(condition) == _TRUE for condition in counted.conditions]
        holds += [self._looked(e, lambda value: not absent(value), np.bool_) for e in counted.present]
        place: Numbers = np.zeros(self._flat, np.int64)
        for key in counted.keys:
            found = self._key(key)
            place = np.where((place < 0) | (found < 0), NO_KEY, place * len(key.values or ()) + found)
        kept: NDArray[np.bool_] = reduce(np.logical_and, holds, np.ones(self._flat, np.bool_))
        return np.array(np.broadcast_to(np.where(kept, place, NOT_COUNTED), self._shape)).ravel()

    @property
    def _flat(self) -> tuple[int, ...]:
        return (1,) * len(self._shape)

    def _key(self, key: KeySet) -> Numbers:
        known = {value: i for i, value in enumerate(key.values or ())}
        return self._looked(key.expression, lambda value: known.get(value, NO_KEY), np.int64)

    def _truth(self, condition: Expression) -> Truth:
        if condition not in self._truths:
            self._truths[condition] = self._judged(condition)
        return self._truths[condition]

    def _judged(self, condition: Expression) -> Truth:
        if isinstance(condition, Call) and condition not in self._axes:
            if condition.function == "not":
                return -self._truth(condition.arguments[0])
            if condition.function in ("and", "or"):
                join = np.minimum if condition.function == "and" else np.maximum
                return reduce(join, [self._truth(argument) for argument in condition.arguments])
        return _each(self._values(condition), _judge, np.int8)

    def _values(self, expression: Expression) -> NDArray[Any]:
        """Return the value of an expression along the dimensions that it looks at."""
        if isinstance(expression, Call) and expression not in self._axes:
            if expression.function == "case":
                return self._looked(expression, lambda value: value, np.object_)
            if expression.function == "coalesce":
                return reduce(_first, [self._values(argument) for argument in expression.arguments])
            if expression.function in ("and", "or", "not"):
                return _each(self._truth(expression), lambda truth: _VALUES[int(truth)], np.object_)
        return self._evaluated(expression)

    def _looked(self, expression: Expression, look: Callable[[Any], Any], kind: type[np.generic]) -> NDArray[Any]:
        """Look at each value of an expression; of CASE at those that it chooses from, which are fewer."""
        if not isinstance(expression, Call) or expression.function != "case" or expression in self._axes:
            return _each(self._values(expression), look, kind)
        *pairs, otherwise = expression.arguments
        found = self._looked(otherwise, look, kind)
        for condition, value in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
            found = np.where(self._truth(condition) == _TRUE, self._looked(value, look, kind), found)
        return found

    def _evaluated(self, expression: Expression) -> NDArray[Any]:
        """Evaluate what is not taken apart further: it looks at one dimension, or at none."""
        nodes = () if isinstance(expression, Literal) else walk(expression)
        used = sorted({self._axes[node] for node in nodes if node in self._axes})
        rows = product(*(self._dimensions[axis] for axis in used))
        values = [evaluate(expression, {e: v for one in row for e, v in one.items()}) for row in rows]
        found = np.empty(len(values), np.object_)
        found[:] = values
        return found.reshape([n if axis in used else 1 for axis, n in enumerate(self._shape)])


_VALUES = {_FALSE: False, _UNKNOWN: None, _TRUE: True}


def _judge(value: Any) -> int:
    return _TRUE if value is True else _FALSE if value is False else _UNKNOWN


def _first(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.where(_each(one, lambda value: value is None, np.bool_), other, one)


def _each(values: NDArray[Any], look: Callable[[Any], Any], kind: type[np.generic]) -> NDArray[Any]:
    found = np.empty(values.size, kind)
    found[:] = [look(value) for value in values.ravel()]
    return found.reshape(values.shape)
