"""What an engine is asked to compute: integer sums over one table, one row per combination of keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from jali.query.catalog import Kind, Table
from jali.query.nodes import Expression, Value


@dataclass(frozen=True)
class CountRows:
    """The weight of the rows, or of those where an expression is neither NULL nor NaN."""

    present: Expression | None = None
    kind: Kind = Kind.INTEGER


@dataclass(frozen=True)
class SumValues:
    """The weighted sum of an expression: clamped, centred, and rounded to a lattice of `steps` per unit.

    `low`, `high`, `center` and `steps` are numbers that a double holds exactly, so that the engine's
    arithmetic is the arithmetic the sensitivity was computed with.
    """

    value: Expression
    kind: Kind
    low: Fraction
    high: Fraction
    center: Fraction
    steps: Fraction

    @property
    def least(self) -> int:
        """The least lattice point that one row can have."""
        return math.floor((self.low - self.center) * self.steps)

    @property
    def most(self) -> int:
        """The largest lattice point that one row can have."""
        return math.ceil((self.high - self.center) * self.steps)


@dataclass(frozen=True)
class CountPeople:
    """The number of people who have a row, each weighed over the groups they appear in."""


Measure: TypeAlias = CountRows | SumValues | CountPeople


@dataclass(frozen=True)
class Weights:
    """How one person's contribution is bounded: rows weigh floor(resolution * min(1, max_rows / rows)) each.

    `max_groups` bounds, in the same way, how many groups a person counts in for `CountPeople`.
    """

    max_rows: int
    max_groups: int
    resolution: int


@dataclass(frozen=True)
class KeySet:
    """The declared keys of one grouping column."""

    column: str
    kind: Kind
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Aggregation:
    """The exact integer aggregate that an engine runs.

    `weights` is None where each row is a person of its own: then every row weighs 1.
    """

    table: Table
    where: Expression | None
    keys: tuple[KeySet, ...]
    measures: tuple[Measure, ...]
    weights: Weights | None

    @property
    def groups(self) -> int:
        """The number of rows of the result."""
        return math.prod(len(key.values) for key in self.keys)

    @property
    def counts_people_once(self) -> bool:
        """Whether a person is in one group at most, so that people need no weight."""
        return self.groups == 1

    def resolution(self, measure: Measure) -> int:
        """Return how many integer units one full weight is."""
        if self.weights is None or (isinstance(measure, CountPeople) and self.counts_people_once):
            return 1
        return self.weights.resolution

    def unit(self, measure: Measure) -> Fraction:
        """Return what one integer unit of a measure is worth."""
        steps = measure.steps if isinstance(measure, SumValues) else Fraction(1)
        return 1 / (steps * self.resolution(measure))
