"""A quantile among few marks: permute-and-flip on the ranks of `PiecewiseLaplace`."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, miss
from jali.mechanisms.quantiles.mark_distances import MarkDistances
from jali.mechanisms.quantiles.rank_quantile import RankQuantile
from jali.mechanisms.quantiles.ranks import LinearRanks, sorted_marks, usual_target
from jali.mechanisms.ruler import Marks
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip, draw_permute_and_flip, permute_and_flip_law
from jali.mechanisms.selection.scores import Exponents
from jali.noise import BitSource, system_bits
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

MOST_MARKS = 1 << 16


@dataclass(frozen=True, repr=False, init=False)
class PermutedQuantile(RankQuantile):
    """Pick one of a few marks whose rank, read linearly between the values, is near that of the quantile.

    The distance of a mark is that of `PiecewiseLaplace`. Every mark is accepted on its own with probability
    exp(-rate * (distance - best)), and one of the accepted is released, all alike. Its expected distance is never
    more than that of the exponential mechanism, and down to half of it on a coarse lattice; on a fine one the two
    are the same. Its loss is pure, and so is charged epsilon^2/2 in zCDP, where `PiecewiseLaplace` is charged
    epsilon^2/8.

    Args:
        at: Which quantile, from 0 to 1: 0.5 is the median.
        low: The least value of the column; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of the marks, of which there may be 2^16.
        epsilon: The loss.
        adjacency: When two tables are neighbours; the number of values is private under "add-remove" only.

    Guarantee:
        The release is epsilon-DP. The rate is epsilon/2 under "replace-one", and epsilon / (2 max(at, 1 - at))
        under "add-remove".
    Proof:
        docs/proofs/private_quantile.md, Theorem 5, after McKenna and Sheldon 2020, Theorem 1.

    Error:
        In people, a bound for any column: that of permute-and-flip among as many candidates as there are marks.

    Example:
        >>> from jali.mechanisms import PermutedQuantile
        >>> median = PermutedQuantile(at="1/2", low=0, high=120, step=1, epsilon=1, adjacency="replace-one")
        >>> 0 <= median.release([23, 35, 35, 61, 70]) <= 120
        True
        >>> median.loss.event.rho
        Fraction(1, 2)
    """

    def __init__(
        self,
        *,
        at: Number,
        low: Number,
        high: Number,
        step: Number | None = None,
        epsilon: Number,
        adjacency: str | Adjacency,
    ) -> None:
        super().__init__(at=at, low=low, high=high, step=step, epsilon=epsilon, adjacency=adjacency)
        if self.ruler.top >= MOST_MARKS:
            raise MechanismError(
                "step is so small that there are more than 2**16 marks.", remedy="Take PiecewiseLaplace."
            )

    @property
    def loss(self) -> Pure:  # type: ignore[override]
        """Epsilon, pure."""
        return Pure(self.epsilon)

    def ranks(self, marks: Marks) -> LinearRanks:
        """Return the distances from the usual rank of the quantile."""
        return LinearRanks(marks, 0, self.ruler.top, usual_target(self.at, len(marks)))

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t people of the best one, with this chance, for any column."""
        miss(confidence)
        among = PermuteAndFlip(sensitivity=1 / (2 * self.rate), epsilon=1)
        return among.error(confidence, candidates=self.ruler.top + 1)

    def release(self, value: Any, *, bits: BitSource | None = None) -> int | float:
        """Return a mark near the quantile of a column."""
        return self.sample(value, 1, bits=bits)[0]  # type: ignore[return-value]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        source = system_bits() if bits is None else bits
        chosen = draw_permute_and_flip(self._exponents(value), size, source)
        return [self.ruler.at(mark) for mark in chosen.tolist()]

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[output] for each mark."""
        exponents = self._exponents(value)
        exact = np.array([float(exponents.exact(mark)) for mark in range(len(exponents))])
        return {self.ruler.at(mark): mass for mark, mass in enumerate(permute_and_flip_law(exact).tolist())}

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column; this number is not private."""
        ranks = self.ranks(sorted_marks(self.ruler.marks(value)))
        aim = float(self.ruler.step * (self.ruler.first + ranks.at(ranks.target)))
        return math.fsum(math.exp(log) * abs(output - aim) for output, log in self.log_masses(value).items())

    def _exponents(self, value: Any) -> Exponents:
        ranks = self.ranks(sorted_marks(self.ruler.marks(value)))
        return MarkDistances(ranks).exponents(self.rate)
