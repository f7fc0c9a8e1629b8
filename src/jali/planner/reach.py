"""How far one privacy unit can move what is measured of a query: in integer units, over all groups together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from jali.errors import JaliError
from jali.mechanisms.quantiles.weighted_quantile import rank_reach
from jali.mechanisms.workloads.cell_strategies import CellStrategy
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.query.aggregation import Aggregation, CountRows, Measure

# An L1 norm, and the square of an L2 norm.
Norms: TypeAlias = tuple[int, int]


def weight_reach(aggregation: Aggregation) -> int:
    """Return what one person's rows weigh together at most."""
    weights = aggregation.weights
    return 1 if weights is None else weights.resolution * weights.max_rows


def many_groups(aggregation: Aggregation) -> int:
    """Return the number of groups, or 2 where it is not known: all that matters is whether there are several."""
    return 2 if aggregation.selecting else max(1, aggregation.groups)


def rank_sensitivity(aggregation: Aggregation, at: Fraction, changes: int) -> Fraction:
    """Return how far the distances of a quantile move, over all groups together."""
    return rank_reach(at, weight_reach(aggregation), changes, groups=many_groups(aggregation))


def cell_reach(aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far the weight of a cell moves, over all groups together.

    In one group a vector that replaces another moves a cell by at most one reach; over several groups one of
    them may lose a reach and another gain one.
    """
    reach = Fraction(weight_reach(aggregation))
    if changes == 1:
        return reach
    return reach * (changes if many_groups(aggregation) > 1 else changes // 2)


@dataclass(frozen=True)
class CellFacts:
    """What the choice depends on: the cells, the vectors that change, several groups or one, the kind of loss."""

    cells: int
    changes: int
    several: bool
    pure: bool

    @classmethod
    def of(cls, aggregation: Aggregation, changes: int, *, pure: bool) -> CellFacts:
        """Read them off an aggregation along an axis."""
        assert aggregation.along is not None
        return cls(aggregation.along.cells, changes, many_groups(aggregation) > 1, pure)

    def moves(self, column: Norms, pair: Norms) -> Norms:
        """Return how far people of weight 1 move the measurements: in L1, and squared in L2."""
        one, squared = column
        if self.changes == 1:
            return column
        # Columns in different groups do not overlap.
        apart, squared_apart = (2 * one, 2 * squared) if self.several else pair
        replaced = self.changes // 2
        return replaced * max(one, apart), replaced**2 * max(squared, squared_apart)

    def rms(self, column: Norms, pair: Norms, variance: float) -> float:
        """Return the forecast of a strategy with this mean of the variances of its running sums."""
        one, squared = self.moves(column, pair)
        return math.sqrt(variance * (one**2 if self.pure else squared))


def strategy_l1(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far one unit moves the measurements of all groups, in L1."""
    moved, _ = _facts(strategy, aggregation, changes).moves(strategy.column, strategy.pair)
    return Fraction(weight_reach(aggregation) * moved)


def strategy_squared_l2(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far it moves them in L2, squared."""
    _, moved = _facts(strategy, aggregation, changes).moves(strategy.column, strategy.pair)
    return Fraction(weight_reach(aggregation) ** 2 * moved)


def _facts(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> CellFacts:
    facts = CellFacts.of(aggregation, changes, pure=True)
    if facts.cells != strategy.cells or not strategy.sound:
        raise JaliError("cells-uncovered")
    if aggregation.weights is not None and aggregation.weights.norm != "l1":
        raise JaliError("cells-of-another-norm")
    return facts


@dataclass(frozen=True)
class QueryReach:
    """How far one privacy unit moves one release of a query: a `Reach`, as measurements ask for it.

    Attributes:
        aggregation: What the engine computes.
        changes: How many bounded vectors change.
        measure: Which of its numbers is released; the weight of the rows of each cell, along an axis.
        at: Which quantile is picked, if one is.
        picks: How many cells are picked one after the other.
        times: What the measures that leave together are multiplied by, by their places.
        strategy: Which sums of the cells are measured, if not the cells.
    """

    aggregation: Aggregation
    changes: int
    measure: Measure = field(default_factory=CountRows)
    at: Fraction = Fraction(0)
    picks: int = 1
    times: Mapping[int, int] = field(default_factory=dict)
    strategy: CellStrategy | None = None

    @property
    def l1(self) -> Fraction:
        """The L1 norm of the move of the measure, or of the sums that a strategy measures."""
        if self.strategy is not None:
            return strategy_l1(self.strategy, self.aggregation, self.changes)
        return l1_sensitivity(self.aggregation, self.measure, self.changes)

    @property
    def squared_l2(self) -> Fraction:
        """The square of its L2 norm."""
        if self.strategy is not None:
            return strategy_squared_l2(self.strategy, self.aggregation, self.changes)
        return squared_l2_sensitivity(self.aggregation, self.measure, self.changes)

    @property
    def shared(self) -> Fraction:
        """By how much the largest of the multiplied measures moves in each group, over all groups."""
        measures = self.aggregation.measures
        return max(
            factor * l1_sensitivity(self.aggregation, measures[place], self.changes)
            for place, factor in self.times.items()
        )

    @property
    def rank(self) -> Fraction:
        """How far the distances of the ranks from the target move."""
        return rank_sensitivity(self.aggregation, self.at, self.changes)

    @property
    def cell(self) -> Fraction:
        """How far the weight of a cell moves."""
        return cell_reach(self.aggregation, self.changes)

    @property
    def by_number(self) -> QueryReach:
        """The same for rows that are weighed by their number."""
        return replace(self, aggregation=self.aggregation.by_number)

    def measured_by(self, strategy: CellStrategy) -> QueryReach:
        """Return how far the sums of cells move that a strategy measures."""
        return replace(self, strategy=strategy)
