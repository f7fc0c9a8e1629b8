"""The words of every engine by its name, imported when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from jali.engines import sql
from jali.engines.sql.dialect import Dialect
from jali.query.aggregation import Aggregation

DIALECTS: Mapping[str, str] = MappingProxyType(
    {
        "duckdb": "DUCKDB",
        "postgres": "POSTGRES",
        "spark": "SPARK",
        "bigquery": "BIGQUERY",
        "snowflake": "SNOWFLAKE",
    }
)
# Questions are written in these, and nothing runs them.
COMPILED_ONLY = ("bigquery", "snowflake")


def dialect_of(name: str) -> Dialect:
    """Return the words of an engine.

    Example:
        >>> from jali.engines.dialects import dialect_of
        >>> dialect_of("bigquery").quoted("order total")
        '`order total`'
    """
    found = getattr(import_module(f"jali.engines.{name}.dialect"), DIALECTS[name])
    assert isinstance(found, Dialect)
    return found


def written(aggregation: Aggregation, name: str) -> str:
    """Write an aggregation in the SQL of an engine, by its name."""
    if name in COMPILED_ONLY:
        return str(import_module(f"jali.engines.{name}").emit(aggregation))
    return sql.emit(aggregation, dialect_of(name))
