"""What an engine is asked to compute: integers over one relation, one row per combination of keys."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from jali.catalog.columns import Kind
from jali.catalog.value_domain import Value
from jali.ir.expressions import Column, Expression
from jali.ir.relations import PerOwner, Relation


@dataclass(frozen=True)
class CountRows:
    """The weight of the rows, or of those where an expression is neither NULL nor NaN."""

    present: Expression | None = None
    kind: Kind = Kind.INTEGER


@dataclass(frozen=True)
class SumValues:
    """The weighted sum of an expression: clamped, centred, and rounded to a lattice of `steps` per unit.

    `low`, `high`, `center` and `steps` are numbers that a double holds exactly, so that the engine's
    arithmetic is the arithmetic the sensitivity was computed with. A row without a value adds nothing, or the
    lattice point `missing`: with that of 0, the sum of all rows is this one and `center` times their number.
    """

    value: Expression
    kind: Kind
    low: Fraction
    high: Fraction
    center: Fraction
    steps: Fraction
    missing: int | None = None

    @property
    def least(self) -> int:
        """The least lattice point that one row can have."""
        least = math.floor((self.low - self.center) * self.steps)
        return least if self.missing is None else min(least, self.missing)

    @property
    def most(self) -> int:
        """The largest lattice point that one row can have."""
        most = math.ceil((self.high - self.center) * self.steps)
        return most if self.missing is None else max(most, self.missing)

    @property
    def own(self) -> SumValues:
        """The same sum by itself, not centred."""
        return replace(self, center=Fraction(0), missing=None)


@dataclass(frozen=True)
class CountPeople:
    """The number of people who have a row, or one with a value, each weighed over the groups they appear in."""

    present: Expression | None = None
    kind: Kind = Kind.INTEGER


@dataclass(frozen=True)
class CountValues:
    """The number of different values, of which each person keeps at most `max_rows`, over all groups."""

    value: Expression
    kind: Kind


Measure: TypeAlias = CountRows | SumValues | CountPeople | CountValues


@dataclass(frozen=True)
class Weights:
    """How one person's contribution is bounded: rows weigh floor(resolution * min(1, max_rows / length)) each.

    The length is that of the person's numbers of rows in each group, in the `norm`: "l1" is the number of all
    rows; "l2", where the groups are known, the root of the sum of squares over the groups, which is less.
    `max_groups` bounds, in the same way, how many groups a person counts in for `CountPeople`; where groups are
    selected, a person keeps so many of them.
    By "rank", the rows of a prepared copy that are among a person's first `max_rows` weigh 1 and others nothing.
    """

    max_rows: int
    max_groups: int
    resolution: int
    norm: str = "l1"
    by: str = "weights"

    @property
    def by_rank(self) -> bool:
        """Whether a person's rows are bounded by their ranks."""
        return self.by == "rank"


@dataclass(frozen=True)
class KeySet:
    """The keys of one grouping expression; `values` is None where they are not known before the data is read."""

    expression: Expression
    kind: Kind
    values: tuple[Value, ...] | None


@dataclass(frozen=True)
class Marks:
    """The marks `low + step * i`, i = 0..top, of a number; values beyond the ends count at the ends.

    `low` and `step` are numbers that a double holds exactly.
    """

    value: Expression
    kind: Kind
    low: Fraction
    step: Fraction
    top: int

    @property
    def cells(self) -> int:
        """How many marks there are."""
        return self.top + 1


@dataclass(frozen=True)
class Categories:
    """The declared or enumerated values of an expression, as cells 0, 1, ...; other values are left out."""

    keys: KeySet

    @property
    def cells(self) -> int:
        """How many categories there are."""
        return len(self.keys.values or ())


CellAxis: TypeAlias = Marks | Categories


@dataclass(frozen=True)
class Aggregation:
    """The exact integer aggregate that an engine runs.

    `weights` is None where each row is a person of its own, or the only row of one: then every row weighs 1. With
    `along` the only measure is the weight of the rows in each cell of an axis, and empty cells are left out of the
    result. With `selecting`, the result has only the groups that occur, each with the number of people behind it.
    Rows must also have one of the `required` keys, so that coarser grouping sets count the rows of the finer ones;
    then this is `one_of_several` sets.
    """

    source: Relation
    keys: tuple[KeySet, ...]
    measures: tuple[Measure, ...]
    weights: Weights | None
    along: CellAxis | None = None
    selecting: bool = False
    required: tuple[KeySet, ...] = ()
    one_of_several: bool = False

    @property
    def groups(self) -> int:
        """The number of groups, where it is known before the data is read."""
        return math.prod(len(key.values or ()) for key in self.keys)

    @property
    def one_group(self) -> bool:
        """Whether a person is in one group at most, so that people need no weight."""
        known = all(key.values is not None for key in self.keys)
        return known and self.groups == 1 and not self.selecting and (self.along is None or self.along.cells == 1)

    @property
    def one_row_per_group(self) -> bool:
        """Whether a person has one row at most in each group: the rows are one for each person and group."""
        if not isinstance(self.source, PerOwner):
            return False
        grouped = {key.expression for key in self.keys}
        apart = not any(_may_merge(key, self.source) for key in self.keys)
        return apart and all(Column(key.field.name) in grouped for key in self.source.keys)

    @property
    def by_number(self) -> Aggregation:
        """The same, with rows weighed by the number of all of a person's rows."""
        return self if self.weights is None else replace(self, weights=replace(self.weights, norm="l1"))

    def resolution(self, measure: Measure) -> int:
        """Return how many integer units one full weight is."""
        if self.weights is None or isinstance(measure, CountValues):
            return 1
        if isinstance(measure, CountPeople) and self._whole_people(measure):
            return 1
        return self.weights.resolution

    def _whole_people(self, measure: CountPeople) -> bool:
        """Say whether people are counted whole: in one group, or as those who keep a group that may be selected.

        The sets of a ROLLUP share their units, so there people are weighed in all of them.
        """
        return measure.present is None if self.selecting else self.one_group and not self.one_of_several

    def unit(self, measure: Measure) -> Fraction:
        """Return what one integer unit of a measure is worth."""
        steps = measure.steps if isinstance(measure, SumValues) else Fraction(1)
        return 1 / (steps * self.resolution(measure))


def _may_merge(key: KeySet, source: Relation) -> bool:
    """Say whether several keys of the rows may be one group: unknown ones that cannot be shown are all NULL.

    These are far dates and times, and computed whole numbers beyond 64 bits.
    """
    field = source.field(key.expression.name) if isinstance(key.expression, Column) else None
    double = key.kind.numeric and (field is None or field.computed)
    return key.values is None and (double or key.kind in (Kind.DATE, Kind.TIMESTAMP))


# As many keys as tell how an engine writes, reads and joins them.
_FEW = 100


def with_few_keys(aggregation: Aggregation) -> Aggregation:
    """Return an aggregation over the first of many keys, with a query of the same shape."""

    def few(key: KeySet) -> KeySet:
        return key if key.values is None else replace(key, values=key.values[:_FEW])

    along = aggregation.along
    return replace(
        aggregation,
        keys=tuple(map(few, aggregation.keys)),
        along=replace(along, keys=few(along.keys)) if isinstance(along, Categories) else along,
        required=tuple(map(few, aggregation.required)),
    )
