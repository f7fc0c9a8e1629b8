"""Propose-test-release: test a proposed bound of the local sensitivity, then release or decline."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
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
    read_natural,
    read_parameter,
)
from jali.mechanisms.partition_selection.group_selection import read_delta
from jali.mechanisms.smooth.order_statistics import Median
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.stability.acceptance import (
    DECLINED,
    Acceptance,
    DecliningMechanism,
    compute_acceptance_by_recursion,
    find_least_distance,
    refuse_extremes,
    steps_of_distance,
)
from jali.mechanisms.stability.clamped_laplace import (
    StatisticRelease,
    length,
    log_masses_after_clamping,
    read_output_lattice,
    read_share,
    steps_in,
)
from jali.mechanisms.stability.stable_value import is_whole
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, DiscreteLaplace, system_bits


class Proposal(NamedTuple):
    """What propose-test-release needs to know of a table; both are as secret as the table.

    Attributes:
        value: The statistic itself.
        distance: How many changes lead to a table whose local sensitivity exceeds the proposed bound; 0 if the
            table's own does. A smaller number will do if it changes by at most 1 between neighbours.
    """

    value: Any
    distance: int


@dataclass(frozen=True, repr=False)
class ProposeTestRelease(DecliningMechanism, StatisticRelease):
    """Release a statistic with noise for a proposed bound of its local sensitivity, or decline.

    The test asks how many changes lead to a table where one person can move the statistic by more than the bound;
    the further, the surer is an answer. A release that declines has spent its loss as well, and so does each
    further attempt: proposing bound after bound until one is answered costs the sum of all.

    Args:
        bound: The proposed bound of the local sensitivity, a public number.
        epsilon: The loss, of the test and of the noise together.
        delta: The probability, at most, that a table is answered for which the bound does not hold.
        test_share: Which part of epsilon the test takes.
        statistic: A statistic that knows its local sensitivity at a distance; `release` then takes a table.
        low: Without a statistic: the least value that is released; `release` then takes a `Proposal`.
        high: The largest one.
        step: The lattice of the values.

    Guarantee:
        The release is (epsilon, delta)-DP, whether it answers or declines, in the adjacency of the statistic, or
        of the distances. At every distance it answers at least as often as the test by Laplace noise.
    Proof:
        docs/proofs/propose_test_release.md, Theorems 1 and 2, after Dwork and Lei 2009.

    Error:
        `error(c, distance=d)` bounds how far the answer is off, in units of the value, with probability c for a
        table at distance d; it is infinite where such a table is declined more often than that.
        `least_distance(c)` is the distance from which tables are answered with probability c.

    Example:
        >>> from jali.mechanisms import ProposeTestRelease
        >>> from jali.mechanisms.stability.propose_test_release import Proposal
        >>> mechanism = ProposeTestRelease(bound=2, epsilon=2, delta=1e-9, low=0, high=1000, step=1)
        >>> mechanism.least_distance(0.95), mechanism.error(0.95, distance=30)
        (21, 6)
        >>> mechanism.release(Proposal(500, distance=0))
        declined
    """

    bound: Fraction
    epsilon: Fraction
    delta: Fraction
    test_share: Fraction
    statistic: Statistic | None
    low: Fraction | None
    high: Fraction | None
    step: Fraction | None

    def __init__(
        self,
        *,
        bound: Number,
        epsilon: Number,
        delta: Number,
        test_share: Number = Fraction(1, 2),
        statistic: Statistic | None = None,
        low: Number | None = None,
        high: Number | None = None,
        step: Number | None = None,
    ) -> None:
        _, declared = read_output_lattice(statistic, low, high, step)
        self._fill(
            bound=read_parameter(bound, "bound"),
            epsilon=read_parameter(epsilon, "epsilon"),
            delta=read_delta(delta),
        )
        self._fill(test_share=read_share(test_share, "test_share"), statistic=statistic, **declared)
        refuse_extremes(self.epsilon)
        refuse_extremes(self.chances.epsilon, "test_share of epsilon")
        self.sampler  # noqa: B018 - refuses, before anything is released, a scale that cannot be sampled

    @cached_property
    def chances(self) -> Acceptance:
        """The probabilities of an answer; a table at distance d has the one of number d + 1."""
        return Acceptance(self.epsilon * self.test_share, self.delta, self.epsilon)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps."""
        return steps_in(self.ruler, self.bound) / (self.epsilon * (1 - self.test_share))

    @property
    def sampler(self) -> DiscreteLaplace:
        """The exact sampler of the noise, in steps."""
        return DiscreteLaplace(self.scale)

    def least_distance(self, confidence: float) -> int:
        """Return the least distance from which tables are answered with this confidence."""
        return find_least_distance(self.chances, read_miss_probability(confidence))

    def error(self, confidence: float, *, distance: int = 0) -> int | float:
        """Return a bound of the error that holds with this confidence, infinite if a table may well be declined.

        Args:
            confidence: Strictly between 0 and 1.
            distance: How far the table is from one whose local sensitivity exceeds the bound.
        """
        missed = read_miss_probability(confidence)
        number = steps_of_distance(self.chances, read_natural(distance, "distance", least=0))
        lost = self.chances.complement(number)
        if lost > missed:
            return math.inf
        allowed = (missed - lost) / self.chances.near(number)
        far = DiscreteLaplaceLaw(self.scale).threshold(allowed) if allowed > 0 else self.ruler.top
        return length(self.ruler, min(far, self.ruler.top))

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the noisy statistic of a table or `Proposal`, or `DECLINED`; either way the loss is spent."""
        mark = int(self._marks(value, 1, system_bits() if bits is None else bits)[0])
        return DECLINED if mark < 0 else self.ruler.at(mark)

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        marks = self._marks(value, size, system_bits() if bits is None else bits)
        named = {mark: self.ruler.at(mark) for mark in set(marks.tolist())}
        return [DECLINED if mark < 0 else named[mark] for mark in marks.tolist()]

    def _marks(self, value: Any, size: int, bits: BitSource) -> NDArray[np.int64]:
        """Draw the marks of many releases; -1 stands for none."""
        mark, distance = self._read(value)
        told = self._draw_acceptance(distance, size, bits)
        top = self.ruler.top
        noise = np.clip(self.sampler.sample(size, bits=bits), -top, top).astype(np.int64)
        return np.where(told, np.clip(mark + noise, 0, top), -1)

    def _read(self, value: Any) -> tuple[int, int]:
        """Return the mark and the distance of a table or a `Proposal`."""
        if isinstance(value, Proposal):
            if not is_whole(value.distance):
                raise MechanismError("proposal-distance-wrong")
            return int(self.ruler.marks([value.value])[0]), max(int(value.distance), 0)
        if self.statistic is None:
            raise MechanismError("value-not-a-proposal")
        column = self.statistic.read(value)
        distance = self.statistic.distance_above(column, self.bound, self.chances.sure)
        return int(self.ruler.marks([self.statistic.value(column)])[0]), distance

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the release: none, or the clamped noise."""
        mark, distance = self._read(value)
        test = float(self.chances.epsilon)
        told, lost = compute_acceptance_by_recursion(test, float(self.delta), float(self.epsilon), distance)
        noise = log_masses_after_clamping(mark, self.ruler.top, self.scale)
        answers = {self.ruler.at(place): mass + math.log(told) for place, mass in enumerate(noise)}
        return {**answers, **({DECLINED: math.log(lost)} if lost > 0 else {})}

    def deviation(self, value: Any, output: Any) -> float:
        """Return how far an answer is off the mark of its value; infinite for none."""
        return math.inf if output is DECLINED else abs(output - self.ruler.at(self._read(value)[0]))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return values a bound apart at every distance, any values at distance 0, and medians of columns."""
        whole = cls(bound=2, epsilon=2, delta="1/50", low=0, high=9, step=1)
        median = Median(low=0, high=4, step=1, adjacency="replace-one")
        table = cls(bound=1, epsilon=4, delta="1/20", statistic=median)
        uneven = cls(bound="1/3", epsilon=3, delta="1/10", test_share="2/3", low=0, high=2, step="1/4")
        return (
            Specimen(whole, Adjacency.REPLACE_ONE, _path(whole, 4, 6, 9), {"distance": 6}, Proposal(4, 6)),
            Specimen(
                uneven,
                Adjacency.ADD_REMOVE,
                _path(uneven, Fraction(9, 8), Fraction(35, 24), 2),
                {"distance": 2},
                Proposal(1, 2),
            ),
            Specimen(table, Adjacency.REPLACE_ONE, _columns(), {"distance": 2}, (1, 2, 2, 2, 3)),
        )


def _path(mechanism: ProposeTestRelease, one: Any, other: Any, far: Any) -> tuple[tuple[Proposal, Proposal], ...]:
    near = tuple(
        pair
        for d in range(mechanism.chances.sure)
        for pair in ((Proposal(one, d), Proposal(other, d + 1)), (Proposal(other, d), Proposal(one, d + 1)))
    )
    return (*near, (Proposal(0, 0), Proposal(far, 0)))


def _columns() -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return columns of which one value is replaced: in the middle of equal ones, and where there is a gap."""
    return (
        ((2, 2, 2, 2, 2), (2, 2, 2, 2, 4)),
        ((1, 2, 2, 2, 3), (1, 1, 2, 2, 3)),
        ((0, 0, 0, 4, 4), (0, 0, 4, 4, 4)),
        ((0, 1, 2, 3, 4), (0, 1, 1, 3, 4)),
    )
