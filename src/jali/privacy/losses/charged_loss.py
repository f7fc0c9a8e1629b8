"""The loss of an event: of all releases that a filter admitted up to these sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError
from jali.numbers.rounding import float_above, rational_above, round_up
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.group_privacy import chain_factor
from jali.privacy.losses.pure_loss import Pure


@dataclass(frozen=True)
class Charged(Loss):
    """The loss of an event, whoever spent it and in how many releases.

    Guarantee:
        The releases are a mixture (1-delta) P + delta P' where P is epsilon-DP (if epsilon is not None) and
        rho-zCDP. A group of k people has (k epsilon, k^2 rho), and delta (e^(k epsilon) - 1) / (e^epsilon - 1).
    """

    total: Event

    @property
    def event(self) -> Event:
        """The event itself."""
        return self.total

    def _delta(self, epsilon: float) -> float:
        main = Concentrated(self.total.rho)._delta(epsilon) if self.total.rho else 0.0
        if self.total.epsilon:
            main = min(main, Pure(self.total.epsilon)._delta(epsilon))
        return round_up(main + float_above(self.total.delta)) if self.total.delta else main

    def _renyi(self, order: float) -> float:
        if self.total.delta:
            return math.inf
        bound = round_up(order * float_above(self.total.rho))
        return bound if self.total.epsilon is None else min(bound, float_above(self.total.epsilon))

    def group(self, size: int) -> Charged:
        """Return what a group's event allows; refused where there is a delta but no epsilon to chain it by."""
        people, one = self._check_size(size), self.total
        epsilon = None if one.epsilon is None else people * one.epsilon
        return Charged(Event(epsilon, people**2 * one.rho, _chain_delta(one, people)))


def _chain_delta(event: Event, people: int) -> Fraction:
    if event.delta == 0 or people == 1:
        return event.delta
    factor = math.inf if event.epsilon is None else chain_factor(float_above(event.epsilon), people)
    if factor * event.delta >= 1:
        raise CatalogError("group-without-guarantee", size=people)
    return event.delta * rational_above(factor)
