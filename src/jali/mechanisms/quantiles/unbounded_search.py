"""Search for a quantile without a declared range by noisy comparisons along growing distances.

Proof:
    docs/proofs/unbounded_quantile.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.base import read_miss_probability, read_parameter
from jali.mechanisms.lattice import BoundedLattice, Integers, Marks, add
from jali.mechanisms.noisy_threshold import log_at_least, threshold_share
from jali.mechanisms.sparse_vector import AboveThreshold
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource

_SAFE = 1 << 62


def bound_drift(quantile: Fraction, adjacency: Adjacency) -> Fraction:
    """Return how far one person moves #{x <= c} - quantile #{x}: by 1 - quantile up, or by the quantile down."""
    return Fraction(1) if adjacency is Adjacency.REPLACE_ONE else max(quantile, 1 - quantile)


def count_excess(quantile: Fraction, spare: int, counts: Marks, people: int) -> Integers:
    """Return counts - (quantile people - spare), in units of 1 / (denominator of the quantile): integers."""
    unit, wanted = quantile.denominator, quantile.numerator * people - quantile.denominator * spare
    fits = unit * (people + 1) < _SAFE and abs(wanted) < _SAFE
    return (counts if fits else counts.astype(object)) * unit - wanted


@dataclass(frozen=True, eq=False)
class RankWalk:
    """AboveThreshold over the counts of values that lie between an origin and ever further marks, or behind it.

    Attributes:
        quantile: The share of all values that is to lie behind the mark.
        spare: How many fewer than that are enough.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        origin: The mark from which distances are counted.
        sign: 1 to walk up, -1 to walk down.
        distances: The distances of the marks, ascending; the last is taken where no other was.

    Guarantee:
        The mark is epsilon-DP under the adjacency. The counts are nested: under replace-one all of them move the
        same way, by 0 or 1; under add-remove all differences count - quantile * people move by -quantile or
        1 - quantile.
    Proof:
        docs/proofs/unbounded_quantile.md, Theorem 1.
    """

    quantile: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int
    sign: int
    distances: Marks

    @property
    def unit(self) -> int:
        """How many units one person counts for."""
        return self.quantile.denominator

    @property
    def search(self) -> AboveThreshold:
        """The search, with noise for its monotone case; its own claim is larger than what it spends here."""
        part = threshold_share(1)
        spent = part * bound_drift(self.quantile, self.adjacency) + (1 - part)
        return AboveThreshold(
            sensitivity=self.unit,
            epsilon=self.epsilon / spent,
            monotone=True,
            adjacency=Adjacency.ADD_REMOVE,
        )

    @property
    def marks(self) -> Marks:
        """The marks of the walk, in its order."""
        return np.asarray(self.origin + self.sign * self.distances)

    def excess(self, column: Marks) -> Integers:
        """Return, for every mark but the last, how many values too many lie behind it: column is sorted."""
        asked = self.marks[:-1]
        if self.sign > 0:
            counts = np.searchsorted(column, asked, side="right")
        else:
            counts = len(column) - np.searchsorted(column, asked, side="left")
        return count_excess(self.quantile, self.spare, counts.astype(np.int64), len(column))

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[int]:
        """Draw the marks of many independent walks."""
        marks = self.marks.tolist()
        found: list[Any] = self.search.sample(self.excess(column), size, bits=bits)
        return [marks[-1] if index is None else marks[index] for index in found]

    def log_masses(self, column: Marks) -> dict[int, float]:
        """Return ln Pr[mark] for every mark."""
        marks = self.marks.tolist()
        masses = self.search.log_masses(self.excess(column))
        return {marks[-1] if index is None else marks[index]: log for index, log in masses.items()}

    def deviation(self, column: Marks, mark: int) -> Fraction:
        """Return how many people the worst judgement was off that led to a mark."""
        index = int(np.searchsorted(self.distances, self.sign * (mark - self.origin)))
        told = None if index == len(self.distances) - 1 else index
        return Fraction(int(self.search.deviation(self.excess(column).tolist(), told)), self.unit)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence no mark is misjudged by more than t people."""
        return Fraction(self.search.error(confidence, queries=max(1, len(self.distances) - 1)), self.unit)


Flags: TypeAlias = NDArray[np.bool_]

# The side is one question, a walk thousands: a quarter of their loss errs less on it than the rest on them.
SIDE_SHARE = Fraction(1, 4)


@dataclass(frozen=True, eq=False)
class OriginSide:
    """A comparison of #{x < origin} with the quantile's rank.

    Attributes:
        quantile: The share of all values whose place is asked.
        spare: How many fewer than that are enough.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        origin: The mark.

    Guarantee:
        The side is epsilon-DP under the adjacency.
    Proof:
        docs/proofs/unbounded_quantile.md, Theorem 2.
    """

    quantile: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int

    @property
    def noise(self) -> Laplace:
        """The noise of the comparison, in units of 1 / (denominator of the quantile)."""
        distance = self.quantile.denominator * bound_drift(self.quantile, self.adjacency)
        return Laplace(sensitivity=distance, epsilon=self.epsilon)

    def below(self, column: Marks, size: int, bits: BitSource | None) -> Flags:
        """Decide many times whether the quantile lies below the origin."""
        noise = self.noise.sampler.sample(size, bits=bits)
        return np.asarray(add(np.array([self._excess(column)], dtype=object), noise) >= 0, np.bool_)

    def log_probabilities(self, column: Marks) -> tuple[float, float]:
        """Return ln Pr[below] and ln Pr[not below]."""
        too_many = float(self._excess(column))
        below, above = log_at_least(self.noise.scale, np.array([-too_many, too_many + 1])).tolist()
        return below, above

    def count_misjudged(self, column: Marks) -> Fraction:
        """Return how many people the answer "not below" is off; the other one is off by as much less than 0."""
        return Fraction(self._excess(column), self.quantile.denominator)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence the side is misjudged by at most t people."""
        return Fraction(self.noise.error(confidence), self.quantile.denominator)

    def _excess(self, column: Marks) -> int:
        """Return how many values too many lie below the origin for the quantile to lie at or above it."""
        count = np.searchsorted(column, [self.origin], side="left").astype(np.int64)
        return int(count_excess(self.quantile, self.spare, count, len(column))[0])


