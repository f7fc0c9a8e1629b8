"""The joint exponential mechanism for the top k: one release, one loss, whatever k is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import (
    BoundedRangeMechanism,
    LogMasses,
    Specimen,
    read_miss_probability,
    read_natural,
)
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.piecewise_geometric import PiecewiseGeometric, RandomDigits, Whole
from jali.mechanisms.selection.scores import Scores, read_at_least, round_up_to_steps
from jali.mechanisms.selection.selection_mechanism import read_candidates
from jali.mechanisms.selection.top_k_counts import SequenceCounts, find_largest_gap
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits

Ranking: TypeAlias = tuple[int, ...]
_AHEAD = 64
_MOST_PLACES = 1 << 20


@dataclass(frozen=True, repr=False)
class JointTopK(BoundedRangeMechanism):
    """Pick a whole ranking s of k candidates, with mass proportional to exp(-rate * its largest gap).

    The gap of place i is the i-th largest count minus the count of s_i; it is the largest of the k that counts.

    Args:
        k: How many candidates to pick.
        sensitivity: How far one count can move between neighbouring tables.
        epsilon: The loss of the whole ranking.
        adjacency: When two tables are neighbours. Under add-remove, adding a unit must lower no count.
        step: Round real counts to multiples of this; without it they must be exact.

    Guarantee:
        The ranking is epsilon-DP and of bounded range epsilon. The largest gap of all rankings moves within an
        interval of `width` sensitivities: 2 under add-remove and 4 under replace-one; half of that for k = 1.
    Proof:
        docs/proofs/joint_top_k.md, after Gillenwater, Joseph, Muñoz Medina and Ribero 2022 (PMLR 162).

    Error:
        With M = d!/(d-k)! rankings, Pr[largest gap >= t] <= (M-1) exp(-rate t) / (1 + (M-1) exp(-rate t)), where
        rate = epsilon/(width * sensitivity); `gap_masses` is the exact law for given counts. It grows with d:
        without `candidates=`, `error(confidence)` is about k + 1 of them.

    Example:
        >>> from jali.mechanisms import JointTopK
        >>> mechanism = JointTopK(k=2, sensitivity=1, epsilon=4, adjacency="add-remove")
        >>> ranking = mechanism.release([80, 5, 70, 4])
        >>> len(set(ranking))
        2
        >>> round(mechanism.error(0.95, candidates=4), 4)
        2.6712
    """

    error_is_exact = False

    k: int
    sensitivity: Fraction
    epsilon: Fraction
    adjacency: Adjacency
    step: Fraction | None

    def __init__(
        self,
        *,
        k: int,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        adjacency: str | Adjacency,
        step: Number | None = None,
    ) -> None:
        adjacency = Adjacency.of(adjacency)
        # Under add-remove the proof needs counts that move the same way: a sensitivity that denies it is refused.
        counts = Exponential(
            sensitivity=sensitivity,
            epsilon=epsilon,
            monotone=adjacency is Adjacency.ADD_REMOVE,
            adjacency=adjacency,
            step=step,
        )
        if read_natural(k, "k") > _MOST_PLACES:
            raise MechanismError("parameter-too-large", most=_MOST_PLACES, value=k, name="k")
        self._fill(
            k=int(k),
            sensitivity=counts.sensitivity,
            epsilon=counts.epsilon,
            adjacency=adjacency,
            step=counts.step,
        )

    @property
    def width(self) -> int:
        """How many sensitivities wide the interval is within which largest gaps move between neighbours."""
        return (1 if self.adjacency is Adjacency.ADD_REMOVE else 2) * (1 if self.k == 1 else 2)

    @property
    def rate(self) -> Fraction:
        """What the largest gap is multiplied by in the exponent."""
        return self.epsilon / (self.width * round_up_to_steps(self.sensitivity, self.step))

    def error(self, confidence: float, *, candidates: int | None = None) -> float:
        """Return a t with Pr[largest gap <= t] >= confidence, whatever the counts.

        Args:
            confidence: The probability that this holds.
            candidates: How many there are. The error grows with their number: without it the answer is about
                k + 1 candidates, and too small for more.
        """
        failing = read_miss_probability(confidence)
        count = read_candidates(self.k + 1 if candidates is None else candidates, least=self.k)
        others = math.perm(count, self.k) - 1
        odds = math.log(others) + math.log1p(-failing) - math.log(failing) if others else 0.0
        return max(0.0, odds) * float_above(1 / self.rate) * (1 + 1e-12)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Ranking:
        """Return the indices of k candidates, first place first.

        Args:
            value: The counts: integers or Fractions; floats and Decimals if there is a step.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        draw = _Rankings.of(self.read(value), self.k, self.rate)
        return draw.one(RandomDigits(system_bits() if bits is None else bits))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        draw = _Rankings.of(self.read(value), self.k, self.rate)
        digits = RandomDigits(system_bits() if bits is None else bits, ahead=_AHEAD)
        return [draw.one(digits) for _ in range(size)]

    def read(self, counts: Any) -> Scores:
        """Read counts exactly, or on the lattice if there is a step."""
        return read_at_least(self.k, counts, self.step)

    def deviation(self, value: Any, output: Ranking) -> Fraction:
        """Return the largest gap of a ranking."""
        return find_largest_gap(self.read(value), output)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the logarithm of the probability of each ranking of a few candidates."""
        rankings = itertools.permutations(range(len(self.read(value))), self.k)
        exponents = {ranking: -float(self.rate * self.deviation(value, ranking)) for ranking in rankings}
        total = math.log(math.fsum(map(math.exp, exponents.values())))
        return {ranking: exponent - total for ranking, exponent in exponents.items()}

    def gap_masses(self, counts: Any) -> dict[Fraction, float]:
        """Return the exact law of the largest gap for given counts, from the numbers of rankings at each gap."""
        scores = self.read(counts)
        exact = SequenceCounts.of(np.sort(scores.integers), self.k).exactly()
        rate = self.rate * scores.unit
        logs = {gap * scores.unit: math.log(many) - float(rate * gap) for gap, many in exact.items()}
        top = max(logs.values())
        total = math.fsum(math.exp(log - top) for log in logs.values())
        return {gap: math.exp(log - top) / total for gap, log in logs.items()}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return a few counts, with records that are sets of candidates."""
        added = cls(k=2, sensitivity=1, epsilon=2, adjacency=Adjacency.ADD_REMOVE)
        single = cls(k=1, sensitivity=1, epsilon=1, adjacency=Adjacency.ADD_REMOVE)
        replaced = cls(k=2, sensitivity=1, epsilon=3, adjacency=Adjacency.REPLACE_ONE)
        grown = (((0, 0, 1), (0, 1, 1)), ((3, 1, 0, 0), (3, 2, 1, 0)))
        far = (((3, 1, 0), (3, 2, 0)), ((30, 0), (31, 0)))
        moved = (((0, 2, 2), (1, 1, 3)), ((20, 2, 2), (20, 1, 3)))
        return (
            Specimen(added, added.adjacency, grown, {"candidates": 4}, (3, 1, 0, 0), tight=False),
            Specimen(single, single.adjacency, far, {"candidates": 3}),
            Specimen(replaced, replaced.adjacency, moved, {"candidates": 3}, tight=False),
        )


