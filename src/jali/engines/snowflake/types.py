"""Snowflake's types as kinds of column. The type is frozen when a table is declared, and every read expects it."""

from __future__ import annotations

import re

from jali.query.catalog import Field, Kind

NAMES = {
    Kind.INTEGER: "NUMBER(38, 0)",
    Kind.REAL: "FLOAT",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    Kind.OTHER: "VARCHAR",
}
_KINDS = {
    "FLOAT": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "TEXT": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP_NTZ": Kind.TIMESTAMP,
}
_DECIMAL = re.compile(r"NUMBER\(\d+, ?(\d+)\)")


def field_of(name: str, written: str) -> Field:
    """Return the column of a type as DESCRIBE TABLE writes it.

    Decimals are read as doubles. A time with a zone is no plain time: which day it is on depends on who looks.
    """
    if decimal := _DECIMAL.fullmatch(written):
        return Field(name, Kind.REAL if int(decimal[1]) else Kind.INTEGER, type=written)
    kind = _KINDS.get(written.partition("(")[0], Kind.OTHER)
    return Field(name, kind, type=written)
