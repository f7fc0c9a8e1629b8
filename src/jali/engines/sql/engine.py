"""What all engines of SQL do alike: emit queries in their dialect, and read tables for the curator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import Value
from jali.engines.sql.aggregation_emitter import emit
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.expression_emitter import Emitter
from jali.engines.sql.tick_emitter import emit_ticks
from jali.errors import CatalogError
from jali.ir.aggregates import Aggregation
from jali.ir.expressions import Column
from jali.ir.stream_input import StreamInput


class SqlEngine(ABC):
    """The part of an engine that its dialect alone decides. It reads no frames, unless a subclass does."""

    dialect: ClassVar[Dialect]

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in the engine's SQL."""
        return emit(aggregation, self.dialect)

    def emit_ticks(self, followed: StreamInput, span: tuple[datetime, datetime], most: int) -> str:
        """Write, in the engine's SQL, what a stream takes from a table."""
        return emit_ticks(followed, span, most, self.dialect)

    @abstractmethod
    def _read(self, table: Table | Public, query: str) -> list[tuple[Any, ...]]:
        """Run a query over one table, for the curator."""

    @abstractmethod
    def _execute(self, sql: str, tables: Sequence[Table | Public]) -> object:
        """Run emitted SQL over these tables, without limits; errors are the engine's own."""

    def failure(self, sql: str, tables: Sequence[Table | Public]) -> str | None:
        """Run emitted SQL once more, and return the engine's own message; None if it runs."""
        try:
            self._execute(sql, tables)
        except Exception as problem:
            return f"{type(problem).__name__}: {problem}"
        return None

    def contents(self, table: Public, most: int) -> dict[str, tuple[Value, ...]]:
        """Return the different values of each column of a public table that has at most so many."""
        emitter, found = Emitter(table, self.dialect), {}
        for field in table.columns:
            value, rows = emitter.write(Column(field.name)), self.dialect.scan(table, [field.name])
            distinct = f"SELECT DISTINCT {value} AS v FROM {rows} ORDER BY v NULLS LAST LIMIT {most + 1}"
            values = self._read(table, distinct)
            if len(values) <= most:
                found[field.name] = tuple(row[0] for row in values)
        return found

    def count(self, table: Public) -> tuple[int, dict[str, int]]:
        """Return how many rows a public table has, and for each column how many have the same value at most."""
        return self._count(table, ""), {f.name: self._count(table, f.name) for f in table.columns}

    def _count(self, table: Public, column: str) -> int:
        """Count the rows of a public table, or those that have the most frequent value of a column."""
        dialect, name = self.dialect, self.dialect.quote(column)
        query = f"SELECT count(*) AS n FROM {dialect.scan(table, [column])}"
        if column:
            groups = dialect.nest_query(f"{query} WHERE {name} IS NOT NULL GROUP BY {name}")
            query = f"SELECT coalesce(max(n), 1) FROM {groups}"
        return int(self._read(table, query)[0][0])

    def check_key(self, table: Table, column: str) -> None:
        """Refuse a column in which two rows of a table have the same value."""
        value = Emitter(table, self.dialect).write(Column(column))
        rows = self.dialect.nest_query(f"SELECT {value} AS v FROM {self.dialect.scan(table, [column])}")
        twice = f"SELECT 1 FROM {rows} WHERE v IS NOT NULL GROUP BY v HAVING count(*) > 1 LIMIT 1"
        if self._read(table, twice):
            raise CatalogError("link-not-unique", column=column, table=table.name)

    def displaces(self, name: str, frame: Any) -> bool:
        """Say whether other values than those of this frame are attached under a name."""
        del name, frame
        return False

    def withhold(self, name: str) -> None:
        """Let nobody read the frame under a name until one is attached."""
        del name

    def holder(self, frame: Any) -> str | None:
        """Return the name under which this very frame, or one with the same values, is attached."""
        del frame
        return None
