"""Compile-only queries, run by DuckDB after sqlglot's translation.

This catches mistakes in the logic of a query: wrong places, forgotten NULLs, off-by-one months. It says nothing of
what the engine itself does: that is for a real server, and for the texts that the tests of each dialect look at.
"""

from __future__ import annotations

import re

from sqlglot import exp
from tests.engines.compiled import parsed

_NOT_OVERFLOWN = "CASE WHEN isinf({0}) AND NOT isinf(a) AND NOT isinf(b) THEN NULL ELSE {0} END"
_SAFE = {"safe_add": "a + b", "safe_subtract": "a - b", "safe_multiply": "a * b", "safe_pow": "pow(a, b)"}
# Functions of the engines under names that sqlglot leaves alone.
MACROS = (
    "".join(f"CREATE MACRO {name}(a, b) AS {_NOT_OVERFLOWN.format(f)};" for name, f in _SAFE.items())
    + """
CREATE MACRO safe_exp(a) AS CASE WHEN isinf(exp(a)) AND NOT isinf(a) THEN NULL ELSE exp(a) END;
CREATE MACRO ieee_divide(a, b) AS CAST(a AS DOUBLE) / CAST(b AS DOUBLE);
CREATE MACRO safe_date(y, m, d) AS TRY(make_date(y, m, d));
CREATE MACRO safe_datetime(y, m, d, h, i, s) AS TRY(make_timestamp(y, m, d, h, i, s::DOUBLE));
CREATE MACRO safe_date_add(d, i) AS TRY(CAST(d + i AS DATE));
CREATE MACRO safe_date_sub(d, i) AS TRY(CAST(d - i AS DATE));
CREATE MACRO safe_datetime_add(d, i) AS TRY(d + i);
CREATE MACRO log_to(x, b) AS ln(x) / ln(b);
CREATE MACRO log_by(b, x) AS ln(x) / ln(b);
CREATE MACRO char_length(x) AS length(x);
CREATE MACRO day_from_one(t) AS dayofweek(t) + 1;
CREATE MACRO name_a(t) AS dayname(t);
CREATE MACRO name_b(t) AS monthname(t);
CREATE MACRO spelled(t) AS CAST(t AS VARCHAR);
CREATE MACRO spelled_day(t) AS strftime(t, '%Y-%m-%d');
CREATE MACRO spelled_time(t) AS strftime(t, '%Y-%m-%d %H:%M:%S.%f');
CREATE MACRO read_day(x, f) AS TRY_CAST(x AS DATE);
CREATE MACRO read_time(x, f) AS TRY_CAST(x AS TIMESTAMP);
CREATE MACRO strict_least(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE least(a, b) END;
CREATE MACRO strict_greatest(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE greatest(a, b) END;
CREATE MACRO listed(j) AS TABLE SELECT row_number() OVER () - 1 AS "index", x AS value
    FROM (SELECT unnest(from_json(j, '["VARCHAR"]')) AS x);
"""
)
_BIGQUERY = (
    (r"`project`\.`clinic`\.", ""),
    (r"\bSAFE\.(\w+)\(", r"SAFE_\1("),
    (r"\bLOG\(", "LOG_TO("),
    # sqlglot keeps the offset of BigQuery, from 0, as the ordinality of DuckDB, from 1.
    (r"SELECT place, value FROM UNNEST", "SELECT place - 1 AS place, value FROM UNNEST"),
    (r"EXTRACT\(DAYOFWEEK FROM", "DAY_FROM_ONE("),
    (r"EXTRACT\(ISOWEEK FROM", "WEEKOFYEAR("),
    (r"FORMAT_DATETIME\('%([AB])', ", r"NAME_\1("),
    (r"FORMAT_DATETIME\('[^']*S', ", "SPELLED("),
)
_SNOWFLAKE = (
    (r'"DB"\."CLINIC"\.', ""),
    (
        r"TABLE\(FLATTEN\(INPUT => PARSE_JSON\(('(?:[^'\\]|\\.|'')*')\)\)\) AS f",
        r"(SELECT * FROM LISTED(\1)) AS f",
    ),
    (r"\bLOG\(", "LOG_BY("),
    (r"\bTRY_TO_DATE\(", "READ_DAY("),
    (r"\bTRY_TO_TIMESTAMP_NTZ\(", "READ_TIME("),
)
_WORDS = {"bigquery": _BIGQUERY, "snowflake": _SNOWFLAKE}


def translated(sql: str, name: str) -> str:
    """Return a query of an engine in DuckDB's SQL, over tables without a schema."""
    for word, other in _WORDS[name]:
        sql = re.sub(word, other, sql)
    return parsed(sql, name).transform(_same).sql(dialect="duckdb")


def _same(node: exp.Expression) -> exp.Expression:
    """Put in what sqlglot takes for something else: DuckDB leaves NULLs out, and its decimals are short."""
    if isinstance(node, exp.Least | exp.Greatest) and not node.args.get("ignore_nulls"):
        return exp.Anonymous(this=f"strict_{node.key}", expressions=[node.this, *node.expressions])
    if isinstance(node, exp.ToChar) and node.args.get("format"):
        timed = "hh" in node.args["format"].name.lower()
        return exp.Anonymous(this="spelled_time" if timed else "spelled_day", expressions=[node.this])
    if isinstance(node, exp.DataType) and node.this in (exp.DataType.Type.BIGDECIMAL, exp.DataType.Type.DECIMAL):
        cast = node.parent
        rounded = cast is not None and isinstance(cast.parent, exp.Round)
        return exp.DataType.build("DOUBLE" if rounded else "HUGEINT")
    return node
