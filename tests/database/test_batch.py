"""Batches from end to end: exact without noise, agreeing with it, charged once, redeemed once."""

from __future__ import annotations

import datetime
import math
import multiprocessing
import signal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.coverage.repeated import seeded
from tests.database import batched
from tests.database.clinic import open_clinic
from tests.depth import thinned
from tests.frames import normalized
from tests.harness import noise_off

import jali
from jali.execution.measure import measure as draw
from jali.ir.ownership import changes
from jali.ledger import ReceiptState
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.planner.batch import BATCHES, BatchPlan
from jali.planner.query_sensitivity import l1_sensitivity

DAY = datetime.date(2025, 1, 1)
# Rows that no key or range speaks of: other wards, NULL, NaN, infinities, ages beyond the range.
QUESTIONS = [
    "SELECT COUNT(*) FROM t",
    "SELECT ward, COUNT(*) FROM t GROUP BY ward",
    "SELECT COUNT(*) FROM t WHERE age > 60",
    "SELECT COUNT(*) FROM t WHERE age > 60 AND cost >= 50",
    "SELECT COUNT(*) FROM t WHERE NOT (age > 60)",
    "SELECT ward, COUNT(*) FROM t WHERE age BETWEEN 20 AND 39 GROUP BY ward",
    "SELECT age > 60 AS old, COUNT(*) FROM t GROUP BY old",
    "SELECT COUNT(cost) FROM t",
    "SELECT COUNT(*) FILTER (WHERE cost > 90) FROM t",
    "SELECT COUNT(cost) FROM t WHERE cost > 90",
    "SELECT COUNT(*) FROM t WHERE ward IN ('A', 'D')",
    "SELECT COUNT(*) FROM t WHERE ward IS NULL OR age IS NULL",
    "SELECT ward, COUNT(*) FROM t WHERE ward <> 'B' GROUP BY ward",
    "SELECT COUNT(*) FROM t WHERE day >= DATE '2025-03-01'",
    "SELECT COUNT(*) FROM t WHERE day < DATE '2025-02-01' AND paid",
    "SELECT paid, COUNT(*) FROM t GROUP BY paid",
    "SELECT COUNT(*) FROM t WHERE ward LIKE 'A%'",
    "SELECT COUNT(*) FROM t WHERE age + cost > 100",
    "SELECT COUNT(CASE WHEN age > 30 THEN cost END) FROM t",
    "SELECT COUNT(*) FROM t WHERE COALESCE(age, 0) > 10 OR age IN (30, NULL)",
    "SELECT COUNT(*) FROM t WHERE CASE WHEN paid THEN age > 40 ELSE age > 80 END",
]
# Whose aggregate has no like in plain SQL.
CDF = "SELECT CDF(age, [20, 40, 60, 80]) FROM t"


