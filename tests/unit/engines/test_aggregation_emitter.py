"""Weights by the L2 norm: the engine's integers against whole-number arithmetic of their own."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

import duckdb
import pyarrow as pa
import pytest
from tests.exact.test_plain_sql import ENGINE

import jali
from jali.engines.duckdb.dialect import emit
from jali.ledger import SqliteLedger
from jali.planner import Plan

WHOLE = 1 << 20
MAX_ROWS = 5
GROUPS = ("A", "B", None)
# Keys that nobody declared are dropped, and do not count.
OTHERS = ("Z", "b")
SQL = "SELECT g, COUNT(*), SUM(n), COUNT(n) FROM t GROUP BY g"
Row = tuple[int | None, str | None, int | None]


@contextmanager
def database(rows: Sequence[Row], adjacency: str = "add-remove") -> Iterator[jali.Database]:
    uid, g, n = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {"uid": pa.array(uid, pa.int64()), "g": pa.array(g, pa.string()), "n": pa.array(n, pa.int64())}
    )
    columns: dict[str, jali.Keys | jali.Range] = {"g": jali.Keys(list(GROUPS)), "n": jali.Range(-30, 40)}
    budget = jali.Budget(epsilon=10**6, delta=1e-6)
    with SqliteLedger(None) as ledger:
        db = jali.Database(ledger, ENGINE)
        db.protect("t", table, unit="uid", max_rows=MAX_ROWS, columns=columns, budget=budget, adjacency=adjacency)
        yield db


def exact(plan: Plan) -> list[tuple[int, ...]]:
    (part,) = plan.parts
    return [tuple(map(int, row)) for row in ENGINE.run(part.sql, plan.read)]


def weight(squared: int) -> int:
    """The largest whole w <= 2^20 with w^2 squared <= (5 * 2^20)^2."""
    return min(WHOLE, math.isqrt((MAX_ROWS * WHOLE) ** 2 // squared))


def expected(rows: Sequence[Row], center: int) -> list[tuple[int, ...]]:
    kept = [row for row in rows if row[0] is not None and row[1] in GROUPS]
    of: dict[int | None, Counter[str | None]] = {}
    for uid, g, _ in kept:
        of.setdefault(uid, Counter())[g] += 1
    w = {uid: weight(sum(c * c for c in counts.values())) for uid, counts in of.items()}
    found: list[tuple[int, ...]] = []
    for group in GROUPS:
        mine = [(w[uid], n) for uid, g, n in kept if g == group]
        total = sum(w * (min(max(n, -30), 40) - center) for w, n in mine if n is not None)
        found.append((sum(w for w, _ in mine), total, sum(w for w, n in mine if n is not None)))
    return found


def random_rows(chance: Random, people: int) -> list[Row]:
    rows: list[Row] = []
    for uid in [*range(people), None]:
        favourite = chance.choice(GROUPS)
        for _ in range(chance.choice((1, 2, 6, 13, 40))):
            g = favourite if chance.random() < 0.5 else chance.choice(GROUPS + OTHERS)
            rows.append((uid, g, chance.choice((None, -(2**63), -30, -7, 0, 5, 40, 2**63 - 1))))
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_each_row_weighs_the_largest_whole_number_that_the_bound_allows(seed: int) -> None:
    rows = random_rows(Random(seed), 60)
    with database(rows) as db:
        plan = db.explain(SQL, rho=1)
        assert plan.aggregation.weights is not None
        assert plan.aggregation.weights.norm == "l2"
        (total,) = (m for m in plan.aggregation.measures if hasattr(m, "center"))
        order = [
            type(m).__name__ + str(getattr(m, "present", None) is not None) for m in plan.aggregation.measures
        ]
        assert order == ["CountRowsFalse", "SumValuesFalse", "CountRowsTrue"]
        assert exact(plan) == expected(rows, int(total.center))


@pytest.mark.parametrize("squared", [1, 25, 26, 10**4, 25 * 2**40, 2**62, 3 * 10**19, 2**80 + 1])
def test_weights_are_exact_however_many_rows_one_person_has(squared: int) -> None:
    """Billions of rows of one person: squares go beyond 64 bits, and raise nothing."""
    root = math.isqrt(squared)
    with database([(1, "A", 1)]) as db:
        sql = emit(db.explain(SQL, rho=1).aggregation)
    weights = re.search(r"lengths AS \((.*?)\),\n(weights AS .*?),\ntotals", sql, re.DOTALL)
    assert weights is not None
    pairs = f"pairs AS (SELECT 7 AS owner, 'A' AS k0, CAST({root} AS BIGINT) AS n)"
    keys = "keys0 AS (SELECT 0 AS place, 'A' AS value)"
    given = f"WITH {keys}, {pairs}, lengths AS ({weights[1]}), {weights[2]} SELECT w FROM weights"
    with duckdb.connect() as connection:
        assert connection.execute(given).fetchall() == [(weight(root**2),)]


@pytest.mark.parametrize("rows", [r for r in range(4, 400) if 5 * WHOLE % r < 3 or r % 37 == 0])
def test_a_root_that_is_nearly_whole_is_settled_in_whole_numbers(rows: int) -> None:
    assert weight(rows**2) * rows <= MAX_ROWS * WHOLE
    with database([(1, "A", 1)] * rows) as db:
        assert exact(db.explain(SQL, rho=1))[0][0] == rows * weight(rows**2)


def test_a_person_with_a_row_in_each_group_keeps_more_than_by_the_number_of_rows() -> None:
    rows: list[Row] = [(1, g, 1) for g in GROUPS for _ in range(4)]
    with database(rows) as db:
        plan = db.explain("SELECT g, COUNT(*) FROM t GROUP BY g", epsilon=1)
        by_length, by_number = exact(db.explain(SQL, rho=1))[0][0], exact(plan)[0][0]
    assert by_number == 4 * (5 * WHOLE // 12)
    assert by_length == 4 * math.isqrt((5 * WHOLE) ** 2 // 48)
