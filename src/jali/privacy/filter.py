"""The filter: accepts or refuses a further event, whatever was chosen after seeing earlier answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.privacy.budget import Budget
from jali.privacy.convert import largest_rho
from jali.privacy.event import Event


@dataclass(frozen=True)
class Filter:
    """The either-or rule on sums of adaptively chosen events.

    Guarantee:
        If every event is admitted with the sum of all events before it, open reservations included, then the
        whole interaction is (epsilon, delta)-DP for the budget's epsilon and delta.
    Proof:
        docs/proofs/filter.md, after Rogers et al. 2016 and Feldman and Zrnic 2021. Its two rules alone, and
        odometers, which report instead of refusing, are in `jali.privacy.adaptive`.

    Example:
        >>> from jali.privacy import NOTHING, Pure
        >>> rule, spent = Filter(Budget(1)), NOTHING
        >>> for _ in range(10):
        ...     assert rule.admits(spent, Pure(0.1).event)
        ...     spent = spent + Pure(0.1).event
        >>> rule.admits(spent, Pure("1e-30").event)
        False
    """

    budget: Budget

    @cached_property
    def rho(self) -> Fraction:
        """The zCDP limit that the budget affords, rounded down."""
        return largest_rho(self.budget.epsilon, self.budget.delta - self.budget.delta_events)

    @property
    def delta_events(self) -> Fraction:
        """The limit on the sum of the events' own deltas."""
        return self.budget.delta_events

    def admits(self, spent: Event, event: Event) -> bool:
        """Say whether `event` may follow events that sum to `spent`."""
        total = spent + event
        if total.delta > self.budget.delta_events:
            return False
        return (total.epsilon is not None and total.epsilon <= self.budget.epsilon) or total.rho <= self.rho

    def largest_epsilon(self, spent: Event) -> Fraction:
        """Return the largest pure epsilon that would be admitted after `spent`, rounded down."""
        if spent.delta > self.budget.delta_events:
            return Fraction(0)
        plain = Fraction(0) if spent.epsilon is None else self.budget.epsilon - spent.epsilon
        return max(Fraction(0), plain, root_below(2 * (self.rho - spent.rho)))

    def largest_rho(self, spent: Event) -> Fraction:
        """Return the largest rho of a Gaussian event that would be admitted after `spent`."""
        if spent.delta > self.budget.delta_events:
            return Fraction(0)
        return max(Fraction(0), self.rho - spent.rho)

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest loss of the same kind as `event` that would be admitted after `spent`."""
        return self.largest_rho(spent) if event.epsilon is None else self.largest_epsilon(spent)


def root_below(value: Fraction) -> Fraction:
    """Return the largest rational of 15 decimal places whose square is at most `value`; 0 below 0."""
    if value <= 0:
        return Fraction(0)
    return Fraction(math.isqrt(value.numerator * 10**30 // value.denominator), 10**15)
