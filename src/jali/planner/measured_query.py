"""The parts of a plan: queries for the engine, and what is released of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from jali.ir.aggregates import Aggregation, CellAxis
from jali.mechanisms.measurement import Measurement


@dataclass(frozen=True)
class AxisRelease:
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

    axis: CellAxis
    kind: str
    at: Fraction = Fraction(0)
    end: int = 0
    picks: int = 1
    steps: bool = False


@dataclass(frozen=True)
class MeasuredQuery:
    """One query for the engine and the mechanisms through which its numbers leave, one for each release.

    Attributes:
        draws: What is drawn along the axis; empty where each measure is released with noise.
    """

    aggregation: Aggregation
    mechanisms: tuple[Measurement, ...]
    draws: tuple[AxisRelease, ...] = ()
    sql: str = ""

    @cached_property
    def block(self) -> dict[int, Any]:
        """The measures that leave together, by their places."""
        return {place: m for place, m in enumerate(self.mechanisms) if m.joint_mechanism is not None}

    @cached_property
    def multipliers(self) -> dict[int, int]:
        """What these are multiplied by."""
        return {place: m.multiplier for place, m in self.block.items()}


@dataclass(frozen=True)
class GroupingSet:
    """One grouping set: the places of its keys, and its parts."""

    places: tuple[int, ...]
    parts: tuple[MeasuredQuery, ...]

    @property
    def aggregation(self) -> Aggregation:
        """What is computed of each group of this set, first of all."""
        return self.parts[0].aggregation

    @cached_property
    def releases(self) -> tuple[tuple[MeasuredQuery, int], ...]:
        """Every release of this set, as a part and a place in it."""
        return tuple((part, i) for part in self.parts for i in range(len(part.mechanisms)))

    def times(self, place: int) -> int:
        """Return what a measure is multiplied by before noise is added to it."""
        part, index = self.releases[place]
        return part.mechanisms[index].multiplier

    def worth(self, place: int) -> Fraction:
        """Return what one integer step of a released measure is worth."""
        part, index = self.releases[place]
        return part.aggregation.unit(part.aggregation.measures[index]) / self.times(place)
