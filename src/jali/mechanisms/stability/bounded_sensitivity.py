"""Release a statistic with noise for a noisy bound of its local sensitivity.

`shared_pairs` counts pairs of people with the same key, a count whose local sensitivity changes by 1 only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import (
    LogMasses,
    Specimen,
    read_miss_probability,
    read_parameter,
)
from jali.mechanisms.exact_values import REAL
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.partition_selection.group_selection import read_delta
from jali.mechanisms.partition_selection.thresholds import find_laplace_threshold
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.stability.clamped_laplace import (
    StatisticRelease,
    length,
    log_masses_after_clamping,
    read_output_lattice,
    read_share,
    steps_in,
)
from jali.mechanisms.stability.stable_answers import count_categories
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, nonnegative
from jali.sampling import BitSource, DiscreteLaplace, system_bits

_SPLITS = 16
_MOST_DIGITS = 400


class Measured(NamedTuple):
    """A statistic of a table, and how far one person can move it there; both are as secret as the table.

    Attributes:
        value: The statistic itself.
        local: Its local sensitivity, or a bound of it.
    """

    value: Any
    local: Any


class Bounded(NamedTuple):
    """A released statistic and the released bound that its noise was made for.

    Attributes:
        value: The statistic with noise of scale bound/epsilon, for the noise's part of epsilon.
        bound: The noisy bound of the local sensitivity.
    """

    value: int | float
    bound: int | float


@dataclass(frozen=True, repr=False)
class BoundedSensitivity(StatisticRelease):
    """Release a noisy bound of the local sensitivity, then the statistic with noise for that bound.

    It is for statistics whose local sensitivity hardly changes from a table to its neighbours, however large the
    statistic's own change can be: the pairs of people who share an address change by as many as live at one
    address, and that number changes by 1. For a median it is useless: there the local sensitivity itself can
    change by the whole range.

    Args:
        drift: How far the local sensitivity (or the bound of it that is given) can change between neighbours.
        epsilon: The loss, of the bound and of the statistic together.
        delta: The probability, at most, that the bound turns out below the local sensitivity.
        bound_share: Which part of epsilon the bound takes.
        statistic: A statistic that knows its local sensitivity; `release` then takes a table.
        low: Without a statistic: the least value that is released; `release` then takes a `Measured`.
        high: The largest one.
        step: The lattice of the values.

    Guarantee:
        The release of both numbers is (epsilon, delta)-DP, in the adjacency of the local sensitivity.
    Proof:
        docs/proofs/bounded_sensitivity.md, after Dwork and Lei 2009.

    Error:
        `error(c, local=l)` bounds how far the value is off, in its units, with probability c for a table of local
        sensitivity l; without it, for the worst table.

    Example:
        >>> from jali.mechanisms import BoundedSensitivity
        >>> from jali.mechanisms.stability.bounded_sensitivity import Measured
        >>> mechanism = BoundedSensitivity(drift=1, epsilon=2, delta=1e-6, low=0, high=10**6, step=1)
        >>> mechanism.margin, mechanism.error(0.95, local=10)
        (13, 84)
        >>> released = mechanism.release(Measured(value=5000, local=10))
        >>> 0 <= released.value <= 10**6 and released.bound >= 1
        True
    """

    drift: Fraction
    epsilon: Fraction
    delta: Fraction
    bound_share: Fraction
    statistic: Statistic | None
    low: Fraction | None
    high: Fraction | None
    step: Fraction | None

    def __init__(
        self,
        *,
        drift: Number,
        epsilon: Number,
        delta: Number,
        bound_share: Number = Fraction(1, 2),
        statistic: Statistic | None = None,
        low: Number | None = None,
        high: Number | None = None,
        step: Number | None = None,
    ) -> None:
        _, declared = read_output_lattice(statistic, low, high, step)
        self._fill(
            drift=read_parameter(drift, "drift"),
            epsilon=read_parameter(epsilon, "epsilon"),
            delta=read_delta(delta),
        )
        self._fill(bound_share=read_share(bound_share, "bound_share"), statistic=statistic, **declared)
        # These refuse, before anything is released, scales that cannot be sampled.
        DiscreteLaplace(self.bound_scale)
        self._sampler(self.ruler.top)

    @property
    def bound_scale(self) -> Fraction:
        """The scale of the noise on the bound, in steps."""
        return steps_in(self.ruler, self.drift) / (self.epsilon * self.bound_share)

    @cached_property
    def margin(self) -> int:
        """How many steps are added to the noisy bound: the noise is below minus that with probability delta."""
        return max(0, find_laplace_threshold(self.bound_scale, self.delta) - 2)

    def _scale(self, bound: int) -> Fraction:
        return bound / (self.epsilon * (1 - self.bound_share))

    def _sampler(self, bound: int) -> DiscreteLaplace:
        return DiscreteLaplace(self._scale(bound))

    def error(self, confidence: float, *, local: Number | None = None) -> int | float:
        """Return a bound of the error of the value that holds with this confidence.

        Args:
            confidence: Strictly between 0 and 1.
            local: The local sensitivity of the table; if not given, the largest that any table can have.
        """
        missed, top = read_miss_probability(confidence), self.ruler.top
        size = top if local is None else steps_in(self.ruler, nonnegative(local, "local"))
        parts = [missed * part / _SPLITS for part in range(1, _SPLITS)]
        far = [self._far(size, part, missed - part) for part in parts]
        return length(self.ruler, min(*far, self._threshold(top, missed), top))

    def _far(self, size: int, above: float, left: float) -> int:
        """Return how far the noise is, except with probability `left` and when the bound is too high by chance."""
        over = DiscreteLaplaceLaw(self.bound_scale).threshold(2 * above)
        return self._threshold(self._clamp(size + over), left)

    def _threshold(self, bound: int, left: float) -> int:
        return DiscreteLaplaceLaw(self._scale(bound)).threshold(left)

    def _clamp(self, noisy: int) -> int:
        """Return the bound that is released: never below 1 step, never above the whole range."""
        return min(max(noisy + self.margin, 1), self.ruler.top)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Bounded:
        """Return the noisy statistic of a table or `Measured`, and the bound its noise was made for."""
        return self._draw(value, 1, system_bits() if bits is None else bits)[0]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        return [tuple(drawn) for drawn in self._draw(value, size, system_bits() if bits is None else bits)]

    def _draw(self, value: Any, size: int, bits: BitSource) -> list[Bounded]:
        mark, local = self._read(value)
        noise = DiscreteLaplace(self.bound_scale).sample(size, bits=bits)
        bounds = [self._clamp(local + int(each)) for each in noise.tolist()]
        # The noises of equal bounds are drawn together and dealt out in the order of the bounds.
        noises = {bound: iter(self._noise(bound, count, bits)) for bound, count in Counter(bounds).items()}
        drawn = [(min(max(mark + next(noises[bound]), 0), self.ruler.top), bound) for bound in bounds]
        told = {pair: self._build_outcome(*pair) for pair in set(drawn)}
        return [told[pair] for pair in drawn]

    def _noise(self, bound: int, count: int, bits: BitSource) -> list[int]:
        noise: NDArray[Any] = self._sampler(bound).sample(count, bits=bits)
        return list(map(int, noise.tolist()))

    def _build_outcome(self, mark: int, bound: int) -> Bounded:
        return Bounded(self.ruler.at(mark), length(self.ruler, bound))

    def _read(self, value: Any) -> tuple[int, int]:
        """Return the mark and the local sensitivity, in steps and rounded up, of a table or a `Measured`."""
        if not isinstance(value, Measured):
            if self.statistic is None:
                raise MechanismError("value-not-measured")
            column = self.statistic.read(value)
            value = Measured(self.statistic.value(column), self.statistic.local(column))
        return int(self.ruler.marks([value.value])[0]), _steps_above(value.local, self.ruler)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the pair of value and bound."""
        mark, local = self._read(value)
        top = self.ruler.top
        bounds = (
            log_masses_after_clamping(local + self.margin - 1, top - 1, self.bound_scale) if top > 1 else [0.0]
        )
        return {
            tuple(self._build_outcome(place, bound)): mass + of_bound
            for bound, of_bound in enumerate(bounds, 1)
            for place, mass in enumerate(log_masses_after_clamping(mark, top, self._scale(bound)))
        }

    def outcome(self, released: Bounded) -> Hashable:
        """Return the pair of value and bound."""
        return tuple(released)

    def deviation(self, value: Any, output: Any) -> float:
        """Return how far the value is off the mark of the true one."""
        return float(abs(output[0] - self.ruler.at(self._read(value)[0])))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return values as far apart as the local sensitivity says, which grows, falls or stays."""
        small = cls(drift=1, epsilon=4, delta="1/20", low=0, high=8, step=1)
        uneven = cls(drift="1/2", epsilon=6, delta="1/10", bound_share="1/3", low=0, high=2, step="1/4")
        pairs = tuple(
            (Measured(3, local), Measured(3 + min(local, other), other))
            for local, other in ((3, 3), (3, 4), (4, 3), (0, 1), (0, 0), (5, 5))
        )
        half = Fraction(1, 2)
        quarters = ((Measured(half, half), Measured(1, 1)), (Measured(1, 1), Measured(half, half)))
        return (
            Specimen(small, Adjacency.ADD_REMOVE, pairs, {"local": 3}, tight=False),
            Specimen(uneven, Adjacency.ADD_REMOVE, quarters, {"local": "1/2"}, tight=False),
        )


def _steps_above(local: Any, ruler: BoundedLattice) -> int:
    """Return a local sensitivity in steps, rounded up, within the lattice; NaN counts as all of it."""
    if isinstance(local, np.timedelta64) or not isinstance(local, REAL):  # numpy calls time spans integers
        raise MechanismError("local-sensitivity-not-a-number", kind=type(local).__name__)
    if isinstance(local, float | np.floating) and not np.isfinite(local):
        return 0 if local < 0 else ruler.top
    within = _moderate(local) if isinstance(local, Decimal) else local
    exact = Fraction(*(int(within) if isinstance(within, np.integer | np.bool_) else within).as_integer_ratio())
    return max(0, steps_in(ruler, exact))


def _moderate(local: Decimal) -> Decimal:
    """Return a Decimal with as many steps, or more, that is quickly written out: none of a range is as large."""
    small, large = Decimal(f"1e-{_MOST_DIGITS}"), Decimal(f"1e{_MOST_DIGITS}")
    if local.is_nan():
        return large
    return min(max(local, small), large) if local > 0 else Decimal(0)


def shared_pairs(table: Mapping[Any, int] | Iterable[Any]) -> Measured:
    """Return the number of pairs of people with the same key, and its local sensitivity under add-remove.

    One person more joins at most the largest group and makes as many pairs as it has members; the size of the
    largest group changes by at most 1 (`drift=1`). Both numbers are exact: release them by `BoundedSensitivity`.

    Args:
        table: One key for each person, or a mapping of keys to numbers of people.

    Proof:
        docs/proofs/bounded_sensitivity.md, Lemma 2.

    Example:
        >>> shared_pairs(["a", "a", "a", "b", "b", "c"])
        Measured(value=4, local=3)
    """
    sizes = list(count_categories(table).values())
    return Measured(sum(size * (size - 1) // 2 for size in sizes), max(sizes, default=0))
