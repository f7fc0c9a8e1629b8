"""Audit without samples: a declared sensitivity against a searched one, and a ledger against its budget.

A declared sensitivity is an upper bound; every pair of neighbours gives a lower one. Sums that wrap around at
2^63, NaN that passes a clamp, an average over a size that is not public, and rounding have broken declared ones
(Casacuberta, Shoemate, Vadhan and Wagaman 2022); the search starts where those show. A ledger must never be over
budget, whatever is asked, and however it fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from jali.errors import CatalogError
from jali.lab.audit.subject import Finding, Pair, Verdict, Witness
from jali.privacy import NOTHING, Adjacency, Budget, Concentrated, Event

Function: TypeAlias = Callable[[Any], Any]

_TOLERANCE = 1e-9
_TRIES = 2_000
# How often a search climbs on from the best pair before it starts again, and how far it moves a number.
_PATIENCE = 50
_STRIDES = (0.5, 0.1, 0.01)
_ORDERS = (1, 2, math.inf)


@dataclass(frozen=True)
class NeighbourTables:
    """Two tables of numbers that differ in one person.

    Attributes:
        rest: The numbers that both have.
        place: Where the person's number stands among them.
        one: The person's number in the first table.
        other: It in the second one; None if the person is not there.
    """

    rest: tuple[float, ...]
    place: int
    one: float
    other: float | None

    @property
    def pair(self) -> Pair:
        """The two tables."""
        return self._with(self.one), self._with(self.other)

    def _with(self, number: float | None) -> list[float]:
        mine = [] if number is None else [number]
        return [*self.rest[: self.place], *mine, *self.rest[self.place :]]


@dataclass(frozen=True)
class Tables:
    """All tables of numbers in a range, and their neighbours.

    Attributes:
        low: The least number.
        high: The largest number.
        rows: The most rows.
        adjacency: When two tables are neighbours.
        whole: Whether the numbers are integers.
    """

    low: float
    high: float
    rows: int = 8
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    whole: bool = False

    def __post_init__(self) -> None:
        if not (self.low < self.high and self.rows >= 1):
            raise CatalogError("sensitivity-tables-none", rows=self.rows, low=self.low, high=self.high)

    def extreme(self) -> Iterator[NeighbourTables]:
        """Yield neighbours at the ends of the range, of all sizes: there most statistics move furthest."""
        ends = (self.low, self.high)
        for size in range(self.rows):
            for fill in ((self.low,) * size, (self.high,) * size, tuple(ends[i % 2] for i in range(size))):
                for one, other in ((self.high, self.low), (self.low, self.high)):
                    yield NeighbourTables(fill, size // 2, one, self._other(other))

    def drawn(self, random: np.random.Generator) -> NeighbourTables:
        """Return any neighbours."""
        size = int(random.integers(self.rows))
        rest = tuple(self._number(random) for _ in range(size))
        other = self._other(self._number(random))
        return NeighbourTables(rest, int(random.integers(size + 1)), self._number(random), other)

    def moved(self, pair: NeighbourTables, random: np.random.Generator) -> NeighbourTables:
        """Return neighbours that differ from these in one number, or that have one more or one fewer."""
        which = int(random.integers(len(pair.rest) + 3))
        if which == 0:
            return replace(pair, one=self._near(pair.one, random))
        if which == 1:
            return replace(pair, other=None if pair.other is None else self._near(pair.other, random))
        if which == 2:
            return self._resize(pair, random)
        rest = list(pair.rest)
        rest[which - 3] = self._near(rest[which - 3], random)
        return replace(pair, rest=tuple(rest))

    def _resize(self, pair: NeighbourTables, random: np.random.Generator) -> NeighbourTables:
        if len(pair.rest) + 1 < self.rows and random.random() < 0.5:
            return replace(pair, rest=(*pair.rest, self._number(random)))
        shorter = pair.rest[:-1]
        return replace(pair, rest=shorter, place=min(pair.place, len(shorter)))

    def _other(self, number: float) -> float | None:
        return number if self.adjacency is Adjacency.REPLACE_ONE else None

    def _number(self, random: np.random.Generator) -> float:
        return self._inside(self.low + (self.high - self.low) * random.random())

    def _near(self, number: float, random: np.random.Generator) -> float:
        """Return an end of the range, or a number not far away."""
        stride = _STRIDES[int(random.integers(len(_STRIDES)))] * (self.high - self.low)
        ends = (self.low, self.high)
        near = number + stride * (2 * random.random() - 1)
        return ends[int(random.integers(2))] if random.random() < 0.25 else self._inside(near)

    def _inside(self, number: float) -> float:
        number = min(max(number, self.low), self.high)
        return round(number) if self.whole else number


@dataclass(frozen=True)
class LargestChange:
    """The largest change that a search found.

    Attributes:
        found: The change, in the norm that was asked for: a lower bound on the sensitivity.
        inputs: The neighbours between which it was found.
        tries: How many pairs were looked at.
    """

    found: float
    inputs: Pair
    tries: int


def searched_sensitivity(
    function: Function,
    tables: Tables | None = None,
    norm: float = 1,
    *,
    pairs: Iterable[Pair] = (),
    tries: int = _TRIES,
    seed: int | None = None,
) -> LargestChange:
    """Return the largest change of a function between neighbours that a search finds.

    It looks at all given pairs and at tables at the ends of the range, then climbs: it moves one number at a time,
    keeps what is larger, and starts again where it gets no further.

    Args:
        function: A statistic of a table, without noise: a number, or an array of them.
        tables: The tables among which it searches; only the given pairs if it is None.
        norm: 1, 2 or infinity.
        pairs: Neighbours that are looked at in any case.
        tries: How many neighbours are looked at besides.
        seed: Where the random ones come from; new ones if it is None.

    Example:
        >>> round(searched_sensitivity(sum, Tables(0, 10)).found, 9)  # rounding adds a little more
        10.0
    """
    if norm not in _ORDERS:
        raise CatalogError("sensitivity-norm-wrong", norm=norm)
    looked = [_look(function, pair, norm) for pair in pairs]
    if tables is not None:
        looked += _climb(function, tables, norm, tries, np.random.default_rng(seed))
    if not looked:
        raise CatalogError("sensitivity-without-neighbours")
    found, inputs = max(looked, key=lambda one: one[0])
    return LargestChange(found, inputs, len(looked))


def audit_sensitivity(name: str, declared: float, adjacency: Adjacency, search: LargestChange) -> Finding:
    """Compare a declared sensitivity with a searched one; the finding is of the kind "sensitivity"."""
    broken = search.found > declared * (1 + _TOLERANCE)
    return Finding(
        name,
        adjacency,
        "sensitivity",
        float(declared),
        search.found,
        Witness(search.inputs),
        Verdict.VIOLATION if broken else Verdict.NOTHING_FOUND,
        "properties",
        tried=f"a search among {search.tries} pairs of neighbours",
    )


def _climb(
    function: Function, tables: Tables, norm: float, tries: int, random: np.random.Generator
) -> list[tuple[float, Pair]]:
    """Look at extreme neighbours, then climb from the best of them, and from others."""
    starts = [(_measure_change(function, start.pair, norm), start) for start in tables.extreme()]
    best, at = max(starts, key=lambda one: one[0])
    looked, idle = [(found, start.pair) for found, start in starts], 0
    for _ in range(tries):
        idle += 1
        if idle > _PATIENCE:
            idle, at = 0, tables.drawn(random)
            best = _measure_change(function, at.pair, norm)
            looked.append((best, at.pair))
        near = tables.moved(at, random)
        found = _measure_change(function, near.pair, norm)
        looked.append((found, near.pair))
        if found > best:
            best, at, idle = found, near, 0
    return looked


def _look(function: Function, pair: Pair, norm: float) -> tuple[float, Pair]:
    return _measure_change(function, pair, norm), pair


def _measure_change(function: Function, pair: Pair, norm: float) -> float:
    """Return how far the function moves; infinitely far to what is no number, or of another length."""
    one, other = (_to_python_numbers(function(value)) for value in pair)
    if len(one) != len(other):
        return math.inf
    apart = [_measure_distance(a, b) for a, b in zip(one, other, strict=True)]
    if norm == math.inf:
        return max(apart, default=0.0)
    return math.fsum(apart) if norm == 1 else math.hypot(*apart)


def _to_python_numbers(value: Any) -> Sequence[Any]:
    """Return the numbers of a result as Python's own, whose integers do not wrap around."""
    return np.ravel(np.asarray(value, object) if isinstance(value, int) else np.asarray(value)).tolist()


