"""What tests of compile-only dialects share: the golden tables as an engine would hold them, and its parser."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp
from tests.golden.cases import Case, plan_of
from tests.golden.catalog import clinic

from jali.engines.dialects import dialect_of, written
from jali.engines.sql import emit_ticks
from jali.engines.sql.expressions import Emitter
from jali.query.aggregation import KeySet
from jali.query.catalog import Catalog, Field, Kind, Public, Source, Table
from jali.query.followed import Followed
from jali.query.nodes import Column
from jali.query.read_sql import read_value
from jali.query.relation import Scan

# Words of DuckDB that are none of the others', or mean something else there.
OF_DUCKDB = (
    r"\bTRY_CAST\b",
    r"\bTRY\(",
    r"::",
    r"//",
    r"\blist_\w+\(",
    r"\bFILTER \(WHERE\b",
    r"\bSEMI JOIN\b",
    r"\bQUALIFY\b",
    r"GROUP BY \(\)",
    r"\bunnest\(range\(",
    r"\bMATERIALIZED\b",
    r"\bread_(parquet|csv)\b",
    r"\bepoch_us\b",
    r"\b(HUGEINT|BIGINT|DOUBLE)\b",
    r"\bOFFSET 0\b",
    r"\bregexp_(matches|full_match)\b",
    r"\bLIMIT -",
)


def parsed(sql: str, name: str) -> exp.Expr:
    """Return the query as sqlglot reads it; fail if it does not."""
    found = sqlglot.parse_one(sql, dialect=name, error_level=sqlglot.ErrorLevel.RAISE)
    assert not list(found.find_all(exp.Command))
    return found


def bare(sql: str, name: str) -> str:
    """Return the query without its constants and quoted names, in which any word may stand."""
    quote = "`" if name == "bigquery" else '"'
    return re.sub(rf"'(?:[^'\\]|\\.|'')*'|{quote}(?:[^{quote}\\]|\\.)*{quote}", "?", sql, flags=re.DOTALL)


def check(sql: str, name: str) -> None:
    """Fail if a text does not parse, or has words of DuckDB."""
    parsed(sql, name)
    words = bare(sql, name)
    assert [word for word in OF_DUCKDB if re.search(word, words, re.IGNORECASE)] == []


@cache
def catalog(name: str) -> Catalog:
    """Return the golden declarations over tables of an engine."""
    with clinic() as opened:
        return Catalog(tuple(_moved(table, name) for table in opened.catalog.tables))


def _moved(table: Table | Public, name: str) -> Any:
    source = Source(name, "project", f"clinic.{table.name}" if name == "bigquery" else f"DB.CLINIC.{table.name}")
    fields = tuple(replace(field, type=_type(field, name)) for field in table.fields)
    if isinstance(table, Table) and table.reach is not None:
        reach = replace(table.reach, table=_moved(table.reach.table, name))
        return replace(table, source=source, fields=fields, reach=reach)
    return replace(table, source=source, fields=fields)


def _type(field: Field, name: str) -> str:
    return dialect_of(name).type_name(field.kind)


@cache
def queries(case: Case, name: str) -> tuple[str, ...]:
    """Return the queries of all parts of a golden question."""
    return tuple(written(part.aggregation, name) for part in plan_of(case, catalog(name)).parts)


def retyped(table: Table, name: str) -> Table:
    """Return a table with the types that an engine has."""
    return replace(table, fields=tuple(replace(field, type=_type(field, name)) for field in table.fields))


def expression(asked: str, table: Table, name: str) -> str:
    """Return an expression over a table of an engine."""
    return Emitter(retyped(table, name), dialect_of(name)).write(read_value(asked))


def stream(name: str) -> str:
    """Return what a stream would take from the visits."""
    table = catalog(name).find("visits")
    assert isinstance(table, Table)
    ward = KeySet(Column("ward"), Kind.TEXT, ("A", "it's", None))
    followed = Followed(Scan(table, ""), Column("patient_id"), Column("at"), "week", (ward,), "count")
    span = datetime(2026, 1, 5), datetime(2026, 3, 2)  # noqa: DTZ001 - the columns have no time zone
    return emit_ticks(followed, span, 5, dialect_of(name))
