"""Partition selection with the largest possible probability of release for each key."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import (
    ApproximateMechanism,
    LogMasses,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.partition_selection.group_selection import (
    GroupSelection,
    count_changed_keys,
    find_adjacency,
    read_delta,
    split_delta,
)
from jali.mechanisms.partition_selection.key_tables import check_counts, read_counts, sort_keys
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities, draw_by_kind
from jali.numbers.search import least_integer
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits
from jali.sampling.exp_bounds import exp_bounds

_LEAST, _MOST = Fraction(1, 1 << 40), 1 << 9
# Bits of exp(each) beyond its whole part.
_PRECISION = 64
# So many sets change where two people change theirs.
_TWO_PEOPLE = 4


@dataclass(frozen=True, repr=False)
class OptimalKeys(ApproximateMechanism, GroupSelection):
    """Release the keys of a table, each with the largest probability that (epsilon, delta) allows.

    No other mechanism that treats keys alike and independently releases a key of any number of people more often.
    It releases keys only; to learn how many people have them, release the counts of the released keys by
    `Laplace` with sensitivity max_keys, for a loss of their own; `LaplaceThreshold` does both at once for less.

    Args:
        epsilon: The loss.
        delta: The probability, at most, that a key is released which without one person never would be.
        max_keys: How many keys one person may count for.
        adjacency: When two tables are neighbours.
        least_people: A key of fewer people than this is never released; one of more is released as often as one
            of least_people - 1 fewer would be without this rule.

    Guarantee:
        The release is (epsilon, delta)-DP: each key spends epsilon/m and 1 - (1-delta)^(1/m), where m = max_keys,
        twice that under replace-one. A key of fewer than `least_people` is never released.
    Proof:
        docs/proofs/unknown_keys.md, Theorem 2, after Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1, and
        Theorem 3 for `least_people`.

    Error:
        `error(c, keys=k)` is the least number of people n from which k keys are all released with probability c:
        p(n)^k >= c, where p(n) = min(e^epsilon p(n-1) + delta, 1 - e^-epsilon (1 - p(n-1) - delta), 1), and
        p(n) = 0 for n < least_people.

    Example:
        >>> from jali.mechanisms import OptimalKeys
        >>> mechanism = OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove")
        >>> round(mechanism.chance(10), 6), mechanism.chance(23), mechanism.error(0.95)
        (0.128183, 1.0, 14)
        >>> mechanism.release({"zebra": 0, "horse": 23, "cow": 1000})
        ('cow', 'horse')
        >>> OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove", least_people=10).error(0.95)
        23
    """

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False
    tag: ClassVar[str] = "OptimalKeys"
    stored_parts: ClassVar[str] = "epsilon delta max_keys adjacency least_people"
    page: ClassVar[str] = "docs/proofs/unknown_keys.md (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1)"

    epsilon: Fraction
    delta: Fraction
    max_keys: int
    adjacency: Adjacency
    least_people: int = 1

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        max_keys: int = 1,
        adjacency: str | Adjacency,
        least_people: int = 1,
    ) -> None:
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), delta=read_delta(delta))
        self._fill(max_keys=read_natural(max_keys, "max_keys"), adjacency=Adjacency.of(adjacency))
        self._fill(least_people=read_natural(least_people, "least_people"))
        if not _LEAST <= self.chances.epsilon <= _MOST:
            raise MechanismError("key-epsilon-out-of-range")

    @cached_property
    def chances(self) -> ReleaseProbabilities:
        """The probability of release for each number of people."""
        keys = count_changed_keys(self.max_keys, self.adjacency)
        return ReleaseProbabilities(self.epsilon / keys, split_delta(self.delta, keys))

    def chance(self, people: int) -> float:
        """Return the probability that a key with so many people is released."""
        return self.chances.near(self._count_above_minimum(read_natural(people, "people", least=0)))

    def _count_above_minimum(self, people: int) -> int:
        """Return the number of people that the probability is read at: all but the first least_people - 1."""
        return max(0, people - self.least_people + 1)

    def error(self, confidence: float, *, keys: int = 1) -> int:
        """Return the least number of people from which keys are released with this confidence.

        Args:
            confidence: Strictly between 0 and 1.
            keys: How many such keys there are, all of which are to be released.
        """
        each = -math.expm1(math.log1p(-read_miss_probability(confidence)) / read_natural(keys, "keys"))
        seen = least_integer(lambda people: self.chances.complement(people) <= each, 0, self.chances.sure)
        return seen + self.least_people - 1

    def release(self, value: Mapping[Any, int], *, bits: BitSource | None = None) -> tuple[Any, ...]:
        """Return the released keys, in an order that reveals nothing."""
        released = self.choose(read_counts(value), bits=bits)
        return tuple(sort_keys(list(compress(value, released.tolist()))))

    def choose(self, counts: NDArray[Any], *, bits: BitSource | None = None) -> NDArray[np.bool_]:
        """Return which of these counts are released, in the order given: a release without the keys' names.

        The caller sees to it that each count belongs to another key, and releases the keys in an order that their
        set determines (`sort_keys`): the order of the counts may reveal who came first.

        Args:
            counts: The numbers of people, one for each key: an array of integers.
            bits: Where the random bits come from; the thread's own stream if not given.

        Example:
            >>> import numpy as np
            >>> from jali.mechanisms import OptimalKeys
            >>> mechanism = OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove", least_people=10)
            >>> mechanism.choose(np.array([9, 32, 1000])).tolist()
            [False, True, True]
        """
        counts = check_counts(counts)
        released = np.asarray(counts >= self.chances.sure + self.least_people - 1, np.bool_)
        places = np.flatnonzero((counts >= self.least_people) & ~released)
        people, kinds = np.unique(counts[places], return_inverse=True)

        def bounds(kind: int, precision: int) -> tuple[int, int]:
            return self.chances.bounds(self._count_above_minimum(int(people[kind])), precision)

        released[places] = draw_by_kind(kinds, bounds, system_bits() if bits is None else bits)
        return released

    @classmethod
    def calibrate(
        cls, loss: Loss, delta: Fraction, *, max_keys: int, changes: int, least_people: int
    ) -> OptimalKeys | None:
        """Return the draws for a pure loss; where two people change their sets, for a lower delta."""
        epsilon, keys = loss.event.epsilon, max_keys * max(1, changes // 2)
        if epsilon is None:
            return None
        if changes == _TWO_PEOPLE:
            delta = _lower_delta(delta, epsilon / (2 * keys))
        return cls(
            epsilon=epsilon,
            delta=delta,
            max_keys=keys,
            adjacency=find_adjacency(changes),
            least_people=least_people,
        )

    def choose_groups(self, people: NDArray[Any]) -> list[tuple[int, int | None]]:
        """Return the places of the groups that are shown, and no counts."""
        return [(place, None) for place in np.flatnonzero(self.choose(people)).tolist()]

    def compute_choice_event(self, max_keys: int, changes: int) -> Event | None:
        """Return the loss of the draws for so many counts, some of which may move by two."""
        if not self.covers(max_keys, changes):
            return None
        moved, each = max_keys * changes, self.chances.epsilon
        delta = _raise_delta(self.delta, each) if changes > 2 else self.delta
        return Event(moved * each, (moved * each) ** 2 / 2, delta)

    def sample(self, value: Mapping[Any, int], size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        keys = sort_keys(value)
        counts = np.tile(read_counts({key: value[key] for key in keys}), size)
        rows = self.choose(counts, bits=bits).reshape(size, len(keys))
        return [tuple(compress(keys, row)) for row in rows.tolist()]

    def log_masses(self, value: Mapping[Any, int]) -> LogMasses:
        """Return the law of the released keys, by the recursion in doubles."""
        columns = [self._cells(key, value[key]) for key in sort_keys(value)]
        return {
            sum((part for part, _ in cell), ()): math.fsum(map(math.log, (p for _, p in cell)))
            for cell in itertools.product(*columns)
        }

    def _cells(self, key: Hashable, people: int) -> list[tuple[tuple[Hashable, ...], float]]:
        one = float(self.chances.epsilon), float(self.chances.delta)
        told, lost = compute_by_recursion(*one, self._count_above_minimum(people))
        return [cell for cell in (((key,), told), ((), lost)) if cell[1] > 0]

    def deviation(self, value: Mapping[Any, int], output: Any) -> int:
        """Return the number of people of the largest key that was not released."""
        return max((people for key, people in value.items() if key not in output), default=0)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return every number of people up to a sure release, and several keys of one person."""
        single = cls(epsilon=1, delta="1/100", adjacency="add-remove")
        several = cls(epsilon=4, delta="1/10", max_keys=2, adjacency="add-remove")
        replaced = cls(epsilon=4, delta="1/10", adjacency="replace-one")
        steps = tuple(({"a": n}, {"a": n + 1}) for n in range(single.chances.sure))
        two: tuple[Any, ...] = (({}, {"a": 1, "b": 1}), ({"a": 1}, {"a": 2, "b": 1}))
        moved = (({"a": 1}, {"b": 1}), ({"a": 1, "b": 2}, {"b": 3}))
        return (
            Specimen(single, Adjacency.ADD_REMOVE, steps, {}, {"a": 4}),
            Specimen(several, Adjacency.ADD_REMOVE, two, {"keys": 2}, {"a": 2, "b": 1}),
            Specimen(replaced, Adjacency.REPLACE_ONE, moved, {"keys": 2}, {"a": 2, "b": 1}, tight=False),
            *_build_specimens_of_many(cls),
        )


