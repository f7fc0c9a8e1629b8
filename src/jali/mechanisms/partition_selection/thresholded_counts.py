"""Release the keys whose noisy count reaches a threshold, and bound the true count behind a released one.

A released count was at or above the threshold (or one below it, by a Bernoulli draw). Its intervals say so.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.additive.additive_noise import NoiseSampler
from jali.mechanisms.additive.noise_laws import NoiseLaw
from jali.mechanisms.base import LogMasses, Mechanism, Specimen, read_miss_probability, read_natural
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.lattice import add
from jali.mechanisms.measurement import Measurement, MeasurementSensitivity
from jali.mechanisms.partition_selection.group_selection import GroupSelection, count_changed_keys, split_delta
from jali.mechanisms.partition_selection.key_tables import check_counts, read_counts, sort_keys
from jali.numbers.search import greatest_integer, least_integer
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import NOTHING, Event
from jali.privacy.loss import Loss
from jali.sampling import BitSource, bernoulli

# Where the threshold cuts off less than this share of what is allowed to miss, it is not felt.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class TruncatedCountLaw:
    """The law of n + X given that it is released, where n is at least `least`.

    It is released from the threshold on, and one below the threshold with probability `coin`.

    Guarantee:
        Whatever n is, `interval` holds it with probability at least `confidence`, given that the count is
        released.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 6.
    """

    law: NoiseLaw
    threshold: int
    least: int
    coin: float = 0.0

    def interval(self, told: int, missed: float) -> tuple[int, int]:
        """Return the least and the largest n for which neither tail from `told` on is below missed/2.

        One below the threshold counts as at the threshold: a draw of a small probability says little of n.
        """
        told = max(told, self.threshold)
        # Far above the threshold both ends move along with the count.
        surplus = max(0, told - self.threshold - 2 * self.law.bound_tail(_NEGLIGIBLE * missed))
        low, high = _find_ends(self, told - surplus, missed)
        return low + surplus, high + surplus

    def _find_low(self, told: int, allowed: float) -> int:
        if told == self.threshold:  # every released count is at least this
            return self.least
        return least_integer(
            lambda n: self._reaches(told - n) > allowed * self._release_probability(n), self.least - 1, told
        )

    def _find_high(self, told: int, allowed: float, low: int) -> int:
        def likely(n: int) -> bool:
            shown = self._release_probability(n)
            return shown - self._reaches(told + 1 - n) > allowed * shown

        return greatest_integer(likely, low, told + self.law.bound_tail(allowed / 2) + 1)

    def _release_probability(self, n: int) -> float:
        """Return the probability that a count of n people is released."""
        missing = self.threshold - n
        return self._reaches(missing) + self.coin * math.exp(self.law.log_mass(missing - 1))

    def _reaches(self, value: int) -> float:
        """Return Pr[X >= value], one side of a symmetric law."""
        return self.law.tail(value - 1) / 2 if value > 0 else 1 - self.law.tail(-value) / 2


@lru_cache(maxsize=1 << 16)
def _find_ends(count: TruncatedCountLaw, told: int, missed: float) -> tuple[int, int]:
    low = count._find_low(told, missed / 2)
    return low, count._find_high(told, missed / 2, low)


ReleasedCell: TypeAlias = tuple[tuple[tuple[Hashable, int], ...], float]
ReleasedCounts: TypeAlias = tuple[NDArray[np.bool_], NDArray[Any]]
NeighbouringTables: TypeAlias = tuple[tuple[dict[str, int], dict[str, int]], ...]
# What the windows of all keys together leave out.
_LEFT_OUT = 1e-13


class ThresholdedCounts(Mechanism, Measurement, GroupSelection):
    """Noise on the count of every key that has people enough; those that reach a threshold are released.

    One below the threshold a Bernoulli draw decides: it spends what a whole number leaves of delta.
    """

    loss_power = None
    error_is_exact = False
    # As the measurement of a count it is released by the noise that chose its group, which is charged already.
    prepaid: ClassVar[bool] = True
    page: ClassVar[str] = "docs/proofs/unknown_keys.md (Korolova, Kenthapadi, Mishra and Ntoulas 2009)"

    delta: Fraction
    max_keys: int
    adjacency: Adjacency
    least_people: int

    @property
    def changed(self) -> int:
        """How many counts one person's change can move by one."""
        return count_changed_keys(self.max_keys, self.adjacency)

    @property
    def delta_each(self) -> Fraction:
        """With what probability a key of `least_people` may be released."""
        return split_delta(self.delta, self.max_keys)

    @property
    @abstractmethod
    def threshold(self) -> int:
        """The least noisy count that is always released."""

    @property
    @abstractmethod
    def coin(self) -> Fraction:
        """With what probability a noisy count one below the threshold is released."""

    @property
    def least_told(self) -> int:
        """The least noisy count that can be released."""
        return self.threshold - (self.coin > 0)

    @property
    @abstractmethod
    def law(self) -> NoiseLaw:
        """The exact law of the noise."""

    @property
    @abstractmethod
    def sampler(self) -> NoiseSampler:
        """The exact sampler of that law."""

    @property
    @abstractmethod
    def loss_of_counts(self) -> Loss:
        """The loss of the noisy counts, without the delta of choosing by them."""

    @property
    def noise_law(self) -> Any:
        """That of the noise."""
        return self.law

    @property
    def counts(self) -> ThresholdedCounts:
        """Itself."""
        return self

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:  # noqa: ARG002
        """Return nothing: choosing the groups has been charged for the counts."""
        return NOTHING

    def choose_groups(self, people: NDArray[Any]) -> list[tuple[int, int | None]]:
        """Return the places of the groups that are shown, with their noisy counts."""
        chosen, noisy = self.tell(people)
        return list(zip(np.flatnonzero(chosen).tolist(), (int(count) for count in noisy), strict=True))

    def compute_choice_event(self, max_keys: int, changes: int) -> Event | None:
        """Return the loss of so many counts that move by one; a threshold does not cover two steps of one."""
        if changes > 2 or not self.covers(max_keys, changes):
            return None
        return self._charge_counts(max_keys * changes)

    @abstractmethod
    def _charge_counts(self, moved: int) -> Event:
        """Return the loss where so many counts move by one."""

    def error(self, confidence: float, *, keys: int = 1) -> int:
        """Return the least number of people from which keys are released with this confidence.

        Args:
            confidence: Strictly between 0 and 1.
            keys: How many such keys there are, all of which are to be released.
        """
        allowed, together = read_miss_probability(confidence), read_natural(keys, "keys")
        # All of them are released with probability (1 - lost)^keys.
        allowed_each = -math.expm1(math.log1p(-allowed) / together)
        least = max(1, self.threshold)
        if self._miss_probability(least) <= allowed_each:
            low, high = 0, least
        else:
            low, high = least, least + self.law.bound_tail(2 * allowed_each)
        return least_integer(lambda people: self._miss_probability(people) <= allowed_each, low, high)

    def _miss_probability(self, people: int) -> float:
        """Return the probability that a key with so many people is not released."""
        if people < self.least_people:
            return 1.0
        # People + X is below t-1, or it is t-1 and the draw fails; Pr[X > beyond] is half of a two-sided tail.
        beyond = people - self.threshold + 1
        below = self.law.tail(beyond) / 2 if beyond >= 0 else 1 - self.law.tail(-beyond - 1) / 2
        return below + float(1 - self.coin) * math.exp(self.law.log_mass(beyond))

    def release(self, value: Mapping[Any, int], *, bits: BitSource | None = None) -> dict[Any, int]:
        """Return the released keys with their noisy counts, in an order that reveals nothing."""
        released, noisy = self.tell(read_counts(value), bits=bits)
        told = dict(zip(compress(value, released.tolist()), noisy.tolist(), strict=True))
        return {key: told[key] for key in sort_keys(told)}

    def tell(self, counts: NDArray[Any], *, bits: BitSource | None = None) -> ReleasedCounts:
        """Return which of these counts are released, in the order given, and the noisy counts of those alone.

        The caller sees to it that each count belongs to another key, and releases the keys in an order that their
        set determines (`sort_keys`): the order of the counts may reveal who came first.

        Args:
            counts: The numbers of people, one for each key: an array of integers.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        counts = check_counts(counts)
        noisy = add(counts, self.sampler.sample(len(counts), bits=bits))
        released = self._choose_passing(noisy, bits) & np.asarray(counts >= self.least_people, np.bool_)
        # Narrowed again: the type of all sums would reveal those that are not released.
        return released, narrow(noisy[released])

    def _choose_passing(self, noisy: NDArray[Any], bits: BitSource | None) -> NDArray[np.bool_]:
        """Return which noisy counts pass: a choice that looks at them alone."""
        passing = np.asarray(noisy >= self.threshold, np.bool_)
        below = np.asarray(noisy == self.threshold - 1, np.bool_)
        passing[below] = bernoulli(self.coin, int(below.sum()), bits=bits)
        return passing

    def interval(self, told: int, confidence: float) -> tuple[int, int]:
        """Return between which numbers of people the true one lies, given the noisy count that was released.

        The confidence holds for every number of people from `least_people` on, given that the key is released:
        that only counts near the threshold and above are released makes them too large, and this counts it in. Far
        above the threshold the interval is the usual one.

        Args:
            told: A noisy count that was released.
            confidence: Strictly between 0 and 1.
        """
        count = TruncatedCountLaw(self.law, self.threshold, self.least_people, float(self.coin))
        return count.interval(read_natural(told, "told", least=self.least_told), read_miss_probability(confidence))

    def outcome(self, released: Mapping[Any, int]) -> Hashable:
        """Return the pairs of key and noisy count, in their order."""
        return tuple(released.items())

    def sample(self, value: Mapping[Any, int], size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        counts = {key: value[key] for key in sort_keys(value) if value[key] >= self.least_people}
        noise = self.sampler.sample(size * len(counts), bits=bits).reshape(size, len(counts))
        noisy: NDArray[Any] = add(np.array([list(counts.values())]), noise)
        rows = zip(noisy.tolist(), self._choose_passing(noisy, bits).tolist(), strict=True)
        return [tuple(compress(zip(counts, row, strict=True), passing)) for row, passing in rows]

    def log_masses(self, value: Mapping[Any, int]) -> LogMasses:
        """Return the law of the released pairs: every key is lost, or released with a count in a window."""
        keys = [key for key in sort_keys(value) if value[key] >= self.least_people]
        reach = self.law.bound_tail(_LEFT_OUT / max(1, len(keys)))
        # One window for all, to a power of two, so that neighbours share it.
        last = 1 << (max([self.threshold, *value.values()]) + reach).bit_length()
        columns = [self._cells(key, value[key], last) for key in keys]
        cells = itertools.product(*columns)
        return {sum((part for part, _ in cell), ()): sum(log for _, log in cell) for cell in cells}

    def _cells(self, key: Hashable, people: int, last: int) -> list[ReleasedCell]:
        lost, least = self._miss_probability(people), self.threshold
        told: list[ReleasedCell] = [(((key, n),), self.law.log_mass(n - people)) for n in range(least, last + 1)]
        if self.coin:
            told.append((((key, least - 1),), math.log(self.coin) + self.law.log_mass(least - 1 - people)))
        return [((), math.log(lost)), *told] if lost > 0 else told

    def deviation(self, value: Mapping[Any, int], output: Any) -> int:
        """Return the number of people of the largest key that was not released."""
        released = dict(output)
        return max((people for key, people in value.items() if key not in released), default=0)


def build_threshold_specimens(
    single: ThresholdedCounts,
    several: ThresholdedCounts,
    replaced: ThresholdedCounts,
    many: ThresholdedCounts,
    *,
    near: int,
    tight: bool,
) -> tuple[Specimen, ...]:
    """Return keys of one person and near the threshold, several of one person, and moves, also with a rule."""
    alone: NeighbouringTables = (({}, {"a": 1}), ({"a": near}, {"a": near + 1}))
    both: NeighbouringTables = (({"a": 2}, {"a": 3, "b": 1}), ({}, {"a": 1, "b": 1}))
    # Of keys that are sure to be released, a move changes two counts: it takes twice the noise.
    sure: NeighbouringTables = (({"a": 8, "b": 7}, {"a": 7, "b": 8}),)
    moved: NeighbouringTables = (*sure, ({"a": 1, "b": 1}, {"b": 2}), ({"a": 1}, {"b": 1}))
    two, keys = {"keys": 2}, {"a": 3, "b": 2}
    fewer = many.least_people - 1
    shifted = tuple((_add_people(one, fewer), _add_people(other, fewer)) for one, other in moved)
    return (
        Specimen(single, Adjacency.ADD_REMOVE, alone, {}, {"a": near}, tight=tight),
        Specimen(several, Adjacency.ADD_REMOVE, both, two, keys, tight=tight),
        Specimen(replaced, Adjacency.REPLACE_ONE, moved, two, keys, tight=tight),
        Specimen(many, Adjacency.REPLACE_ONE, shifted, two, _add_people(keys, fewer), tight=tight),
    )


def _add_people(table: dict[str, int], people: int) -> dict[str, int]:
    """Return a table whose keys a and b have so many more people."""
    return {key: table.get(key, 0) + people for key in "ab"}
