"""Privacy filters: accept or reject the next event, whatever was chosen after seeing earlier answers.

`Filter` serves the ledger with exact rational sums. `PureFilter`, `ConcentratedFilter` and `ApproximateFilter`
serve one kind of promise each.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from jali.errors import CatalogError
from jali.numbers.rounding import round_root_down, to_decimal
from jali.privacy.budget import Budget
from jali.privacy.conversions import largest_rho
from jali.privacy.event import Event
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number, positive, probability

# Roots of rho are rounded down to so many decimal places.
ROOT_UNIT = 10**15


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
        return max(Fraction(0), plain, round_root_down(2 * (self.rho - spent.rho), ROOT_UNIT))

    def largest_rho(self, spent: Event) -> Fraction:
        """Return the largest rho of a Gaussian event that would be admitted after `spent`."""
        if spent.delta > self.budget.delta_events:
            return Fraction(0)
        return max(Fraction(0), self.rho - spent.rho)

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest loss of the same kind as `event` that would be admitted after `spent`."""
        return self.largest_rho(spent) if event.epsilon is None else self.largest_epsilon(spent)


_PRECISION = 50
# Each of the few operations below errs by less than 1e-49 of its result.
_SLACK = Decimal("1e-45")


class Rule(Protocol):
    """What an account needs of a filter: the three below and the ledger's `Filter` have it."""

    @property
    def delta_events(self) -> Fraction:
        """The limit on the sum of the events' own deltas."""

    def admits(self, spent: Event, event: Event) -> bool:
        """Say whether `event` may follow events that sum to `spent`."""

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest loss of the same kind as `event` that would be admitted after `spent`."""


@dataclass(frozen=True)
class PureFilter:
    """Plain addition: admit as long as the epsilons sum to at most the limit.

    Attributes:
        epsilon: The limit, exactly.

    Guarantee:
        The whole interaction is epsilon-DP, also if every event is chosen after seeing all earlier answers.
        Events without a pure loss (Gaussian noise), or with a delta, are refused.
    Proof:
        docs/proofs/adaptive_filters.md, after Rogers, Roth, Ullman and Vadhan 2016.

    Example:
        >>> from jali.privacy import NOTHING, Concentrated, Pure
        >>> PureFilter(1).admits(NOTHING, Pure(1).event), PureFilter(1).admits(NOTHING, Concentrated(0.01).event)
        (True, False)
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    @property
    def promise(self) -> Pure:
        """The loss of the whole interaction."""
        return Pure(self.epsilon)

    @property
    def delta_events(self) -> Fraction:
        """Nothing: events with a delta are refused."""
        return Fraction(0)

    def admits(self, spent: Event, event: Event) -> bool:
        """Say whether `event` may follow events that sum to `spent`."""
        total = spent + event
        return total.delta == 0 and total.epsilon is not None and total.epsilon <= self.epsilon

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest pure epsilon that would be admitted after `spent`; no other kind is."""
        if event.epsilon is None or spent.epsilon is None or spent.delta:
            return Fraction(0)
        return max(Fraction(0), self.epsilon - spent.epsilon)


@dataclass(frozen=True)
class ConcentratedFilter:
    """Addition of rho: admit as long as the zCDP losses sum to at most the limit.

    Attributes:
        rho: The limit, exactly.
        delta_events: The limit on the sum of the events' own deltas; 0 by default.

    Guarantee:
        The whole interaction is rho-zCDP, also if every event is chosen after seeing all earlier answers; with
        `delta_events` above 0 it is (delta_events)-approximately rho-zCDP.
    Proof:
        docs/proofs/adaptive_filters.md, after Feldman and Zrnic 2021.

    Example:
        >>> from jali.privacy import NOTHING, Concentrated, Pure
        >>> rule = ConcentratedFilter("1/8")
        >>> rule.admits(NOTHING, Concentrated("1/8").event), rule.largest(NOTHING, Pure(1).event)
        (True, Fraction(1, 2))
    """

    rho: Fraction
    delta_events: Fraction

    def __init__(self, rho: Number, delta_events: Number = 0) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))
        object.__setattr__(self, "delta_events", probability(delta_events, "delta_events"))

    @property
    def promise(self) -> Concentrated:
        """The loss of the whole interaction, apart from `delta_events`."""
        return Concentrated(self.rho)

    def admits(self, spent: Event, event: Event) -> bool:
        """Say whether `event` may follow events that sum to `spent`."""
        total = spent + event
        return total.delta <= self.delta_events and total.rho <= self.rho

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest loss of the same kind as `event` that would be admitted after `spent`."""
        if spent.delta > self.delta_events:
            return Fraction(0)
        left = max(Fraction(0), self.rho - spent.rho)
        return left if event.epsilon is None else round_root_down(2 * left, ROOT_UNIT)


