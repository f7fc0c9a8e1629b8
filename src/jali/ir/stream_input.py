"""The input of a stream: the owner, the moment, the key and the value of each row of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.catalog.tables import Table
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Column, Expression
from jali.ir.ownership import own
from jali.ir.relations import Relation, sources
from jali.privacy import Adjacency


@dataclass(frozen=True)
class StreamInput:
    """What a stream takes from the rows of one protected table. All of it is public, and frozen with the stream.

    Attributes:
        rows: The rows that pass WHERE. Prepared copies are as old as they are: the source itself is read.
        owner: The column that names the person; None where another table does.
        moment: When a row happened.
        every: How long a tick is: "hour", "day", "week" or "month".
        keys: The further keys, with all their values.
        measure: "count", "sum", "mean" or "cdf".
        value: What is summed or put into cells; None for COUNT(*).
        low, high: What values are clamped to, as numbers that a double holds.
        ends: The cell ends of a CDF.
    """

    rows: Relation
    owner: Expression | None
    moment: Expression
    every: str
    keys: tuple[KeySet, ...]
    measure: str
    value: Expression | None = None
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    ends: tuple[Fraction, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        """The protected table, and those through which its owners are reached: each of them pays."""
        return tuple(table for table in sources(self.rows) if isinstance(table, Table))

    @property
    def cells(self) -> int:
        """How many combinations of the further keys there are."""
        return math.prod(len(key.values or ()) for key in self.keys)

    @property
    def adjacency(self) -> Adjacency:
        """When histories are neighbours: replace-one where any of the tables says so, which covers both."""
        replaced = any(table.adjacency is Adjacency.REPLACE_ONE for table in self.tables)
        return Adjacency.REPLACE_ONE if replaced else Adjacency.ADD_REMOVE

    @property
    def unit(self) -> str:
        """What names the people."""
        return own(self.rows).unit or (self.owner.name if isinstance(self.owner, Column) else "")

    @property
    def key(self) -> str | None:
        """The column that tells rows apart, where each of them is a person."""
        return self.owner.name if isinstance(self.owner, Column) and self.tables[0].row_level else None
