"""Names and constants in DuckDB's SQL."""

from __future__ import annotations

import datetime
from fractions import Fraction

from jali.catalog.value_domain import Value
from jali.engines.sql.dialect import INT64


def quote(name: str) -> str:
    """Write an identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text constant."""
    return "'" + value.replace("'", "''") + "'"


def double(value: Fraction) -> str:
    """Write a number as the double nearest to it."""
    return f"'{float(value)!r}'::DOUBLE"


def constant(value: Value) -> str:
    """Write a constant of any kind."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if -INT64 <= value < INT64 else double(Fraction(value))
    if isinstance(value, Fraction):
        return double(value)
    if isinstance(value, str):
        return text(value)
    kind = "TIMESTAMP" if isinstance(value, datetime.datetime) else "DATE"
    return f"{kind} {text(str(value))}"