def _measure_distance(one: Any, other: Any) -> float:
    if one == other:
        return 0.0
    apart = float(abs(one - other))
    if not math.isnan(apart):
        return apart
    return 0.0 if math.isnan(one) and math.isnan(other) else math.inf


def audit_spending(
    name: str,
    questions: Iterable[Callable[[], object]],
    spent: Callable[[], Event],
    budget: Budget,
    adjacency: Adjacency,
) -> Finding:
    """Ask questions, some of which fail, and read the books after each of them.

    The finding is of the kind "spent": the largest epsilon that the sum of all charges affords beside the delta of
    the budget. It is a violation if that is above the budget, or if a sum is ever less than one before.

    Args:
        name: Whose books they are.
        questions: Each asks once; refusals and failures of every kind are part of the audit.
        spent: Reads the sum of all charges.
        budget: The limit.
        adjacency: The adjacency in which it is meant.
    """
    most: Fraction | float = Fraction(0)
    at, place, refunded, before = 0, 0, False, NOTHING
    for place, question in enumerate(questions, 1):
        with suppress(Exception):
            question()
        now = spent()
        refunded = refunded or _is_less(now, before)
        most, at = max((most, at), (find_least_epsilon(now, budget), place), key=lambda one: one[0])
        before = now
    broken = refunded or most > budget.epsilon
    return Finding(
        name,
        adjacency,
        "spent",
        float(budget.epsilon),
        float(most),
        Witness((str(budget), str(before)), f"question {at}{', after a refund' if refunded else ''}"),
        Verdict.VIOLATION if broken else Verdict.NOTHING_FOUND,
        "properties",
        tried=f"the books after each of {place} questions",
    )


def find_least_epsilon(spent: Event, budget: Budget) -> Fraction | float:
    """Return the least epsilon of which a sum of charges is shown, at the delta of a budget; or infinity.

    The pure losses add up beside the deltas; or the zCDP losses do, and the rest of delta is there to read them by
    (Bun and Steinke 2016, Lemma 3.5).
    """
    rest = budget.delta - spent.delta
    if rest < 0:
        return math.inf
    pure = math.inf if spent.epsilon is None else spent.epsilon
    if not rest or not spent.rho:
        return pure if spent.rho or spent.epsilon else Fraction(0)
    return min(pure, Concentrated(spent.rho).epsilon(rest))


def _is_less(one: Event, other: Event) -> bool:
    """Return whether any part of a sum is below that of another."""
    fell = one.epsilon is not None and (other.epsilon is None or one.epsilon < other.epsilon)
    return fell or one.rho < other.rho or one.delta < other.delta
