"""Exact draws of many quantiles at once: which gap of the column each falls into, then where in the gap.

A table bounds the mass of all ways to place the first j quantiles; walking back through it proposes gaps with
chances that are known exactly and at least the true ones, and one exact coin corrects the walk. Doubles serve to
make the table only: where they are too large time is lost, and that they are never too small is proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from jali.mechanisms.quantiles.scaled import Decay, Lottery, Scaled, zeros
from jali.mechanisms.selection.piecewise_geometric import Digits

# Bounds of ln 2, in units of 1e-16.
_LN2 = (6931471805599453, 6931471805599454)


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

    Guarantee:
        `draw` has exactly this law; equal quantiles count as one tuple.
    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    lengths: list[int]
    wanted: tuple[Fraction, ...]
    rate: Fraction
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
            share = None if arrival is None else self._shares(left, arrival).draw(digits)
            if arrival is None or share is None:
                return None
            gap, left = arrival, left - share - 1
            runs.append(Run(gap, share + 1))
        walk = tuple(runs)
        return walk if digits.coin(*self._coin(walk), word) else None

    def _coin(self, walk: tuple[Run, ...]) -> tuple[Fraction, Fraction]:
        """Return (f, x) such that f exp(-x) is the mass of a walk over its chance, but for a constant."""
        if walk not in self._coins:
            left, gap, factor = len(self.wanted) - 1, len(self.lengths), Fraction(1)
            for run in walk:
                arrivals, shares = self._arrivals(left, gap), self._shares(left, run.gap)
                ways = math.comb(self.lengths[run.gap] + run.size - 1, run.size)
                factor *= ways / (arrivals.chance(run.gap) * shares.chance(run.size - 1))
                left, gap = left - run.size, run.gap
            self._coins[walk] = factor, self.rate * self.cost(reversed(walk)) - self._log_total
        return self._coins[walk]

    def cost(self, runs: Iterable[Run]) -> Fraction:
        """Return the sum of |count - wanted count|, for runs in rising order."""
        gaps = [0, *(run.gap for run in runs for _ in range(run.size)), len(self.lengths) - 1]
        counts = [after - before for before, after in pairwise(gaps)]
        return sum((abs(count - want) for count, want in zip(counts, self.wanted, strict=True)), Fraction(0))

    @cached_property
    def _log_total(self) -> Fraction:
        """A rational at most -ln of the bound of all masses."""
        total = self._arrivals(len(self.wanted) - 1, len(self.lengths)).whole
        factor, power = Fraction(float(total.factors)), int(total.powers)
        return 1 - factor - power * Fraction(_LN2[power > 0], 10**16)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.lengths).tolist()]

    @cached_property
    def _decay(self) -> Decay:
        return Decay(self.rate, len(self.lengths))

    def _edges(self, cell: int) -> tuple[int, Scaled, Scaled]:
        """Return the least whole h >= wanted, at least 1, and exp(-rate x) at h - wanted and at wanted - h + 1."""
        want = self.wanted[cell]
        whole = max(1, math.ceil(want))
        return whole, Scaled.exp(self.rate * (whole - want)), Scaled.exp(self.rate * (want - whole + 1))

    def _kernel(self, cell: int) -> Scaled:
        """Bound exp(-rate |count - wanted|), for each count from 0 to that of all values."""
        whole, above, below = self._edges(cell)
        powers = self._decay.powers
        return (powers[:whole][::-1] * below).joined(powers[: len(powers) - whole] * above)

    @cached_property
    def _tables(self) -> tuple[list[Scaled], list[Scaled]]:
        """Bounds of the masses of placing j quantiles, for each gap.

        In the first table quantile j is the last one in the gap; in the second it is below, the next one in it.
        """
        passed = [self._kernel(0)]
        tables = [passed[0]]  # there is no quantile number 0: this is not read
        for j in range(1, len(self.wanted)):
            terms = self._terms(j, passed, slice(None))
            tables.append(_total(terms))
            passed.append(self._passed(j, tables[j]))
        return tables, passed

    def _terms(self, j: int, passed: list[Scaled], gaps: slice) -> list[Scaled]:
        """Bound the mass by how many quantiles, up to number j, are in a gap: 1, 2, ..., j."""
        found, inside = [], Fraction(0)
        for size in range(1, j + 1):
            apart = Scaled.exp(self.rate * inside)
            found.append(passed[j - size][gaps] * self._ways[size][gaps] * apart)
            inside += self.wanted[j - size]
        return found

    @cached_property
    def _ways(self) -> list[Scaled]:
        """Bound, for 0, 1, ..., m quantiles, in how many ways each gap can hold them, in rising order."""
        lengths = np.array(self.lengths, np.int64)
        found = [Scaled.integers(np.ones_like(lengths))]
        for size in range(1, len(self.wanted)):
            more = Scaled.integers(np.where(lengths > 0, lengths + size - 1, 0))
            found.append(found[-1] * more * Scaled.of(np.nextafter(1 / size, 1)))
        return found

    def _passed(self, j: int, table: Scaled) -> Scaled:
        """Bound, for each gap, the sum over all gaps below it of the weights that `_arrivals` gives them."""
        whole, above, below = self._edges(j)
        count, early = len(table), zeros(whole - 1)
        far = self._decay.sums(table[::-1], count)[::-1].delayed(whole) * above
        near = self._decay.sums(early.joined(table), whole - 1)[:count] * below
        return Lottery.room(far + near)

    def _arrivals(self, j: int, gap: int) -> Lottery:
        """Return where quantile j lies, if the next one is in a given gap; beyond the last gap there is none."""
        if (j, gap) not in self._lotteries:
            table, last = self._tables[0][j], len(self.lengths)
            reach = gap + 1 if gap < last else last
            parts = table[:gap] * self._kernel(j)[:reach][::-1][:gap]
            whole = self._tables[1][j][gap] if gap < last else Lottery.room(parts.sum())
            self._lotteries[j, gap] = Lottery(parts, whole)
        return self._lotteries[j, gap]

    def _shares(self, j: int, gap: int) -> Lottery:
        """Return how many quantiles, less 1, are in the gap in which quantile j is the last one."""
        if (-j, gap) not in self._lotteries:
            terms = self._terms(j, self._tables[1], slice(gap, gap + 1))
            parts = terms[0]
            for term in terms[1:]:
                parts = parts.joined(term)
            self._lotteries[-j, gap] = Lottery(parts, self._tables[0][j][gap])
        return self._lotteries[-j, gap]


def _total(terms: list[Scaled]) -> Scaled:
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return Lottery.room(found)


def _rising(length: int, size: int, digits: Digits) -> list[int]:
    """Return `size` places below `length` in rising order, equal ones allowed: all such lists alike."""
    if size == 1:
        return [digits.below(length)]
    chosen: set[int] = set()
    for top in range(length - 1, length + size - 1):  # Floyd: a uniform subset of length + size - 1 numbers
        place = digits.below(top + 1)
        chosen.add(top if place in chosen else place)
    return [place - turn for turn, place in enumerate(sorted(chosen))]
