"""The base class of privacy losses, and what every loss can be converted to.

A loss is known by its privacy profile delta(epsilon): the least delta for which the release is
(epsilon, delta)-DP. Everything else on this page follows from the profile alone: its inverse, the trade-off
between the two errors of a test (f-DP), and what a Bayesian learns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from jali.errors import CatalogError, settle
from jali.numbers.rounding import exp, float_above, float_below, round_up
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.profiles import Profile, TradeOff, bisect_above, inner_maximum, posterior_bound
from jali.privacy.rationals import Number, above_one, nonnegative, positive_integer, probability, share

if TYPE_CHECKING:
    from jali.privacy.losses.approximate_loss import Approximate
    from jali.privacy.losses.pure_loss import Pure
    from jali.privacy.pld.loss_distribution import LossDistribution

# A profile that stays above delta up to here has no epsilon worth the name.
_LARGEST_EPSILON = 1e18


class Loss(ABC):
    """What a release spends, of any kind.

    Kinds: `Pure`, `Approximate`, `Concentrated`, `BoundedRange`, `Renyi`, `Finite`, the losses of single
    mechanisms (`GaussianLoss`, ...), compositions, and `PrivacyLossDistribution`.

    Guarantee:
        Every number rounds towards more loss: `epsilon`, `delta`, `posterior` and `tpr` are upper bounds,
        `fnr` is a lower bound.
    """

    # Whether a point of the profile costs next to nothing; otherwise points are computed once and shared.
    _cheap: ClassVar[bool] = True
    _curve_points: ClassVar[int] = 241

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency for which this loss was derived; None: the one in which its sensitivity was stated."""
        return None

    @property
    @abstractmethod
    def event(self) -> Event:
        """The loss as filters and ledgers count it."""

    @property
    def _largest(self) -> Fraction | None:
        """The largest privacy loss of any outcome, exactly, where there is one: delta is 0 from there on."""
        return None

    @abstractmethod
    def _delta(self, epsilon: float) -> float:
        """Return a bound on delta at a finite epsilon >= 0; may exceed 1."""

    @abstractmethod
    def group(self, size: int) -> Loss:
        """Return the loss for a group of `size` people (a household, a team) who change together."""

    def delta(self, epsilon: Number) -> float:
        """Return the least delta, rounded up, for which the release is shown (epsilon, delta)-DP."""
        point = nonnegative(epsilon, "epsilon")
        if self._largest is not None and point >= self._largest:
            return 0.0
        return min(1.0, max(0.0, self._delta(float_below(point))))

    def epsilon(self, delta: Number) -> float:
        """Return the least epsilon, rounded up, for which the release is shown (epsilon, delta)-DP.

        Infinite where there is none: Gaussian noise has no epsilon at delta 0.
        """
        return self._epsilon(float_below(probability(delta, "delta")))

    def _epsilon(self, delta: float) -> float:
        return bisect_above(lambda epsilon: self._delta(epsilon) <= delta, _LARGEST_EPSILON)

    def at(self, delta: Number) -> Pure | Approximate:
        """Fix the loss at one delta: the (epsilon, delta) that a budget can be charged with."""
        from jali.privacy.losses.approximate_loss import loss_at

        return loss_at(self.epsilon(delta), probability(delta, "delta"), self)

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return delta(epsilon) at given points, or at points that show the curve."""
        points = self._profile_points() if epsilons is None else tuple(float(e) for e in epsilons)
        return Profile(points, tuple(self.delta(point) for point in points))

    def _profile_points(self, count: int = 121) -> tuple[float, ...]:
        top = self._epsilon(1e-12)
        top = 10.0 if math.isinf(top) else max(top, 1e-9)
        return tuple(top * i / (count - 1) for i in range(count))

    def fnr(self, fpr: Number) -> float:
        """Return the least false negative rate of any test for one person's presence, at a false positive rate.

        Guarantee:
            The trade-off curve f(a) = sup over epsilon >= 0 of
            max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)) (Wasserman and Zhou 2010;
            Dong, Roth and Su 2019, Proposition 2.12). Every epsilon gives a valid bound; the best is searched.
        """
        rate = float_above(share(fpr, "fpr"))
        if not self._cheap:
            return _share_curve(self).fnr(rate)
        top = min(self._epsilon(1e-300), 700.0)
        if top <= 0:
            return max(0.0, 1 - self._delta(0.0) - rate)
        first = inner_maximum(lambda e: 1 - self._delta(e) - exp(e) * rate, top)
        second = inner_maximum(lambda e: exp(-e) * (1 - self._delta(e) - rate), top)
        return max(0.0, min(1.0, max(first, second) * (1 - 1e-13)))

    def tpr(self, fpr: Number) -> float:
        """Return the largest true positive rate of any test for one person's presence, at a given fpr."""
        return 1 - self.fnr(fpr)

    def trade_off(self, fprs: Sequence[float] | None = None) -> TradeOff:
        """Return the trade-off curve (f-DP) at given false positive rates, or at points that show it."""
        points = tuple(i / 100 for i in range(101)) if fprs is None else tuple(float(a) for a in fprs)
        return TradeOff(points, tuple(self.fnr(point) for point in points))

    def posterior(self, prior: Number, delta: Number = 0) -> float:
        """Return the largest belief in a fact about one person that a release can leave in place of a prior.

        Guarantee:
            With odds(p) = p / (1-p), odds(posterior) <= exp(epsilon(delta)) odds(prior) with probability at
            least 1-delta, even for a reader who is told whether the delta occurred (Kasiviswanathan and
            Smith 2014; Kairouz, Oh and Viswanath 2015 for the decomposition). It holds for a reader who knows
            the other people's records, or to whom they say nothing about this person's: what the others' data
            teaches about somebody is learned whether or not that person takes part.
        """
        return posterior_bound(float_above(share(prior, "prior")), self.epsilon(delta))

    def renyi(self, order: Number) -> float:
        """Return a bound on the Rényi divergence of an order above 1 between neighbours; infinite if unknown."""
        return self._renyi(above_one(order, "order"))

    def _renyi(self, order: float) -> float:
        event = self.event
        return math.inf if event.delta else round_up(float_above(event.rho) * order)

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the laws of the privacy loss that dominate this loss: one, or one for each direction.

        Empty where the kind determines none (zCDP and Rényi curves): such a loss has no distribution.
        """
        return ()

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return laws that some mechanism of this loss attains: what bounds from below are computed from."""
        return self.spreads()

    def _check_size(self, size: int) -> int:
        return positive_integer(size, "size")


def require_loss(value: object) -> Loss:
    """Return `value` if it is a loss; refuse it by name otherwise."""
    if not isinstance(value, Loss):
        raise CatalogError("loss-not-a-loss", value=settle(value))
    return value


@lru_cache(maxsize=16)
def _share_curve(loss: Loss) -> Profile:
    """Return so many points of a profile that a search between them would find little more."""
    return loss.profile(loss._profile_points(loss._curve_points))


def same_adjacency(losses: Sequence[Loss]) -> Adjacency | None:
    """Return the adjacency that all losses share, None if none of them names one; refuse two different ones."""
    named = {loss.adjacency for loss in losses if loss.adjacency is not None}
    if len(named) > 1:
        raise CatalogError("losses-adjacency-differs", name="adjacency")
    return next(iter(named), None)
