"""Extremes as pandas holds them: text of each of its types, objects of all sorts, and its own kinds of columns."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tests.domain.columns import DOUBLES, LONG, TEXTS, Column

from jali.catalog.columns import Kind


class Nameless:
    """A value that has no text."""

    def __str__(self) -> str:
        raise RuntimeError("this value has no text")


_LONE = ("\ud800", "a\udfffb", "\udc80")
_OBJECTS = (
    *_LONE,
    *TEXTS,
    b"\xff\xfe",
    10**400,
    float("nan"),
    decimal.Decimal("NaN"),
    datetime.date.max,
    Nameless(),
    object,
    [1, "\ud800"],
    {"a": None},
    pd.NaT,
    pd.NA,
)
_WHOLE = Column("Int64", Kind.INTEGER, "Int64", (1, 7), (2**63 - 1, -(2**63), 0, None))
_REST = (
    _WHOLE,
    Column("uint8", Kind.INTEGER, "uint8", (1, 7), (0, 255)),
    Column("float64", Kind.REAL, "float64", (0.5, 7.25), DOUBLES),
    Column("Float32", Kind.REAL, "Float32", (0.5, 7.25), (3e38, -0.0, None)),
    Column("boolean", Kind.BOOLEAN, "boolean", (True, False), (True, False, None)),
    Column("at_ns", Kind.TIMESTAMP, "datetime64[ns]", (1, 2), (-(2**63), -(2**63) + 1, 2**63 - 1, 0)),
    Column("at_s", Kind.TIMESTAMP, "datetime64[s]", (1, 2), (-(2**63), -(2**63) + 1, 2**63 - 1, 0)),
    Column("zoned", None, "datetime64[ns, UTC]", (1, 2), (-(2**63), 2**63 - 1, 0)),
    Column("lasting", None, "timedelta64[ns]", (1, 2), (-(2**63), 2**63 - 1, 0)),
    Column("month", None, "period[M]", ("2025-01", "2025-02"), (None, "1677-09")),
    Column("complex", None, "complex128", (1j, 2j), (complex("nan"), complex("inf"))),
)


def _of(kind: str) -> tuple[Column, ...]:
    """The columns of a frame whose texts are of one type: objects may be anything, other texts are texts."""
    hostile: tuple[Any, ...] = TEXTS
    if kind == "object":
        hostile = _OBJECTS
    elif kind in ("string[python]", "category"):
        hostile = (*_LONE, *TEXTS)
    return (Column("text", Kind.TEXT, kind, ("A", "b c"), hostile), *_REST)


COLUMNS = {kind: _of(kind) for kind in ("object", "string[python]", "string[pyarrow]", "category", "large_string")}


def pandas_frame(kind: str, rows: list[dict[str, Any]], name: str) -> pd.DataFrame:
    """Make a frame of rows, with a column that no other frame has."""
    columns = {c.name: _series(c, [row[c.name] for row in rows]) for c in COLUMNS[kind]}
    people = {"uid": [row["uid"] for row in rows], "name": [row["name"] for row in rows]}
    return pd.DataFrame(people | columns | {"of": [name] * len(rows)})


def _series(column: Column, values: list[Any]) -> Any:
    if column.type in ("datetime64[ns]", "datetime64[s]", "timedelta64[ns]"):
        return pd.Series(np.array(values, np.int64).view(column.type))
    if column.type == "datetime64[ns, UTC]":
        return pd.Series(np.array(values, np.int64).view("datetime64[ns]")).dt.tz_localize("UTC")
    if column.type == "large_string":
        return pd.Series(values, dtype=pd.ArrowDtype(pa.large_string()))
    if column.type in ("uint8", "complex128", "float64"):
        return pd.Series([np.nan if value is None else value for value in values]).astype(column.type)
    if column.type == "category":
        # Of objects: pandas itself makes Arrow's strings of others, which have no lone surrogates.
        return pd.Series(pd.Categorical(pd.Series(values, dtype=object)))
    return pd.Series(values, dtype=column.type)


assert len(LONG) > 1 << 16
