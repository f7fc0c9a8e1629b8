"""The parts of a plan: queries for the engine, and what is released of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.quantiles.permuted_weighted_quantile import PermutedWeightedQuantile
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner.tell import Threshold
from jali.query.aggregation import Aggregation, Axis

Noise: TypeAlias = Laplace | Gaussian
Choice: TypeAlias = WeightedQuantile | PermutedWeightedQuantile | PermuteAndFlip | Exponential
# The noise of a count that is told with its group is that which chooses the groups.
Mechanism: TypeAlias = Noise | Choice | Threshold


@dataclass(frozen=True)
class Draw:
    """Something released of the weights along an axis.

    Attributes:
        axis: The cells.
        kind: "cells" for all of them with noise, "quantile" for one mark, "top" for the heaviest cells.
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

    @property
    def releases(self) -> tuple[tuple[Part, int], ...]:
        """Every release of this set, as a part and a place in it."""
        return tuple((part, i) for part in self.parts for i in range(len(part.mechanisms)))
