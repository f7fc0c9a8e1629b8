"""Exact draws of many quantiles at once: which gap of the column each falls into, then where in the gap.

A table of integers bounds the mass of all ways to place the first j quantiles; walking back through it proposes
gaps with chances that are known exactly and at least the true ones, and one exact coin corrects the walk.
Everything is done in integers: exp is known between integers from `exp_bounds`, and rounding goes upwards.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from jali.mechanisms.selection.piecewise_geometric import Digits
from jali.noise.bounds import exp_bounds

_SPARE = 128


@dataclass(frozen=True)
class Run:
    """Several quantiles in one gap.

    Attributes:
        gap: Its number, which is the number of values below.
        size: How many quantiles.
    """

    gap: int
    size: int


@dataclass(frozen=True, eq=False)
class JointLaw:
    """The law on rising tuples of places, with mass proportional to exp(-rate * sum of |count - wanted count|).

    Args:
        lengths: How many places each gap has, from below all values to above all; 0 where values are equal.
        wanted: How many values should lie below the first quantile, between the first two, ..., above the last.
        rate: A rational above 0.
        spare: How finely masses are known beyond what is needed, in bits; the law does not depend on it.

    Guarantee:
        `draw` has exactly this law; equal quantiles count as one tuple.
    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    lengths: list[int]
    wanted: tuple[Fraction, ...]
    rate: Fraction
    spare: int = _SPARE
    _lotteries: dict[tuple[int, int], Lottery] = field(default_factory=dict, repr=False)
    _coins: dict[tuple[Run, ...], tuple[Fraction, Fraction]] = field(default_factory=dict, repr=False)

    def draw(self, digits: Digits) -> list[int]:
        """Draw a tuple of places, numbered from 0 over all gaps."""
        while (runs := self.attempt(digits)) is None:
            pass
        chosen = ((run.gap, _rising(self.lengths[run.gap], run.size, digits)) for run in reversed(runs))
        return [self._starts[gap] + place for gap, places in chosen for place in places]

    def attempt(self, digits: Digits, word: int = 32) -> tuple[Run, ...] | None:
        """Propose runs from the last to the first and toss the coin; None if they are not accepted."""
        left, gap = len(self.wanted) - 1, len(self.lengths)
        runs: list[Run] = []
        while left:
            arrival = self._arrivals(left, gap).draw(digits)
            if arrival is None:
                return None
            gap = arrival
            size = 1 + (self._shares(left, gap).draw(digits) or 0)
            runs.append(Run(gap, size))
            left -= size
        walk = tuple(runs)
        return walk if digits.coin(*self._coin(walk), word) else None

    def _coin(self, walk: tuple[Run, ...]) -> tuple[Fraction, Fraction]:
        """Return (f, x) such that f exp(-x) is the mass of a walk over its chance times the total."""
        if walk not in self._coins:
            left, gap = len(self.wanted) - 1, len(self.lengths)
            above, below = 1 << self._bits, self._arrivals(left, gap).whole
            for run in walk:
                arrivals, shares = self._arrivals(left, gap), self._shares(left, run.gap)
                above *= self._ways[run.gap][run.size] * arrivals.whole * shares.whole
                below *= arrivals.weights[run.gap] * shares.weights[run.size - 1]
                left, gap = left - run.size, run.gap
            self._coins[walk] = Fraction(above, below), self.rate * self.cost(reversed(walk))
        return self._coins[walk]

    def cost(self, runs: Iterable[Run]) -> Fraction:
        """Return the sum of |count - wanted count|, for runs in rising order."""
        gaps = [0, *(run.gap for run in runs for _ in range(run.size)), len(self.lengths) - 1]
        counts = [after - before for before, after in pairwise(gaps)]
        return sum((abs(count - want) for count, want in zip(counts, self.wanted, strict=True)), Fraction(0))

    @cached_property
    def _bits(self) -> int:
        """As many as all places together need, and a tuple that is likely."""
        near = _nearest(self.lengths, list(accumulate(self.wanted))[:-1])
        least = 3 * math.ceil(self.rate * self.cost(Run(gap, 1) for gap in near)) // 2
        return self.spare + least + (len(self.wanted) - 1) * sum(self.lengths).bit_length()

    @cached_property
    def _powers(self) -> tuple[list[int], list[int]]:
        """Integers below and above 2**bits * exp(-rate k), for k = 0, 1, ..., n."""
        one = exp_bounds(self.rate, self._bits)
        lows, highs = [1 << self._bits], [1 << self._bits]
        for _ in self.lengths:
            lows.append(lows[-1] * one[0] >> self._bits)
            highs.append((highs[-1] * one[1] >> self._bits) + 1)
        return lows, highs

    @cached_property
    def _edges(self) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
        """For each cell the least whole h >= wanted, and exp(-rate x) at h - wanted and at wanted - h + 1."""
        found = []
        for want in self.wanted:
            whole = math.ceil(want)
            above, below = self.rate * (whole - want), self.rate * (want - whole + 1)
            found.append((whole, exp_bounds(above, self._bits), exp_bounds(below, self._bits)))
        return found

    def _kernel(self, cell: int, count: int) -> int:
        """Return an integer at least 2**bits * exp(-rate |count - wanted|)."""
        whole, (_, above), (_, below) = self._edges[cell]
        powers = self._powers[1]
        factor, power = (above, powers[count - whole]) if count >= whole else (below, powers[whole - 1 - count])
        return (factor * power >> self._bits) + 1

    @cached_property
    def _tables(self) -> tuple[list[list[int]], list[list[int]]]:
        """Bounds of the masses of placing j quantiles, for each gap.

        In the first table quantile j is the last one in the gap; in the second it is below, the next one in it.
        """
        gaps = range(len(self.lengths))
        tables: list[list[int]] = [[]]
        passed = [[self._kernel(0, gap) for gap in gaps]]
        for j in range(1, len(self.wanted)):
            apart = self._apart(j)
            tables.append([sum(self._terms(j, gap, passed, apart)) for gap in gaps])
            passed.append(self._passed(j, tables[j]))
        return tables, passed

    def _terms(self, j: int, gap: int, passed: list[list[int]], apart: list[int]) -> list[int]:
        """Bound the mass by how many quantiles, up to number j, are in the gap: 1, 2, ..., j."""
        if not self.lengths[gap]:
            return [0] * j
        ways, bits = self._ways[gap], self._bits
        several = [((passed[j - size][gap] * apart[size] >> bits) + 1) * ways[size] for size in range(2, j + 1)]
        return [passed[j - 1][gap] * ways[1], *several]

    def _apart(self, j: int) -> list[int]:
        """For each size of a run up to quantile j, bound 2**bits * exp(-rate * what is wanted inside the run)."""
        inside = [Fraction(0), *(sum(self.wanted[j - size + 1 : j], Fraction(0)) for size in range(1, j + 1))]
        return [exp_bounds(self.rate * want, self._bits)[1] for want in inside]

    @cached_property
    def _ways(self) -> list[list[int]]:
        """For each gap in how many ways 0, 1, ..., m quantiles can lie in it, in rising order."""
        return [_multisets(length, len(self.wanted) - 1) for length in self.lengths]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(self.lengths)]

    def _passed(self, j: int, table: list[int]) -> list[int]:
        """Bound, for each gap, the sum over all gaps below it of the weights that `_arrivals` gives them."""
        slack = len(table) + 2 + (sum(table) * self._width(j) >> self._bits)
        return [far + near + slack for far, near in zip(self._far(j, table), self._near(j, table), strict=True)]

    def _far(self, j: int, table: list[int]) -> list[int]:
        """Bound the sums over counts of at least what is wanted in cell j: they decline from gap to gap."""
        bits, decline = self._bits, self._powers[1][1]
        reach = max(self._edges[j][0], 1)
        edge, found = self._kernel(j, reach), [0]
        for gap in range(1, len(table)):
            fresh = table[gap - reach] * edge >> bits if gap >= reach else 0
            found.append((found[-1] * decline >> bits) + fresh + 2)
        return found

    def _near(self, j: int, table: list[int]) -> list[int]:
        """Bound the sums over counts from 1 to less than what is wanted: they decline going backwards."""
        bits, (lows, highs), last = self._bits, self._powers, len(table) - 1
        whole, _, (edge_low, edge) = self._edges[j]
        found = [0] * len(table)
        if whole < 2:
            return found
        nearest = edge_low * lows[whole - 2] >> bits  # at most the kernel of a count of 1
        window = range(max(0, last - whole + 1), last)
        found[last] = sum((table[gap] * self._kernel(j, last - gap) >> bits) + 1 for gap in window)
        for gap in range(last, 0, -1):
            fresh = table[gap - whole] * edge >> bits if gap >= whole else 0
            kept = max(0, found[gap] - (table[gap - 1] * nearest >> bits))
            found[gap - 1] = (kept * highs[1] >> bits) + fresh + 2
        return found

    def _width(self, cell: int) -> int:
        """Bound how far `_kernel` is above 2**bits times the true value."""
        lows, highs = self._powers
        widest = max(high - low for low, high in zip(lows, highs, strict=True))
        edges = max(high - low for low, high in self._edges[cell][1:])
        return 2 * (widest + edges + 2)

    def _arrivals(self, j: int, gap: int) -> Lottery:
        """Return where quantile j lies, if the next one is in a given gap; beyond the last gap there is none."""
        if (j, gap) not in self._lotteries:
            table, last = self._tables[0][j], len(self.lengths)
            count = gap if gap < last else last - 1
            kernels = (self._kernel(j, count - before) for before in range(min(gap, last)))
            weights = [(table[before] * kernel >> self._bits) + 1 for before, kernel in enumerate(kernels)]
            self._lotteries[j, gap] = Lottery(weights, self._tables[1][j][gap] if gap < last else sum(weights))
        return self._lotteries[j, gap]

    def _shares(self, j: int, gap: int) -> Lottery:
        """Return how many quantiles, less 1, are in the gap in which quantile j is the last one."""
        if (-j, gap) not in self._lotteries:
            weights = self._terms(j, gap, self._tables[1], self._apart(j))
            self._lotteries[-j, gap] = Lottery(weights, sum(weights))
        return self._lotteries[-j, gap]


