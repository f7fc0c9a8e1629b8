"""Group privacy of any loss, from its privacy profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jali.errors import CatalogError
from jali.numbers.rounding import round_up
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.profiles import Profile, crossing


@dataclass(frozen=True)
class ProfileGroup(Loss):
    """The loss of `size` people who change together, where a kind has no sharper form of its own.

    Guarantee:
        If M is (e, d)-DP, k people who change together are (k e, d (e^(k e) - 1) / (e^e - 1))-indistinguishable
        (Vadhan 2017, Lemma 2.2): the chain of k neighbours. Applied at every point of the profile.
    """

    _cheap: ClassVar[bool] = False

    loss: Loss
    size: int

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency of one person's change."""
        return self.loss.adjacency

    @property
    def event(self) -> Event:
        """K epsilon, and k^2 rho in zCDP; refused where one person's loss has a delta."""
        one = self.loss.event
        if one.delta:
            raise CatalogError("group-delta-by-epsilon")
        return Event(None if one.epsilon is None else self.size * one.epsilon, self.size**2 * one.rho)

    def _delta(self, epsilon: float) -> float:
        return self._chain(epsilon, self.loss._delta(epsilon / self.size))

    def _epsilon(self, delta: float) -> float:
        single = self.loss._epsilon(delta)
        if delta <= 0 or math.isinf(single):
            return self.size * single
        return crossing(self._delta, delta, max(self.size * single, 1e-9))

    def _chain(self, epsilon: float, delta: float) -> float:
        """Return the delta of a chain of people, from the delta of one at its share of epsilon."""
        return round_up(delta * chain_factor(epsilon / self.size, self.size)) if delta else 0.0

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return delta(epsilon) at many points, from one profile of a single person."""
        points = self._profile_points() if epsilons is None else tuple(float(e) for e in epsilons)
        single = self.loss.profile([point / self.size for point in points]).deltas
        pairs = zip(points, single, strict=True)
        return Profile(points, tuple(min(1.0, self._chain(point, delta)) for point, delta in pairs))

    def _renyi(self, order: float) -> float:
        """Return order times k^2 rho, where every order is bounded by rho (zCDP); infinite otherwise."""
        try:
            return super()._renyi(order)
        except CatalogError:
            return math.inf

    def group(self, size: int) -> ProfileGroup:
        """Return the loss of a group of groups."""
        return ProfileGroup(self.loss, self.size * self._check_size(size))


def chain_factor(epsilon: float, size: int) -> float:
    """Return 1 + e^epsilon + ... + e^((size-1) epsilon), rounded up; infinite where doubles end."""
    if epsilon == 0:
        return float(size)
    if size * epsilon > 700:
        return math.inf
    return round_up(math.expm1(size * epsilon) / math.expm1(epsilon))
