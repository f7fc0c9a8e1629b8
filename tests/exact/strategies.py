"""Random tables full of trouble, and random questions over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from tests.exact.reference import Written

_REALS = [0.0, -0.0, 1.5, -2.25, 3.0000001, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, None]
_WHOLES = [0, 1, 5, -7, 2**63 - 1, -(2**63), None]
_TEXTS = ["3", "-1.5", "abc", "", "1e400", "nan", "'", "é", None]

row = st.tuples(
    st.sampled_from([0, 1, 2, 3, None]),
    st.sampled_from(["A", "B", "C", "X", "", None]),
    st.sampled_from([1, 2, 3, None]),
    st.one_of(st.sampled_from(_REALS), st.floats(-20, 20)),
    st.sampled_from(_WHOLES),
    st.one_of(st.none(), st.integers(-5, 8)),
    st.sampled_from(_TEXTS),
    st.sampled_from([True, False, None]),
)
SCHEMA = pa.schema(
    [
        ("uid", pa.int64()),
        ("g", pa.string()),
        ("h", pa.int32()),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("k", pa.int16()),
        ("s", pa.string()),
        ("b", pa.bool_()),
    ]
)


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    return pa.table([pa.array(column, f.type) for column, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


tables = st.one_of(st.lists(row, max_size=14), st.lists(row, min_size=1, max_size=1)).map(table_of)

_d = "CAST({} AS DOUBLE)".format
numbers = st.recursive(
    st.sampled_from(
        [
            Written("x", "x"),
            Written("n", _d("n")),
            Written("k", _d("k")),
            Written("2", _d("2")),
            Written("0.5", _d("0.5")),
            Written("LEAST(GREATEST(CAST(s AS DOUBLE), -3), 3)", "least(greatest(TRY_CAST(s AS DOUBLE), -3), 3)"),
        ]
    ),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*"), inner, inner).map(
            lambda t: Written(f"({t[1].asked} {t[0]} {t[2].asked})", f"({_d(t[1].plain)} {t[0]} {_d(t[2].plain)})")
        ),
        st.tuples(inner, inner).map(
            lambda t: Written(
                f"LEAST(GREATEST({t[0].asked} / {t[1].asked}, -4), 4)",
                f"least(greatest({_d(t[0].plain)} / nullif({_d(t[1].plain)}, 0), -4), 4)",
            )
        ),
        st.tuples(st.sampled_from(["ABS", "FLOOR", "CEIL", "ROUND", "-"]), inner).map(
            lambda t: Written(f"{t[0]}({t[1].asked})", f"{t[0]}({_d(t[1].plain)})")
        ),
        st.tuples(inner, inner).map(
            lambda t: Written(
                f"COALESCE({t[0].asked}, {t[1].asked})", f"coalesce({_d(t[0].plain)}, {_d(t[1].plain)})"
            )
        ),
        st.tuples(inner, inner).map(
            lambda t: Written(
                f"CASE WHEN b THEN {t[0].asked} ELSE {t[1].asked} END",
                f"CASE WHEN b THEN {_d(t[0].plain)} ELSE {_d(t[1].plain)} END",
            )
        ),
    ),
    max_leaves=4,
)
_compared = st.tuples(numbers, st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]), numbers).map(
    lambda t: Written(f"{t[0].asked} {t[1]} {t[2].asked}", f"{_d(t[0].plain)} {t[1]} {_d(t[2].plain)}")
)
_same = [
    "b",
    "g = 'A'",
    "g IN ('A', 'X')",
    "g NOT IN ('B')",
    "s LIKE '%1%'",
    "s NOT LIKE 'a%'",
    "x IS NULL",
    "g IS NOT NULL",
    "h BETWEEN 1 AND 2",
    "n > 9223372036854775806",
    "n = -9223372036854775808",
    "LOWER(g) = 'a'",
    "uid = 1",
    "b IS TRUE",
    "b IS NOT FALSE",
    "s = ''''",
]
conditions = st.recursive(
    st.one_of(st.sampled_from([Written(text, text) for text in _same]), _compared),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda t: Written(f"({t[0].asked} {t[1]} {t[2].asked})", f"(({t[0].plain}) {t[1]} ({t[2].plain}))")
        ),
        inner.map(lambda w: Written(f"NOT ({w.asked})", f"NOT ({w.plain})")),
    ),
    max_leaves=3,
)


@dataclass(frozen=True)
class Asked:
    """A question in SQL, and the plain values its measures are made of, in order."""

    sql: str
    where: str | None
    values: tuple[Written, ...]
    functions: tuple[str, ...]
    groups: tuple[str, ...]


@st.composite
def questions(draw: st.DrawFn, person_level: bool) -> Asked:
    """A question with up to three aggregates, a filter and up to two grouping columns."""
    kinds = ["COUNT(*)", "COUNT", "SUM", "AVG"] + (["PEOPLE"] if person_level else [])
    functions = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)))
    values = tuple(draw(numbers) for _ in functions)
    where = draw(st.one_of(st.none(), conditions))
    groups = tuple(draw(st.lists(st.sampled_from(["g", "h"]), unique=True, max_size=2)))
    shown = [
        {"COUNT(*)": "COUNT(*)", "PEOPLE": "COUNT(DISTINCT uid)"}.get(f, f"{f}({value.asked})")
        for f, value in zip(functions, values, strict=True)
    ]
    columns = ", ".join([*groups, *(f"{text} AS c{i}" for i, text in enumerate(shown))])
    sql = f"SELECT {columns} FROM t"
    sql += f" WHERE {where.asked}" if where else ""
    sql += f" GROUP BY {', '.join(groups)}" if groups else ""
    return Asked(sql, None if where is None else where.plain, values, functions, groups)