@dataclass(frozen=True, eq=False)
class RankFork:
    """One noisy comparison at the origin, then a walk up or a walk down.

    Attributes:
        quantile: The share of all values that is to lie at or below the mark.
        spare: How many fewer than that are enough.
        epsilon: The loss: a quarter for the side, the rest for the walk.
        adjacency: When two tables are neighbours.
        origin: The mark of 0.
        above: The distances of the walk up.
        below: The distances of the walk down.

    Guarantee:
        The mark is epsilon-DP under the adjacency.
    Proof:
        docs/proofs/unbounded_quantile.md, Theorem 2.
    """

    quantile: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int
    above: Marks
    below: Marks

    @property
    def side(self) -> OriginSide:
        """The comparison at the origin."""
        return OriginSide(self.quantile, self.spare, self.epsilon * SIDE_SHARE, self.adjacency, self.origin)

    @property
    def up(self) -> RankWalk:
        """The walk from the origin to larger marks."""
        return self._walk(self.quantile, self.spare, 1, self.above)

    @property
    def down(self) -> RankWalk:
        """The walk from the origin to smaller marks: as many values are to lie above as should not lie below."""
        return self._walk(1 - self.quantile, -self.spare, -1, self.below)

    def _walk(self, quantile: Fraction, spare: int, sign: int, distances: Marks) -> RankWalk:
        left = self.epsilon * (1 - SIDE_SHARE)
        return RankWalk(quantile, spare, left, self.adjacency, self.origin, sign, distances)

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[int]:
        """Draw the marks of many independent releases."""
        falls = self.side.below(column, size, bits)
        marks = np.zeros(size, np.int64)
        for walk, chosen in ((self.down, falls), (self.up, ~falls)):
            places = np.flatnonzero(chosen)
            if len(places):
                marks[places] = walk.draw(column, len(places), bits)
        found: list[int] = marks.tolist()
        return found

    def log_masses(self, column: Marks) -> dict[int, float]:
        """Return ln Pr[mark] for every mark; the origin is reached on both sides."""
        falls, rises = self.side.log_probabilities(column)
        masses = {mark: falls + log for mark, log in self.down.log_masses(column).items()}
        for mark, log in self.up.log_masses(column).items():
            masses[mark] = float(np.logaddexp(masses.get(mark, -math.inf), rises + log))
        return masses

    def deviation(self, column: Marks, mark: int) -> Fraction:
        """Return how many people the worst judgement was off on the better of the ways to a mark."""
        off = self.side.count_misjudged(column)
        ways = ((self.down, -off), (self.up, off))
        return min(max(side, walk.deviation(column, mark)) for walk, side in ways if mark in walk.marks)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence neither the side nor a mark is misjudged by more."""
        each = 1 - read_miss_probability(confidence) / 2
        return max(self.side.error(each), self.up.error(each), self.down.error(each))


# A smaller growth would make ladders of millions of rungs.
_LEAST = Fraction(10001, 10000)


def read_growth(value: Number) -> Fraction:
    """Read the factor between neighbouring rungs from a mechanism's arguments."""
    growth = read_parameter(value, "growth")
    if growth < _LEAST:
        raise MechanismError("growth-too-small", least=float(_LEAST), value=value)
    return growth