@dataclass(frozen=True, eq=False)
class _Rankings:
    """Draws rankings of one vector of counts: a level V first, then a ranking within V, uniformly.

    Attributes:
        falling: The candidates by count, largest first.
        levels: Their counts.
        stairs: The law of V.
        starts: Where its pieces start.
    """

    falling: Whole
    levels: SequenceCounts
    stairs: PiecewiseGeometric
    starts: list[int]

    @classmethod
    def of(cls, scores: Scores, k: int, rate: Fraction) -> _Rankings:
        order = np.argsort(scores.integers, kind="stable")
        levels = SequenceCounts.of(scores.integers[order], k)
        stairs, starts = levels.law(rate * scores.unit)
        return cls(order[::-1], levels, stairs, starts.tolist())

    def one(self, digits: RandomDigits) -> Ranking:
        """Draw one ranking."""
        piece, offset = self.stairs.draw(digits)
        level = min(self.starts[piece] + offset, self.levels.widest)
        return tuple(
            int(self.falling[rank]) for rank in _draw_uniform_ranks(self.levels.choices_at(level), digits)
        )


def _draw_uniform_ranks(reach: list[int], digits: RandomDigits) -> list[int]:
    """Draw different ranks, uniformly among those with rank i below reach[i], where reach rises.

    A shuffle from the front, of which only the ranks that were moved are kept.
    """
    moved: dict[int, int] = {}
    chosen = []
    for place, limit in enumerate(reach):
        other = place + digits.below(limit - place)
        chosen.append(moved.get(other, other))
        moved[other] = moved.get(place, place)
    return chosen
