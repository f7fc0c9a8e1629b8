"""Every position in which a column can stand in a question, and every function on it.

A new function joins by its cases in `tests/exact/test_functions.py`, which holds one for each that is registered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.domain.columns import Column
from tests.exact.test_functions import EVERY

from jali.catalog.columns import Kind
from jali.ir.expressions import Call, Expression, walk
from jali.ir.expressions import Column as Name
from jali.sql.reader.read_select import read_value

ANY = frozenset(kind for kind in Kind if kind is not Kind.OTHER)
NUMBERS = frozenset({Kind.INTEGER, Kind.REAL})
DATED = frozenset({Kind.DATE, Kind.TIMESTAMP})


@dataclass(frozen=True)
class Form:
    """A position: {t} is the table, {c} the column."""

    sql: str
    kinds: frozenset[Kind] = ANY


FORMS: dict[str, Form] = {
    "counted": Form("SELECT COUNT({c}), COUNT(*) FILTER (WHERE {c} IS NULL) FROM {t}"),
    "told apart": Form("SELECT COUNT(DISTINCT {c}) FROM {t}"),
    "told apart in groups": Form("SELECT name IS NULL, COUNT(DISTINCT {c}) FROM {t} GROUP BY 1"),
    "filtered": Form("SELECT COUNT(*) FROM {t} WHERE {c} IS NOT NULL AND NOT ({c} IS DISTINCT FROM {c})"),
    "of one person": Form("SELECT COUNT(CASE WHEN name = 'Bob' THEN {c} END) FROM {t}"),
    "as text": Form("SELECT COUNT(DISTINCT CASE WHEN name = 'Bob' THEN CAST({c} AS TEXT) END) FROM {t}"),
    "among texts": Form("SELECT COUNT(DISTINCT name || '-' || {c} || CONCAT({c}, name)) FROM {t}"),
    "chosen": Form("SELECT COUNT(COALESCE({c}, {c})), COUNT(NULLIF({c}, {c})), MODE({c} IS NULL) FROM {t}"),
    "a key": Form("SELECT {c} AS g, COUNT(*) FROM {t} GROUP BY 1"),
    "a key beside others": Form(
        "SELECT {c} AS g, name AS h, COUNT(DISTINCT uid), MEDIAN(CLAMP(uid, 0, 9)) FROM {t} GROUP BY 1, 2"
    ),
    "a key by its text": Form("SELECT CAST({c} AS TEXT) AS g, COUNT(*) FROM {t} GROUP BY 1"),
    "distinct rows": Form("SELECT COUNT(*) FROM (SELECT DISTINCT uid, {c} FROM {t})"),
    "all rows": Form("SELECT COUNT(*) FROM (SELECT * FROM {t})"),
    "distinct rows of all columns": Form("SELECT COUNT(*) FROM (SELECT DISTINCT * FROM {t})"),
    "stacked": Form("SELECT COUNT({c}) FROM (SELECT uid, {c} FROM {t} UNION ALL SELECT uid, {c} FROM {t})"),
    "stacked distinct": Form("SELECT COUNT({c}) FROM (SELECT uid, {c} FROM {t} UNION SELECT uid, {c} FROM {t})"),
    "a key of each person": Form(
        "SELECT COUNT(*), SUM(n) FROM (SELECT uid, {c}, COUNT(*) AS n FROM {t} GROUP BY uid, {c})"
    ),
    "ends of each person": Form(
        "SELECT COUNT(a), COUNT(b) FROM (SELECT uid, MIN({c}) AS a, MAX({c}) AS b, COUNT(DISTINCT {c}) AS n"
        " FROM {t} GROUP BY uid HAVING COUNT({c}) >= 0)"
    ),
    "joined on it": Form("SELECT COUNT(*) FROM {t} a JOIN {t} b ON a.uid = b.uid AND a.{c} = b.{c}"),
    "joined by order": Form("SELECT COUNT(b.{c}) FROM {t} a LEFT JOIN {t} b ON a.uid = b.uid AND a.{c} < b.{c}"),
    "using it": Form("SELECT COUNT(*) FROM {t} a JOIN {t} b USING (uid, {c})"),
    "joined three ways": Form(
        "SELECT COUNT(*) FROM {t} a JOIN {t} b USING (uid) FULL JOIN {t} c USING (uid) WHERE a.{c} = c.{c}"
    ),
    "met": Form("SELECT COUNT(*) FROM {t} WHERE uid IN (SELECT uid FROM {t} WHERE {c} IS NOT NULL)"),
    "met by it": Form(
        "SELECT COUNT(*) FROM {t} a WHERE EXISTS (SELECT 1 FROM {t} b WHERE b.uid = a.uid AND b.{c} <> a.{c})"
    ),
    "not met by it": Form("SELECT COUNT(*) FROM {t} a ANTI JOIN {t} b ON b.uid = a.uid AND b.{c} = a.{c}"),
    "among public values": Form("SELECT COUNT(*) FROM {t} WHERE {c} IN (SELECT {c} FROM known)"),
    "joined to public values": Form("SELECT COUNT(k.label) FROM {t} LEFT JOIN known k ON {t}.{c} = k.{c}"),
    "summed": Form("SELECT SUM(CLAMP({c}, -5, 100)), AVG(CLAMP({c}, -5, 100)) FROM {t}", NUMBERS),
    "moments": Form(
        "SELECT VAR_POP(CLAMP({c}, 0, 9)), CORR(CLAMP({c}, 0, 9), CLAMP({c} * {c}, 0, 9)) FROM {t}", NUMBERS
    ),
    "quantiles": Form("SELECT MEDIAN(CLAMP({c}, 0, 9)), MIN(CLAMP({c}, 0, 9)) FROM {t}", NUMBERS),
    "cells": Form("SELECT HISTOGRAM(CLAMP({c}, 0, 9), [1, 5]), CDF(CLAMP({c}, 0, 9), [1, 5]) FROM {t}", NUMBERS),
    "bins": Form("SELECT WIDTH_BUCKET({c}, 0, 10, 5) AS g, COUNT(*) FROM {t} GROUP BY 1", NUMBERS),
    "a rounded key": Form("SELECT FLOOR({c} / 3) AS g, MEDIAN(CLAMP({c}, 0, 9)) FROM {t} GROUP BY 1", NUMBERS),
    "summed for each person": Form(
        "SELECT SUM(s), AVG(m) FROM (SELECT uid, SUM(CLAMP({c}, 0, 9)) AS s, AVG(CLAMP({c}, 0, 9)) AS m FROM {t}"
        " GROUP BY uid)",
        NUMBERS,
    ),
    "ends of dates": Form("SELECT MIN({c}), MAX({c}), MEDIAN({c}) FROM {t}", DATED),
    "a month": Form("SELECT DATE_TRUNC('month', {c}) AS g, COUNT(*) FROM {t} GROUP BY 1", DATED),
    "a week": Form("SELECT WEEK({c}) AS g, COUNT(*), SUM(YEAR({c})) FROM {t} GROUP BY 1", DATED),
    "a key beyond its range": Form(
        "SELECT CAST(CAST({c} AS TEXT) AS TIMESTAMP) AS g, COUNT(*) FROM {t} GROUP BY 1", DATED
    ),
    "days apart": Form("SELECT SUM(CLAMP(DATE_DIFF('day', {c}, DATE '2025-01-01'), 0, 99)) FROM {t}", DATED),
    "a truth": Form(
        "SELECT {c} AS g, COUNT(*) FILTER (WHERE {c}), HISTOGRAM({c}) FROM {t} GROUP BY 1",
        frozenset({Kind.BOOLEAN}),
    ),
}

# Positions in which a column of another type would be read if it could be named.
UNREADABLE = (
    "SELECT COUNT({c}) FROM {t}",
    "SELECT COUNT(DISTINCT {c}) FROM {t}",
    "SELECT COUNT(*) FROM {t} WHERE {c} IS NULL",
    "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c}",
    "SELECT COUNT(*) FROM {t} GROUP BY {c}",
    "SELECT COUNT(*) FROM (SELECT DISTINCT uid, {c} FROM {t})",
    "SELECT COUNT(*) FROM (SELECT uid, {c} FROM {t})",
    "SELECT COUNT(*) FROM (SELECT uid, {c} FROM {t} UNION SELECT uid, {c} FROM {t})",
    "SELECT COUNT(*) FROM (SELECT uid, {c} AS g FROM {t} UNION ALL SELECT uid, {c} FROM {t})",
    "SELECT COUNT(*) FROM (SELECT uid, {c}, COUNT(*) AS n FROM {t} GROUP BY uid, {c})",
    "SELECT COUNT(*) FROM (SELECT uid, MIN({c}) AS m FROM {t} GROUP BY uid)",
    "SELECT COUNT(*) FROM (SELECT uid, COUNT(DISTINCT {c}) AS m FROM {t} GROUP BY uid)",
    "SELECT COUNT(*) FROM {t} a JOIN {t} b USING (uid, {c})",
    "SELECT COUNT(*) FROM {t} a JOIN {t} b ON a.uid = b.uid AND a.{c} = b.{c}",
    "SELECT COUNT(*) FROM {t} WHERE {c} IN (SELECT {c} FROM {t})",
    "SELECT COUNT(*) FROM {t} WHERE uid IN (SELECT uid FROM {t} WHERE {c} IS NULL)",
    "SELECT COUNT(*) FROM {t} ORDER BY {c}",
    "SELECT COUNT(*) FROM {t} GROUP BY uid HAVING {c} IS NULL",
    "SELECT MODE({c}) FROM {t}",
    "SELECT COUNT(COALESCE({c}, {c})) FROM {t}",
    "SELECT COUNT(CASE WHEN {c} IS NULL THEN 1 END) FROM {t}",
    "SELECT COUNT(CAST({c} AS TEXT)) FROM {t}",
    "SELECT COUNT({t}.{c}) FROM {t}",
    "WITH q AS (SELECT {c} FROM {t}) SELECT COUNT(*) FROM q",
)

# The columns of the cases, by their kinds: those of a case stand for the column that is tried, and for others.
_LETTERS: dict[Kind, str] = {
    Kind.INTEGER: "ijnm",
    Kind.REAL: "xyzw",
    Kind.TEXT: "sr",
    Kind.BOOLEAN: "bc",
    Kind.DATE: "defg",
    Kind.TIMESTAMP: "tuh",
}


def expressions(column: Column, others: Sequence[Column]) -> Iterator[tuple[str, Expression]]:
    """Give every function on a column, beside itself and beside columns of other kinds that are as hostile."""
    assert column.kind is not None
    by_kind = {other.kind: other.name for other in others if other.kind is not None} | {column.kind: column.name}
    names = {letter: by_kind.get(kind) for kind, letters in _LETTERS.items() for letter in letters}
    for function, case in EVERY:
        expression = read_value(case.asked)
        used = {node.name for node in walk(expression) if isinstance(node, Name)}
        if used & set(_LETTERS[column.kind]) and all(names[name] for name in used):
            yield function, _renamed(expression, names)


def _renamed(expression: Expression, names: Mapping[str, str | None]) -> Expression:
    if isinstance(expression, Name):
        return replace(expression, name=names[expression.name] or expression.name)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_renamed(a, names) for a in expression.arguments))
    return expression
