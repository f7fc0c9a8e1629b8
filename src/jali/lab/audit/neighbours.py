"""Neighbouring inputs on which violations show, and inputs several neighbours apart.

The inputs are the patterns of Ding et al. 2018, tables, streams, and extremes.

A claim speaks of every pair of neighbours; an audit tries some. Most known bugs show on the corners: one entry
moves and the others stay, or all move as far as they may, alike or against each other; records at the ends of
their range, among records that make the answer sensitive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern, Values
from jali.lab.audit.subject import Pair
from jali.privacy import Adjacency

DISTANT_STEPS = (2, 4, 8, 16, 32, 64, 128)


def repeat_steps(pairs: Sequence[Pair], steps: Sequence[int] = DISTANT_STEPS) -> tuple[tuple[Pair, int], ...]:
    """Return the pairs that one reaches by the same step several times: (x, y) becomes (x, x + n (y - x)).

    For numbers and vectors of numbers, where each such step leads to a neighbour: answers to questions of bounded
    sensitivity, say, but not columns of a bounded range.

    Example:
        >>> repeat_steps([((0.0, 1.0), (1.0, 1.0))], steps=(4,))
        ((((0.0, 1.0), (4.0, 1.0)), 4),)
    """
    return tuple(((one, _repeat_step(one, other, count)), count) for count in steps for one, other in pairs)


def _repeat_step(one: Any, other: Any, count: int) -> Any:
    if isinstance(one, tuple | list):
        if not isinstance(other, tuple | list) or len(one) != len(other):
            raise _not_numbers(one)
        return type(one)(_repeat_step(first, second, count) for first, second in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and one.dtype.kind in "iuf":
        return one + count * (other - one)
    if isinstance(one, bool) or not isinstance(one, int | float | np.number):
        raise _not_numbers(one)
    return one + count * (other - one)


def _not_numbers(value: Any) -> CatalogError:
    return CatalogError("audited-input-without-steps", value=str(value)[:60])


# What no table should hold and some do.
_ODD_NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 2**63, -(2**63) - 1)


def build_pairs(pattern: str | Pattern, adjacency: str | Adjacency) -> tuple[Pair, ...]:
    """Return neighbouring inputs of a pattern, each pair one way round; those likely to reveal most come first.

    Example:
        >>> build_pairs("answers:3", "replace-one")[2]
        ([1, 1, 1], [2, 0, 0])
        >>> build_pairs("values:3 in 0..1", "add-remove")[0]
        ([0, 0, 1], [0, 0])
    """
    read = Pattern.read(pattern) if isinstance(pattern, str) else pattern
    related = Adjacency.of(adjacency)
    if read.pair is not None:
        return (read.pair,)
    usual = _drop_duplicates(_MAKERS[read.kind](read, related))
    return usual + build_extremes(read, related) if read.extremes else usual


def build_extremes(pattern: str | Pattern, adjacency: str | Adjacency) -> tuple[Pair, ...]:
    """Return tables that hold what nobody expects: NaN, infinities, huge numbers, None, or no record at all.

    A function that promises to clamp, or to refuse, must keep its claim on them too.
    """
    read = Pattern.read(pattern) if isinstance(pattern, str) else pattern
    related = Adjacency.of(adjacency)
    if read.kind not in ("values", "table") or read.array:
        return ()
    return _drop_duplicates(_vary_extreme_records(read, related))


def _vary_extreme_records(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    rest = _build_records(pattern, _SPREAD)[:-1]
    usual = _build_record(pattern, 0)
    for odd in _list_odd_records(pattern):
        if adjacency is Adjacency.ADD_REMOVE:
            yield [*rest, odd], list(rest)
        else:
            yield [*rest, odd], [*rest, usual]
    if adjacency is Adjacency.ADD_REMOVE:
        yield [usual], []


def _list_odd_records(pattern: Pattern) -> Iterator[Any]:
    if not pattern.columns:
        yield from _list_odd_values(pattern.values)
        return
    for name, values in pattern.columns:
        for odd in _list_odd_values(values):
            yield {**_build_record(pattern, 0), name: odd}


def _list_odd_values(values: Values) -> tuple[Any, ...]:
    return (None, "", "\0", "a" * 10_000) if isinstance(values[0], str) else (*_ODD_NUMBERS, None)


def _vary_scalar(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
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


def _vary_choice(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    if adjacency is not Adjacency.REPLACE_ONE:
        raise CatalogError("audited-choice-adjacency-wrong")
    for place, one in enumerate(pattern.values):
        for other in pattern.values[place + 1 :]:
            yield one, other


def _vary_answers(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
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
        yield _move(pattern, one), _move(pattern, other)


def _vary_monotone(pattern: Pattern, _: Adjacency) -> Iterator[Pair]:
    """Yield answers that all move the same way, some of them not at all."""
    size, half = pattern.size, pattern.size // 2
    for moves in ([1] + [0] * (size - 1), [0] + [1] * (size - 1), [1] * size, [0] * half + [1] * (size - half)):
        yield _move(pattern, [0] * size), _move(pattern, moves)


def _move(pattern: Pattern, moves: Iterable[int]) -> Any:
    return pattern.to_input([(1 + move) * pattern.step for move in moves])


def _vary_counts(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield histograms that differ by one person: in one cell, or moved from the first to the last."""
    for level in (0, 10):
        cells = [level * pattern.step] * pattern.size
        first, last = _raise_cell(cells, 0, pattern.step), _raise_cell(cells, -1, pattern.step)
        if adjacency is Adjacency.REPLACE_ONE:
            yield pattern.to_input(first), pattern.to_input(last)
        else:
            yield pattern.to_input(first), pattern.to_input(cells)
            yield pattern.to_input(last), pattern.to_input(cells)


