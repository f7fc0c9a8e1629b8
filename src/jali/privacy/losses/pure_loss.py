"""The loss of pure differential privacy."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above, round_up
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, positive

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


class BoundedLoss(Loss):
    """The loss of a mechanism that is epsilon-DP, and known better than that."""

    @property
    @abstractmethod
    def _largest(self) -> Fraction:
        """The pure epsilon, exactly."""

    @property
    def event(self) -> Event:
        """The pure loss."""
        return Pure(self._largest).event


@dataclass(frozen=True, repr=False)
class Pure(Loss):
    """Pure epsilon-differential privacy.

    Attributes:
        bound: Epsilon, exactly.

    Guarantee:
        Pr[M(x) in S] <= exp(epsilon) Pr[M(x') in S] for all neighbours; it implies (epsilon^2/2)-zCDP
        (Bun and Steinke 2016, Proposition 1.4). No epsilon-DP pair is easier to distinguish than the two
        answers of randomized response (Kairouz, Oh and Viswanath 2015), whose profile is
        delta(e) = (exp(epsilon) - exp(e)) / (1 + exp(epsilon)).

    Example:
        >>> Pure(0.1).event.rho
        Fraction(1, 200)
        >>> Pure(1).epsilon(delta=0), round(Pure(1).posterior(prior=0.5), 3)
        (1.0, 0.731)
    """

    bound: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "bound", positive(epsilon, "epsilon"))

    def __repr__(self) -> str:
        return f"Pure({decimal_above(self.bound)})"

    @property
    def event(self) -> Event:
        """Epsilon, and epsilon squared over two in zCDP."""
        return Event(self.bound, self.bound**2 / 2)

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        if epsilon >= self.bound:
            return 0.0
        bound = float_above(self.bound)
        return round_up(-math.expm1(epsilon - bound) / (1 + math.exp(-bound)))

    def _epsilon(self, delta: float) -> float:
        """Return ln(e^bound - delta (1 + e^bound)), which is exact at delta 0."""
        bound = float_above(self.bound)
        inside = -delta * (1 + math.exp(-bound))
        if inside <= -1:
            return 0.0
        return bound if inside == 0 else max(0.0, bound + math.log1p(inside) + 1e-15 * (bound + 1 / (1 + inside)))

    def _renyi(self, order: float) -> float:
        """Return the Rényi divergence of randomized response (Mironov 2017, Proposition 5)."""
        return response_renyi(float_above(self.bound), order)

    def group(self, size: int) -> Pure:
        """Return the loss of a group: `size` times epsilon."""
        return Pure(self._check_size(size) * self.bound)

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of the loss of randomized response: epsilon or -epsilon."""
        from jali.privacy.pld.loss_distribution import response

        return (response(float_above(self.bound), spacing=self.bound),)


def response_renyi(epsilon: float, order: float) -> float:
    """Return ln(p^a (1-p)^(1-a) + (1-p)^a p^(1-a)) / (a-1) for p/(1-p) = e^epsilon, rounded up."""
    # (e^(a e) + e^((1-a) e)) / (1 + e^e) = e^((a-1) e) (1 + e^((1-2a) e)) / (1 + e^-e).
    log_ratio = math.log1p(math.exp((1 - 2 * order) * epsilon)) - math.log1p(math.exp(-epsilon))
    exact = epsilon + log_ratio / (order - 1)
    # For a small epsilon the two terms cancel; both also have the well-conditioned bound a epsilon^2 / 2.
    return min(epsilon, round_up(order * epsilon**2 / 2), max(exact, 0.0) + 1e-14 * (epsilon + 1 / (order - 1)))
