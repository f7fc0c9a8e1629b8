"""What the private quantiles on a public range share."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import Specimen, miss
from jali.mechanisms.quantiles.mark_quantile import MarkQuantile
from jali.mechanisms.quantiles.mean_distance import mean_distance
from jali.mechanisms.quantiles.nested import NestedLaw
from jali.mechanisms.quantiles.ranks import LinearRanks, Ranks, sorted_marks, usual_target
from jali.mechanisms.quantiles.readers import loss_of, quantile_of
from jali.mechanisms.ruler import Marks
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.privacy.rounding import float_above


@dataclass(frozen=True, repr=False)
class RankQuantile(MarkQuantile):
    """One quantile of a column on a public range, by a score of ranks."""

    at: Fraction
    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        at: Number,
        low: Number,
        high: Number,
        step: Number | None = None,
        epsilon: Number,
        adjacency: str | Adjacency,
    ) -> None:
        self._fill_ruler(low, high, step)
        self._fill(at=quantile_of(at, "at"), epsilon=loss_of(epsilon), adjacency=Adjacency.of(adjacency))

    @property
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""
        return self.epsilon / (2 * rank_sensitivity(self.at, self.adjacency))

    @abstractmethod
    def ranks(self, marks: Marks) -> Ranks:
        """Return the distances from the wanted rank, for marks in rising order."""

    def law(self, value: Any) -> NestedLaw:
        """Return the law with mass proportional to exp(-rate * distance)."""
        return NestedLaw(self.ranks(sorted_marks(self.ruler.marks(value))), self.rate)

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t people of the best one, with this chance, for any column."""
        return rank_error(self.top, self.rate, miss(confidence))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column, in closed form; this number is not private.

        The quantile is the one by linear interpolation, as numpy has it, of the column on its marks.
        """
        law = self.law(value)
        ranks = law.ranks
        usual = LinearRanks(ranks.values, ranks.first, ranks.last, usual_target(self.at, len(ranks.values)))
        return float(self.ruler.step) * mean_distance(ranks, law.rate, usual.at(usual.target))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small columns, with and without equal values, in both adjacencies, and an empty one."""
        return (
            _one(cls, "1/2", Adjacency.REPLACE_ONE, (([1, 4, 5], [4, 5, 9]), ([5, 5, 5], [0, 5, 5]))),
            _one(cls, "1/2", Adjacency.ADD_REMOVE, (([2, 3, 6, 6], [2, 3, 6]), ([], [9]), ([7], []))),
            _one(cls, "1/4", Adjacency.ADD_REMOVE, (([2, 3, 8, 8], [2, 3, 8]), ([3, 8], [3, 8, 8]))),
            _one(cls, 1, Adjacency.REPLACE_ONE, (([1, 4, 5], [1, 4, 4]), ([0, 9], [0, 0]))),
        )


def _one(
    kind: type[RankQuantile], at: Number, adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = kind(at=at, low=0, high=9, step=1, epsilon=2, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, tight=False)


def rank_sensitivity(at: Fraction, adjacency: Adjacency) -> Fraction:
    """Return how far the distance of any one mark can move between neighbours."""
    return Fraction(1) if adjacency is Adjacency.REPLACE_ONE else max(at, 1 - at)


def rank_error(others: int, rate: Fraction, failing: float) -> float:
    """Return a t that the best mark is missed by with a chance of at most `failing`, among so many others."""
    if others == 0:
        return 0.0
    odds = math.log(others) + math.log1p(-failing) - math.log(failing)
    return max(0.0, odds) * float_above(1 / rate) * (1 + 1e-12)