@dataclass(frozen=True)
class ApproximateFilter:
    """Addition by the square root: admit as long as the sum of squared epsilons fits the limit.

    Attributes:
        epsilon: The limit on epsilon, exactly.
        delta: The limit on delta, exactly.
        slack: The part of delta for the square root; the rest is for events with a delta of their
            own. Half of delta by default. It must be fixed here: a part that moved with what was spent would
            not be valid.

    Guarantee:
        Admits while sqrt(2 ln(1/slack) sum e_i^2) + sum e_i^2 / 2 <= epsilon and sum d_i <= delta - slack, and the
        whole interaction is then (epsilon, delta)-DP, also if every event is chosen after seeing all earlier
        answers. Written in zCDP, with rho_i for e_i^2 / 2, so that Gaussian noise counts as well:
        sum rho_i + 2 sqrt(sum rho_i ln(1/slack)) <= epsilon.
        The ledger's `Filter` with the same split is never stricter: its conversion is the tight one.
    Proof:
        docs/proofs/adaptive_filters.md, after Whitehouse, Ramdas, Rogers and Wu 2023.

    Example:
        >>> from jali.privacy import NOTHING, Pure
        >>> rule = ApproximateFilter(3, 1e-6)
        >>> rule.admits(NOTHING, Pure(0.5).event), rule.admits(NOTHING, Pure(0.6).event)
        (True, False)
    """

    epsilon: Fraction
    delta: Fraction
    slack: Fraction

    def __init__(self, epsilon: Number, delta: Number, slack: Number | None = None) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))
        object.__setattr__(self, "slack", self.delta / 2 if slack is None else probability(slack, "slack"))
        if not 0 < self.slack <= self.delta:
            raise CatalogError("slack-out-of-range")

    @property
    def promise(self) -> Approximate:
        """The loss of the whole interaction."""
        return Approximate(self.epsilon, self.delta)

    @property
    def delta_events(self) -> Fraction:
        """The limit on the sum of the events' own deltas."""
        return self.delta - self.slack

    @cached_property
    def rho(self) -> Fraction:
        """The limit on the sum of rho_i (half the sum of squared epsilons), rounded down."""
        return largest_simple_rho(self.epsilon, self.slack)

    def admits(self, spent: Event, event: Event) -> bool:
        """Say whether `event` may follow events that sum to `spent`."""
        return self._sums.admits(spent, event)

    def largest(self, spent: Event, event: Event) -> Fraction:
        """Return the largest loss of the same kind as `event` that would be admitted after `spent`."""
        return self._sums.largest(spent, event)

    @property
    def _sums(self) -> ConcentratedFilter:
        return ConcentratedFilter(self.rho, self.delta_events)


@lru_cache(maxsize=1024)
def largest_simple_rho(epsilon: Fraction, slack: Fraction) -> Fraction:
    """Return the largest rho, rounded down, with rho + 2 sqrt(rho ln(1/slack)) <= epsilon.

    It is (epsilon / (sqrt(epsilon + l) + sqrt(l)))^2 for l = ln(1/slack), in 50-digit decimal arithmetic: the same
    on every machine.

    Example:
        >>> round(float(largest_simple_rho(Fraction(1), Fraction(1, 10**6))), 6)
        0.017469
    """
    with localcontext(Context(prec=_PRECISION)):
        limit, log = to_decimal(epsilon), log_inverse(slack)
        root = limit / ((limit + log).sqrt() + log.sqrt())
        return Fraction(Context(prec=15, rounding=ROUND_FLOOR).plus(root * root * (1 - _SLACK)))


def log_inverse(share: Fraction) -> Decimal:
    """Return ln(1/share), rounded up, to 44 digits or more."""
    with localcontext(Context(prec=_PRECISION)):
        log = -to_decimal(share).ln()
        return log + _SLACK * max(Decimal(1), log)
