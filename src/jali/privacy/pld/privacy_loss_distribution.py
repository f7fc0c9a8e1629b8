"""The privacy-loss distribution of a batch of releases, with bounds from both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from jali.errors import CatalogError, settle
from jali.numbers.rounding import float_above, float_below
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss, same_adjacency
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.pld.convolution import Convolution, convolve
from jali.privacy.pld.discretize import ERROR, optimistic, pessimistic, total_mass
from jali.privacy.pld.loss_distribution import LossDistribution
from jali.privacy.pld.tilt import LIGHTEST, Pilot, pilot
from jali.privacy.profiles import Profile, crossing
from jali.privacy.rationals import Number, nonnegative, probability
from jali.privacy.rationals import count as whole_count

Parts = tuple[tuple[Loss, int], ...]
# The deltas whose tilts serve the points of a whole profile.
_LEVELS = (0.3, 0.03, 1e-3, 1e-5, 1e-7, 1e-10, 1e-13)


@dataclass(frozen=True, repr=False)
class PrivacyLossDistribution(Loss):
    """The privacy loss of many releases whose parameters are declared together.

    Args:
        parts: Losses, or pairs of a loss and how often it occurs. Queries may be chosen adaptively; the losses
            and their number may not.

    Guarantee:
        The composition of mechanisms dominated by pairs (P_i, Q_i) is dominated by the product pair, also if each
        mechanism is chosen after seeing the answers of those before it (Zhu, Dong and Wang 2022, Theorem 10),
        and delta(e) = E[(1 - exp(e - L))_+] for the sum L of independent losses. `epsilon` and `delta` are bounds
        from above, `bounds` also gives one from below. It is not a filter: with losses that are chosen after
        seeing answers it proves nothing.
    Proof:
        docs/proofs/privacy_loss_distribution.md.

    Example:
        >>> from jali.privacy import Pure
        >>> batch = PrivacyLossDistribution([(Pure(0.1), 100)])
        >>> low, high = batch.bounds(delta=1e-6)
        >>> round(low, 6), round(high, 6)
        (4.774568, 4.774568)
    """

    _cheap: ClassVar[bool] = False
    _curve_points: ClassVar[int] = 801

    parts: Parts

    def __init__(self, parts: Sequence[Loss | tuple[Loss, int]]) -> None:
        object.__setattr__(self, "parts", _merge_equal_losses(parts))

    def __repr__(self) -> str:
        return f"PrivacyLossDistribution({', '.join(f'{count} x {loss!r}' for loss, count in self.parts)})"

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency that the parts share."""
        return same_adjacency([loss for loss, _ in self.parts])

    @property
    def event(self) -> Event:
        """Refused: a distribution is for releases that are declared together, not for a filter."""
        raise CatalogError("distribution-no-filter")

    def bounds(self, delta: Number) -> tuple[float, float]:
        """Return an epsilon that is too small for this delta, and one that is enough."""
        target = probability(delta, "delta")
        low = max(_epsilon(self.parts, way, float_above(target), True) for way in self._exact_ways)
        return low, self._epsilon(float_below(target))

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Return a delta that is too small for this epsilon, and one that is enough."""
        target = nonnegative(epsilon, "epsilon")
        low = max(_delta(self.parts, way, float_above(target), True) for way in self._exact_ways)
        return low, self.delta(epsilon)

    @property
    def _ways(self) -> range:
        return range(max(len(loss.spreads()) for loss, _ in self.parts))

    @property
    def _exact_ways(self) -> range:
        return range(max(len(loss.attained()) for loss, _ in self.parts))

    def _epsilon(self, delta: float) -> float:
        largest = 0.0
        for way in self._ways:
            # Adding a person is seldom worse than removing one, and a rough mesh is enough to see that.
            if not (largest and _law(self.parts, way, delta, rough=True).above(largest) <= delta):
                largest = max(largest, _epsilon(self.parts, way, delta, False))
        return largest

    def _delta(self, epsilon: float) -> float:
        return max(_delta(self.parts, way, epsilon, False) for way in self._ways)

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return delta(epsilon) at many points, from a few convolutions."""
        points = self._profile_points() if epsilons is None else tuple(float(e) for e in epsilons)
        ways = [[_tilt_for(self.parts, way, level) for level in _LEVELS] for way in self._ways]
        return Profile(points, tuple(max(_nearest(laws, point) for laws in ways) for point in points))

    def _renyi(self, order: float) -> float:
        """Return the Rényi divergence of the dominating pair."""
        return max(_divergence(_pilot(self.parts, way), order) for way in self._ways)

    def group(self, size: int) -> Loss:
        """Return the distribution for a group: each part's loss for that group, or a chain of people."""
        people = self._check_size(size)
        parts = [(loss.group(people), count) for loss, count in self.parts]
        if all(loss.spreads() for loss, _ in parts):
            return PrivacyLossDistribution(parts)
        return ProfileGroup(self, people)


def divergence(loss: Loss, order: float) -> float:
    """Return the Rényi divergence of the pairs that dominate a loss, by quadrature, rounded up."""
    ways = range(len(loss.spreads()))
    return max(_divergence(_pilot(((loss, 1),), way), order) for way in ways)


