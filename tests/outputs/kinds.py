"""Every kind of column that an answer can have: keys, aggregates, and what is computed from them after the noise.

An aggregate, or a function that may be used after the noise, joins by its registration in the package: those that
have no output here fail `test_outputs.py`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pyarrow as pa

import jali
from jali.catalog.value_domain import FIRST_DAY, FIRST_TIME, LAST_DAY, LAST_TIME
from jali.ir.functions import FUNCTIONS

_FIRST, _LAST = datetime.date(2025, 1, 1), datetime.date(2025, 1, 9)
_NOON = datetime.datetime(2025, 1, 1, 12)  # noqa: DTZ001
COLUMNS: dict[str, jali.Range | jali.Keys] = {
    "k": jali.Keys(["A", "é\x1b\n", None]),
    "n": jali.Keys([1, -(2**63), 2**63 - 1, None]),
    "b": jali.Keys([True, False, None]),
    "day": jali.Keys([FIRST_DAY, _FIRST, LAST_DAY, None]),
    "hour": jali.Keys([FIRST_TIME, _NOON, LAST_TIME, None]),
    "i": jali.Range(0, 100),
    "wide": jali.Range(-(10**30), 10**30),
    "x": jali.Range("-1.5", 100),
    "huge": jali.Range(-1e300, 1e300),
    "d": jali.Range(_FIRST, _LAST),
    "ever": jali.Range(FIRST_DAY, LAST_DAY),
    "t": jali.Range(_NOON, _NOON + datetime.timedelta(days=3)),
    "always": jali.Range(FIRST_TIME, LAST_TIME),
}


def rows(people: int) -> pa.Table:
    """Make a table in which every key and every end of a range occurs."""
    keys = {name: given.values for name, given in COLUMNS.items() if isinstance(given, jali.Keys)}
    spans = {
        name: (given.low, given.high, None) for name, given in COLUMNS.items() if isinstance(given, jali.Range)
    }
    schema = pa.schema([("uid", pa.int64()), ("word", pa.string()), *((name, _type(name)) for name in COLUMNS)])
    made = []
    for person in range(people):
        for turn in range(4):
            row: dict[str, Any] = {"uid": person, "word": "ab"[person % 2]}
            row |= {name: values[turn % len(values)] for name, values in keys.items()}
            row |= {name: _stored(name, ends[(person + turn) % 3]) for name, ends in spans.items()}
            made.append(row)
    return pa.Table.from_pylist(made, schema=schema)


def _type(name: str) -> pa.DataType:
    types = {"k": pa.string(), "b": pa.bool_(), "n": pa.int64(), "i": pa.int64()}
    if name in ("day", "d", "ever"):
        return pa.date32()
    return pa.timestamp("us") if name in ("hour", "t", "always") else types.get(name, pa.float64())


def _stored(name: str, end: Any) -> Any:
    if end is None or isinstance(end, datetime.date):
        return end
    return int(end) if name == "i" else float(end)


# Of each aggregate, on each kind that it takes.
AGGREGATES: dict[str, str] = {
    "count": "COUNT(*)",
    "count of values": "COUNT(x)",
    "count of people": "COUNT(DISTINCT uid)",
    "count of different values": "COUNT(DISTINCT word)",
    "count if": "COUNT_IF(i > 3)",
    "sum of whole numbers": "SUM(i)",
    "sum": "SUM(x)",
    "sum beyond 64 bits": "SUM(wide)",
    "sum of huge numbers": "SUM(huge)",
    "filtered sum": "SUM(x) FILTER (WHERE FALSE)",
    "mean": "AVG(x)",
    "mean of huge numbers": "AVG(huge)",
    **{name: f"{name.upper()}(x)" for name in ("var_pop", "var_samp", "stddev_pop", "stddev_samp")},
    "variance of huge numbers": "VAR_POP(huge)",
    **{name: f"{name.upper()}(x, i)" for name in ("covar_pop", "covar_samp", "corr")},
    **{
        f"regr_{name}": f"REGR_{name.upper()}(x, i)"
        for name in ("slope", "intercept", "count", "avgx", "avgy", "sxx", "syy", "sxy", "r2")
    },
    "median": "MEDIAN(x)",
    "median of whole numbers": "MEDIAN(i)",
    "median beyond 64 bits": "MEDIAN(wide)",
    "median of huge numbers": "MEDIAN(huge)",
    "median of dates": "MEDIAN(d)",
    "median of times": "MEDIAN(t)",
    "quantiles": "QUANTILE_CONT(x, [0.25, 0.5])",
    "quantiles of dates": "QUANTILE_DISC(d, [0.25, 0.5])",
    "quantiles of times": "APPROX_QUANTILES(t, 2)",
    "quantile": "QUANTILE_CONT(i, 0.9)",
    **{f"{name} of {column}": f"{name}({column})" for name in ("MIN", "MAX") for column in ("i", "x", "d", "t")},
    "first of all dates": "MIN(ever)",
    "last of all times": "MAX(always)",
    **{f"mode of {column}": f"MODE({column})" for column in ("k", "n", "b", "day", "hour")},
    **{f"top of {column}": f"APPROX_TOP_K({column}, 2)" for column in ("k", "n", "b", "day", "hour")},
    **{f"histogram of {column}": f"HISTOGRAM({column})" for column in ("k", "n", "b", "day", "hour")},
    "histogram of bins": "HISTOGRAM(x, [1, 5, 20])",
    "histogram of huge bins": "HISTOGRAM(huge, [-1e299, 0, 1e299])",
    "distribution": "CDF(x, [0, 10])",
    "distribution of keys": "CDF(n)",
}
# What functions after the noise are tried on: keys, aggregates and constants, by kind.
OPERANDS: dict[str, tuple[str, ...]] = {
    "number": ("COUNT(*)", "SUM(huge)", "AVG(x)", "n", "1e300", "0"),
    "date": ("MIN(d)", "MAX(ever)", "day", "DATE '9999-12-31'"),
    "time": ("MAX(t)", "MIN(always)", "hour"),
    "text": ("MODE(k)", "k", "'A'"),
    "truth": ("COUNT(*) > 3", "MODE(b)", "b"),
    "nothing": ("NULL",),
}
_KEYS = ("n", "day", "hour", "k", "b")
_LISTS = {"number": "1, 2.5", "date": "'2025-01-01', '9999-12-31'", "time": "'2025-01-01 12:00:00'", "text": "'A'"}
_SHAPES: dict[str, tuple[str, ...]] = {
    **{sign: (f"({{}}) {sign} ({{}})",) for sign in ("+", "-", "*", "/", "//", "%")},
    **{sign: (f"({{}}) {sign} ({{}})",) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    **{word: (f"({{}}) {word.upper()} ({{}})",) for word in ("and", "or", "is distinct from")},
    "is not distinct from": ("({}) IS NOT DISTINCT FROM ({})",),
    "negate": ("-({})",),
    "not": ("NOT ({})",),
    "is null": ("({}) IS NULL",),
    "in": tuple(f"({{}}) IN ({listed})" for listed in _LISTS.values()),
    "round": ("ROUND({})", "ROUND({}, 2)", "ROUND({}, -3)"),
    "clamp": ("CLAMP({}, -5, 1e15)",),
    "width_bucket": ("WIDTH_BUCKET({}, 0, 10, 5)",),
    "case": ("CASE WHEN {} THEN {} ELSE {} END",),
    "coalesce": ("COALESCE({}, {})",),
    "least": ("LEAST({}, {}, {})",),
    "greatest": ("GREATEST({}, {}, {})",),
    "whole": ("CAST({} AS BIGINT)",),
    "number": ("CAST({} AS DOUBLE)",),
}


@dataclass(frozen=True)
class After:
    """A function over noisy values of some kinds, written with operands of those kinds."""

    function: str
    shape: str
    kinds: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The expression."""
        return self.shape.format(*self.operands)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that its question groups by."""
        return tuple(sorted({name for name in self.operands if name in _KEYS}))


def after() -> Iterator[list[After]]:
    """Give each function that may stand after the noise, on each combination of kinds with all of its operands."""
    for function in (f for f in FUNCTIONS.values() if f.after):
        plain = f"{function.name.upper()}({', '.join(['{}'] * function.least)})"
        for shape in _SHAPES.get(function.name, (plain,)):
            for kinds in product(OPERANDS, repeat=shape.count("{}")):
                operands = product(*(OPERANDS[kind] for kind in kinds))
                yield [After(function.name, shape, kinds, some) for some in operands]


GROUPINGS: dict[str, str] = {
    "none": "SELECT {} FROM v",
    **{f"by {key}": f"SELECT {key}, {{}} FROM v GROUP BY {key}" for key in ("k", "n", "b", "day", "hour")},
    "by two": "SELECT k, b, {} FROM v GROUP BY k, b",
    "by a range": "SELECT d, {} FROM v GROUP BY d",
    "by a year": "SELECT YEAR(d), {} FROM v GROUP BY YEAR(d)",
    "by a truncated time": "SELECT DATE_TRUNC('day', t), {} FROM v GROUP BY 1",
    "by a date beyond the calendar": "SELECT d + INTERVAL 9000 YEAR, {} FROM v GROUP BY 1",
    "by a date at its end": "SELECT d + INTERVAL 7974 YEAR + INTERVAL 360 DAY, {} FROM v GROUP BY 1",
    "totals": "SELECT k, b, GROUPING(k, b), {} FROM v GROUP BY ROLLUP (k, b)",
    "without totals": "SELECT k, b, {} FROM v GROUP BY CUBE (k, b) HAVING GROUPING(k) = 0",
    "unknown words": "SELECT word, {} FROM v GROUP BY word",
    "unknown dates": "SELECT ever, {} FROM v GROUP BY ever",
    "unknown times": "SELECT always, {} FROM v GROUP BY always",
    "unknown numbers": "SELECT LENGTH(word), {} FROM v GROUP BY LENGTH(word)",
    "no rows": "SELECT k, {} FROM v GROUP BY k HAVING COUNT(*) IS NULL",
    "no rows wanted": "SELECT k, {} FROM v GROUP BY k LIMIT 0",
}
