"""On which side of an origin a quantile lies: one noisy comparison.

Proof:
    docs/proofs/unbounded_quantile.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.laplace import Laplace
from jali.mechanisms.lattice import add
from jali.mechanisms.quantiles.rank_walk import drift, excess
from jali.mechanisms.ruler import Marks
from jali.mechanisms.sparse_vector.law import log_at_least
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency

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
        distance = self.quantile.denominator * drift(self.quantile, self.adjacency)
        return Laplace(sensitivity=distance, epsilon=self.epsilon)

    def below(self, column: Marks, size: int, bits: BitSource | None) -> Flags:
        """Decide many times whether the quantile lies below the origin."""
        noise = self.noise.sampler.sample(size, bits=bits)
        return np.asarray(add(np.array([self._excess(column)], dtype=object), noise) >= 0, np.bool_)

    def log_chances(self, column: Marks) -> tuple[float, float]:
        """Return ln Pr[below] and ln Pr[not below]."""
        too_many = float(self._excess(column))
        below, above = log_at_least(self.noise.scale, np.array([-too_many, too_many + 1])).tolist()
        return below, above

    def misjudged(self, column: Marks) -> Fraction:
        """Return how many people the answer "not below" is off; the other one is off by as much less than 0."""
        return Fraction(self._excess(column), self.quantile.denominator)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence the side is misjudged by at most t people."""
        return Fraction(self.noise.error(confidence), self.quantile.denominator)

    def _excess(self, column: Marks) -> int:
        """Return how many values too many lie below the origin for the quantile to lie at or above it."""
        count = np.searchsorted(column, [self.origin], side="left").astype(np.int64)
        return int(excess(self.quantile, self.spare, count, len(column))[0])