def _divergence(scout: Pilot, order: float) -> float:
    if scout.infinite > 1e-290 or not scout.reaches(order - 1):
        return math.inf
    return max(0.0, scout.cumulant(order - 1) / (order - 1) + 1e-11 / (order - 1))


def _merge_equal_losses(parts: Sequence[Loss | tuple[Loss, int]]) -> Parts:
    """Return the parts with equal losses counted together, in an order that does not depend on theirs."""
    counts: dict[Loss, int] = {}
    for part in _list_parts(parts):
        loss, count = part if isinstance(part, tuple) else (part, 1)
        for single, times in loss.parts if isinstance(loss, PrivacyLossDistribution) else ((loss, 1),):
            counts[single] = counts.get(single, 0) + times * whole_count(count)
    if not counts:
        raise CatalogError("distribution-no-parts")
    without = next((loss for loss in counts if not loss.spreads()), None)
    if without is not None:
        raise CatalogError("loss-without-distribution", loss=settle(without))
    same_adjacency(list(counts))
    return tuple(sorted(counts.items(), key=lambda item: repr(item[0])))


def _list_parts(parts: Sequence[Loss | tuple[Loss, int]]) -> Sequence[Loss | tuple[Loss, int]]:
    given = [parts] if isinstance(parts, Loss) else list(parts)
    for part in given:
        if not isinstance(part[0] if isinstance(part, tuple) and len(part) == 2 else part, Loss):
            raise CatalogError("distribution-parts-wrong", part=settle(part))
    return given


@lru_cache(maxsize=64)
def _pilot(parts: Parts, way: int, low: bool = False) -> Pilot:
    spreads = [loss.attained() if low else loss.spreads() for loss, _ in parts]
    chosen = [two[min(way, len(two) - 1)] for two in spreads]
    return pilot(chosen if low else [_complete(spread) for spread in chosen], [count for _, count in parts])


def _complete(spread: LossDistribution) -> LossDistribution:
    """Return a spread that leaves nothing out: what is missing in it counts as an infinite loss."""
    missing = 1 - total_mass(spread)
    light = float(spread.masses[(spread.masses > 0) & (spread.masses <= LIGHTEST)].sum())
    # Up to twice its own error, the quadrature is covered by what masses are raised by.
    more = (missing if missing > 2 * ERROR else 0.0) + light
    return replace(spread, infinite=min(1.0, spread.infinite + more)) if more else spread


def _tilt_for(parts: Parts, way: int, delta: float) -> tuple[float, Convolution]:
    """Return about where the profile passes delta, and a law that is tilted for it."""
    return _pilot(parts, way).tilt_for_delta(delta)[1], _law(parts, way, delta, rough=True)


def _nearest(laws: Sequence[tuple[float, Convolution]], epsilon: float) -> float:
    """Return the better bound of the two laws that were tilted for points near epsilon."""
    near = sorted(laws, key=lambda law: abs(law[0] - epsilon))[:2]
    return min(law.above(epsilon) for _, law in near)


@lru_cache(maxsize=64)
def _law(parts: Parts, way: int, delta: float, *, low: bool = False, rough: bool = False) -> Convolution:
    """Return the law of the sum, tilted to where this delta is decided."""
    scout = _pilot(parts, way, low)
    tilt, epsilon = scout.tilt_for_delta(delta)
    return _convolve_ranges(scout, tilt, max(epsilon, 0.0), delta, low=low, rough=rough)


def _convolve_ranges(
    scout: Pilot, tilt: float, epsilon: float, delta: float, *, low: bool, rough: bool = False
) -> Convolution:
    ranges = scout.ranges(delta)
    step = scout.step(epsilon, tilt, ranges, rough)
    mesh = optimistic if low else pessimistic
    masses = [mesh(spread, step, *span) for spread, span in zip(scout.spreads, ranges, strict=True)]
    return convolve(list(zip(masses, scout.counts, strict=True)), step, tilt)


@lru_cache(maxsize=256)
def _epsilon(parts: Parts, way: int, delta: float, low: bool) -> float:
    """Return the least epsilon for delta, from above or (if `low`) from below."""
    scout = _pilot(parts, way, low)
    if delta <= scout.infinite:
        return _at_nothing(scout, low)
    _, guess = scout.tilt_for_delta(delta)
    law = _law(parts, way, delta, low=low)
    value = law.below if low else law.above
    return crossing(value, delta, max(guess, 1e-9), low=low)


def _at_nothing(scout: Pilot, low: bool) -> float:
    """Return epsilon at a delta that leaves nothing out: the largest loss of all."""
    if scout.infinite or math.isinf(scout.largest):
        return 0.0 if low else math.inf
    return max(0.0, scout.largest * (1 - 1e-14 if low else 1 + 1e-14))


@lru_cache(maxsize=256)
def _delta(parts: Parts, way: int, epsilon: float, low: bool) -> float:
    scout = _pilot(parts, way, low)
    if epsilon > scout.largest * (1 + 1e-14):
        return scout.infinite
    tilt, log_delta = scout.tilt_for_epsilon(epsilon)
    size = max(min(math.exp(min(log_delta, 0.0)), 1.0), 1e-290)
    law = _convolve_ranges(scout, tilt, epsilon, size, low=low)
    return law.below(epsilon) if low else law.above(epsilon)
