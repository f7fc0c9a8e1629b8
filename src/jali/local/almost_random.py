"""The two-coin form of randomized response."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.local.estimate import Chances
from jali.local.randomizer import Randomizer, Reports, whole_column
from jali.mechanisms.mechanism import LogMasses, Specimen
from jali.noise import BitSource
from jali.privacy.losses.randomized_response import RandomizedResponseLoss


@dataclass(frozen=True, repr=False)
class AlmostRandom(Randomizer):
    """Toss a coin: heads, tell the truth; tails, answer by a second coin.

    Guarantee:
        ln(3)-DP for one person's answer, in the local model (replace-one), with equality: the truth is told with
        probability 3/4.
    Proof:
        docs/proofs/randomized_response.md, after Warner 1965.

    Error:
        With y the share of yes among the reports, the estimated share is 2y - 1/2; it has variance
        3 / (4 people), whatever the share is.

    Example:
        >>> from jali.local import AlmostRandom
        >>> mechanism = AlmostRandom()
        >>> mechanism.release(False) in (0, 1), mechanism.variance(people=100)
        (True, 0.0075)
        >>> mechanism.estimate([1] * 50 + [0] * 50).frequencies
        (0.5, 0.5)
    """

    def __init__(self) -> None:
        """Take no parameters: the coins are fair."""

    @property
    def answers(self) -> int:
        """Two: 0 is no, 1 is yes."""
        return 2

    @property
    def loss(self) -> RandomizedResponseLoss:
        """Ln 3, rounded up."""
        return RandomizedResponseLoss.from_truth("3/4")

    @property
    def chances(self) -> Chances:
        """3/4 and 1/4."""
        return Chances(0.75, 0.25, 0.5)

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        coins = bits.integers(len(values), 2)
        return np.where(coins & 2, values, coins & 1).astype(np.int8)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports no and yes."""
        yes = int(np.count_nonzero(whole_column(reports)))
        return np.array([len(np.asarray(reports)) - yes, yes])

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report: 3/4 and 1/4."""
        return {int(value): math.log(3 / 4), 1 - int(value): math.log(1 / 4)}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return the one case there is."""
        return cls._specimens(cls())
