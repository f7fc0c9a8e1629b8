"""The loss of bounded-range mechanisms such as the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above, float_below, round_up
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, positive

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


@dataclass(frozen=True, repr=False)
class BoundedRange(Loss):
    """The privacy losses of all outcomes lie in an interval of length epsilon: the exponential mechanism.

    Attributes:
        bound: Epsilon, exactly.

    Guarantee:
        For neighbours there is a t in [0, epsilon] with t - epsilon <= L(r) <= t for every outcome r. It
        implies epsilon-DP and (epsilon^2/8)-zCDP (Cesar and Rogers 2021, Lemma 3.4), and the profile
        delta(e) = (exp(epsilon/2) - exp(e/2))^2 / (exp(epsilon) - 1): the worst t for each e, attained by two
        outcomes of losses t and t - epsilon (Dong, Durfee and Rogers 2020).
        Noisy max with Laplace or exponential noise and permute-and-flip are NOT of bounded range.

    Example:
        >>> BoundedRange(1).event.rho
        Fraction(1, 8)
    """

    bound: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "bound", positive(epsilon, "epsilon"))

    def __repr__(self) -> str:
        return f"BoundedRange({decimal_above(self.bound)})"

    @property
    def event(self) -> Event:
        """Epsilon, and epsilon squared over eight in zCDP."""
        return Event(self.bound, self.bound**2 / 8)

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        bound = float_above(self.bound)
        if epsilon >= self.bound:
            return 0.0
        # (e^(b/2) - e^(e/2))^2 / (e^b - 1), divided by e^b above and below.
        return round_up(math.expm1((epsilon - bound) / 2) ** 2 / -math.expm1(-bound))

    def _epsilon(self, delta: float) -> float:
        """Return 2 ln(e^(b/2) - sqrt(delta (e^b - 1)))."""
        bound = float_above(self.bound)
        root = math.sqrt(delta * -math.expm1(-bound))
        if root >= 1:
            return 0.0
        return max(0.0, bound + 2 * math.log1p(-root) + 1e-15 * (bound + 1 / (1 - root))) if root else bound

    def _renyi(self, order: float) -> float:
        """Return the smaller of order times rho, and epsilon."""
        bound = float_above(self.bound)
        return min(bound, round_up(order * bound**2 / 8))

    def group(self, size: int) -> BoundedRange:
        """Return the loss of a group: ranges add up along a chain of neighbours."""
        return BoundedRange(self._check_size(size) * self.bound)

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law whose profile is delta(e): it dominates every mechanism of this range."""
        from jali.privacy.pld.loss_distribution import bounded_range

        return (bounded_range(float_above(self.bound)),)

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return the law of two outcomes with losses epsilon/2 and -epsilon/2: a mechanism of this range."""
        from jali.privacy.pld.loss_distribution import response

        return (response(float_below(self.bound / 2), spacing=self.bound / 2),)
