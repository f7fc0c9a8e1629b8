"""Release a value exactly, or decline where the table is close to one with another value."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import (
    LogMasses,
    Specimen,
    read_miss_probability,
    read_parameter,
)
from jali.mechanisms.partition_selection.group_selection import read_delta
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities
from jali.mechanisms.stability.acceptance import (
    DECLINED,
    DecliningMechanism,
    compute_acceptance_by_recursion,
    find_least_distance,
    refuse_extremes,
)
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits


class Stable(NamedTuple):
    """An answer, and how many changes the table can take with the answer still the same.

    Attributes:
        answer: The exact answer, which is not private.
        distance: 0 if some neighbouring table has another answer: one less than the number of changes that lead to
            the nearest table with another answer. It is as secret as the table.
    """

    answer: Any
    distance: int


@dataclass(frozen=True, repr=False)
class StableValue(DecliningMechanism):
    """Release an answer as it is, without noise, or decline: the surer, the further the table is from another one.

    The value is a pair (answer, distance), such as a `Stable`. The distance is 0 if a neighbouring table has
    another answer, 1 if no neighbour but a neighbour's neighbour has, and so on; a smaller number will do if it
    changes by at most 1 between neighbours. It is never released.

    Args:
        epsilon: The loss.
        delta: The probability, at most, that an answer is released that a neighbouring table does not have.

    Guarantee:
        The release is (epsilon, delta)-DP, whether it answers or declines, in the adjacency in which distances are
        counted. Of all mechanisms that release the right answer or decline, none answers any table more often.
    Proof:
        docs/proofs/stable_value.md, Theorems 1 and 2, after Smith and Thakurta 2013, with the probabilities of
        Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1.

    Error:
        `error(c)` is the least distance d from which it answers with probability c: p(d+1) >= c, where p(0) = 0,
        p(n) = min(e^epsilon p(n-1) + delta, 1 - e^-epsilon (1 - p(n-1) - delta), 1).

    Example:
        >>> from jali.mechanisms import StableValue
        >>> mechanism = StableValue(epsilon=1, delta=1e-5)
        >>> round(mechanism.chance(9), 6), mechanism.chance(22), mechanism.error(0.95)
        (0.128183, 1.0, 13)
        >>> mechanism.release(("Ann", 22)), StableValue(epsilon=1, delta=1e-9).release(("Ann", 0))
        ('Ann', declined)
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: Number, delta: Number) -> None:
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), delta=read_delta(delta))
        refuse_extremes(self.epsilon)

    @cached_property
    def chances(self) -> ReleaseProbabilities:
        """The probabilities of an answer; a table at distance d has the one of number d + 1."""
        return ReleaseProbabilities(self.epsilon, self.delta)

    def error(self, confidence: float) -> int:
        """Return the least distance from which the answer is released with this confidence."""
        return find_least_distance(self.chances, read_miss_probability(confidence))

    def release(self, value: tuple[Any, int], *, bits: BitSource | None = None) -> Any:
        """Return the answer, or `DECLINED`."""
        stable = as_stable(value)
        told = self._draw_acceptance(stable.distance, 1, system_bits() if bits is None else bits)
        return stable.answer if told[0] else DECLINED

    def sample(self, value: tuple[Any, int], size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        stable = as_stable(value)
        told = self._draw_acceptance(stable.distance, size, system_bits() if bits is None else bits)
        return [stable.answer if answered else DECLINED for answered in told.tolist()]

    def log_masses(self, value: tuple[Any, int]) -> LogMasses:
        """Return the law of the answer and of none, by the recursion in doubles."""
        stable = as_stable(value)
        epsilon = float(self.epsilon)
        told, lost = compute_acceptance_by_recursion(epsilon, float(self.delta), epsilon, stable.distance)
        return {key: math.log(mass) for key, mass in ((stable.answer, told), (DECLINED, lost)) if mass > 0}

    def deviation(self, value: tuple[Any, int], output: Any) -> int:
        """Return the distance of a table that was declined, and 0 for an answer."""
        return as_stable(value).distance if output is DECLINED else 0

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return every distance up to a sure answer, with the same answer next door and with another."""
        single = cls(epsilon=1, delta="1/100")
        steep = cls(epsilon=3, delta="1/1000")
        return (
            Specimen(single, Adjacency.ADD_REMOVE, _path(single), {}, Stable("a", 3)),
            Specimen(steep, Adjacency.REPLACE_ONE, _path(steep), {}, Stable("a", 1)),
        )


def as_stable(value: tuple[Any, int]) -> Stable:
    """Read a pair of an answer and a distance: what is refused is refused for its type."""
    if not isinstance(value, tuple) or len(value) != 2 or not is_whole(value[1]):
        raise MechanismError("stable-value-not-a-pair")
    return Stable(value[0], max(int(value[1]), 0))


def is_whole(distance: Any) -> bool:
    """Return whether a distance is a whole number by type."""
    return isinstance(distance, int | np.integer) and not isinstance(distance, bool | np.timedelta64)


def _path(mechanism: StableValue) -> tuple[tuple[Stable, Stable], ...]:
    same = tuple((Stable("a", d), Stable("a", d + 1)) for d in range(mechanism.chances.sure))
    return (*same, (Stable("a", 0), Stable("b", 0)))
