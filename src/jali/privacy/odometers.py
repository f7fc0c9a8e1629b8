"""Privacy odometers, which report at any time how much was lost, and refuse nothing.

A reading is about what happened, not about what might have: with probability at least 1 - delta over the release,
the privacy loss L_t = ln Pr[answers so far | x] / Pr[answers so far | x'] is at most the reading at *all* times t
at once. So whoever watches may stop when the reading gets too high, or go on because it is low. A bound that holds
at each time by itself does not allow that: neither a privacy-loss distribution nor the optimal or the advanced
composition theorem, evaluated again after every answer, is an odometer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from jali.errors import BudgetExceeded, CatalogError, settle
from jali.numbers.rounding import float_above, round_up
from jali.privacy.event import NOTHING, Event
from jali.privacy.filters import largest_simple_rho, log_inverse
from jali.privacy.loss import Loss
from jali.privacy.profiles import bisect_above
from jali.privacy.rationals import Number, positive, probability


@dataclass(frozen=True)
class PureOdometer:
    """The running sum of epsilons; it holds at all times, with certainty.

    Guarantee:
        L_t <= epsilon after every answer, whatever was chosen after seeing earlier ones.
    Proof:
        docs/proofs/odometer.md, after Rogers, Roth, Ullman and Vadhan 2016.

    Example:
        >>> from jali.privacy import Pure
        >>> PureOdometer().charge(Pure(0.25)).charge(Pure(0.5)).epsilon
        0.75
    """

    spent: Event = NOTHING

    @property
    def delta(self) -> Fraction:
        """The probability that some reading is too low: none."""
        return Fraction(0)

    @property
    def epsilon(self) -> float:
        """The reading: what was lost so far, rounded up."""
        return _plain(self.spent)

    def charge(self, loss: Loss) -> PureOdometer:
        """Return the odometer after a release of this loss; refuse one that has no pure epsilon."""
        event = loss.event
        if event.epsilon is None or event.delta:
            raise CatalogError("loss-not-pure", loss=settle(loss))
        return PureOdometer(self.spent + event)


@dataclass(frozen=True)
class ConcentratedOdometer:
    """A reading for adaptively chosen zCDP losses, valid at all times at once.

    Attributes:
        delta: The probability that some reading is too low.
        expected_rho: The sum of rho at which the reading should be sharpest: a public guess, fixed in advance.
            The reading is valid whatever it is.

    Guarantee:
        With probability at least 1 - delta, for all t: L_t <= S + z sqrt(V + v), where S is the sum of rho so
        far, V = 2 S, v > 0 is fixed by `expected_rho`, and z solves
        z^2/2 + ln(2 Phi(z)) = ln(1/delta) + ln((V+v)/v)/2; it is at most
        S + sqrt((V+v) (ln((V+v)/v) + 2 ln(1/delta))). Where all losses were pure, the sum of epsilons holds as
        well, and the smaller is the reading.
    Proof:
        docs/proofs/odometer.md: Ville's inequality for a mixture of supermartingales (Robbins 1970; Howard,
        Ramdas, McAuliffe and Sekhon 2021; for privacy Whitehouse, Ramdas, Rogers and Wu 2023).

    Example:
        >>> from jali.privacy import Concentrated
        >>> odometer = ConcentratedOdometer(delta=1e-6, expected_rho=0.5)
        >>> for _ in range(10):
        ...     odometer = odometer.charge(Concentrated(0.05))
        >>> round(odometer.epsilon, 3)  # at this time alone it would be 5.222
        6.038
    """

    delta: Fraction
    expected_rho: Fraction
    spent: Event = field(default=NOTHING)

    def __init__(self, delta: Number, expected_rho: Number, spent: Event = NOTHING) -> None:
        object.__setattr__(self, "delta", _above_zero(delta, "delta"))
        object.__setattr__(self, "expected_rho", positive(expected_rho, "expected_rho"))
        object.__setattr__(self, "spent", spent)

    @property
    def epsilon(self) -> float:
        """The reading: what was lost so far, rounded up."""
        return min(_plain(self.spent), mixture_bound(self.spent.rho, self.delta, self.expected_rho))

    def charge(self, loss: Loss) -> ConcentratedOdometer:
        """Return the odometer after a release of this loss; refuse one with a delta of its own."""
        event = loss.event
        if event.delta:
            raise CatalogError("loss-has-delta", loss=settle(loss))
        return replace(self, spent=self.spent + event)


@dataclass(frozen=True)
class ApproximateOdometer:
    """A reading for adaptively chosen (epsilon, delta) losses, valid at all times at once.

    Attributes:
        delta: The probability that some reading is too low.
        expected_epsilon: The reading at which it should be sharpest: a public guess, fixed in advance.
        delta_events: The part of delta for events with a delta of their own; half of delta by default. An event
            that would exceed it is refused, for a probability that grew with what was seen would mean nothing.

    Guarantee:
        With probability at least 1 - delta, no event fails (each is a mixture of a part that keeps its epsilon,
        and a failure of weight delta_i) and L_t is at most the reading for all t, where L_t is the loss of an
        observer who is also told that no event failed. The reading is that of `ConcentratedOdometer` for
        delta - delta_events, with rho_i = epsilon_i^2 / 2 for a pure part. Stopping when the reading would
        exceed E makes the interaction (E, delta)-DP.
    Proof:
        docs/proofs/odometer.md.

    Example:
        >>> from jali.privacy import Approximate
        >>> odometer = ApproximateOdometer(delta=1e-6, expected_epsilon=2)
        >>> for _ in range(100):
        ...     odometer = odometer.charge(Approximate(0.02, "1e-9"))
        >>> round(odometer.epsilon, 3)  # the plain sum is 2
        1.169
    """

    delta: Fraction
    expected_epsilon: Fraction
    delta_events: Fraction
    spent: Event = field(default=NOTHING)

    def __init__(
        self,
        delta: Number,
        expected_epsilon: Number,
        delta_events: Number | None = None,
        spent: Event = NOTHING,
    ) -> None:
        whole = _above_zero(delta, "delta")
        part = whole / 2 if delta_events is None else probability(delta_events, "delta_events")
        if part >= whole:
            raise CatalogError("bounds-not-rising", low="delta_events", high="delta")
        object.__setattr__(self, "delta", whole)
        object.__setattr__(self, "expected_epsilon", positive(expected_epsilon, "expected_epsilon"))
        object.__setattr__(self, "delta_events", part)
        object.__setattr__(self, "spent", spent)

    @property
    def epsilon(self) -> float:
        """The reading: what was lost so far, rounded up."""
        slack = self.delta - self.delta_events
        expected = largest_simple_rho(self.expected_epsilon, slack)
        return min(_plain(self.spent), mixture_bound(self.spent.rho, slack, expected))

    def charge(self, loss: Loss) -> ApproximateOdometer:
        """Return the odometer after a release of this loss; refuse a delta beyond the part set aside."""
        event, left = loss.event, self.delta_events - self.spent.delta
        if event.delta > left:
            raise BudgetExceeded("this odometer", kind="delta", requested=event.delta, remaining=left)
        return replace(self, spent=self.spent + event)


def mixture_bound(rho: Fraction, delta: Fraction, expected_rho: Fraction) -> float:
    """Return a bound on the loss that holds for all sums of rho at once, except with probability delta.

    Guarantee:
        S + z sqrt(V + v) for S = rho, V = 2 S and the z with z^2/2 + ln(2 Phi(z)) = ln(1/delta) + ln((V+v)/v)/2,
        rounded up.
    """
    variance, unit = 2 * float_above(rho), _unit(delta, expected_rho)
    target = round_up(float(log_inverse(delta)) + math.log1p(variance / unit) / 2)
    # 2 Phi(z) = erfc(-z / sqrt 2).
    z = bisect_above(lambda z: z * z / 2 + math.log(math.erfc(-z * math.sqrt(0.5))) >= target, 1e9)
    return round_up(float_above(rho) + z * math.sqrt(variance + unit))


def _unit(delta: Fraction, expected_rho: Fraction) -> float:
    """Return v, near the value that makes the bound least at the expected sum of rho; any v > 0 is valid.

    The derivative of (V+v) (ln w + 2 ln(1/delta)), w = (V+v)/v, vanishes where w - 1 = 2 ln(1/delta) + ln w.
    """
    twice = 2 * float(log_inverse(delta))
    return max(2 * float(expected_rho) / (twice + math.log1p(twice)), 1e-300)


def _plain(spent: Event) -> float:
    return math.inf if spent.epsilon is None else float_above(spent.epsilon)


def _above_zero(value: Number, name: str) -> Fraction:
    number = probability(value, name)
    if not number:
        raise CatalogError("odometer-delta-zero", name=name)
    return number
