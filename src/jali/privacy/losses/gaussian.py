"""The loss of Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

from jali.numerals import decimal
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, positive, share
from jali.privacy.rounding import exp, float_above

if TYPE_CHECKING:
    from jali.privacy.distribution.spread import Spread

_ROOT = math.sqrt(2)


@dataclass(frozen=True, repr=False)
class GaussianLoss(Loss):
    """The loss of adding normal noise, exactly.

    Args:
        stddev: The standard deviation of the noise.
        sensitivity: How far neighbours are apart in L2 norm, under the adjacency in which the loss is meant.

    Guarantee:
        With s = stddev / sensitivity, delta(e) = Phi(1/(2s) - e s) - exp(e) Phi(-1/(2s) - e s), and no less
        (Balle and Wang 2018, Theorem 8); the release is 1/(2 s^2)-zCDP and has the trade-off curve
        Phi(Phi^-1(1-a) - 1/s) (Dong, Roth and Su 2019). It is the law of real noise: the discrete Gaussian of a
        mechanism has `DiscreteGaussianLoss`.

    Example:
        >>> round(GaussianLoss(1).delta(1), 10)
        0.1269367375
        >>> round(GaussianLoss(1).epsilon(1e-6), 6)
        4.886554
    """

    stddev: Fraction
    sensitivity: Fraction

    def __init__(self, stddev: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "stddev", positive(stddev, "stddev"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"GaussianLoss(stddev={decimal(self.stddev)}, sensitivity={decimal(self.sensitivity)})"

    @property
    def event(self) -> Event:
        """No pure loss, and (sensitivity / stddev)^2 / 2 in zCDP."""
        return Event(None, (self.sensitivity / self.stddev) ** 2 / 2)

    @property
    def shift(self) -> float:
        """How far neighbours are apart, in standard deviations."""
        return float_above(self.sensitivity / self.stddev)

    def _delta(self, epsilon: float) -> float:
        near, far = epsilon / self.shift - self.shift / 2, epsilon / self.shift + self.shift / 2
        first = math.erfc(near / _ROOT) / 2
        if far > 37:
            return max(first, 5e-324)
        second = exp(epsilon) * math.erfc(far / _ROOT) / 2
        # Each erfc errs by a few units in the last place, and by its argument's error times 2 argument^2.
        slack = 1e-15 * ((near**2 + 4) * first + (far**2 + 4) * second)
        return max(first - second, 0.0) + slack

    def renyi(self, order: float) -> float:
        """Return order / (2 s^2)."""
        return order * float_above(self.event.rho)

    def fnr(self, fpr: Number) -> float:
        """Return Phi(Phi^-1(1-a) - 1/s), rounded down."""
        rate = float_above(share(fpr, "fpr"))
        if rate in (0.0, 1.0):
            return 1 - rate
        law = NormalDist()
        place = -law.inv_cdf(rate) - self.shift
        return max(0.0, law.cdf(place - 1e-12 * (1 + abs(place))) * (1 - 1e-12))

    def group(self, size: int) -> GaussianLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return GaussianLoss(self.stddev, self.sensitivity * self._sized(size))

    def spreads(self) -> tuple[Spread, ...]:
        """Return the normal law of the loss."""
        from jali.privacy.distribution.spread import gaussian

        return (gaussian(self.shift),)
