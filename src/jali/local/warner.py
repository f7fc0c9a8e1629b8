"""Randomized response to a yes/no question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import CatalogError, MechanismError
from jali.local.coins import odds_coins
from jali.local.estimate import Chances
from jali.local.randomizer import Randomizer, Reports, whole_column
from jali.mechanisms.mechanism import LogMasses, Specimen, parameter
from jali.noise import BitSource, bernoulli
from jali.privacy.losses.randomized_response import RandomizedResponseLoss
from jali.privacy.rationals import Number, rational

_HALF = Fraction(1, 2)


@dataclass(frozen=True, repr=False)
class Warner(Randomizer):
    """Answer a yes/no question with the truth or its opposite, by a biased coin (Warner 1965).

    Args:
        truth: The probability of the true answer: any rational in (0, 1) but 1/2.
        epsilon: Instead of it, the loss; the truth is then told with probability e^epsilon / (1 + e^epsilon).

    Guarantee:
        ln(truth / (1-truth))-DP for one person's answer, in the local model (replace-one), with equality; for a
        truth below 1/2, ln((1-truth) / truth). The coin has exactly the stated probability.
    Proof:
        docs/proofs/randomized_response.md, after Warner 1965.

    Error:
        With p = truth, the estimated share has variance p (1-p) / (people (2p-1)^2), whatever the share is.

    Example:
        >>> from jali.local import Warner
        >>> mechanism = Warner(truth="2/3")
        >>> round(mechanism.loss.epsilon(0), 6), mechanism.release(True) in (0, 1)
        (0.693147, True)
        >>> round(Warner(epsilon=1).variance(), 10)
        0.9206735942
        >>> Warner(truth="3/4").estimate([1] * 500 + [0] * 500).frequencies
        (0.5, 0.5)
    """

    truth: Fraction | None
    epsilon: Fraction | None

    def __init__(self, *, truth: Number | None = None, epsilon: Number | None = None) -> None:
        if (truth is None) == (epsilon is None):
            raise MechanismError("truth-or-epsilon")
        self._fill(truth=None if truth is None else truth_of(truth))
        self._fill(epsilon=None if epsilon is None else parameter(epsilon, "epsilon"))

    @property
    def answers(self) -> int:
        """Two: 0 is no, 1 is yes."""
        return 2

    @property
    def loss(self) -> RandomizedResponseLoss:
        """The loss of one person's answer."""
        if self.epsilon is not None:
            return RandomizedResponseLoss(self.epsilon)
        return RandomizedResponseLoss.from_truth(max(self._truth, 1 - self._truth))

    @property
    def chances(self) -> Chances:
        """How often a report is the person's answer, and how often the other one."""
        if self.epsilon is None:
            return Chances(float(self._truth), float(1 - self._truth), float(2 * self._truth - 1))
        shrunk = math.exp(-self.epsilon)
        return Chances(1 / (1 + shrunk), shrunk / (1 + shrunk), -math.expm1(-self.epsilon) / (1 + shrunk))

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        if self.epsilon is None:
            truthful = bernoulli(self._truth, len(values), bits=bits)
        else:
            truthful = odds_coins(self.epsilon, Fraction(1), len(values), bits=bits)
        return np.where(truthful, values, 1 - values).astype(np.int8)

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports no and yes."""
        yes = int(np.count_nonzero(whole_column(reports)))
        return np.array([len(np.asarray(reports)) - yes, yes])

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report."""
        if self.epsilon is None:
            true, false = math.log(self._truth), math.log(1 - self._truth)
        else:
            true = -math.log1p(math.exp(-self.epsilon))
            false = true - float(self.epsilon)
        return {int(value): true, 1 - int(value): false}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return coins given by a loss and by a bias, one of which mostly lies."""
        return cls._specimens(cls(epsilon=1), cls(epsilon="5/2"), cls(truth="3/5"), cls(truth="1/7"))

    @property
    def _truth(self) -> Fraction:
        return self.truth if self.truth is not None else _HALF


def truth_of(truth: Number) -> Fraction:
    """Return a probability of telling the truth that leaves something to estimate, or refuse it by name."""
    try:
        number = rational(truth, "truth")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if not 0 < number < 1 or number == _HALF:
        raise MechanismError("truth-out-of-range", truth=truth)
    return number
