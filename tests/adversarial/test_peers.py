"""The holes of other libraries that no other file here tries: noise, charges, sums, samples and pins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.adversarial.hospital import BUDGET, TABLES, charged, check_harmless, hospital, refusal, vectors
from tests.depth import thinned

import jali
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate

ROOT = Path(__file__).parents[2]
EVERY = (
    "COUNT(*)",
    "COUNT(cost)",
    "COUNT(DISTINCT uid)",
    "COUNT(DISTINCT code)",
    "SUM(cost)",
    "AVG(age)",
    "VAR_POP(cost)",
    "STDDEV_SAMP(cost)",
    "COVAR_POP(cost, age)",
    "CORR(cost, age)",
    "REGR_SLOPE(cost, age)",
    "REGR_INTERCEPT(cost, age)",
    "MEDIAN(cost)",
    "QUANTILE_CONT(cost, [0.1, 0.9])",
    "QUANTILE_DISC(age, 0.3)",
    "MIN(cost)",
    "MAX(age)",
    "MODE(ward)",
    "approx_top_k(ward, 2)",
    "HISTOGRAM(ward)",
    "COUNT(*) FILTER (WHERE age > 30)",
    "SUM(cost * age)",
)


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with hospital() as opened:
        yield opened


@pytest.mark.parametrize("aggregate", EVERY)
@pytest.mark.parametrize("group", ["", " GROUP BY ward", " GROUP BY ROLLUP (ward)"])
def test_every_aggregate_costs_what_was_asked_and_is_paid_before_the_data_is_read(
    db: jali.Database, aggregate: str, group: str
) -> None:
    """No path skips the charge, and none has a loss of its own: the releases of a plan add up to its price."""
    losses: tuple[dict[str, Any], ...] = ({"epsilon": Fraction(1, 3)}, {"rho": Fraction(1, 5)})
    for loss in losses:
        plan = db.explain(f"SELECT {aggregate} AS x FROM visits{group}", **loss)
        ((name, cost),) = plan.costs
        assert name == "visits"
        asked = next(iter(loss.values()))
        paid = cost.epsilon if "epsilon" in loss else cost.rho
        assert paid is not None
        assert asked * (1 - Fraction(1, 10**9)) <= paid <= asked
        events = [
            (mechanism.loss.event, part.draws[i].picks if part.draws else 1)
            for part in plan.parts
            for i, mechanism in enumerate(part.mechanisms)
            # Measures that leave together are paid for once.
            if not isinstance(mechanism, JointNoiseCoordinate) or mechanism.place == 0
        ]
        total = sum(((e.epsilon if "epsilon" in loss else e.rho) or Fraction(0)) * picks for e, picks in events)
        assert abs(total - paid) < Fraction(1, 10**15)


@thinned(4)
@pytest.mark.parametrize("aggregate", EVERY)
def test_every_aggregate_stays_within_its_bounds_when_a_person_leaves(db: jali.Database, aggregate: str) -> None:
    assert charged(check_harmless(db, f"SELECT ward, {aggregate} AS x FROM visits GROUP BY ward"), "visits") == 1


def test_noise_is_drawn_on_whole_numbers_only(db: jali.Database) -> None:
    """Noise in doubles has low bits that tell the truth behind it; whole numbers have none."""
    losses: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"rho": "1/2"})
    for loss in losses:
        sql = "SELECT ward, COUNT(*), SUM(cost), AVG(age), VAR_POP(cost) FROM visits GROUP BY ward"
        plan = db.explain(sql, **loss)
        noises = Laplace | Gaussian | JointNoiseCoordinate
        assert all(isinstance(m, noises) for part in plan.parts for m in part.mechanisms)
        noisy = db.ask(sql, **loss).release.noisy
        assert {type(value) for values in noisy for value in values} == {int}
        for rows in (TABLES, {**TABLES, "visits": []}):
            assert {type(v) for vector in vectors(db, plan, rows) for v in vector.values()} == {int}
        db.refresh("visits")


@pytest.mark.parametrize(
    "sql", ["SELECT COUNT(*) FROM visits", "SELECT code, COUNT(*), MEDIAN(cost) FROM visits GROUP BY code"]
)
def test_no_noise_and_no_sample_is_drawn_in_sql(db: jali.Database, sql: str) -> None:
    """A CTE with random() is drawn anew for each reference; hash % n is signed and keeps other rows than meant."""
    written = db.explain(sql, epsilon=1, delta="1/1000000").sql.lower()
    assert not re.search(r"random|uuid|setseed|sample|\bhash\s*\(|nextval|now\(|current_", written)


def test_sums_of_the_largest_numbers_neither_wrap_nor_raise() -> None:
    """64-bit sums of these wrap; double sums lose what one person adds."""
    top = 2**63 - 1
    rows = pa.table({"uid": list(range(5000)), "n": pa.array([top, -top] * 2000 + [top] * 1000, pa.int64())})
    with jali.connect() as db:
        db.protect("t", rows, unit="uid", max_rows=4, columns={"n": jali.Range(-(2**62), 2**62)}, budget=BUDGET)
        plan = db.explain("SELECT SUM(n), SUM(CAST(n AS DOUBLE) * n), AVG(n) FROM t", epsilon=1)
        ((first, second, *_),) = db._engine.run(plan.sql, plan.read)
        assert first * plan.aggregation.unit(plan.aggregation.measures[0]) == 1000 * 2**62
        assert second * plan.aggregation.unit(plan.aggregation.measures[1]) == 5000 * 2**124


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", None])
def test_one_odd_number_leaves_everybody_elses_mean_alone(db: jali.Database, value: str | None) -> None:
    """One NaN makes a plain mean NaN, and LEAST(100, NULL) is 100: here such a row is missing, or at an end."""
    plan = db.explain("SELECT SUM(cost), COUNT(cost), AVG(cost), MEDIAN(cost), MIN(cost) FROM visits", epsilon=1)
    others = [(2, "A", 5.0, 40, "c0"), (3, "B", 99.0, 50, "c1")]
    odd = (9, "A", None if value is None else float(value), 1, "c")
    before = vectors(db, plan, {**TABLES, "visits": others})
    after = vectors(db, plan, {**TABLES, "visits": [*others, odd]})
    missing = value in ("nan", None)
    assert (before == after) is missing
    for a, b in zip(before, after, strict=True):
        assert all(abs(a[key] - b[key]) <= (1 << 20) * (1 << 31) for key in a | b)


@pytest.mark.parametrize(
    "aggregate", ["SUM(free)", "AVG(free)", "MIN(free)", "MAX(free)", "MEDIAN(free)", "VAR_POP(free)"]
)
def test_bounds_are_never_taken_from_the_data(aggregate: str) -> None:
    with jali.connect() as db:
        db.protect("t", pa.table({"uid": [1, 2], "free": [1.0, 2.0]}), unit="uid", max_rows=1, budget=BUDGET)
        assert "range" in str(refusal(db, f"SELECT {aggregate} FROM t")).lower()


@pytest.mark.parametrize("aggregate", ["MODE(code)", "HISTOGRAM(code)", "approx_top_k(code, 2)"])
def test_categories_are_never_taken_from_the_data(db: jali.Database, aggregate: str) -> None:
    refusal(db, f"SELECT {aggregate} FROM visits")


def test_explaining_costs_nothing_and_reads_nothing(db: jali.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> Any:
        raise AssertionError("data was read")

    before = db.ledger.accounts(), db.receipts()
    monkeypatch.setattr(type(db._engine), "run", run)
    for aggregate in EVERY:
        assert str(db.explain(f"SELECT {aggregate} AS x FROM visits", epsilon=1))
    assert (db.ledger.accounts(), db.receipts()) == before


def test_losses_are_exact_numbers_and_many_small_ones_fill_a_budget_to_the_brim() -> None:
    """In doubles ten times 0.1 is not 1, and 1.0000000000000002 is more than 1."""
    with hospital(budgets={"visits": jali.Budget(epsilon=1), "patients": jali.Budget(epsilon=1)}) as db:
        sql = "SELECT COUNT(*) FROM visits v JOIN patients p ON v.uid = p.pid WHERE age > {}"
        for age in range(10):
            db.ask(sql.format(age), epsilon=0.1)
        assert db.remaining("visits").epsilon == db.remaining("patients").epsilon == 0
        with pytest.raises(jali.BudgetExceeded):
            db.ask(sql.format(10), epsilon="1e-9")


@pytest.mark.parametrize("name", ["numpy", "duckdb", "sqlglot", "cryptography"])
def test_what_the_answer_depends_on_is_pinned_and_installed_as_pinned(name: str) -> None:
    pins = dict(
        re.findall(
            r"^([A-Za-z0-9_.-]+)==([^\s;]+)", (ROOT / "requirements" / "constraints.txt").read_text(), re.MULTILINE
        )
    )
    assert pins[name] == version(name)
