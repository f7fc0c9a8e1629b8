"""Neighbouring inputs on which violations show: the patterns of Ding et al. 2018, tables, streams, and extremes.

A claim speaks of every pair of neighbours; an audit tries some. Most known bugs show on the corners: one entry
moves and the others stay, or all move as far as they may, alike or against each other; records at the ends of
their range, among records that make the answer sensitive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from typing import Any

import numpy as np

from jali.audit.patterns import Pattern, Values
from jali.audit.subject import Pair
from jali.errors import CatalogError
from jali.privacy import Adjacency

# What no table should hold and some do.
_ODD_NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 2**63, -(2**63) - 1)


def pairs_for(pattern: str | Pattern, adjacency: str | Adjacency) -> tuple[Pair, ...]:
    """Return neighbouring inputs of a pattern, those that are likely to tell most first, each pair one way round.

    Example:
        >>> pairs_for("answers:3", "replace-one")[2]
        ([1, 1, 1], [2, 0, 0])
        >>> pairs_for("values:3 in 0..1", "add-remove")[0]
        ([0, 0, 1], [0, 0])
    """
    read = Pattern.read(pattern) if isinstance(pattern, str) else pattern
    related = Adjacency.of(adjacency)
    if read.pair is not None:
        return (read.pair,)
    usual = _distinct(_MAKERS[read.kind](read, related))
    return usual + extremes_for(read, related) if read.extremes else usual


def extremes_for(pattern: str | Pattern, adjacency: str | Adjacency) -> tuple[Pair, ...]:
    """Return tables that hold what nobody expects: NaN, infinities, huge numbers, None, or no record at all.

    A function that promises to clamp, or to refuse, must keep its claim on them too.
    """
    read = Pattern.read(pattern) if isinstance(pattern, str) else pattern
    related = Adjacency.of(adjacency)
    if read.kind not in ("values", "table") or read.array:
        return ()
    return _distinct(_extreme_records(read, related))


def _extreme_records(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    rest = _records(pattern, _SPREAD)[:-1]
    usual = _record(pattern, 0)
    for odd in _odd_records(pattern):
        if adjacency is Adjacency.ADD_REMOVE:
            yield [*rest, odd], list(rest)
        else:
            yield [*rest, odd], [*rest, usual]
    if adjacency is Adjacency.ADD_REMOVE:
        yield [usual], []


def _odd_records(pattern: Pattern) -> Iterator[Any]:
    if not pattern.columns:
        yield from _odd_values(pattern.values)
        return
    for name, values in pattern.columns:
        for odd in _odd_values(values):
            yield {**_record(pattern, 0), name: odd}


def _odd_values(values: Values) -> tuple[Any, ...]:
    return (None, "", "\0", "a" * 10_000) if isinstance(values[0], str) else (*_ODD_NUMBERS, None)


def _scalar(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
    step = pattern.step
    if not pattern.values:
        yield 0 * step, step
        yield 0 * step, -step
        yield 1000 * step, 1001 * step
        return
    low, high = pattern.span
    step = min(step, high - low)
    yield low, low + step
    yield high, high - step
    yield low + (high - low - step) / 2, low + (high - low + step) / 2


def _choice(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    if adjacency is not Adjacency.REPLACE_ONE:
        raise CatalogError("audited-choice-adjacency-wrong")
    for place, one in enumerate(pattern.values):
        for other in pattern.values[place + 1 :]:
            yield one, other


def _answers(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
    """Yield the patterns of Ding et al. 2018, Table 2: answers around 1, each moved by one step at most."""
    size, half = pattern.size, pattern.size // 2
    moves: tuple[tuple[list[int], list[int]], ...] = (
        ([0] * size, [1] + [0] * (size - 1)),
        ([0] * size, [-1] + [0] * (size - 1)),
        ([0] * size, [1] + [-1] * (size - 1)),
        ([0] * size, [-1] + [1] * (size - 1)),
        ([0] * size, [-1] * half + [1] * (size - half)),
        ([0] * size, [1] * size),
        ([0] * size, [-1] * size),
        ([0] * half + [-1] * (size - half), [-1] * half + [0] * (size - half)),
        ([0] * (size - 1) + [-1], [-1] + [0] * (size - 1)),
    )
    for one, other in moves:
        yield _moved(pattern, one), _moved(pattern, other)


def _monotone(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
    """Yield answers that all move the same way, some of them not at all."""
    size, half = pattern.size, pattern.size // 2
    for moves in ([1] + [0] * (size - 1), [0] + [1] * (size - 1), [1] * size, [0] * half + [1] * (size - half)):
        yield _moved(pattern, [0] * size), _moved(pattern, moves)


def _moved(pattern: Pattern, moves: Iterable[int]) -> Any:
    return pattern.shaped([(1 + move) * pattern.step for move in moves])


def _counts(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield histograms that differ by one person: in one cell, or moved from the first to the last."""
    for level in (0, 10):
        cells = [level * pattern.step] * pattern.size
        first, last = _raised(cells, 0, pattern.step), _raised(cells, -1, pattern.step)
        if adjacency is Adjacency.REPLACE_ONE:
            yield pattern.shaped(first), pattern.shaped(last)
        else:
            yield pattern.shaped(first), pattern.shaped(cells)
            yield pattern.shaped(last), pattern.shaped(cells)


