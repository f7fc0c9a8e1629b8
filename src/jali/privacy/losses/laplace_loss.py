"""The privacy loss of Laplace noise, on the reals and on the integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.numbers.exact import decimal
from jali.numbers.rounding import float_above, round_up
from jali.privacy.losses.pure_loss import BoundedLoss, Pure
from jali.privacy.rationals import Number, positive, positive_integer

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


@dataclass(frozen=True, repr=False)
class LaplaceLoss(BoundedLoss):
    """The loss of adding Laplace noise, exactly.

    Args:
        scale: The scale of the noise (b in exp(-|x|/b)), never one over it.
        sensitivity: How far neighbours are apart in L1 norm, under the adjacency in which the loss is meant.

    Guarantee:
        With E = sensitivity / scale the release is E-DP, and delta(e) = 1 - exp((e - E)/2) below E: less than
        for the worst E-DP pair. In several dimensions a move in one coordinate is the worst: a move that is
        shared between coordinates is a chain of moves, and chains of shifts of one Laplace law add up
        (docs/proofs/privacy_loss_distribution.md).

    Example:
        >>> round(LaplaceLoss(10).epsilon(0), 12), round(LaplaceLoss(1).delta(0), 6)
        (0.1, 0.393469)
    """

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, scale: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"LaplaceLoss(scale={decimal(self.scale)}, sensitivity={decimal(self.sensitivity)})"

    @property
    def bound(self) -> Fraction:
        """The pure epsilon, exactly."""
        return self.sensitivity / self.scale

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        bound = float_above(self.bound)
        return round_up(-math.expm1((epsilon - bound) / 2)) if epsilon < self.bound else 0.0

    def _epsilon(self, delta: float) -> float:
        bound = float_above(self.bound)
        slack = 1e-15 * (bound + 1 / (1 - delta))
        return max(0.0, bound + 2 * math.log1p(-delta) + slack) if delta else bound

    def _renyi(self, order: float) -> float:
        """Return the Rényi divergence of two shifted Laplace laws (Mironov 2017, Proposition 6)."""
        bound = float_above(self.bound)
        # ln(a/(2a-1) e^((a-1) b) + (a-1)/(2a-1) e^(-a b)) / (a-1), with e^((a-1) b) taken out.
        inside = math.log1p((order - 1) / (2 * order - 1) * math.expm1(-(2 * order - 1) * bound))
        exact = bound + inside / (order - 1)
        return min(bound, round_up(order * bound**2 / 2), exact + 1e-14 * (bound + abs(inside) / (order - 1)))

    def group(self, size: int) -> LaplaceLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return LaplaceLoss(self.scale, self.sensitivity * self._check_size(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss: atoms at both ends and a density between them."""
        from jali.privacy.pld.loss_distribution import laplace

        return (laplace(float_above(self.bound), self.bound),)


# A law with more atoms than this is replaced by the worst law of its epsilon.
_MOST_ATOMS = 2_000_000


@dataclass(frozen=True, repr=False)
class DiscreteLaplaceLoss(BoundedLoss):
    """The loss of adding integer noise with mass proportional to exp(-|x|/scale), exactly.

    Args:
        scale: The scale of the noise.
        sensitivity: How far neighbours are apart in L1 norm: an integer.

    Guarantee:
        With E = sensitivity / scale the release is E-DP. The losses are (sensitivity - 2n)/scale for
        n = 0 .. sensitivity, and delta(e) is the difference of two geometric tails. It is above that of real
        Laplace noise of the same scale: for sensitivity 1 it is randomized response.

    Example:
        >>> loss = DiscreteLaplaceLoss(1)
        >>> round(loss.delta(0), 10), round(loss.epsilon(0), 12)
        (0.4621171573, 1.0)
    """

    scale: Fraction
    sensitivity: int

    def __init__(self, scale: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"DiscreteLaplaceLoss(scale={decimal(self.scale)}, sensitivity={self.sensitivity})"

    @property
    def bound(self) -> Fraction:
        """The pure epsilon, exactly."""
        return self.sensitivity / self.scale

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        """Return P(X <= n) - e^epsilon P(X <= n - sensitivity) for the largest n whose loss is above epsilon."""
        if epsilon >= self.bound:
            return 0.0
        last = math.ceil((self.sensitivity - Fraction(epsilon) * self.scale) / 2) - 1
        rate = float(1 / self.scale)
        odds = 1 + math.exp(-rate)
        first = 1 - math.exp(-rate * (last + 1)) / odds
        second = math.exp(epsilon - rate * (self.sensitivity - last)) / odds
        return max(first - second, 0.0) + 1e-15 * (4 + epsilon + rate * self.sensitivity)

    def _epsilon(self, delta: float) -> float:
        return float_above(self.bound) if delta == 0 else super()._epsilon(delta)

    def _renyi(self, order: float) -> float:
        """Return ln of the sum of p^a q^(1-a), a geometric series between the two ends, over a-1."""
        rate, a = float(1 / self.scale), order
        # Everything over e^((a-1) E), the largest ratio.
        middle = _geometric(rate * (2 * a - 1), self.sensitivity - 1) * math.tanh(rate / 2)
        low = math.exp(-rate * self.sensitivity * (2 * a - 1)) / (1 + math.exp(-rate))
        log_sum = math.log(1 / (1 + math.exp(-rate)) + middle + low)
        exact = float_above(self.bound) + log_sum / (a - 1)
        slack = 1e-14 * (float_above(self.bound) + 2 / (a - 1))
        return min(Pure(self.bound)._renyi(order), max(exact, 0.0) + slack)

    def group(self, size: int) -> DiscreteLaplaceLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return DiscreteLaplaceLoss(self.scale, self.sensitivity * self._check_size(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss: sensitivity + 1 atoms."""
        return (_spread(self.scale, self.sensitivity),)

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return the law itself where it has few atoms; otherwise one that loses nothing."""
        from jali.privacy.pld.loss_distribution import atoms

        return self.spreads() if self.sensitivity <= _MOST_ATOMS else (atoms([0.0], [1.0]),)


@lru_cache(maxsize=64)
def _spread(scale: Fraction, sensitivity: int) -> LossDistribution:
    import numpy as np

    from jali.privacy.pld.loss_distribution import atoms, response

    if sensitivity > _MOST_ATOMS:
        return response(float_above(sensitivity / scale), spacing=sensitivity / scale)
    rate = float(1 / scale)
    steps = np.arange(sensitivity + 1, dtype=np.float64)
    masses = np.exp(-rate * steps) * math.tanh(rate / 2)
    odds = 1 + math.exp(-rate)
    masses[0], masses[-1] = 1 / odds, math.exp(-rate * sensitivity) / odds
    return atoms((sensitivity - 2 * steps) * rate, masses, spacing=1 / scale)


def _geometric(rate: float, count: int) -> float:
    """Return the sum of e^(-rate n) over n = 1 .. count."""
    return math.exp(-rate) * math.expm1(-rate * count) / math.expm1(-rate) if count else 0.0
