"""Sensitivity: how far one privacy unit can move what a query measures, over all groups, in integer units.

Statement:
    Let a person's rows weigh at most `max_rows * resolution` in all and let one row's lattice point lie in
    [a, b]. Then the vector of the measure over the groups has, from this person, L1 norm at most
    m = resolution * max_rows * max(|a|, |b|) and each coordinate in resolution * max_rows * [min(a,0), max(b,0)].
    When one such vector is added or taken away (`changes` is 1), the measure moves by at most m in L1 and in L2.
    When one is replaced by another (2), it moves by at most 2m in L1 and by at most max(sqrt(2) m, width) in L2,
    where width = resolution * max_rows * (max(b,0) - min(a,0)); with a single group by at most `width` in both.
    Two replacements (4) move it at most twice as far as one. `ir.ownership` says how many changes there are.
    Where a person has one row at most in each group, the vector has L2 norm at most m / sqrt(max_rows).
    Where rows are weighed by the L2 norm of their numbers over the groups, the vector has L2 norm at most m; one
    in place of another moves the measure by at most resolution * max_rows * sqrt(2 (min(a,0)^2 + max(b,0)^2)).
    It has no L1 bound then, and asking for one stops.
Proof:
    docs/proofs/weights.md, docs/proofs/per_group.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from jali.errors import JaliError
from jali.ir.aggregates import Aggregation, CountPeople, CountRows, CountValues, Measure, SumValues
from jali.mechanisms.quantiles.weighted_quantile import rank_reach
from jali.mechanisms.workloads.cell_strategies import CellStrategy


def l1_sensitivity(aggregation: Aggregation, measure: Measure, changes: int) -> Fraction:
    """Return the L1 sensitivity of a measure when so many bounded vectors change."""
    if by_length(aggregation, measure):
        raise JaliError("plan-norm-mismatch")
    most, width = bound_vector(aggregation, measure)
    if changes == 1:
        return Fraction(most)
    if isinstance(measure, CountPeople | CountValues):
        # Vectors in [0, 1]^groups: never more than one per group and replacement, where the groups are known.
        return Fraction(
            changes * most if aggregation.selecting else _cap_by_groups(aggregation, measure, changes, most)
        )
    return changes // 2 * Fraction(width if aggregation.one_group else 2 * most)


def _cap_by_groups(aggregation: Aggregation, measure: Measure, changes: int, most: int) -> int:
    if isinstance(measure, CountValues):
        return changes * most
    return min(changes * most, changes // 2 * aggregation.groups * aggregation.resolution(measure))


def squared_l2_sensitivity(aggregation: Aggregation, measure: Measure, changes: int) -> Fraction:
    """Return the square of the L2 sensitivity of a measure when so many bounded vectors change."""
    most, width = bound_vector(aggregation, measure)
    if isinstance(measure, CountPeople):
        # A replacement moves a coordinate by at most one resolution, two replacements by two of them.
        step = aggregation.resolution(measure) * max(1, changes // 2)
        return step * l1_sensitivity(aggregation, measure, changes)
    if isinstance(measure, CountValues):
        return l1_sensitivity(aggregation, measure, changes) ** 2
    one = _one_squared(aggregation, most)
    if changes == 1:
        return one
    both = Fraction(width**2) if aggregation.one_group else _square_replacement(aggregation, measure, most, width)
    # By the triangle inequality two vectors are at most twice as far apart as one is long.
    return (changes // 2) ** 2 * min(both, 4 * one)


def _square_replacement(aggregation: Aggregation, measure: Measure, most: int, width: int) -> Fraction:
    """Return the square of how far apart two people's vectors over several groups are."""
    if not by_length(aggregation, measure):
        return max(2 * Fraction(most**2), Fraction(width**2))
    low, high = _span(measure)
    return Fraction(max(2 * bound_weight(aggregation) ** 2 * (low**2 + high**2), width**2))


def _span(measure: Measure) -> tuple[int, int]:
    """Return the least and largest points of one row, or 0 where it is beyond them: rows can be missing."""
    return (min(measure.least, 0), max(measure.most, 0)) if isinstance(measure, SumValues) else (0, 1)