@lru_cache(maxsize=32)
def build_ladder(growth: Fraction, top: int) -> Marks:
    """Return 0, 1, 2, ..., top, where d is followed by the larger of d + 1 and floor(d growth).

    Integers alone, so that it is the same on every machine.

    Example:
        >>> build_ladder(Fraction(3, 2), 20).tolist()
        [0, 1, 2, 3, 4, 6, 9, 13, 19, 20]
    """
    rungs = [0]
    while (last := rungs[-1]) < top:
        rungs.append(min(top, max(last + 1, last * growth.numerator // growth.denominator)))
    made = np.array(rungs, np.int64)
    made.flags.writeable = False
    return made


def select_rungs(growth: Fraction, bottom: int, top: int, *, longest: int) -> Marks:
    """Return the part of a ladder from `bottom` to `top`, both included; `longest` is the largest top there is."""
    full = build_ladder(growth, longest)
    return np.append(full[(full >= bottom) & (full < top)], np.int64(top))


USUAL_STEPS = 1 << 50


@dataclass(frozen=True)
class OpenRange:
    """All multiples of `step` up to `reach` away from `low`, upwards; or from 0, both ways, if there is no low."""

    low: Fraction | None
    reach: Fraction | None
    step: Fraction
    growth: Fraction

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The marks of the range, for all columns."""
        far = USUAL_STEPS * self.step if self.reach is None else self.reach
        if self.low is None:
            return BoundedLattice.of(-far, far, self.step)
        return BoundedLattice.of(self.low, self.low + far, self.step)

    @property
    def origin(self) -> int:
        """The mark of `low`, or of 0."""
        return 0 if self.low is not None else -self.ruler.first

    def finder(
        self, quantile: Fraction, spare: int, epsilon: Fraction, adjacency: Adjacency
    ) -> RankWalk | RankFork:
        """Return what finds a quantile: a walk up from `low`, or a fork at 0."""
        if self.low is not None:
            return self.walk(quantile, spare, epsilon, adjacency)
        away = build_ladder(self.growth, self.origin)  # as many marks are above 0 as below
        return RankFork(quantile, spare, epsilon, adjacency, self.origin, away, away)

    def walk(
        self, quantile: Fraction, spare: int, epsilon: Fraction, adjacency: Adjacency, *, least: int = 0
    ) -> RankWalk:
        """Return the walk up from the mark `least`."""
        distances = build_ladder(self.growth, self.ruler.top - least)
        return RankWalk(quantile, spare, epsilon, adjacency, least, 1, distances)