def _raise_cell(cells: list[float], place: int, step: float) -> list[float]:
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


def _vary_people(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield tables that differ by one person at an end of the range, among others at ends or spread over it."""
    ends = (_build_record(pattern, 1), _build_record(pattern, 0))
    for others in _OTHERS:
        rest = _build_records(pattern, others)[:-1]
        if adjacency is Adjacency.REPLACE_ONE:
            yield pattern.to_input([*rest, ends[0]]), pattern.to_input([*rest, ends[1]])
        else:
            for end in ends:
                yield pattern.to_input([*rest, end]), pattern.to_input(rest)


def _build_records(pattern: Pattern, others: Callable[[int, int], float]) -> list[Any]:
    return [_build_record(pattern, others(place, pattern.size)) for place in range(pattern.size)]


def _build_record(pattern: Pattern, share: float) -> Any:
    """Return the record that lies at a share of every range."""
    if not pattern.columns:
        return _pick_value(pattern.values, share)
    return {name: _pick_value(values, share) for name, values in pattern.columns}


def _pick_value(values: Values, share: float) -> Any:
    if isinstance(values[0], str):
        return values[round(share * (len(values) - 1))]
    low, high = values[0], values[-1]
    between = low + share * (high - low)
    return round(between) if isinstance(low, int) and isinstance(high, int) else between


def _vary_stream(pattern: Pattern, adjacency: Adjacency) -> Iterator[Pair]:
    """Yield streams that differ in one increment: at the start, in the middle or at the end."""
    low, high = pattern.span
    gone = low if adjacency is Adjacency.REPLACE_ONE else type(low)(0)
    come = max((low, high), key=abs) if adjacency is Adjacency.ADD_REMOVE else high
    for others in ((low, low), (low, high), (high, high)):
        rest = list(islice(cycle(others), pattern.size))
        for place in (0, pattern.size // 2, pattern.size - 1):
            one, other = list(rest), list(rest)
            one[place], other[place] = come, gone
            yield pattern.to_input(one), pattern.to_input(other)


_MAKERS: dict[str, Callable[[Pattern, Adjacency], Iterator[Pair]]] = {
    "scalar": _vary_scalar,
    "choice": _vary_choice,
    "answers": _vary_answers,
    "monotone": _vary_monotone,
    "counts": _vary_counts,
    "values": _vary_people,
    "table": _vary_people,
    "stream": _vary_stream,
}


def _drop_duplicates(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return pairs of different inputs, each once."""
    seen: dict[str, Pair] = {}
    for one, other in pairs:
        if _to_text(one) != _to_text(other):
            seen.setdefault(f"{_to_text(one)} {_to_text(other)}", (one, other))
    return tuple(seen.values())


def _to_text(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
