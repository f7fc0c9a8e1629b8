"""Compose any losses by the tightest theorem that is valid, and say which one it is.

`THEOREMS` lists them all, the simplest first: of two equal bounds the simpler theorem is named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias, get_args

from jali.errors import CatalogError, settle
from jali.numbers.rounding import round_up
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.advanced_composition import ADVANCED, ADVANCED_TANH
from jali.privacy.composition.basic_composition import BASIC, SHARED, SINGLE
from jali.privacy.composition.compound import Compound, Parts, merge_parts, total
from jali.privacy.composition.numerical_composition import GAUSSIAN, NUMERICAL, distribution, lacks_distribution
from jali.privacy.composition.optimal_composition import OPTIMAL
from jali.privacy.composition.renyi_composition import CONCENTRATED, CONCENTRATED_SIMPLE, RENYI
from jali.privacy.composition.theorem import Theorem
from jali.privacy.composition.theorem_table import Bound, Inapplicable, Table, row_of
from jali.privacy.event import Event
from jali.privacy.loss import Loss, same_adjacency
from jali.privacy.losses.charged_loss import Charged
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.pld.privacy_loss_distribution import PrivacyLossDistribution
from jali.privacy.profiles import Profile
from jali.privacy.rationals import Number, nonnegative, probability
from jali.privacy.rationals import count as whole_count

THEOREMS: tuple[Theorem, ...] = (
    SINGLE,
    BASIC,
    SHARED,
    ADVANCED,
    ADVANCED_TANH,
    CONCENTRATED_SIMPLE,
    CONCENTRATED,
    RENYI,
    GAUSSIAN,
    OPTIMAL,
    NUMERICAL,
)


Parameters: TypeAlias = Literal["declared", "adaptive"]

_ADAPTIVE = "it needs parameters that are declared in advance"
_SHOWN = 4


def compose(*losses: Loss | tuple[Loss, int], parameters: Parameters = "declared") -> Composition:
    """Return the loss of several releases about the same people.

    Args:
        *losses: Losses, or pairs of a loss and how often it is spent. Compositions and privacy-loss distributions
            are taken apart.
        parameters: `declared` if all losses are fixed before the first release; questions may still depend on
            earlier answers. `adaptive` if the losses, too, were chosen after earlier answers, under a filter whose
            limits were these losses' sums: only basic composition and zCDP remain. A composition of a composition
            with adaptive parameters has adaptive parameters.

    Example:
        >>> from jali.privacy.losses.pure_loss import Pure
        >>> batch = compose((Pure(0.1), 100))
        >>> batch, batch.event.epsilon
        (compose((Pure(0.1), 100)), Fraction(10, 1))
        >>> print(batch.best(delta=1e-6))
        epsilon 4.77457 at delta 1e-06, by optimal composition of equal losses (Kairouz, Oh and Viswanath)
        >>> print(compose((Pure(0.1), 100), parameters="adaptive").best(delta=1e-6))
        epsilon 5.22154 at delta 1e-06, by zCDP with the tight conversion
    """
    if parameters not in get_args(Parameters):
        raise CatalogError("composition-parameters-unknown", parameters=parameters)
    if not losses:
        raise CatalogError("nothing-to-compose")
    parts = merge_parts(part for loss in losses for part in _flat(loss))
    same_adjacency([loss for loss, _ in parts])
    chosen = "adaptive" in (parameters, *(_parameters(loss) for loss in losses))
    return Composition(parts, "adaptive" if chosen else "declared")


@dataclass(frozen=True, repr=False)
class Composition(Compound):
    """The loss of several releases; made by `compose`.

    Attributes:
        parts: Each different loss with its count.
        parameters: Whether the losses were declared in advance, or chosen adaptively under a filter.

    Guarantee:
        `epsilon` and `delta` are the least that any valid theorem proves; questions may be chosen adaptively.
        `event` is the exact sum of the parts' events, which a filter may count whatever follows. The bound of the
        privacy-loss distribution is no event: it holds for parameters that are declared together, and says
        nothing about a sum that goes on adaptively. To charge it, fix one point of it before the first release,
        with `.at(delta)`.
    Proof:
        docs/proofs/composition.md
    """

    parts: Parts
    parameters: Parameters = "declared"

    def __repr__(self) -> str:
        shown = [_write_part(loss, count) for loss, count in self.parts[:_SHOWN]]
        more = [f"and {len(self.parts) - _SHOWN} more"] if len(self.parts) > _SHOWN else []
        adaptive = ["parameters='adaptive'"] if self.parameters == "adaptive" else []
        return f"compose({', '.join(shown + more + adaptive)})"

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency that the parts share."""
        return same_adjacency([loss for loss, _ in self.parts])

    @property
    def event(self) -> Event:
        """The exact sum of the parts' events."""
        return total(self.parts)

    @property
    def dominating(self) -> Parts:
        """The parts; the composition itself, where their numbers are but the limits of a filter."""
        return self.parts if self.parameters == "declared" else ((self, 1),)

    @cached_property
    def theorems(self) -> tuple[Theorem, ...]:
        """The theorems that are valid here."""
        return tuple(theorem for theorem in THEOREMS if self._obstacle(theorem) is None)

    def epsilon(self, delta: Number) -> float:
        """Return the least epsilon at delta that a valid theorem proves; infinite if none does."""
        return _least_epsilon(self, probability(delta, "delta"))

    def delta(self, epsilon: Number) -> float:
        """Return the least delta at epsilon that a valid theorem proves."""
        return self._least_delta(nonnegative(epsilon, "epsilon"))

    def best(self, delta: Number) -> Bound:
        """Return the least epsilon at delta, with the theorem that proves it."""
        table = self.table(delta)
        if table.best is None:
            raise CatalogError("composition-no-epsilon", losses=settle(self))
        return table.best

    def table(self, delta: Number) -> Table:
        """Return every theorem with its epsilon at delta, or the reason why it has none."""
        limit = probability(delta, "delta")
        return Table(tuple(self._row(theorem, limit) for theorem in THEOREMS), limit)

    def bounds(self, delta: Number) -> tuple[float, float]:
        """Return what epsilon is at least and at most for the worst releases of these losses.

        Both ends come from the privacy-loss distribution, discretised downwards and upwards.
        """
        self._require_distribution()
        return distribution(self.parts).bounds(delta)

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Return what delta is at least and at most for the worst releases of these losses."""
        self._require_distribution()
        return distribution(self.parts).delta_bounds(epsilon)

    def profile(self, epsilons: Sequence[float] | None = None) -> Profile:
        """Return delta(epsilon) at given points, or at points that show the curve."""
        points = self._profile_points() if epsilons is None else tuple(float(e) for e in epsilons)
        exact = [nonnegative(point, "epsilons") for point in points]
        if NUMERICAL not in self.theorems:
            return Profile(points, tuple(self._least_delta(e) for e in exact))
        # One distribution serves all points; the other theorems are quick.
        quick = tuple(theorem for theorem in self.theorems if theorem is not NUMERICAL)
        known = distribution(self.parts).profile(points).deltas
        return Profile(points, tuple(map(lambda e, d: self._least_delta(e, quick, d), exact, known)))

    def fnr(self, fpr: Number) -> float:
        """Return the least false negative rate at a false positive rate, by the sharpest description there is."""
        if SINGLE in self.theorems:
            return self.parts[0][0].fnr(fpr)
        return distribution(self.parts).fnr(fpr) if NUMERICAL in self.theorems else super().fnr(fpr)

    def _renyi(self, order: float) -> float:
        """Return the sum of the parts' divergences."""
        if self.parameters == "adaptive":
            return Charged(self.event)._renyi(order)
        return round_up(math.fsum(count * loss._renyi(order) for loss, count in self.parts))

    def group(self, size: int) -> Loss:
        """Return the composition of the parts' losses for a group: theorems hold for any neighbours.

        Where a part has no sharper form than the chain of its people (a sample), the chain is taken once, of the
        whole, rather than for every release.
        """
        people = self._check_size(size)
        if self.parameters == "adaptive":
            # How the sums were split over releases is not known: only the sums are.
            return compose(Charged(self.event).group(people), parameters="adaptive")
        parts = [(loss.group(people), count) for loss, count in self.parts]
        if people > 1 and any(isinstance(loss, ProfileGroup) for loss, _ in parts):
            return ProfileGroup(self, people)
        return compose(*parts, parameters=self.parameters)

    def _delta(self, epsilon: float) -> float:
        return self._least_delta(Fraction(epsilon))

    def _epsilon(self, delta: float) -> float:
        return _least_epsilon(self, Fraction(delta))

    def _least_delta(
        self, epsilon: Fraction, theorems: tuple[Theorem, ...] | None = None, known: float = 1.0
    ) -> float:
        """Return the least delta by all theorems, or by some where a bound is known already."""
        # Those that must search come last: one look shows whether they can improve on the others.
        for theorem in sorted(
            self.theorems if theorems is None else theorems, key=lambda theorem: theorem.solve_delta is None
        ):
            known = theorem.least_delta(self.parts, epsilon, known)
        return known

    def _row(self, theorem: Theorem, delta: Fraction) -> Bound | Inapplicable:
        if reason := self._obstacle(theorem):
            return Inapplicable(theorem, reason)
        return row_of(theorem, theorem.solve_epsilon(self.parts, delta), delta)

    def _obstacle(self, theorem: Theorem) -> str | None:
        if self.parameters == "adaptive" and not theorem.adaptive_parameters:
            return _ADAPTIVE
        return theorem.obstacle(self.parts)

    def _require_distribution(self) -> None:
        reason = _ADAPTIVE if self.parameters == "adaptive" else lacks_distribution(self.parts)
        if reason:
            raise CatalogError("composition-no-distribution", losses=settle(self), reason=reason)


@lru_cache(maxsize=256)
def _least_epsilon(composition: Composition, delta: Fraction) -> float:
    theorems = composition.theorems
    return min((theorem.solve_epsilon(composition.parts, delta) for theorem in theorems), default=math.inf)


def _flat(loss: Loss | tuple[Loss, int]) -> Iterator[tuple[Loss, int]]:
    """Return the parts of an argument, compositions taken apart."""
    one, count = loss if isinstance(loss, tuple) and len(loss) == 2 else (loss, 1)
    if not isinstance(one, Loss) or isinstance(count, Loss):
        raise CatalogError("losses-not-losses", loss=settle(loss))
    times = whole_count(count)
    for part, inner in one.parts if isinstance(one, Composition | PrivacyLossDistribution) else ((one, 1),):
        yield part, times * inner


def _parameters(loss: Loss | tuple[Loss, int]) -> Parameters:
    one = loss[0] if isinstance(loss, tuple) else loss
    return one.parameters if isinstance(one, Composition) else "declared"


def _write_part(loss: Loss, count: int) -> str:
    written = repr(loss) if len(repr(loss)) <= 40 else f"{type(loss).__name__}(...)"
    return written if count == 1 else f"({written}, {count})"
