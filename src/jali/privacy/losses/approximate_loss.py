"""The loss of (epsilon, delta)-differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.errors import CatalogError, settle
from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above, float_below, rational_above, round_up
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.group_privacy import chain_factor
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number, nonnegative, positive, probability

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


@dataclass(frozen=True, repr=False)
class Approximate(Loss):
    """(epsilon, delta)-differential privacy.

    Attributes:
        bound: Epsilon, exactly.
        failure: Delta, exactly.

    Guarantee:
        Pr[M(x) in S] <= exp(epsilon) Pr[M(x') in S] + delta. Such a pair is a mixture of an epsilon-DP pair
        with weight 1-delta and anything with weight delta (Kairouz, Oh and Viswanath 2015, Theorem 3.1 ff.).

    Example:
        >>> str(Approximate(1, "1e-6").event)
        'epsilon 1, delta 1e-06'
        >>> Approximate(0.5, 1e-6).group(3)
        Approximate(1.5, 5.36701e-06)
    """

    bound: Fraction
    failure: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "bound", positive(epsilon, "epsilon"))
        object.__setattr__(self, "failure", probability(delta, "delta"))

    def __repr__(self) -> str:
        return f"Approximate({decimal_above(self.bound)}, {decimal_above(self.failure)})"

    @property
    def event(self) -> Event:
        """The pure part, and delta."""
        return Event(self.bound, self.bound**2 / 2, self.failure)

    def _delta(self, epsilon: float) -> float:
        failure = float_above(self.failure)
        return failure + round_up((1 - failure) * Pure(self.bound)._delta(epsilon))

    def delta(self, epsilon: Number) -> float:
        """Return the least delta; epsilon is compared exactly: at the own epsilon it is the own delta."""
        point = nonnegative(epsilon, "epsilon")
        return float_above(self.failure) if point >= self.bound else super().delta(epsilon)

    def epsilon(self, delta: Number) -> float:
        """Return the least epsilon; delta is compared exactly: at the own delta it is the own epsilon."""
        return self._exact_epsilon(probability(delta, "delta"))

    def _epsilon(self, delta: float) -> float:
        return self._exact_epsilon(Fraction(delta))

    def _exact_epsilon(self, delta: Fraction) -> float:
        if delta < self.failure:
            return math.inf
        rest = (delta - self.failure) / (1 - self.failure)
        return Pure(self.bound)._epsilon(max(0.0, float_below(rest)))

    def _profile_points(self, count: int = 121) -> tuple[float, ...]:
        return Pure(self.bound)._profile_points(count)

    def group(self, size: int) -> Approximate:
        """Return (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)) for a group of k people."""
        people = self._check_size(size)
        if self.failure == 0:
            return Approximate(people * self.bound, 0)
        factor = chain_factor(float_above(self.bound), people)
        if factor * self.failure >= 1:
            raise CatalogError("group-without-guarantee", size=size)
        return Approximate(people * self.bound, self.failure * (people if people == 1 else rational_above(factor)))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the law of a loss that is infinite with probability delta, else randomized response's."""
        from jali.privacy.pld.loss_distribution import response

        return (response(float_above(self.bound), infinite=float_above(self.failure), spacing=self.bound),)


def loss_at(epsilon: float, delta: Fraction, loss: Loss) -> Pure | Approximate:
    """Return the loss of one point of a profile, in exact numbers."""
    if math.isinf(epsilon):
        raise CatalogError("delta-below-loss", delta=delta, loss=settle(loss), name="delta")
    whole = rational_above(max(epsilon, 1e-12))
    return Approximate(whole, delta) if delta else Pure(whole)
