"""Postgres's types as kinds of column. The type is frozen when a table is protected, and every read expects it."""

from __future__ import annotations

import re

from jali.query.catalog import Field, Kind

NAMES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.OTHER: "text",
}
_WHOLE = frozenset({"smallint", "integer", "bigint"})
_TEXTS = ("text", "character", "uuid", "name", "citext", '"char"')
_DIGITS = re.compile(r"numeric\((\d+),(-?\d+)\)")
# Powers of ten that doubles can hold, on either side of 1.
_HELD = 307
_KINDS = {"boolean": Kind.BOOLEAN, "date": Kind.DATE}


def field_of(name: str, written: str, *, enum: bool = False) -> Field:
    """Return the column of a type as `format_type` writes it.

    Decimals and single-precision numbers are read as doubles. A time with a time zone is no plain time: which day
    it is on depends on who looks.
    """
    if written.endswith("[]"):
        kind = Kind.OTHER
    elif written in _WHOLE:
        kind = Kind.INTEGER
    elif written.startswith("numeric") or written in ("real", "double precision"):
        kind = Kind.REAL
    elif enum or written.startswith(_TEXTS):
        kind = Kind.TEXT
    elif written.startswith("timestamp") and "without" in written:
        kind = Kind.TIMESTAMP
    else:
        kind = _KINDS.get(written, Kind.OTHER)
    return Field(name, kind, type=written)


def is_beyond_doubles(written: str) -> bool:
    """Say whether a type of decimals has values that no double can hold: Postgres raises when they are cast.

    Example:
        >>> is_beyond_doubles("numeric"), is_beyond_doubles("numeric(400,0)"), is_beyond_doubles("numeric(10,2)")
        (True, True, False)
    """
    if not written.startswith("numeric"):
        return False
    digits = _DIGITS.fullmatch(written)
    return digits is None or int(digits[1]) - int(digits[2]) > _HELD or int(digits[2]) > _HELD
