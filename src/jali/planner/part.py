"""The parts of a plan: queries for the engine, and what is released of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from jali.mechanisms import Gaussian, Laplace, LInfinity
from jali.mechanisms.laws.coordinate import CoordinateLaw
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner.cells import MeasuredCells
from jali.planner.tell import Threshold
from jali.privacy import Pure
from jali.query.aggregation import Aggregation, Axis


@dataclass(frozen=True)
class Coordinate:
    """One of the measures of a group that leave by one noise: multiplied by a whole number, then moved together.

    Attributes:
        joint: The noise of all of them.
        place: Which coordinate of it.
        times: What the measure is multiplied by; what is released is in units of one over this.
    """

    joint: LInfinity
    place: int
    times: int

    @property
    def law(self) -> CoordinateLaw:
        """The law of its noise, in units of what is released."""
        return CoordinateLaw(self.joint.cube, self.place)

    @property
    def loss(self) -> Pure:
        """The loss of all that leave together."""
        return self.joint.loss


Noise: TypeAlias = Laplace | Gaussian
Choice: TypeAlias = WeightedQuantile | PermutedWeightedQuantile | PermuteAndFlip | Exponential
# The noise of a count that is told with its group is that which chooses the groups.
Mechanism: TypeAlias = Noise | Coordinate | MeasuredCells | Choice | Threshold


@dataclass(frozen=True)
class Draw:
    """Something released of the weights along an axis.

    Attributes:
        axis: The cells.
        kind: "cells" for all of them with noise, "running" for those of which only running sums are shown,
            "quantile" for one mark, "top" for the heaviest cells.
        at: Which quantile.
        end: For the end of an interval: -1 for the low, 1 for the high one; 0 otherwise.
        picks: How many cells are picked one after the other.
        steps: Whether the quantile is that of a row (QUANTILE_DISC), not read between rows.
    """

    axis: Axis
    kind: str
    at: Fraction = Fraction(0)
    end: int = 0
    picks: int = 1
    steps: bool = False


@dataclass(frozen=True)
class Part:
    """One query for the engine and the mechanisms through which its numbers leave, one for each release.

    Attributes:
        draws: What is drawn along the axis; empty where each measure is released with noise.
    """

    aggregation: Aggregation
    mechanisms: tuple[Mechanism, ...]
    draws: tuple[Draw, ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class Level:
    """One grouping set: the places of its keys, and its parts."""

    places: tuple[int, ...]
    parts: tuple[Part, ...]

    @property
    def aggregation(self) -> Aggregation:
        """What is computed of each group of this set, first of all."""
        return self.parts[0].aggregation

    @cached_property
    def releases(self) -> tuple[tuple[Part, int], ...]:
        """Every release of this set, as a part and a place in it."""
        return tuple((part, i) for part in self.parts for i in range(len(part.mechanisms)))

    def times(self, place: int) -> int:
        """Return what a measure is multiplied by before noise is added to it."""
        part, index = self.releases[place]
        mechanism = part.mechanisms[index]
        return mechanism.times if isinstance(mechanism, Coordinate) else 1

    def worth(self, place: int) -> Fraction:
        """Return what one integer step of a released measure is worth."""
        part, index = self.releases[place]
        return part.aggregation.unit(part.aggregation.measures[index]) / self.times(place)