def _raised(cells: list[float], place: int, step: float) -> list[float]:
    made = list(cells)
    made[place] += step
    return made


# Where in its range each of the other records lies, by its place: 0 is the start, 1 the end.
_OTHERS: tuple[Callable[[int, int], float], ...] = (
    lambda _, __: 0.0,
    lambda place, size: float(place >= size // 2),
    lambda place, size: place / max(1, size - 1),
    lambda _, __: 1.0,
)
_SPREAD = _OTHERS[2]


def _people(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield tables that differ by one person at an end of the range, among others at ends or spread over it."""
    ends = (_record(pattern, 1), _record(pattern, 0))
    for others in _OTHERS:
        rest = _records(pattern, others)[:-1]
        if adjacency is Adjacency.REPLACE_ONE:
            yield pattern.shaped([*rest, ends[0]]), pattern.shaped([*rest, ends[1]])
        else:
            for end in ends:
                yield pattern.shaped([*rest, end]), pattern.shaped(rest)


def _records(pattern: Pattern, others: Callable[[int, int], float]) -> list[Any]:
    return [_record(pattern, others(place, pattern.size)) for place in range(pattern.size)]


def _record(pattern: Pattern, share: float) -> Any:
    """Return the record that lies at a share of every range."""
    if not pattern.columns:
        return _at(pattern.values, share)
    return {name: _at(values, share) for name, values in pattern.columns}


def _at(values: Values, share: float) -> Any:
    if isinstance(values[0], str):
        return values[round(share * (len(values) - 1))]
    low, high = values[0], values[-1]
    between = low + share * (high - low)
    return round(between) if isinstance(low, int) and isinstance(high, int) else between


def _stream(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield streams that differ in one increment: at the start, in the middle or at the end."""
    low, high = pattern.span
    gone = low if adjacency is Adjacency.REPLACE_ONE else type(low)(0)
    come = max((low, high), key=abs) if adjacency is Adjacency.ADD_REMOVE else high
    for others in ((low, low), (low, high), (high, high)):
        rest = list(islice(cycle(others), pattern.size))
        for place in (0, pattern.size // 2, pattern.size - 1):
            one, other = list(rest), list(rest)
            one[place], other[place] = come, gone
            yield pattern.shaped(one), pattern.shaped(other)


_MAKERS: dict[str, Callable[[Pattern, Adjacency], Iterator[Pair]]] = {
    "scalar": _scalar,
    "choice": _choice,
    "answers": _answers,
    "monotone": _monotone,
    "counts": _counts,
    "values": _people,
    "table": _people,
    "stream": _stream,
}


def _distinct(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return pairs of different inputs, each once."""
    seen: dict[str, Pair] = {}
    for one, other in pairs:
        if _written(one) != _written(other):
            seen.setdefault(f"{_written(one)} {_written(other)}", (one, other))
    return tuple(seen.values())


def _written(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
