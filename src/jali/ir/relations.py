"""Relations whose names are resolved: what an engine computes before it aggregates.

Every column of a relation has a name of its own, and the owner of a row is not among them: an engine carries it
beside the columns, under a name that no question can write. `ir.ownership` says who owns the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import Value
from jali.ir.expressions import Expression


@dataclass(frozen=True)
class Scan:
    """The rows of a table. `prefix` stands before the names of its columns where there are other tables.

    Rows whose owner is NULL are dropped.
    """

    table: Table | Public
    prefix: str = ""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns that can be read, under their names in the question."""
        if not self.prefix:
            return self.table.columns
        return tuple(rename_field(field, self.prefix + field.name) for field in self.table.columns)

    def field(self, name: str) -> Field | None:
        """Find a column."""
        if not self.prefix:
            return self.table.field(name)
        return _find_field(self, name)


@dataclass(frozen=True)
class Computed:
    """One column that is made row by row."""

    field: Field
    expression: Expression


@dataclass(frozen=True)
class Compute:
    """The same rows with other columns."""

    source: Relation
    columns: tuple[Computed, ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return tuple(column.field for column in self.columns)

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)


@dataclass(frozen=True)
class Keep:
    """The rows that satisfy a condition."""

    source: Relation
    condition: Expression

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.source.fields

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return self.source.field(name)


@dataclass(frozen=True)
class Pair:
    """Rows of two relations side by side: two protected ones are paired within each owner only.

    Attributes:
        kind: "inner", "left" or "full".
    """

    kind: str
    left: Relation
    right: Relation
    condition: Expression | None = None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns of both."""
        return self.left.fields + self.right.fields

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)


@dataclass(frozen=True)
class Match:
    """The rows for which another relation has a row, of the same owner if it is protected.

    Attributes:
        flag: None keeps those rows only; a name adds a column that says whether there is one.
    """

    source: Relation
    other: Relation
    condition: Expression | None = None
    flag: Field | None = None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the source, and the flag."""
        return self.source.fields + (() if self.flag is None else (self.flag,))

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)

    @property
    def both(self) -> Side:
        """The columns that the condition may speak of."""
        return Side(self.source.fields + self.other.fields)


@dataclass(frozen=True)
class Stack:
    """The rows of several relations, one below the other; their columns are matched by place."""

    parts: tuple[Relation, ...]
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)


@dataclass(frozen=True)
class Summary:
    """One number about the rows of one owner, or of one group of them.

    Counts and sums are clamped to the bounds of their column.

    Attributes:
        function: "count", "sum", "avg", "min" or "max".
        argument: What is summarised; None for COUNT(*).
        kind: The kind of the argument.
        distinct: Whether equal values count once.
        steps: Sums are sums of whole multiples of 1/steps: the order of rows cannot change them.
        low, high: The range that the argument of a sum is clamped to.
    """

    field: Field
    function: str
    argument: Expression | None = None
    kind: Kind = Kind.INTEGER
    distinct: bool = False
    steps: Fraction = Fraction(1)
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)


@dataclass(frozen=True)
class PerOwner:
    """One row for each owner and combination of keys."""

    source: Relation
    keys: tuple[Computed, ...]
    summaries: tuple[Summary, ...] = ()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return tuple(key.field for key in self.keys) + tuple(summary.field for summary in self.summaries)

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)


@dataclass(frozen=True)
class Belonging:
    """The rows of the owners who belong to one part.

    An owner belongs to one of the parts that have a row of this owner: to that of the least hash of owner and
    part. So it depends on this owner's rows alone, and nobody belongs to two parts. A row that is a person of its
    own belongs to the part it is in.

    Attributes:
        expression: What tells the part of a row.
        kind: The kind of its values.
        values: All parts, whatever the data. Rows with other values are in none.
        place: Which of them this is.
    """

    source: Relation
    expression: Expression
    kind: Kind
    values: tuple[Value, ...]
    place: int

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.source.fields

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return self.source.field(name)


@dataclass(frozen=True)
class Capped:
    """At most so many rows of each owner, before they are joined with others of the same owner.

    Of an owner who has more, those with the least hash of their content are kept: which ones depends on this
    owner's rows alone. Rows that are equal in all columns that are read are not told apart.
    """

    source: Relation
    rows: int

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.source.fields

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return self.source.field(name)


@dataclass(frozen=True)
class Side:
    """Columns without rows: what an expression may speak of."""

    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Find a column."""
        return _find_field(self, name)


Relation: TypeAlias = Scan | Compute | Keep | Pair | Match | Stack | PerOwner | Belonging | Capped
Fields: TypeAlias = Relation | Side | Table | Public


def rename_field(field: Field, name: str) -> Field:
    """Return the same column under another name."""
    return replace(field, name=name)


def _find_field(relation: Relation | Side, name: str) -> Field | None:
    return next((field for field in relation.fields if field.name == name), None)


def sources(relation: Relation) -> tuple[Table | Public, ...]:
    """Return the tables that a relation reads, each once: also those through which owners are reached."""
    if isinstance(relation, Scan):
        return _with_reached(relation.table)
    found = [table for part in parts(relation) for table in sources(part)]
    return tuple(dict.fromkeys(found))


def _with_reached(table: Table | Public) -> tuple[Table | Public, ...]:
    if isinstance(table, Table) and table.reach is not None:
        return (table, *_with_reached(table.reach.table))
    return (table,)


def with_parts(relation: Relation, made: tuple[Relation, ...]) -> Relation:
    """Return a relation that is made of other relations, as `parts` orders them."""
    if made == parts(relation):
        return relation
    if isinstance(relation, Pair):
        return replace(relation, left=made[0], right=made[1])
    if isinstance(relation, Match):
        return replace(relation, source=made[0], other=made[1])
    if isinstance(relation, Stack):
        return replace(relation, parts=made)
    assert not isinstance(relation, Scan)
    return replace(relation, source=made[0])


def parts(relation: Relation) -> tuple[Relation, ...]:
    """Return the relations that a relation is made of."""
    if isinstance(relation, Pair):
        return relation.left, relation.right
    if isinstance(relation, Match):
        return relation.source, relation.other
    if isinstance(relation, Stack):
        return relation.parts
    return () if isinstance(relation, Scan) else (relation.source,)


def split_conditions(relation: Relation) -> tuple[Relation, tuple[Expression, ...]]:
    """Return the rows before the conditions on top of them, and these conditions, the innermost first."""
    found: tuple[Expression, ...] = ()
    while isinstance(relation, Keep):
        found = (relation.condition, *found)
        relation = relation.source
    return relation, found


def find_scan(relation: Relation) -> Scan | None:
    """Return the scan whose rows these are, perhaps filtered; None if there are others."""
    base = split_conditions(relation)[0]
    return base if isinstance(base, Scan) else None


def find_plain_table(relation: Relation) -> Table | None:
    """Return the table that a relation is the scan of, where columns have their own names and owners are in it."""
    if isinstance(relation, Scan) and isinstance(relation.table, Table) and not relation.prefix:
        return relation.table if relation.table.reach is None else None
    return None
