"""Count the sequences of k candidates that lie within V of the best counts, for every V.

A sequence s of k different candidates is within V if its largest gap max_i (c_(i) - c_(s_i)) is at most V, where
c_(i) is the i-th largest count. The candidates with c_j >= c_(i) - V are a growing family of sets, n_i(V) of them
at place i, so that N(V) = prod_i (n_i(V) - i + 1) sequences are within V.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.selection.piecewise_geometric import (
    Doubles,
    PiecewiseGeometric,
    Scaled,
    Whole,
    bound_products,
    scale_integers,
)
from jali.mechanisms.selection.scores import Scores

_SAFE = 1 << 62
_ROUNDED = 1 + 2.0**-30
_LOG2E = math.log2(math.e)
_STEEPEST = 1.0  # bits by which N may grow within an interval that is worth its while
_FAINT = 40.0  # bits below the heaviest interval from which on an interval is not


@dataclass(frozen=True, eq=False)
class SequenceCounts:
    """The counts of one release, in integers.

    Attributes:
        rising: All counts, in rising order, the least of them 0.
        k: How many places there are.
    """

    rising: Whole
    k: int

    @classmethod
    def of(cls, rising: Whole, k: int) -> SequenceCounts:
        """Count from the least of the counts, so that no difference overflows."""
        return cls(rising - rising[0], k)

    @cached_property
    def best(self) -> Whole:
        """The k largest counts, in falling order."""
        return self.rising[::-1][: self.k]

    @cached_property
    def widest(self) -> int:
        """The largest gap that any sequence can have."""
        return int(self.rising[-1])

    def choices(self, levels: Whole) -> Whole:
        """Return n_i(V) - i + 1 for each place (rows) and each V (columns)."""
        thresholds = self.best[:, None] - levels[None, :]
        fewer = np.searchsorted(self.rising, thresholds.ravel(), "left").reshape(thresholds.shape)
        return np.asarray(len(self.rising) - fewer - np.arange(self.k)[:, None])

    def choices_at(self, level: int) -> list[int]:
        """Return n_i(V) for each place at one V."""
        one = np.array([level], self.rising.dtype)
        return list((self.choices(one)[:, 0] + np.arange(self.k)).tolist())

    def sequences(self, level: int) -> int:
        """Return N(V), exactly."""
        return math.prod(self.choices(np.array([level], self.rising.dtype))[:, 0].tolist())

    def exactly(self) -> dict[int, int]:
        """Return how many sequences have each largest gap, for a few counts."""
        gaps = sorted({max(0, int(best) - int(count)) for best in self.best for count in self.rising})
        within = [0, *(self.sequences(gap) for gap in gaps)]
        counts = {gap: many - fewer for gap, fewer, many in zip(gaps, within, within[1:], strict=False)}
        return {gap: count for gap, count in counts.items() if count}

    def cover(self, unit: Fraction) -> tuple[Whole, Whole]:
        """Cut 0 .. widest - 1 into intervals; return where they start, and the last V of each.

        What lies beyond `_faint_from` is one interval. The others are halved while N grows by more than a bit
        within one that is heavy. They may be cut anywhere: where they are matters for speed only.
        """
        cuts = sorted({0, min(self.widest, self._faint_from(unit)), self.widest})
        ends = np.array(cuts, self.rising.dtype)
        parts = self._intervals(ends[:-1], ends[1:] - 1, unit)
        while len(split := parts.steep()):
            parts = parts.with_halves(split, self._intervals(*parts.halves(split), unit))
        order = np.argsort(parts.starts)
        return parts.starts[order], parts.lasts[order]

    def _faint_from(self, unit: Fraction) -> int:
        """Return a V from which on all levels together weigh next to nothing against V = 0."""
        bits = float(self._bits(np.array([self.widest], self.rising.dtype))[0])
        spread = max(0, unit.denominator.bit_length() - unit.numerator.bit_length() + 1)  # at least log2(1/unit)
        return math.ceil((math.ceil(bits) + math.ceil(_FAINT) + spread) / unit)

    def _intervals(self, starts: Whole, lasts: Whole, unit: Fraction) -> _LevelIntervals:
        first, last = self._bits(starts), self._bits(lasts)
        most = -(-unit.denominator // unit.numerator)
        fits = starts.dtype == object or most < _SAFE  # machine integers are below _SAFE in any case
        counts = _compute_log2(np.minimum(lasts - starts + 1, most if fits else _SAFE))
        return _LevelIntervals(starts, lasts, last - first, last + counts - bound_products(unit, starts) * _LOG2E)

    def _bits(self, levels: Whole) -> Doubles:
        return np.asarray(np.log2(self.choices(levels).astype(np.float64)).sum(axis=0))

    def caps(self, levels: Whole) -> Scaled:
        """Return (f, e) with N(V) <= f 2**e for each V."""
        mantissas, exponents = np.ones(len(levels)), np.zeros(len(levels), np.int64)
        for row in self.choices(levels).astype(np.float64):
            mantissas, shifts = np.frexp(mantissas * row)
            exponents += shifts
        return mantissas * _ROUNDED, exponents

    def law(self, unit: Fraction) -> tuple[PiecewiseGeometric, Whole]:
        """Return the law of V with mass N(V) exp(-unit V) on V = 0, 1, 2, ..., and where its pieces start."""
        starts, lasts = self.cover(unit)
        everything = np.array([self.widest], self.rising.dtype)
        pieces = np.append(starts, everything)
        lengths = np.append(lasts - starts + 1, np.zeros(1, self.rising.dtype))
        first = pieces.tolist()
        exact = lru_cache(maxsize=1 << 12)(self.sequences)

        def multiplicity(piece: int, offset: int) -> int:
            return exact(min(first[piece] + offset, self.widest))

        ones = np.ones(len(pieces), np.int64)
        caps = self.caps(np.append(lasts, everything))
        return PiecewiseGeometric(unit, pieces, ones, lengths, caps, multiplicity), pieces


@dataclass(frozen=True, eq=False)
class _LevelIntervals:
    """Intervals of levels, in any order.

    Attributes:
        starts: The first V of each.
        lasts: The last V of each.
        growth: By how many bits N grows within each.
        weights: About log2 of the weight of each, or above.
    """

    starts: Whole
    lasts: Whole
    growth: Doubles
    weights: Doubles

    def steep(self) -> NDArray[np.intp]:
        """Return which intervals are worth halving."""
        heavy = self.weights > self.weights.max(initial=-math.inf) - _FAINT
        return np.flatnonzero(heavy & (self.growth > _STEEPEST) & (self.lasts > self.starts))

    def halves(self, which: NDArray[np.intp]) -> tuple[Whole, Whole]:
        """Return starts and ends of the halves of some."""
        starts, lasts = self.starts[which], self.lasts[which]
        middles = starts + (lasts - starts) // 2
        return np.append(starts, middles + 1), np.append(middles, lasts)

    def with_halves(self, which: NDArray[np.intp], halves: _LevelIntervals) -> _LevelIntervals:
        """Return the intervals with some of them replaced by their halves."""
        return _LevelIntervals(
            np.append(np.delete(self.starts, which), halves.starts),
            np.append(np.delete(self.lasts, which), halves.lasts),
            np.append(np.delete(self.growth, which), halves.growth),
            np.append(np.delete(self.weights, which), halves.weights),
        )


def find_largest_gap(scores: Scores, ranking: Sequence[int]) -> Fraction:
    """Return the largest difference between the i-th largest score and the score at place i of a ranking."""
    integers = scores.integers.tolist()
    best = heapq.nlargest(len(ranking), integers)
    gap: int = max(due - integers[index] for due, index in zip(best, ranking, strict=True))
    return gap * scores.unit


def _compute_log2(integers: Whole) -> Doubles:
    mantissas, exponents = scale_integers(integers)
    return np.asarray(np.log2(mantissas) + exponents)
