"""Constants in Snowflake's SQL: backslashes escape in texts. What a session reads otherwise is spelled out."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from fractions import Fraction

from jali.query.catalog import Kind
from jali.query.nodes import Value

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "''", "\0": "\\u0000"})
INFINITE = "TO_DOUBLE('inf')"
NOT_A_NUMBER = "TO_DOUBLE('NaN')"
DAY_FORM = "YYYY-MM-DD"
TIME_FORM = "YYYY-MM-DD HH24:MI:SS.FF6"


def text(value: str) -> str:
    """Write a text constant."""
    return f"'{value.translate(_ESCAPES)}'"


def double(value: Fraction) -> str:
    """Write a number as the double nearest to it: a number with a point is a decimal."""
    return f"TO_DOUBLE('{float(value)!r}')"


def moment(value: datetime.date) -> str:
    """Write a date or a time, whatever forms the session reads."""
    if isinstance(value, datetime.datetime):
        return f"TO_TIMESTAMP_NTZ('{_item(value)}', '{TIME_FORM}')"
    return f"TO_DATE('{value.isoformat()}', '{DAY_FORM}')"


def key_rows(values: Sequence[Value], kind: Kind, name: str) -> str:
    """Write keys with their places, as one text that is read as JSON: lists of VALUES have a largest length."""
    plain = kind in (Kind.INTEGER, Kind.BOOLEAN)
    items = [value if plain or value is None else _item(value) for value in values]
    read = _READ.get(kind, "CAST({} AS " + name + ")").format("f.value")
    keys = f"PARSE_JSON({text(json.dumps(items, ensure_ascii=False))})"
    return f"SELECT f.index AS place, {read} AS value FROM TABLE(FLATTEN(INPUT => {keys})) AS f"


_READ = {
    Kind.DATE: f"TO_DATE(CAST({{}} AS VARCHAR), '{DAY_FORM}')",
    Kind.TIMESTAMP: f"TO_TIMESTAMP_NTZ(CAST({{}} AS VARCHAR), '{TIME_FORM}')",
}


def _item(value: Value) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", timespec="microseconds")
    return str(value)
