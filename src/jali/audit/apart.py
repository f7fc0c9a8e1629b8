"""How many neighbours two inputs of a pattern are apart: what a witness says of its inputs is checked by it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from jali.audit.patterns import Pattern, Values
from jali.privacy import Adjacency

# Steps are quotients of doubles: what is this little above a whole number is one.
_ROUNDING = 1e-9


def steps_apart(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    """Return how many steps between neighbours lead from one input to the other; None where none do.

    An input that the pattern does not have is no neighbour of any: a claim says nothing about it.

    Example:
        >>> steps_apart(Pattern.read("scalar by 2"), Adjacency.ADD_REMOVE, 0, 40)
        20
        >>> steps_apart(Pattern.read("values:3 in 0..1"), Adjacency.ADD_REMOVE, [0, 1], [0])
        1
    """
    try:
        return _COUNTERS[pattern.kind](pattern, adjacency, _plain(one), _plain(other))
    except (TypeError, ValueError, OverflowError):
        return None


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _written_out(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    return 1 if repr(pattern.pair) in (repr((one, other)), repr((other, one))) else None


def _scalar(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    if pattern.values and not (_within(one, pattern.values) and _within(other, pattern.values)):
        return None
    return _steps(other - one, pattern.step)


def _choice(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    return int(one != other) if {one, other} <= set(pattern.values) else None


def _answers(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count by the answer that moved furthest: each may move by a step at a time."""
    return max(_steps(move, pattern.step) for move in _moves(one, other))


def _monotone(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count the way up and the way down: all answers move the same way at a time."""
    moves = _moves(one, other)
    return _steps(max(0, *moves), pattern.step) + _steps(min(0, *moves), pattern.step)


def _counts(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    moves = _moves(one, other)
    people = sum(_steps(move, pattern.step) for move in moves)
    if adjacency is Adjacency.ADD_REMOVE:
        return people
    return None if abs(sum(moves)) > _ROUNDING else people // 2


def _people(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    """Count the people that are in one table only; their order plays no part."""
    if not pattern.extremes and not all(_known(pattern, record) for record in (*one, *other)):
        return None
    first, second = Counter(map(repr, one)), Counter(map(repr, other))
    gone, come = (first - second).total(), (second - first).total()
    if adjacency is Adjacency.ADD_REMOVE:
        return gone + come
    return gone if gone == come else None


def _stream(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count the increments that differ; one that is gone is 0."""
    inside = all(_within(value, pattern.values) or value == 0 for value in (*one, *other))
    return sum(move != 0 for move in _moves(one, other)) if inside else None


_COUNTERS: dict[str, Callable[[Pattern, Adjacency, Any, Any], int | None]] = {
    "either": _written_out,
    "scalar": _scalar,
    "choice": _choice,
    "answers": _answers,
    "monotone": _monotone,
    "counts": _counts,
    "values": _people,
    "table": _people,
    "stream": _stream,
}


def _steps(move: float, step: float) -> int:
    return math.ceil(abs(move) / step - _ROUNDING)


def _moves(one: Any, other: Any) -> list[float]:
    return [second - first for first, second in zip(one, other, strict=True)]


def _known(pattern: Pattern, record: Any) -> bool:
    """Return whether a record is one that the pattern has."""
    if not pattern.columns:
        return _within(record, pattern.values)
    columns = dict(pattern.columns)
    return record.keys() == columns.keys() and all(_within(record[name], columns[name]) for name in columns)


def _within(value: Any, values: Values) -> bool:
    if isinstance(values[0], str):
        return value in values
    return not isinstance(value, str) and bool(values[0] <= value <= values[-1])
