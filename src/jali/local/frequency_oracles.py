"""Frequency oracles for many categories: unary encoding, subset selection and Hadamard response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.local.frequency_estimates import Chances
from jali.local.randomizer import Categorical, Reports, draw_with_odds, whole_matrix
from jali.mechanisms.base import LogMasses, Specimen
from jali.privacy.losses.pure_loss import Pure
from jali.sampling import BitSource
from jali.sampling.uniform import uniform_below


@dataclass(frozen=True, repr=False, init=False)
class UnaryEncoding(Categorical):
    """Report a bit for each category: a fair coin for the true one, a rare 1 for the others (OUE).

    Args:
        categories: How many there are, k; a value is one of 0 .. k-1.
        epsilon: The loss of the whole report.

    Guarantee:
        epsilon-DP for one person's value, in the local model (replace-one), with equality. The true category's
        bit is 1 with probability p = 1/2, every other one with q = 1 / (e^epsilon + 1), exactly. Changing a value
        changes the law of two bits, whose losses add up to epsilon.
    Proof:
        docs/proofs/local_frequencies.md, after Wang, Blocki, Li and Jha 2017.

    Error:
        An estimated frequency f has variance (4 e^epsilon / (e^epsilon - 1)^2 + f) / people.
        It does not depend on the number of categories.

    Example:
        >>> from jali.local import UnaryEncoding
        >>> mechanism = UnaryEncoding(categories=8, epsilon=1)
        >>> round(mechanism.variance(), 7)
        3.6826944
        >>> mechanism.release(3).shape
        (8,)
    """

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def chances(self) -> Chances:
        """How often the bit of the true category is 1, and that of a given other one."""
        shrunk = math.exp(-self.epsilon)
        return Chances(0.5, shrunk / (1 + shrunk), -math.expm1(-self.epsilon) / (1 + shrunk) / 2)

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        people, one = len(values), Fraction(1)
        zeros = draw_with_odds(self.epsilon, one, people * self.categories, bits=bits)
        reports = (~zeros).reshape(people, self.categories).astype(np.int8)
        reports[np.arange(people), values] = bits.integers(people, 1)
        return reports

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the ones of each category."""
        return np.asarray(np.count_nonzero(whole_matrix(reports, self.categories), axis=0))

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report, over all 2^k strings of bits."""
        none = -math.log1p(math.exp(-self.epsilon))
        half, size = math.log(1 / 2), self.categories
        return {
            bits: half + (size - 1) * none - float(self.epsilon) * (sum(bits) - bits[value])
            for bits in product((0, 1), repeat=size)
        }

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two and four categories."""
        return cls._specimens(cls(categories=2, epsilon=1), cls(categories=4, epsilon="3/2"))


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

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        people, size = len(values), self.size
        own = draw_with_odds(self.epsilon, Fraction(self.categories - size, size), people, bits=bits)
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


@dataclass(frozen=True, repr=False, init=False)
class HadamardResponse(Categorical):
    """Report a random row of the Hadamard matrix, and, by randomized response, its sign at the true category.

    Args:
        categories: How many there are, k; a value is one of 0 .. k-1.
        epsilon: The loss.

    A report is a pair (row, bit). The row says nothing about the person and may as well be assigned by whoever
    asks: then one bit is sent. Only the bit depends on the value.

    Guarantee:
        epsilon-DP for one person's value, in the local model (replace-one), with equality. The bit is right with
        probability e^epsilon / (1 + e^epsilon), exactly.
    Proof:
        docs/proofs/local_frequencies.md, after Acharya and Sun 2019.

    Error:
        A report supports the true category with probability p = e^epsilon / (1 + e^epsilon) and any other with
        1/2; an estimated frequency f has variance
        (f p (1-p) + (1-f) / 4) / (people (p - 1/2)^2), at most ((e^epsilon + 1) / (e^epsilon - 1))^2 / people.

    Example:
        >>> from jali.local import HadamardResponse
        >>> mechanism = HadamardResponse(categories=8, epsilon=1)
        >>> round(mechanism.variance(), 7)
        4.6826944
        >>> mechanism.release(3).shape
        (2,)
    """

    @property
    def rows(self) -> int:
        """How many rows the matrix has: the least power of two that is at least the number of categories."""
        return 1 << self._width

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def chances(self) -> Chances:
        """How often a report agrees with the true category, and with a given other one."""
        shrunk = math.exp(-self.epsilon)
        return Chances(1 / (1 + shrunk), 0.5, -math.expm1(-self.epsilon) / (1 + shrunk) / 2)

    def _draw_reports(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        rows = bits.integers(len(values), self._width).astype(np.int64)
        lies = ~draw_with_odds(self.epsilon, Fraction(1), len(values), bits=bits)
        return np.stack([rows, _signs(rows, values) ^ lies], axis=1)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count, for each category, the reports whose bit is the sign at that category."""
        array = whole_matrix(reports, 2, max(2, self.rows))
        balance = np.bincount(array[:, 0], minlength=self.rows) - 2 * np.bincount(
            array[:, 0][array[:, 1] != 0], minlength=self.rows
        )
        return (len(array) + walsh_hadamard(balance)[: self.categories]) // 2

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report, over all rows and both bits."""
        true = -math.log1p(math.exp(-self.epsilon)) - math.log(self.rows)
        signs = _signs(np.arange(self.rows), np.full(self.rows, value)).tolist()
        return {
            (row, bit): true - (bit != sign) * float(self.epsilon)
            for row, sign in enumerate(signs)
            for bit in (0, 1)
        }

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two, three and five categories: a full matrix and two that are not."""
        cases = ((2, "1"), (3, "2"), (5, "3/2"))
        return cls._specimens(*(cls(categories=k, epsilon=epsilon) for k, epsilon in cases))

    @property
    def _width(self) -> int:
        return (self.categories - 1).bit_length()


def _signs(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 where the Hadamard matrix holds -1: the parity of the bits that row and column share."""
    return np.asarray(np.bitwise_count(rows & columns), np.int64) & 1


def walsh_hadamard(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Walsh-Hadamard transform of as many integers as a power of two, exactly.

    Example:
        >>> walsh_hadamard(np.array([1, 0, 2, 0])).tolist()
        [3, 3, -1, -1]
    """
    half = 1
    result = values.astype(np.int64)
    while half < len(result):
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result