def rows(size: int = 3000, seed: int = 5) -> pa.Table:
    random = np.random.default_rng(seed)

    def some(values: list[Any], odd: list[Any]) -> list[Any]:
        return [
            odd[random.integers(len(odd))] if random.random() < 0.2 else values[random.integers(len(values))]
            for _ in range(size)
        ]

    return pa.table(
        {
            "uid": random.integers(0, size // 5, size),
            "ward": pa.array(some(["A", "B", "C"], ["D", "", None]), pa.string()),
            "age": pa.array(some(list(range(15, 90)), [None, -7, 200]), pa.int64()),
            "cost": pa.array(
                some([float(x) for x in range(100)], [None, math.nan, math.inf, -math.inf]), pa.float64()
            ),
            "day": pa.array(some([DAY + datetime.timedelta(days=d) for d in range(120)], [None]), pa.date32()),
            "paid": pa.array(some([True, False], [None]), pa.bool_()),
        }
    )


def database(table: pa.Table, unit: str | None, **options: Any) -> jali.Database:
    db = jali.connect()
    columns: dict[str, jali.Range | jali.Keys] = {
        "ward": jali.Keys(["A", "B", "C"]),
        "age": jali.Range(0, 120),
        "cost": jali.Range(0, 100),
        "day": jali.Range(DAY, datetime.date(2025, 12, 31)),
        "paid": jali.Keys([True, False, None]),
    }
    budget = jali.Budget(epsilon=10**7, delta=1e-3)
    arguments = {"unit": unit, "max_rows": 3 if unit else None, "columns": columns, "budget": budget} | options
    db.protect("t", table, **arguments)
    return db


def asked(db: jali.Database, questions: list[str], **total: Any) -> list[Any]:
    with db.batch(**total) as batch:
        waiting = [batch.ask(sql) for sql in questions]
    return [one.answer.rows for one in waiting]


def plain(table: pa.Table, sql: str, weight: str = "1") -> dict[tuple[Any, ...], float]:
    """The same count by DuckDB, each row with a weight."""
    with duckdb.connect() as connection:
        connection.register("raw", normalized(table))
        connection.execute(f"CREATE TABLE weighed AS SELECT *, {weight} AS w FROM raw")
        summed = sql.replace("COUNT(*)", "SUM(w)").replace("FROM t", "FROM weighed")
        summed = summed.replace("COUNT(cost)", "SUM(w) FILTER (WHERE cost = cost AND NOT isnan(cost))")
        case = "COUNT(CASE WHEN age > 30 THEN cost END)"
        summed = summed.replace(case, "SUM(w) FILTER (WHERE age > 30 AND NOT isnan(cost))")
        return {tuple(row[:-1]): float(row[-1] or 0) for row in connection.execute(summed).fetchall()}


@thinned(2)
@pytest.mark.parametrize("total", [{"epsilon": 10**5}, {"rho": 10**6}])
def test_without_noise_a_batch_over_rows_says_what_plain_sql_says(total: dict[str, Any]) -> None:
    """The common cells leave nothing out: a wrong one would move a number, as all are read from the cells."""
    table = rows()
    with noise_off():
        found = asked(database(table, None), QUESTIONS, **total)
    for sql, answer in zip(QUESTIONS, found, strict=True):
        expected = plain(table, sql)
        for row in answer:
            assert row[-1] == pytest.approx(expected.get(tuple(row[:-1]), 0.0), abs=0.02), sql


def test_without_noise_a_batch_over_people_weighs_all_questions_over_the_union_of_their_rows() -> None:
    """Weights are computed here from the number of rows that any question counts, by plain SQL."""
    table, questions = rows(), [QUESTIONS[2], QUESTIONS[5], QUESTIONS[10]]
    union = "(age > 60 OR age BETWEEN 20 AND 39 OR ward IN ('A', 'D'))"
    mine = f"(SUM(CASE WHEN {union} THEN 1 ELSE 0 END) OVER (PARTITION BY uid))"
    weight = f"least(1048576, 3145728 // greatest(1, {mine})) / 1048576.0"
    with noise_off():
        found = asked(database(table, "uid"), questions, epsilon=10**5)
    for sql, answer in zip(questions, found, strict=True):
        expected = plain(table, sql, weight)
        for row in answer:
            assert row[-1] == pytest.approx(expected.get(tuple(row[:-1]), 0.0), abs=0.02), sql


@thinned(4)
@pytest.mark.parametrize("unit", ["uid", None])
@pytest.mark.parametrize("total", [{"epsilon": 2}, {"rho": "1/2"}, {"epsilon": 2, "delta": 1e-6}])
def test_answers_agree_whatever_the_noise(unit: str | None, total: dict[str, Any]) -> None:
    """20 questions: totals are sums, parts are less than wholes, distribution functions rise, none is below 0."""
    clean = rows().to_pydict()
    keep = [i for i, ward in enumerate(clean["ward"]) if ward in ("A", "B", "C") and clean["age"][i] is not None]
    table = pa.table({name: [column[i] for i in keep] for name, column in clean.items()})
    sql = ["SELECT COUNT(*) FROM t", "SELECT ward, COUNT(*) FROM t GROUP BY ward", CDF]
    sql += [f"SELECT COUNT(*) FROM t WHERE age > {age}" for age in range(10, 90, 8)]
    sql += [f"SELECT COUNT(*) FROM t WHERE ward = '{ward}'" for ward in "ABC"]
    sql += [f"SELECT ward, COUNT(*) FROM t WHERE age > {age} GROUP BY ward" for age in (20, 40, 60)]
    sql += ["SELECT ward, HISTOGRAM(age, [20, 40, 60, 80]) FROM t GROUP BY ward"]
    assert len(sql) == 20
    with seeded():
        found = asked(database(table, unit), sql, **total)
    (whole,), wards, ((cdf,),) = found[0][0], dict(found[1]), found[2]
    assert sum(wards.values()) == whole
    assert all(a <= b for a, b in pairwise([0.0, *cdf.values()]))
    assert cdf["above"] == whole
    nested = [count for ((count,),) in found[3:13]]
    assert all(a >= b for a, b in pairwise([whole, *nested, 0.0]))
    assert [count for ((count,),) in found[13:16]] == list(wards.values())
    for age, answer in zip((20, 40, 60), found[16:19], strict=True):
        assert sum(n for _, n in answer) == whole - cdf[age]
    histogram = {ward: list(bins.values()) for ward, bins in found[19]}
    assert {ward: sum(bins) for ward, bins in histogram.items()} == wards
    assert min(min(bins) for bins in histogram.values()) >= 0


def test_rows_without_a_declared_key_are_believed_in_once_they_are_many() -> None:
    table = rows(20_000)
    with seeded():
        (((whole,),), wards) = asked(database(table, None), QUESTIONS[:2], epsilon=2)
    true = plain(table, QUESTIONS[0])[()]
    missing = true - sum(plain(table, QUESTIONS[1])[(ward,)] for ward in "ABC")
    assert whole - sum(n for _, n in wards) == pytest.approx(missing, abs=100)
    assert missing > 2000


def test_answers_left_apart_are_those_of_the_questions_by_themselves() -> None:
    """Each weighs its own rows, and nothing is fitted."""
    table, questions = rows(), [QUESTIONS[2], QUESTIONS[10]]
    db = database(table, "uid")
    with noise_off():
        found = asked(db, questions, epsilon=10**5, agree=False)
        alone = [db.ask(sql, epsilon=10**5).rows for sql in questions]
    assert [round(rows[0][0], 3) for rows in found] == [round(rows[0][0], 3) for rows in alone]


def exact(db: jali.Database, plan: BatchPlan) -> list[Any]:
    with noise_off():
        return [draw(one, lambda part: db._engine.run(part.sql, plan.read))[1] for one in plan.plans]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_one_person_moves_no_release_of_a_batch_by_more_than_its_sensitivity(adjacency: str) -> None:
    table = rows(400, seed=9)
    questions = [*QUESTIONS, "SELECT ward, SUM(cost) FROM t WHERE age > 30 GROUP BY ward", CDF]
    people = table.column("uid").to_pylist()
    heavy = max(set(people), key=people.count)
    others = table.filter(pa.array([person != heavy for person in people]))
    twin = pa.table({**{n: table.column(n) for n in table.column_names}, "age": [1] * len(table)})
    swapped = pa.concat_tables([others, twin.filter(pa.array([p == heavy for p in people]))])
    near = others if adjacency == "add-remove" else swapped
    found = []
    for one in (table, near):
        db = database(one, "uid", adjacency=adjacency)
        batch = db.batch(epsilon=1)
        for sql in questions:
            batch.ask(sql)
        plan = batch.explain()
        found.append(exact(db, plan))
    for one, before, after in zip(plan.plans, *found, strict=True):
        moved = changes(one.source, one.tables[0])
        for (part, index), a, b in zip(one.levels[0].releases, before[0], after[0], strict=True):
            mechanism = part.mechanisms[index]
            times = mechanism.times if isinstance(mechanism, JointNoiseCoordinate) else 1
            if part.draws:
                continue
            apart = sum(abs(x - y) for x, y in zip(a, b, strict=True))
            assert apart <= times * l1_sensitivity(part.aggregation, part.aggregation.measures[index], moved)


def test_no_plan_cost_or_text_of_a_batch_depends_on_the_data() -> None:
    """The same catalog over other rows, few and many: the same plan, word for word."""
    plans = []
    for table in (rows(50, seed=1), rows(800, seed=2)):
        batch = database(table, "uid").batch(epsilon=1, delta=1e-6)
        for sql in [*QUESTIONS, CDF]:
            batch.ask(sql)
        plans.append(batch.explain())
    first, second = plans
    assert str(first) == str(second)
    assert first.costs == second.costs
    assert BATCHES.encode(first) == BATCHES.encode(second)


# The books.


def test_a_batch_is_one_debit_and_one_receipt_and_asking_it_again_is_free(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=3) as db:
        db.grant("ana", "visits", jali.Budget(epsilon=2))
        session = db.session("ana")
        with session.batch(epsilon="3/2") as batch:
            waiting = [batch.ask(sql) for sql in batched.QUESTIONS]
            with pytest.raises(jali.errors.QueryError, match="not been asked yet"):
                _ = waiting[0].answer
            assert batch.explain().cost.epsilon == Fraction(3, 2)
            assert db.ledger.accounts()[0].spent.epsilon == 0
        (receipt,) = session.receipts()
        assert receipt.id == batch.receipt
        assert [account.spent.epsilon for account in db.ledger.accounts()] == [Fraction(3, 2)] * 2
        with session.batch(epsilon="3/2") as again:
            for sql in batched.QUESTIONS:
                again.ask(sql.lower().replace("'a'", "'A'"))
        assert again.result.cached
        assert [answer.rows for answer in again.answers] == [answer.rows for answer in batch.answers]
        assert [account.spent.epsilon for account in db.ledger.accounts()] == [Fraction(3, 2)] * 2
        redeemed = session.redeem_batch(batch.receipt)
        assert [answer.rows for answer in redeemed] == [answer.rows for answer in batch.answers]
        assert len(redeemed) == 4
        with pytest.raises(jali.errors.QueryError, match="receipt of a batch"):
            session.redeem(batch.receipt)
        assert db.verify().problems == ()


def test_a_refused_batch_costs_nothing_and_leaves_no_receipt(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=1) as db:
        for questions, total, error in (
            (batched.QUESTIONS, {"epsilon": 2}, jali.BudgetExceeded),
            (("SELECT COUNT(*) FROM visits", "SELECT foo FROM visits"), {"epsilon": 1}, jali.errors.QueryError),
            (("SELECT COUNT(*) FROM visits",), {"epsilon": 1, "rho": 1}, jali.errors.QueryError),
        ):
            with pytest.raises(error):
                asked(db, list(questions), **total)
        batch = db.batch(epsilon=1)
        batch.ask("SELECT COUNT(*) FROM visits")
        batch.__exit__(RuntimeError, RuntimeError(), None)
        assert db.receipts() == ()
        assert db.ledger.accounts()[0].spent.epsilon == 0


def test_a_batch_that_was_cut_off_at_any_step_is_redeemed_once(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.database.batched", "jali.planner.batch.consistent_answers"])
    open_clinic(tmp_path, epsilon=1000).close()
    cases = [(step, after) for step in range(len(batched.STEPS)) for after in (False, True)]
    for number, case in enumerate(cases):
        child = processes.Process(target=batched.ask_and_die, args=(tmp_path, number, *case))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
    assert not list(tmp_path.glob("answer-*"))
    with open_clinic(tmp_path, epsilon=1000) as db:
        receipts = db.receipts()
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        owed = [receipt for receipt in receipts if receipt.state is ReceiptState.OPEN]
        assert len(owed) == 6
        assert len(receipts) == 9
        for receipt in receipts:
            first, again = db.redeem_batch(receipt.id), db.redeem_batch(receipt.id)
            assert [answer.rows for answer in first] == [answer.rows for answer in again]
            assert again.cached
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        assert {receipt.state for receipt in db.receipts()} == {ReceiptState.RELEASED}
        assert db.verify().problems == ()


def test_an_answer_of_a_batch_says_that_its_cost_is_that_of_the_batch() -> None:
    batch = database(rows(50), None).batch(epsilon="1/2")
    for sql in QUESTIONS[:2]:
        batch.ask(sql)
    plan = batch.explain()
    assert "Remaining of table t: " in str(plan)
    assert str(plan).count("COUNT(*): ± ") == 2
    for answer in batch.run():
        assert answer.cost == batch.cost
        assert answer.receipt == batch.receipt
        for text in (str(answer), repr(answer), answer._repr_html_()):
            assert "cost: part of a batch of epsilon 0.5" in text
    assert str(batch.result).count("cost") == 1
