"""The loss of a mechanism that runs on a secret random sample of the people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.errors import CatalogError, settle
from jali.numbers.exact import decimal
from jali.numbers.rounding import exp, float_above, float_below, rational_above, round_up
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss, require_loss
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.rationals import Number, share

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


class Sampling(StrEnum):
    """How the sample is drawn."""

    POISSON = "poisson"
    WITHOUT_REPLACEMENT = "without-replacement"


# Each way of sampling is analysed for one adjacency; with the other, the bound does not hold.
_HOLDS_FOR = {Sampling.POISSON: Adjacency.ADD_REMOVE, Sampling.WITHOUT_REPLACEMENT: Adjacency.REPLACE_ONE}


@dataclass(frozen=True, repr=False)
class SubsampledLoss(Loss):
    """The loss of a mechanism on a random sample.

    Args:
        loss: The loss of the mechanism on the sample, for the same adjacency.
        rate: The probability that a person is in the sample (m/n without replacement).
        sampling: `poisson` (each person by an own draw; for add-remove) or `without-replacement` (m of n people;
            for replace-one).
        adjacency: The adjacency that is wanted; refused where the sampling is not analysed for it.

    Guarantee:
        With y = exp(e), removing a person has delta(e) = q delta_M(ln(1 + (y-1)/q)), and adding one has
        (1 - y(1-q)) delta_M(ln(y q / (1 - y(1-q)))) while y (1-q) < 1; replace-one has the first in both
        directions (Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; Zhu, Dong and Wang 2022, Theorem 11).

    Example:
        >>> from jali.privacy import Pure
        >>> loss = SubsampledLoss(Pure(1), 0.01, sampling="poisson", adjacency="add-remove")
        >>> round(loss.epsilon(0), 6)
        0.017037
    """

    loss: Loss
    rate: Fraction
    sampling: Sampling

    def __init__(self, loss: Loss, rate: Number, *, sampling: str | Sampling, adjacency: str | Adjacency) -> None:
        object.__setattr__(self, "loss", _symmetric(loss))
        object.__setattr__(self, "rate", _rate(rate))
        object.__setattr__(self, "sampling", _sampling(sampling, Adjacency.of(adjacency), loss))

    def __repr__(self) -> str:
        return f"SubsampledLoss({self.loss!r}, {decimal(self.rate)}, sampling={self.sampling.value!r})"

    @property
    def adjacency(self) -> Adjacency:
        """The adjacency that the sampling is analysed for."""
        return _HOLDS_FOR[self.sampling]

    @property
    def event(self) -> Event:
        """ln(1 + q (e^epsilon - 1)) and q delta; in zCDP no more than the mechanism without sampling."""
        base, delta = self.loss.event, self.rate * self.loss.event.delta
        if base.epsilon is None:
            return Event(None, base.rho, delta)
        epsilon = rational_above(round_up(self._amplify(float_above(base.epsilon))), digits=15)
        return Event(min(epsilon, base.epsilon), min(base.rho, epsilon**2 / 2), delta)

    def _amplify(self, epsilon: float) -> float:
        rate = float_above(self.rate)
        if epsilon > 30:
            return epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon))
        return math.log1p(rate * math.expm1(epsilon))

    def _delta(self, epsilon: float) -> float:
        removing = self._removing(epsilon)
        return removing if self.sampling is Sampling.WITHOUT_REPLACEMENT else max(removing, self._adding(epsilon))

    def _removing(self, epsilon: float) -> float:
        rate = float_above(self.rate)
        if epsilon > 30:
            inner = epsilon + math.log1p(-(1 - rate) * math.exp(-epsilon)) - math.log(rate)
        else:
            inner = math.log1p(math.expm1(epsilon) / rate)
        return round_up(rate * self.loss._delta(max(0.0, inner * (1 - 1e-14))))

    def _adding(self, epsilon: float) -> float:
        rate, y = float_above(self.rate), exp(epsilon)
        rest = rate - math.expm1(epsilon) * (1 - rate) if epsilon < 30 else -1.0
        if rest <= 0:
            return 0.0
        return round_up(rest * self.loss._delta(max(0.0, math.log(y * rate / rest) * (1 - 1e-14))))

    def _epsilon(self, delta: float) -> float:
        """Return ln(1 + q (e^epsilon - 1)) at delta/q: the inverse for removing, which is the larger."""
        if self.sampling is Sampling.WITHOUT_REPLACEMENT:
            inside = delta / float_above(self.rate) * (1 - 1e-14)
            inner = self.loss._epsilon(inside) if inside < 1 else 0.0
            return inner if math.isinf(inner) else round_up(self._amplify(inner))
        return super()._epsilon(delta)

    def _renyi(self, order: float) -> float:
        """Return the divergence of the dominating pairs, by quadrature; at most that without sampling."""
        from jali.privacy.pld.privacy_loss_distribution import divergence

        return min(self.loss._renyi(order), divergence(self, order))

    def group(self, size: int) -> Loss:
        """Return the loss of a group, by the (epsilon, delta) form at every epsilon."""
        return self if self._check_size(size) == 1 else ProfileGroup(self, self._check_size(size))

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the laws for removing and for adding a person, or the one for replacing a person."""
        from jali.privacy.pld.subsampled_distribution import (
            subsample_addition,
            subsample_removal,
            subsample_replacement,
        )

        base, rate = self.loss.spreads()[0], float_above(self.rate)
        if rate >= 1:
            return (base,)
        if self.sampling is Sampling.WITHOUT_REPLACEMENT:
            return (subsample_replacement(base, rate),)
        return subsample_removal(base, rate), subsample_addition(base, rate)

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return laws of mechanisms that a sample without the person turns into the neighbour's."""
        from jali.privacy.pld.subsampled_distribution import subsample_addition, subsample_removal

        base, rate = self.loss.attained()[0], float_below(self.rate)
        return (base,) if rate >= 1 else (subsample_removal(base, rate), subsample_addition(base, rate))


def _symmetric(loss: Loss) -> Loss:
    require_loss(loss)
    if len(loss.spreads()) != 1:
        raise CatalogError("subsampled-loss-two-sided", loss=settle(loss))
    return loss


def _rate(rate: Number) -> Fraction:
    number = share(rate, "rate")
    if number == 0:
        raise CatalogError("subsampling-rate-zero")
    return number


def _sampling(sampling: str | Sampling, adjacency: Adjacency, loss: Loss) -> Sampling:
    try:
        way = Sampling(sampling)
    except ValueError:
        names = tuple(member.value for member in Sampling)
        raise CatalogError("parameter-not-among", choices=names, value=sampling, name="sampling") from None
    if _HOLDS_FOR[way] is not adjacency or loss.adjacency not in (None, adjacency):
        other = next(member for member in Sampling if _HOLDS_FOR[member] is adjacency)
        raise CatalogError(
            "subsampling-adjacency-wrong",
            sampling=way.value,
            adjacency=adjacency.value,
            other_sampling=other.value,
            other_adjacency=_HOLDS_FOR[way].value,
            name="adjacency",
        )
    return way