def _lower_delta(delta: Fraction, each: Fraction) -> Fraction:
    """Return the delta of draws that come to `delta` where counts move by 2.

    With d' = 1 - (1-x)^(1/4g) for x = y/(1+y): 4g d' <= -ln(1-x) <= x/(1-x) = y, so that 2g (1 + exp(e')) d' is at
    most y (1 + exp(e'))/2, which is delta.
    """
    below = delta / _bound_two_steps(each)
    return below / (1 + below)


def _raise_delta(delta: Fraction, each: Fraction) -> Fraction:
    """Return what the delta of draws comes to where counts move by 2: the inverse of `_lower_delta`."""
    return delta / (1 - delta) * _bound_two_steps(each)


def _bound_two_steps(each: Fraction) -> Fraction:
    """Return (1 + exp(each))/2, rounded up."""
    precision = _PRECISION + 2 * int(each)
    return (1 + Fraction(1 << precision, exp_bounds(each, precision)[0])) / 2


def _build_specimens_of_many(cls: type[OptimalKeys]) -> tuple[Specimen, ...]:
    """Return keys of fewer people than are asked for, and of more."""
    single = cls(epsilon=2, delta="1/100", adjacency="add-remove", least_people=4)
    replaced = cls(epsilon=4, delta="1/10", max_keys=2, adjacency="replace-one", least_people=3)
    steps = tuple(({"a": n}, {"a": n + 1}) for n in range(single.chances.sure + 3))
    moved = (({"a": 3, "b": 3}, {"a": 2, "b": 2}), ({"a": 3, "b": 3, "c": 2}, {"a": 2, "b": 4, "c": 3}))
    return (
        Specimen(single, Adjacency.ADD_REMOVE, steps, {}, {"a": 6}),
        Specimen(replaced, Adjacency.REPLACE_ONE, moved, {"keys": 2}, {"a": 5, "b": 4, "c": 2}, tight=False),
    )


def compute_by_recursion(epsilon: float, delta: float, people: int) -> tuple[float, float]:
    """Return p(people) and 1 - p(people), step by step, each to a few units in the last place."""
    told, lost = 0.0, 1.0
    for _ in range(people):
        if told * (1 + math.exp(epsilon)) <= 1 - delta:
            told = math.exp(epsilon) * told + delta
            lost = 1 - told
        else:
            lost = max(0.0, math.exp(-epsilon) * (lost - delta))
            told = 1 - lost
    return told, lost
