"""Unary encoding: one bit for each category, each flipped by a coin of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

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

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        people, one = len(values), Fraction(1)
        zeros = odds_coins(self.epsilon, one, people * self.categories, bits=bits)
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
