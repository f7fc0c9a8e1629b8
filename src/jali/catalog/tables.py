"""Tables as the curator declares them: protected and public ones. All of it is public, never read off the data."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as attribute
from functools import cached_property
from typing import Literal, TypeAlias

from jali.catalog.columns import Field
from jali.privacy import Adjacency, Budget

# What the relation of a file is called whose rows are made up.
SYNTHETIC = "synthetic rows of a rehearsal"


Memory: TypeAlias = Literal["own", "common"]


@dataclass(frozen=True)
class Source:
    """Where the rows are."""

    format: str
    location: str
    relation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether the rows are made up, for a rehearsal."""
        return self.format != "duckdb" and self.relation == SYNTHETIC


@dataclass(frozen=True)
class Reach:
    """A unit through another table, resolved: `here` equals the unique column `there` of `table`."""

    table: Table
    here: str
    there: str


@dataclass(frozen=True)
class Table:
    """A protected table, as the curator declared it.

    Attributes:
        unit: The column that names the person; None where each row is a person, or where `reach` tells the owner.
        reach: How the owner is found in another protected table.
        min_people: A group is shown only when at least this many people stand behind it.
        unique: Whether no two rows have the same unit, as a key of the source enforces.
        copy: The prepared copy that questions read instead of the source.
        memory: Whose answers are recalled when an equal question is asked: "own", or everybody's ("common"). It is
            no part of what a question means, and may be changed at any time.
    """

    name: str
    source: Source
    unit: str | None
    max_rows: int
    adjacency: Adjacency
    fields: tuple[Field, ...]
    budget: Budget
    rows: int | None = None
    reach: Reach | None = None
    min_people: int = 1
    unique: bool = False
    copy: Source | None = None
    memory: Memory = attribute(default="own", compare=False)

    def __repr__(self) -> str:
        who = "each row a person" if self.row_level else f"unit {self.owner}, max_rows {self.max_rows}"
        return f"Table({self.name}: {who}; {len(self.fields)} columns; budget {self.budget})"

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that questions can read: those whose type is one of the closed domain."""
        return tuple(field for field in self.fields if field.readable)

    def field(self, name: str) -> Field | None:
        """Find a column that questions can read, ignoring case as SQL does."""
        return _field(self.columns, name)

    @property
    def row_level(self) -> bool:
        """Whether each row is a person of its own."""
        return self.unit is None and self.reach is None

    @property
    def read_from(self) -> Source:
        """Where questions read the rows: in the prepared copy, where there is one."""
        return self.source if self.copy is None else self.copy

    @property
    def one_row_each(self) -> bool:
        """Whether each row is a person of its own, or the only row of one."""
        return self.row_level or self.unique

    @property
    def owner(self) -> str | None:
        """What names the people: a column here, or the one that is reached."""
        return self.unit if self.reach is None else self.reach.table.owner


@dataclass(frozen=True)
class Public:
    """A public table: its rows are nobody's secret, so its keys and ranges were read off it.

    Attributes:
        rows: How many rows it has; None in declarations of versions that did not count them.
        repeats: For each column, how many rows have the same value at most.
    """

    name: str
    source: Source
    fields: tuple[Field, ...]
    rows: int | None = None
    repeats: tuple[tuple[str, int], ...] = ()

    def __repr__(self) -> str:
        return f"Public({self.name}: {len(self.fields)} columns)"

    @property
    def read_from(self) -> Source:
        """Where questions read the rows."""
        return self.source

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that questions can read: those whose type is one of the closed domain."""
        return tuple(field for field in self.fields if field.readable)

    def field(self, name: str) -> Field | None:
        """Find a column that questions can read, ignoring case as SQL does."""
        return _field(self.columns, name)


@dataclass(frozen=True)
class Catalog:
    """All declared tables."""

    tables: tuple[Table | Public, ...]

    def find(self, name: str) -> Table | Public | None:
        """Find a table, ignoring case as SQL does."""
        lowered = name.lower()
        return next((table for table in self.tables if table.name.lower() == lowered), None)


def _field(fields: tuple[Field, ...], name: str) -> Field | None:
    lowered = name.lower()
    return next((field for field in fields if field.name.lower() == lowered), None)