def by_length(aggregation: Aggregation, measure: Measure) -> bool:
    """Say whether a measure sums rows that are weighed by the L2 norm of their numbers over the groups."""
    weights = aggregation.weights
    return weights is not None and weights.norm != "l1" and isinstance(measure, CountRows | SumValues)


def _one_squared(aggregation: Aggregation, most: int) -> Fraction:
    """Return the square of the largest L2 norm of one person's vector.

    It is the square of the L1 norm, all in one group; unless each of the `max_rows` is in a group of its own.
    """
    weights = aggregation.weights
    spread = weights is not None and weights.norm == "l1" and aggregation.one_row_per_group
    rows = weights.max_rows if weights is not None and spread else 1
    return Fraction(most**2, rows)


def bound_vector(aggregation: Aggregation, measure: Measure) -> tuple[int, int]:
    """Return the largest norm of one person's vector, L1 or L2, and the width of one coordinate's interval."""
    weights = aggregation.weights
    if isinstance(measure, CountPeople):
        resolution = aggregation.resolution(measure)
        groups = 1 if weights is None or aggregation.one_group else weights.max_groups
        return resolution * groups, resolution
    if isinstance(measure, CountValues):
        rows = 1 if weights is None else weights.max_rows
        return rows, rows
    low, high = _span(measure)
    # A range of one point has no sensitivity; noise of the least scale does no harm and keeps one rule for all.
    return bound_weight(aggregation) * max(-low, high, 1), bound_weight(aggregation) * max(high - low, 1)


# An L1 norm, and the square of an L2 norm.
Norms: TypeAlias = tuple[int, int]


def bound_weight(aggregation: Aggregation) -> int:
    """Return what one person's rows weigh together at most."""
    weights = aggregation.weights
    return 1 if weights is None else weights.resolution * weights.max_rows


def count_known_groups(aggregation: Aggregation) -> int:
    """Return the number of groups, or 2 where it is not known: all that matters is whether there are several."""
    return 2 if aggregation.selecting else max(1, aggregation.groups)


def rank_sensitivity(aggregation: Aggregation, at: Fraction, changes: int) -> Fraction:
    """Return how far the distances of a quantile move, over all groups together."""
    return rank_reach(at, bound_weight(aggregation), changes, groups=count_known_groups(aggregation))


def cell_sensitivity(aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far the weight of a cell moves, over all groups together.

    In one group a vector that replaces another moves a cell by at most one reach; over several groups one of
    them may lose a reach and another gain one.
    """
    reach = Fraction(bound_weight(aggregation))
    if changes == 1:
        return reach
    return reach * (changes if count_known_groups(aggregation) > 1 else changes // 2)


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
        return cls(aggregation.along.cells, changes, count_known_groups(aggregation) > 1, pure)

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
    return Fraction(bound_weight(aggregation) * moved)


def strategy_squared_l2(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far it moves them in L2, squared."""
    _, moved = _facts(strategy, aggregation, changes).moves(strategy.column, strategy.pair)
    return Fraction(bound_weight(aggregation) ** 2 * moved)


def _facts(strategy: CellStrategy, aggregation: Aggregation, changes: int) -> CellFacts:
    facts = CellFacts.of(aggregation, changes, pure=True)
    if facts.cells != strategy.cells or not strategy.sound:
        raise JaliError("cells-uncovered")
    if aggregation.weights is not None and aggregation.weights.norm != "l1":
        raise JaliError("cells-of-another-norm")
    return facts


@dataclass(frozen=True)
class QuerySensitivity:
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
    def l2_squared(self) -> Fraction:
        """The square of its L2 norm."""
        if self.strategy is not None:
            return strategy_squared_l2(self.strategy, self.aggregation, self.changes)
        return squared_l2_sensitivity(self.aggregation, self.measure, self.changes)

    @cached_property
    def joint(self) -> Fraction:
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
        return cell_sensitivity(self.aggregation, self.changes)

    @property
    def by_number(self) -> QuerySensitivity:
        """The same for rows that are weighed by their number."""
        return replace(self, aggregation=self.aggregation.by_number)

    def measure_by(self, strategy: CellStrategy) -> QuerySensitivity:
        """Return how far the sums of cells move that a strategy measures."""
        return replace(self, strategy=strategy)
