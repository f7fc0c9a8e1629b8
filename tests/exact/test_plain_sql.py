"""With the noise off, every supported question equals plain SQL on the clamped and weighted data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.exact.reference import expected_integers, groups_of, rows_of
from tests.exact.strategies import Asked, questions, table_of, tables
from tests.harness import in_measures, noise_off

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.ir.aggregates import CountPeople, CountRows, SumValues
from jali.ledger import SqliteLedger
from jali.planner import Plan
from jali.sql.reader.read_select import read_sql

COLUMNS: dict[str, jali.Range | jali.Keys] = {
    "g": jali.Keys(["A", "B", "", None]),
    "h": jali.Keys([1, 2]),
    "x": jali.Range(-10, 10),
    "n": jali.Range(0, 100),
    "k": jali.Range(-3, 5.5),
}
# Opening DuckDB costs more than a question: the databases of all examples read through one engine.
ENGINE = DuckDBEngine()


@contextmanager
def database(table: pa.Table, unit: str | None, max_rows: int | None, adjacency: str) -> Iterator[jali.Database]:
    """Protect a table in a new database."""
    with SqliteLedger(None) as ledger:
        db = jali.Database(ledger, ENGINE)
        budget = jali.Budget(epsilon=10**6, delta=1e-6)
        db.protect("t", table, unit=unit, max_rows=max_rows, columns=COLUMNS, budget=budget, adjacency=adjacency)
        yield db


def plain_values(asked: Asked, plan: Plan) -> list[str]:
    """Return the plain SQL of each measure that needs a value, in the plan's order of measures."""
    by_node = {}
    for (aggregate, _), function, value in zip(plan.estimates, _distinct(asked), _values(asked), strict=True):
        if function not in ("COUNT(*)", "PEOPLE"):
            by_node[aggregate.argument] = value
    wanted = []
    for measure in plan.aggregation.measures:
        node = getattr(measure, "value", None) or getattr(measure, "present", None)
        if node is not None:
            wanted.append(by_node[node])
    return wanted


def _pairs(asked: Asked) -> list[tuple[str, str]]:
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for function, value in zip(asked.functions, asked.values, strict=True):
        key = (function, "" if function in ("COUNT(*)", "PEOPLE") else value.asked)
        seen.setdefault(key, (function, value.plain))
    return list(seen.values())


def _distinct(asked: Asked) -> list[str]:
    return [function for function, _ in _pairs(asked)]


def _values(asked: Asked) -> list[str]:
    return [value for _, value in _pairs(asked)]


def expected_answers(asked: Asked, plan: Plan, integers: list[list[int]]) -> list[tuple[Any, ...]]:
    """Turn exact integers into the numbers a reader expects, without the estimates of the plan."""
    measures = plan.aggregation.measures
    aggregation = plan.aggregation
    groups = groups_of(plan)
    rows = []
    for j, group in enumerate(groups):
        row: list[Any] = list(group)
        for aggregate in [
            a for output in plan.question.outputs if (a := output.expression) and hasattr(a, "distinct")
        ]:
            units = {i: integers[i][j] * aggregation.unit(m) for i, m in enumerate(measures)}
            row.append(_expected(aggregate, measures, units))
        rows.append(tuple(row))
    return rows


def _expected(aggregate: Any, measures: tuple[Any, ...], units: dict[int, Fraction]) -> float | None:
    if aggregate.distinct:
        return float(units[measures.index(CountPeople())])
    if aggregate.argument is None:
        return float(units[measures.index(CountRows())])
    counts = [i for i, m in enumerate(measures) if isinstance(m, CountRows) and m.present == aggregate.argument]
    if aggregate.function == "count":
        return float(units[counts[0]])
    sums = [i for i, m in enumerate(measures) if isinstance(m, SumValues) and m.value == aggregate.argument]
    if aggregate.function == "sum":
        return _expected_sum(measures, units, sums, counts)
    sums = [i for i in sums if measures[i].missing is None]
    index = sums[0] if len(sums) == 1 else next(i for i in sums if _is_centred(measures[i]))
    if units[counts[0]] <= 0:
        return None
    return float(units[index] / units[counts[0]] + measures[index].center)


def _expected_sum(
    measures: tuple[Any, ...], units: dict[int, Fraction], sums: list[int], counts: list[int]
) -> float:
    """A sum by itself; or centred, and the middle for each row; or for each value, as the mean beside it is."""
    for i in sums:
        if measures[i].missing is not None:
            return float(units[i] + measures[i].center * units[measures.index(CountRows())])
    alone = [i for i in sums if measures[i].center == 0]
    return float(units[alone[0]] if alone else units[sums[0]] + measures[sums[0]].center * units[counts[0]])


def _is_centred(measure: SumValues) -> bool:
    return abs(measure.low + measure.high - 2 * measure.center) <= 1


def compare(
    asked: Asked, table: pa.Table, unit: str | None, max_rows: int | None, adjacency: str, gaussian: bool
) -> None:
    with database(table, unit, max_rows, adjacency) as db, noise_off():
        loss: dict[str, Any] = {"rho": "1/10"} if gaussian else {"epsilon": 1}
        try:
            question = read_sql(asked.sql)
            plan = db.explain(question, **loss)
        except jali.errors.Unsupported:
            return
        answer = db.ask(question, **loss)
        rows = rows_of(table, asked.where, plain_values(asked, plan))
        integers = expected_integers(plan, rows, unit is not None)
        expected = expected_answers(asked, plan, integers)
        assert in_measures(plan, answer.release.levels[0].noisy) == integers, asked.sql
        for got, wanted in zip(answer.rows, expected, strict=True):
            for a, b in zip(got, wanted, strict=True):
                assert a == b or (isinstance(b, float) and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)), (
                    asked.sql
                )
        spans = answer.interval()
        assert len(spans) == len(expected)


@settings(max_examples=60 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(table=tables, asked=questions(person_level=True), max_rows=st.integers(1, 4), data=st.data())
def test_person_level_questions_equal_plain_sql(
    table: pa.Table, asked: Asked, max_rows: int, data: st.DataObject
) -> None:
    adjacency = data.draw(st.sampled_from(["add-remove", "replace-one"]))
    compare(asked, table, "uid", max_rows, adjacency, data.draw(st.booleans()))


@settings(max_examples=40 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(table=tables, asked=questions(person_level=False), data=st.data())
def test_row_level_questions_equal_plain_sql(table: pa.Table, asked: Asked, data: st.DataObject) -> None:
    adjacency = data.draw(st.sampled_from(["add-remove", "replace-one"]))
    compare(asked, table, None, None, adjacency, data.draw(st.booleans()))


@pytest.mark.parametrize("unit", ["uid", None])
def test_an_empty_table_gives_zero_for_every_key(unit: str | None) -> None:
    with database(table_of([]), unit, 2 if unit else None, "add-remove") as db, noise_off():
        answer = db.ask("SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t GROUP BY g", epsilon=1)
        assert answer.rows == [(key, 0, 0, None) for key in ("A", "B", "", None)]
        assert db.ask("SELECT COUNT(*), SUM(x), AVG(n) FROM t", epsilon=1).rows == [(0, 0, None)]
