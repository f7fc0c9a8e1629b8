"""Hadamard response: one bit about a person, for any number of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.local.categorical import Categorical
from jali.local.coins import odds_coins
from jali.local.estimate import Chances
from jali.local.randomizer import Reports, whole_matrix
from jali.mechanisms.mechanism import LogMasses, Specimen
from jali.noise import BitSource
from jali.privacy.losses.pure import Pure


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

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        rows = bits.integers(len(values), self._width).astype(np.int64)
        lies = ~odds_coins(self.epsilon, Fraction(1), len(values), bits=bits)
        return np.stack([rows, _signs(rows, values) ^ lies], axis=1)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count, for each category, the reports whose bit is the sign at that category."""
        array = whole_matrix(reports, 2, max(2, self.rows))
        balance = np.bincount(array[:, 0], minlength=self.rows) - 2 * np.bincount(
            array[:, 0][array[:, 1] != 0], minlength=self.rows
        )
        return (len(array) + transformed(balance)[: self.categories]) // 2

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


def transformed(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Walsh-Hadamard transform of as many integers as a power of two, exactly.

    Example:
        >>> transformed(np.array([1, 0, 2, 0])).tolist()
        [3, 3, -1, -1]
    """
    half = 1
    result = values.astype(np.int64)
    while half < len(result):
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result
