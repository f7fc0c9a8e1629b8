"""Scopes: which columns a name can mean at a place of the question."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jali.errors import QueryError, Unsupported
from jali.query.catalog import Public, Table
from jali.query.nodes import Column
from jali.query.spelling import nearest


@dataclass(frozen=True)
class Visible:
    """A column that can be named: by its own name, or with the table's name before it.

    One that is not `readable`, because of its type, is refused wherever it is named, and `*` leaves it out.
    """

    name: str
    column: str
    table: str | None = None
    merged: bool = False
    readable: bool = True


def visible_columns(table: Table | Public, alias: str, prefix: str = "") -> tuple[Visible, ...]:
    """Return the columns of a table as a question sees them, each under its unique name."""
    return tuple(Visible(f.name, prefix + f.name, alias, readable=f.readable) for f in table.fields)


@dataclass(frozen=True)
class Scope:
    """The columns of FROM, and around a subquery those of the query around it."""

    columns: tuple[Visible, ...]
    outer: Scope | None = None

    def __add__(self, other: Scope) -> Scope:
        return Scope(self.columns + other.columns, self.outer)

    @property
    def readable(self) -> tuple[Visible, ...]:
        """The columns that questions can read."""
        return tuple(visible for visible in self.columns if visible.readable)

    def tables(self) -> set[str]:
        """Return the names of the tables in sight."""
        return {visible.table.lower() for visible in self.columns if visible.table is not None}

    def find(self, column: Column) -> Column:
        """Return the column that a written one means, under its unique name."""
        found = self._matching(column)
        if not found and self.outer is not None:
            return self.outer.find(column)
        if len({visible.column for visible in found}) > 1:
            raise QueryError(
                "column-ambiguous",
                position=column.position,
                column=column.name,
                tables=tuple(str(visible.table) for visible in found),
                table=found[0].table,
            )
        if not found:
            raise self._unknown(column)
        if not found[0].readable:
            raise Unsupported("column-unreadable", position=column.position, column=column.name)
        return replace(column, name=found[0].column, table=None)

    def knows(self, column: Column) -> bool:
        """Say whether a name means a column of this scope, not of one around it."""
        return bool(self._matching(column))

    def _matching(self, column: Column) -> list[Visible]:
        name, table = column.name.lower(), None if column.table is None else column.table.lower()
        same = [v for v in self.columns if v.name.lower() == name]
        if table is not None:
            return [v for v in same if v.table is not None and v.table.lower() == table]
        merged = [v for v in same if v.merged]
        return merged or same

    def _unknown(self, column: Column) -> QueryError:
        if column.table is not None and column.table.lower() not in self.tables():
            return QueryError(
                "table-unknown", position=column.position, table=column.table, tables=tuple(sorted(self.tables()))
            )
        seen = [v for v in self.readable if column.table in (None, v.table) or _same(column.table, v.table)]
        names = list(dict.fromkeys(visible.name for visible in seen))
        tables = {visible.table for visible in seen}
        table = next(iter(tables)) if len(tables) == 1 else None
        hint = nearest(column.name, names)
        return QueryError(
            "column-unknown",
            position=column.position,
            table=table,
            column=column.name,
            nearest=hint,
            columns=tuple(names),
        )


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()
