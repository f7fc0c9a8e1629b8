"""How many rows a public table has, and how often values of its columns repeat: what bounds joins with it."""

from __future__ import annotations

from collections.abc import Callable

from jali.engines.sql.dialect import Dialect
from jali.query.catalog import Public


def counted(table: Public, dialect: Dialect, ask: Callable[[str], int]) -> tuple[int, dict[str, int]]:
    """Count the rows of a public table, and for each column the most rows that have the same value.

    Args:
        table: What is counted.
        dialect: The words of the engine.
        ask: Runs a query that gives one number.
    """
    rows = ask(f"SELECT count(*) FROM {dialect.scan(table, [])}")
    return rows, {field.name: ask(_repeats(table, dialect, field.name)) for field in table.columns}


def _repeats(table: Public, dialect: Dialect, column: str) -> str:
    name = dialect.quoted(column)
    groups = f"SELECT count(*) AS n FROM {dialect.scan(table, [column])} WHERE {name} IS NOT NULL GROUP BY {name}"
    return f"SELECT coalesce(max(n), 1) FROM {dialect.derived(groups)}"
