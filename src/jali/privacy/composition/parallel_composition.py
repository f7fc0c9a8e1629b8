"""Parallel composition of releases about disjoint parts of the data.

A neighbour changes one part, and nobody knows which: the profile of the largest loss is the pointwise maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from jali.errors import CatalogError
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.compose import compose
from jali.privacy.composition.compound import Compound, Parts, dominating, merge_parts
from jali.privacy.event import Event
from jali.privacy.loss import Loss, same_adjacency
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.profiles import Profile
from jali.privacy.rationals import Number

if TYPE_CHECKING:
    from jali.privacy.pld.loss_distribution import LossDistribution


Partition: TypeAlias = Literal["index", "value"]

# Above this many losses without an order among them, pairs are bounded together instead of one by one.
_MOST = 8


def parallel(losses: Iterable[Loss], *, partition: Partition, adjacency: Adjacency | str) -> Loss:
    """Return the loss of releases that each read one part of the data, where parts have no row in common.

    Args:
        losses: The loss of the release of each part.
        partition: `index` if a person's part is fixed whatever the person's data are (by identity or position).
            `value` if the part is a function of the row's values, so that a changed row may move.
        adjacency: The adjacency of the whole. Under `replace-one`, the losses of a value partition must hold for
            a part to which a row is added or removed, since the sizes of parts are private; losses stated for
            `add-remove` are doubled for a row that is replaced within its part.

    Guarantee:
        Index partition: the largest loss, under both adjacencies. Value partition: the largest loss under
        `add-remove`; the two largest, composed, under `replace-one`.
    Proof:
        docs/proofs/parallel.md

    Example:
        >>> from jali.privacy.losses.pure_loss import Pure
        >>> parallel([Pure(0.1), Pure(0.5), Pure(0.2)], partition="value", adjacency="add-remove")
        Pure(0.5)
        >>> parallel([Pure(0.1), Pure(0.5), Pure(0.2)], partition="value", adjacency="replace-one")
        Largest(compose(Pure(0.2), Pure(0.5)))
    """
    given = _check_losses(losses)
    neighbours = Adjacency.of(adjacency)
    if partition not in get_args(Partition):
        raise CatalogError("partition-kind-unknown", partition=partition)
    if partition == "value" and neighbours is Adjacency.REPLACE_ONE:
        return _moving(given)
    if same_adjacency(given) not in (None, neighbours):
        raise CatalogError("parallel-adjacency-differs", adjacency=neighbours.value, name="adjacency")
    return _one_of(given)


def _check_losses(losses: Iterable[Loss]) -> list[Loss]:
    given = list(losses)
    if not given:
        raise CatalogError("parallel-no-parts")
    if not all(isinstance(loss, Loss) for loss in given):
        raise CatalogError("parallel-not-losses")
    return given


def _one_of(losses: list[Loss]) -> Loss:
    """Return the largest loss: one neighbour changes one part."""
    top = contenders(losses, 1)
    # A kind without an order may know more about groups than holds for people in several parts.
    return top[0] if len(losses) == 1 or (len(top) == 1 and has_order(top[0])) else Largest(top)


def _moving(losses: list[Loss]) -> Loss:
    """Return the worst of all pairs: one neighbour leaves a part and enters another, or stays in one."""
    stated = same_adjacency(losses)
    if stated is Adjacency.REPLACE_ONE:
        raise CatalogError("parallel-value-replace-one")
    staying = [loss.group(2) for loss in contenders(losses, 1)] if stated else losses[: len(losses) == 1]
    return Largest([*_pairs(losses), *staying], Adjacency.REPLACE_ONE if stated else None)


def _pairs(losses: list[Loss]) -> list[Loss]:
    """Return the compositions of any two losses that are not known to be below another pair."""
    top = contenders(losses, 2)
    if len(top) > _MOST:
        return [compose((Largest(contenders(losses, 1)), 2))]
    return [compose(one, other) for one, other in combinations(top, 2)]


@dataclass(frozen=True, repr=False)
class Largest(Compound):
    """One of several losses, whichever is worst at each epsilon.

    Attributes:
        losses: The losses, none of which is known to exceed all others.
        named: The adjacency for which the maximum was taken, where it is not that of the losses.

    Guarantee:
        If every pair of neighbours is distinguished no better than one of the losses allows, the maximum of their
        profiles, of their divergences, and of each number of their events is a bound for all pairs.
    Proof:
        docs/proofs/parallel.md

    Example:
        >>> Largest((Pure(1), Concentrated(0.1))).event
        Event(epsilon=None, rho=Fraction(1, 2), delta=Fraction(0, 1))
    """

    losses: tuple[Loss, ...]
    named: Adjacency | None = None

    def __init__(self, losses: Iterable[Loss], named: Adjacency | None = None) -> None:
        parts = merge_parts((loss, 1) for loss in losses)
        if not parts:
            raise CatalogError("nothing-is-largest")
        object.__setattr__(self, "losses", tuple(loss for loss, _ in parts))
        object.__setattr__(self, "named", named)

    def __repr__(self) -> str:
        return f"Largest({', '.join(map(repr, self.losses))})"

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency for which the maximum holds."""
        return self.named or same_adjacency(self.losses)

    @property
    def event(self) -> Event:
        """The largest of each number: a loss with less delta is also one with more."""
        events = [loss.event for loss in self.losses]
        epsilons = [event.epsilon for event in events if event.epsilon is not None]
        return Event(
            max(epsilons) if len(epsilons) == len(events) else None,
            max(event.rho for event in events),
            max(event.delta for event in events),
        )

    def epsilon(self, delta: Number) -> float:
        """Return the largest epsilon of any of the losses."""
        return max(loss.epsilon(delta) for loss in self.losses)

    def delta(self, epsilon: Number) -> float:
        """Return the largest delta of any of the losses."""
        return max(loss.delta(epsilon) for loss in self.losses)

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return the largest delta at each point."""
        points = self._profile_points() if epsilons is None else tuple(float(e) for e in epsilons)
        deltas = zip(*(loss.profile(points).deltas for loss in self.losses), strict=True)
        return Profile(points, tuple(map(max, deltas)))

    def _renyi(self, order: float) -> float:
        """Return the largest divergence of any of the losses."""
        return max(loss._renyi(order) for loss in self.losses)

    def group(self, size: int) -> Loss:
        """Return the loss of a group by the chain of its people, each of whom may cause another of the losses."""
        return ProfileGroup(self, self._check_size(size)) if self._check_size(size) > 1 else self

    def spreads(self) -> tuple[LossDistribution, ...]:
        """Return the spreads of the only loss; none for several."""
        return self.losses[0].spreads() if len(self.losses) == 1 else ()

    def attained(self) -> tuple[LossDistribution, ...]:
        """Return the laws that the only loss attains; none for several."""
        return self.losses[0].attained() if len(self.losses) == 1 else ()

    @property
    def dominating(self) -> Parts:
        """The parts of the only loss; itself for several."""
        return dominating(self.losses[0]) if len(self.losses) == 1 else ((self, 1),)

    def _delta(self, epsilon: float) -> float:
        return max(loss._delta(epsilon) for loss in self.losses)

    def _epsilon(self, delta: float) -> float:
        return max(loss._epsilon(delta) for loss in self.losses)


def exceeds(one: Loss, other: Loss) -> bool:
    """Say whether a loss is known to allow whatever another allows."""
    if one == other:
        return True
    size, other_size = _size(one), _size(other)
    if size is None or other_size is None or type(one) is not type(other):
        return False
    return all(a >= b for a, b in zip(size, other_size, strict=True))


def contenders(losses: Iterable[Loss], places: int) -> list[Loss]:
    """Return the losses that fewer than `places` others are known to exceed; of equals the first ones."""
    kept: list[tuple[Loss, int]] = []
    for loss in losses:
        above = sum(exceeds(other, loss) for other, _ in kept)
        if above < places:
            raised = [(other, n + (exceeds(loss, other) and not exceeds(other, loss))) for other, n in kept]
            kept = [(other, n) for other, n in [*raised, (loss, above)] if n < places]
    return [loss for loss, _ in kept]


def has_order(loss: Loss) -> bool:
    """Say whether losses of this kind are compared by their numbers."""
    return _size(loss) is not None


def _size(loss: Loss) -> tuple[Fraction, ...] | None:
    """Return the numbers with which a loss of this kind grows; None for kinds that have no such order."""
    if isinstance(loss, Approximate):
        return loss.bound, loss.failure
    return (loss.bound,) if isinstance(loss, Pure | BoundedRange | Concentrated) else None
