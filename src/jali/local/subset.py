"""Subset selection: a report names several categories, the true one more often than not among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.local.categorical import Categorical
from jali.local.coins import odds_coins
from jali.local.estimate import Chances
from jali.local.randomizer import Reports, whole_matrix
from jali.mechanisms.mechanism import LogMasses, Specimen
from jali.noise import BitSource
from jali.noise.uniform import uniform_below
from jali.privacy.losses.pure import Pure


@dataclass(frozen=True, repr=False, init=False)
class SubsetSelection(Categorical):
    """Report w of the k categories, a set that holds the true one with odds e^epsilon against one that does not.

    Args:
        categories: How many there are, k; a value is one of 0 .. k-1.
        epsilon: The loss.

    Guarantee:
        epsilon-DP for one person's value, in the local model (replace-one), with equality. The true category is
        named with probability p = w e^epsilon / (w e^epsilon + k - w), exactly, and the others in the set are
        uniform; a given other category is named with q = (p (w-1) + (1-p) w) / (k-1).
    Proof:
        docs/proofs/local_frequencies.md, after Ye and Barg 2018.

    Error:
        An estimated frequency f has variance (f p (1-p) + (1-f) q (1-q)) / (people (p-q)^2). The w used,
        `size`, is near k / (e^epsilon + 1) and has the least variance at small f; w = 1 is `KaryResponse`.

    Example:
        >>> from jali.local import SubsetSelection
        >>> mechanism = SubsetSelection(categories=8, epsilon=1)
        >>> mechanism.size, round(mechanism.variance(), 7)
        (2, 2.5681382)
        >>> int(mechanism.release(3).sum())
        2
    """

    @property
    def size(self) -> int:
        """How many categories a report names: w."""
        shrunk = math.exp(-self.epsilon)
        middle = max(1, math.floor(self.categories * shrunk / (1 + shrunk)))
        near = (middle, min(middle + 1, self.categories - 1))
        return min(near, key=lambda size: self._chances(size).variance(0, 1))

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def chances(self) -> Chances:
        """How often the true category is named, and how often a given other one."""
        return self._chances(self.size)

    def _chances(self, size: int) -> Chances:
        k, shrunk = self.categories, math.exp(-self.epsilon)
        total = size + (k - size) * shrunk
        own = size / total
        other = (own * (size - 1) + (k - size) * shrunk / total * size) / (k - 1)
        # p - q = w (k-w) (1 - e^-epsilon) / ((k-1) total).
        return Chances(own, other, size * (k - size) * -math.expm1(-self.epsilon) / ((k - 1) * total))

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        people, size = len(values), self.size
        own = odds_coins(self.epsilon, Fraction(self.categories - size, size), people, bits=bits)
        reports = np.zeros((people, self.categories), np.int8)
        for holds in (True, False):
            rows = np.flatnonzero(own == holds)
            others = _subsets(len(rows), self.categories - 1, size - holds, bits)
            # Other categories are counted from the person's own one on.
            row, step = np.nonzero(others)
            reports[rows[row], (values[rows[row]] + 1 + step) % self.categories] = 1
        reports[np.arange(people), values] = own
        return reports

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports that name each category."""
        return np.asarray(np.count_nonzero(whole_matrix(reports, self.categories), axis=0))

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report, over all sets of w categories, each written as k bits."""
        k, size, gain = self.categories, self.size, float(self.epsilon)
        total = math.log(math.comb(k - 1, size - 1) + math.comb(k - 1, size) * math.exp(-gain))
        named = (tuple(int(i in chosen) for i in range(k)) for chosen in combinations(range(k), size))
        return {bits: -total - gain * (not bits[value]) for bits in named}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return sets of one, two and three categories."""
        cases = ((3, "2"), (6, "3/4"), (8, "1/2"))
        return cls._specimens(*(cls(categories=k, epsilon=epsilon) for k, epsilon in cases))


def _subsets(rows: int, among: int, size: int, bits: BitSource) -> NDArray[np.bool_]:
    """Draw a uniform set of `size` out of `among` for each row (Floyd's algorithm), as rows of bits."""
    chosen = np.zeros((rows, among), np.bool_)
    every = np.arange(rows)
    for last in range(among - size, among):
        drawn = uniform_below(last + 1, rows, bits=bits)
        chosen[every, np.where(chosen[every, drawn], last, drawn)] = True
    return chosen