@dataclass(frozen=True, eq=False)
class Lottery:
    """Integer weights with a sum of at most `whole`; what is left over is a blank."""

    weights: list[int]
    whole: int

    def draw(self, digits: Digits) -> int | None:
        """Return an index with probability weight/whole, None for a blank."""
        place = bisect_right(self._sums, digits.below(self.whole))
        return place if place < len(self.weights) else None

    @cached_property
    def _sums(self) -> list[int]:
        return list(accumulate(self.weights))


def _multisets(length: int, most: int) -> list[int]:
    """Return the number of multisets of 0, 1, ..., `most` out of `length` places."""
    found = [1]
    for size in range(1, most + 1):
        found.append(found[-1] * (length + size - 1) // size)
    return found


def _nearest(lengths: list[int], ranks: list[Fraction]) -> list[int]:
    """Return for each rank the nearest gap that has places, at or below it if there is one."""
    open_gaps = [gap for gap, length in enumerate(lengths) if length]
    return [open_gaps[max(0, bisect_right(open_gaps, rank) - 1)] for rank in ranks]


def _rising(length: int, size: int, digits: Digits) -> list[int]:
    """Return `size` places below `length` in rising order, equal ones allowed: all such lists alike."""
    if size == 1:
        return [digits.below(length)]
    chosen: set[int] = set()
    for top in range(length - 1, length + size - 1):  # Floyd: a uniform subset of length + size - 1 numbers
        place = digits.below(top + 1)
        chosen.add(top if place in chosen else place)
    return [place - turn for turn, place in enumerate(sorted(chosen))]
