"""The privacy loss of Gaussian noise, on the reals and on the integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from jali.numbers.exact import decimal
from jali.numbers.rounding import float_above
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.rationals import Number, positive, positive_integer, share

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import Array, LossDistribution


_ROOT = math.sqrt(2)
# Beyond so many standard deviations nothing is left that a double could hold.
_FARTHEST = 1000.0
# Gauss-Legendre nodes and weights on [-1, 1], the positive half of ten.
_NODES = (
    (0.14887433898163122, 0.29552422471475287),
    (0.4333953941292472, 0.26926671930999635),
    (0.6794095682990244, 0.21908636251598204),
    (0.8650633666889845, 0.14945134915058059),
    (0.9739065285171717, 0.06667134430868814),
)


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
        near = epsilon / self.shift - self.shift / 2
        if near > _FARTHEST:
            return 5e-324
        slack = 1e-14 * (near**2 + 20)
        return max(normal_difference(near, self.shift) * (1 + slack), 5e-324)

    def _renyi(self, order: float) -> float:
        """Return order / (2 s^2)."""
        return order * float_above(self.event.rho)

    def fnr(self, fpr: Number) -> float:
        """Return Phi(Phi^-1(1-a) - 1/s), rounded down."""
        rate = float_above(share(fpr, "fpr"))
        if rate in (0.0, 1.0):
            return 1 - rate
        law = NormalDist()
        place = -law.inv_cdf(rate) - self.shift
        return math.erfc(-(place - 1e-12 * (1 + abs(place))) / _ROOT) / 2 * (1 - 1e-12)

    def group(self, size: int) -> GaussianLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return GaussianLoss(self.stddev, self.sensitivity * self._check_size(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the normal law of the loss."""
        from jali.privacy.pld.loss_distribution import gaussian

        return (gaussian(self.shift),)


def normal_difference(near: float, shift: float) -> float:
    """Return Phi(-near) - e^epsilon Phi(-near - shift) where e^epsilon is the ratio of the densities there.

    With the Mills ratio M = Phi(-x)/phi(x) it is phi(near) (M(near) - M(near + shift)). For a small shift the
    difference is the integral of -M' = 1 - x M(x) > 0, so that nothing cancels; ten nodes are exact to a double.
    """
    density = math.exp(-(near**2) / 2) / math.sqrt(2 * math.pi)
    if shift >= 1:
        return math.erfc(near / _ROOT) / 2 - density * _mills(near + shift)[0]
    middle, half = near + shift / 2, shift / 2
    nodes = [(sign * node, weight) for node, weight in _NODES for sign in (-1, 1)]
    return density * half * math.fsum(weight * _mills(middle + half * node)[1] for node, weight in nodes)


def _mills(x: float) -> tuple[float, float]:
    """Return the Mills ratio M(x) and 1 - x M(x), for x > -1."""
    if x < 5:
        ratio = math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / _ROOT)
        return ratio, 1 - x * ratio
    # Laplace's continued fraction 1/(x + 1/(x + 2/(x + ...))).
    rest = x
    for n in range(80, 1, -1):
        rest = x + n / rest
    ratio = 1 / (x + 1 / rest)
    return ratio, ratio / rest


# Above this variance the sum over the law takes long, and its zCDP gives all but the last digits.
_LARGEST_VARIANCE = 10**9
_REACH = 38.5


@dataclass(frozen=True, repr=False)
class DiscreteGaussianLoss(Loss):
    """The loss of adding integer noise with mass proportional to exp(-x^2 / (2 variance)) to one integer, exactly.

    Args:
        variance: The variance parameter of the noise.
        sensitivity: How far neighbours are apart: an integer.

    Guarantee:
        The release is sensitivity^2 / (2 variance)-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4), and
        delta(e) is the sum of p(n) (1 - exp(e - L(n))) over the n whose loss
        L(n) = (sensitivity^2 - 2 n sensitivity) / (2 variance) is above e (the same, Theorem 7).
        For a vector only zCDP holds: the law of its loss depends on the direction of the move.

    Example:
        >>> round(DiscreteGaussianLoss(1).delta(1), 6)
        0.141351
    """

    variance: Fraction
    sensitivity: int

    def __init__(self, variance: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "variance", positive(variance, "variance"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"DiscreteGaussianLoss(variance={decimal(self.variance)}, sensitivity={self.sensitivity})"

    @property
    def event(self) -> Event:
        """No pure loss, and sensitivity^2 / (2 variance) in zCDP."""
        return Event(None, Fraction(self.sensitivity**2) / (2 * self.variance))

    def _delta(self, epsilon: float) -> float:
        if self.variance > _LARGEST_VARIANCE:
            return Concentrated(self.event.rho)._delta(epsilon)
        import numpy as np

        losses, masses = _law(self.variance, self.sensitivity)
        over = losses > epsilon
        terms = masses[over] * -np.expm1(epsilon - losses[over])
        return max(float(terms.sum()) * (1 + 1e-12), 5e-324)

    def _renyi(self, order: float) -> float:
        """Return order times rho."""
        return order * float_above(self.event.rho)

    def group(self, size: int) -> DiscreteGaussianLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return DiscreteGaussianLoss(self.variance, self.sensitivity * self._check_size(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss: an atom for each integer; none where there are too many."""
        if self.variance > _LARGEST_VARIANCE:
            return ()
        from jali.privacy.pld.loss_distribution import LossDistribution

        losses, masses = _law(self.variance, self.sensitivity)
        return (LossDistribution(losses, masses, infinite=1e-300, spacing=self.sensitivity / self.variance / 2),)


@lru_cache(maxsize=16)
def _law(variance: Fraction, sensitivity: int) -> tuple[Array, Array]:
    """Return losses and masses of all integers that a double can weigh."""
    import numpy as np

    reach = math.ceil(_REACH * math.sqrt(variance)) + 2
    n = np.arange(-reach, reach + 1 + sensitivity, dtype=float)
    weights = np.exp(-(n**2) / (2 * float(variance)))
    losses = (sensitivity - 2 * n) * float(sensitivity / (2 * variance))
    # Raised by more than the rounding of the product.
    return losses + 1e-15 * np.abs(losses), weights / weights.sum()
