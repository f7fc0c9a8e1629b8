"""Range(auto=True): a range is bought from the budget, once, like any answer; the ledger keeps it."""

from __future__ import annotations

import datetime
import inspect
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from tests.frames import failing
from tests.harness import noise_off
from tests.parquet import write_parquet

import jali
from jali.catalog.tables import Table
from jali.database import Database
from jali.engines.duckdb import DuckDBEngine
from jali.execution import ask
from jali.ledger import SqliteLedger
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.planner.buy_range import plan_range, price_range

AUTO = jali.Range(auto=True)
BUDGET = jali.Budget(epsilon=2)


def declared(table: Table, column: str = "x") -> jali.Range:
    field = table.field(column)
    assert field is not None
    assert field.range is not None
    return field.range


def protect(db: Database, values: Any, *, repeat: int = 1, **options: Any) -> Table:
    data = pa.table({"uid": np.arange(len(values)) // repeat, "x": values})
    arguments: dict[str, Any] = {"unit": "uid", "max_rows": repeat, "columns": {"x": AUTO}, "budget": BUDGET}
    return db.protect("t", data, **(arguments | options))


def ends(values: Any, **options: Any) -> tuple[Any, Any]:
    """Return the range of all values: without noise the ends are the cells of the least and the largest value."""
    with jali.connect() as db, noise_off():
        found = declared(protect(db, values, **options))
        return found.low, found.high


# What is bought.


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([20.0, 50.0, 80.0], (16, 128)),
        ([5.0, 5.0], (4, 8)),
        ([8.0, 8.0], (4, 8)),
        ([8.000001], (8, 16)),
        ([0.0], (0, 0)),
        ([0.0, 3.0], (0, 4)),
        ([-3.0, -20.0], (-32, -2)),
        ([-0.3, 0.2], (Fraction(-1, 2), Fraction(1, 4))),
        ([1e-300, 1e300], (0, 2**64)),
        ([-1e300, -1e-300], (-(2**64), 0)),
        ([1.5, math.nan, None, 3.0], (1, 4)),
        ([-math.inf, 1.0, math.inf], (-(2**64), 2**64)),
    ],
)
def test_the_ends_are_the_nearest_powers_of_two(values: list[Any], wanted: tuple[Any, Any]) -> None:
    assert ends(pa.array(values, pa.float64())) == wanted


@pytest.mark.parametrize(
    ("values", "wanted"),
    [([1], (1, 1)), ([3, 100], (2, 128)), ([-1, 1], (-1, 1)), ([0, 2**63 - 1, -(2**63)], (-(2**63), 2**63))],
)
def test_whole_numbers_have_whole_ends(values: list[int], wanted: tuple[int, int]) -> None:
    assert ends(pa.array(values, pa.int64())) == wanted


def test_dates_and_times_have_days_as_ends() -> None:
    days = [datetime.date(2024, 2, 27), datetime.date(2025, 3, 1)]
    low, high = ends(pa.array(days, pa.date32()))
    assert days[0] - datetime.timedelta(days=4) <= low <= days[0]
    assert days[1] <= high <= days[1] + datetime.timedelta(days=4)
    times = [datetime.datetime.combine(day, datetime.time(23)) for day in days]
    low, high = ends(pa.array(times, pa.timestamp("us")))
    assert times[0] - datetime.timedelta(days=4) <= low <= times[0]
    assert times[1] <= high <= times[1] + datetime.timedelta(days=4)


def law(values: Any, repeat: int, epsilon: float) -> list[tuple[WeightedQuantile, np.ndarray]]:
    """Return both draws with the exact chance of each cell, the cells computed independently."""
    with jali.connect() as db, noise_off():
        table = protect(db, [1.0], repeat=repeat, budget=jali.Budget(epsilon=20 * epsilon))
    field = table.field("x")
    assert field is not None
    plan = plan_range(table, replace(field, range=AUTO))
    cells = np.where(values > 0, np.clip(np.ceil(np.log2(np.abs(values) + (values == 0))), -64, 64) + 65, 0)
    cells = np.where(values < 0, -65 - np.clip(np.ceil(np.log2(np.abs(values) + (values == 0))), -64, 64), cells)
    marks, counts = np.unique(cells.astype(np.int64) + 129, return_counts=True)
    (part,) = plan.parts
    found = []
    for mechanism in part.mechanisms:
        assert isinstance(mechanism, WeightedQuantile)
        chances = np.exp(mechanism.log_law((marks, counts.astype(np.int64) << 20)))
        found.append((mechanism, chances))
    return found


_RANDOM = np.random.default_rng(7)
VALUES: dict[str, np.ndarray] = {
    "normal": _RANDOM.normal(50, 10, 20_000),
    "skewed": _RANDOM.lognormal(3, 1.5, 20_000),
    "constant": np.full(20_000, 5.0),
    "both signs": _RANDOM.normal(0, 1, 20_000),
    "a few wild ones": np.concatenate([_RANDOM.normal(50, 10, 20_000), np.full(20, 1e15)]),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_range_holds_nearly_all_values_and_little_else(name: str) -> None:
    values = VALUES[name]
    (_, low), (_, high) = law(values, repeat=2, epsilon=0.2)
    # The cells, from -129 on, of the quantiles that a good end lies between.
    inner = [cell(q) for q in np.quantile(values, [0.03, 0.97])]
    outer = [cell(q) for q in np.quantile(values, [0.0, 1 - 21 / 20_020])]
    assert low[outer[0] : inner[0] + 1].sum() > 0.99
    assert high[inner[1] : outer[1] + 1].sum() > 0.99


def cell(value: float) -> int:
    """Return the place of a number on the scale, by the definition in words."""
    if value == 0:
        return 129
    exponent = next(k for k in range(-64, 65) if abs(value) <= 2.0**k)
    return 129 + (exponent + 65 if value > 0 else -65 - exponent)


def test_an_empty_table_gives_some_range_and_no_error() -> None:
    for _ in range(5):
        with jali.connect() as db:
            found = declared(protect(db, pa.array([], pa.float64())))
            assert not found.wanted
            assert db.ask("SELECT SUM(x) FROM t", epsilon=1).rows


def test_questions_use_what_was_bought() -> None:
    with jali.connect() as db, noise_off():
        protect(db, [20.0, 50.0, 80.0])
        assert db.ask("SELECT SUM(x) FROM t", epsilon=1).rows == [(150,)]


# What it costs.


def test_the_default_price_is_a_twentieth_of_the_budget_for_each_column() -> None:
    with jali.connect() as db:
        data = pa.table({"uid": [1, 2], "x": [1.0, 2.0], "y": [3, 4]})
        auto = {"x": AUTO, "y": jali.Range(auto=True, epsilon="0.3")}
        table = db.protect("t", data, unit="uid", max_rows=1, columns=auto, budget=BUDGET)
        assert declared(table, "x").epsilon == Fraction(1, 10)
        assert declared(table, "y").epsilon == Fraction(3, 10)
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(4, 10)
        assert [r.question for r in db.receipts()] == ["RANGE OF t.x", "RANGE OF t.y"]
        assert db.tables.list() == (table,)
        assert "auto=True, epsilon=0.1" in repr(declared(table, "x"))


def test_protecting_again_does_not_buy_again() -> None:
    with jali.connect() as db:
        first = protect(db, [1.0, 2.0])
        again = protect(db, [1.0, 2.0], columns={"X": jali.Range(auto=True, epsilon=1)})
        assert again == first
        assert (len(db.receipts()), db.tables.version("t")) == (1, 2)
        other = protect(db, [1.0, 2.0], columns={"x": jali.Range(0, 5)})
        assert declared(other) == jali.Range(0, 5)
        assert declared(protect(db, [1.0, 2.0])) == declared(first)
        assert len(db.receipts()) == 1


def test_a_second_column_is_a_second_purchase() -> None:
    with jali.connect() as db:
        data = pa.table({"uid": [1, 2], "x": [1.0, 2.0], "y": [3, 4]})
        first = db.protect("t", data, unit="uid", max_rows=1, columns={"x": AUTO}, budget=BUDGET)
        second = db.protect("t", data, unit="uid", max_rows=1, columns={"x": AUTO, "y": AUTO}, budget=BUDGET)
        assert declared(second, "x") == declared(first, "x")
        assert [r.question for r in db.receipts()] == ["RANGE OF t.x", "RANGE OF t.y"]


def test_a_budget_that_cannot_pay_for_all_columns_refuses_before_anything_is_declared() -> None:
    with jali.connect() as db:
        data = pa.table({"uid": [1], "x": [1.0], "y": [1.0]})
        dear = {"x": jali.Range(auto=True, epsilon=1.5), "y": jali.Range(auto=True, epsilon=1)}
        with pytest.raises(jali.BudgetExceeded) as refused:
            db.protect("t", data, unit="uid", max_rows=1, columns=dear, budget=BUDGET)
        assert (refused.value.requested, refused.value.remaining) == (Fraction(5, 2), Fraction(2))
        assert (db.tables.list(), db.receipts(), db.ledger.accounts()) == ((), (), ())
        # So another budget can still be declared.
        db.protect("t", data, unit="uid", max_rows=1, columns=dear, budget=jali.Budget(epsilon=4))


def test_a_spent_budget_refuses_a_new_column_and_keeps_the_table_as_it_was() -> None:
    with jali.connect() as db:
        first = protect(db, [1.0], columns={})
        db.ask("SELECT COUNT(*) FROM t", epsilon="1.95")
        with pytest.raises(jali.BudgetExceeded):
            protect(db, [1.0])
        assert db.tables.list() == (first,)
        assert db.ledger.accounts()[0].spent.epsilon == Fraction("1.95")


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_price_is_what_the_plan_costs_in_either_adjacency(adjacency: str) -> None:
    with jali.connect() as db:
        table = protect(db, [1.0, 2.0], repeat=2, adjacency=adjacency)
        field = table.field("x")
        assert field is not None
        plan = plan_range(table, replace(field, range=AUTO))
        assert plan.cost.epsilon == price_range(table, replace(field, range=AUTO)) == Fraction(1, 10)
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(1, 10)


def test_tables_without_unit_and_with_a_least_number_of_people_can_buy() -> None:
    with jali.connect() as db:
        one = db.protect("a", pa.table({"x": [1.0]}), unit=None, columns={"x": AUTO}, budget=BUDGET)
        many = db.protect("b", pa.table({"x": [2.0]}), unit=None, columns={"x": AUTO}, budget=BUDGET, min_people=9)
        assert not declared(one).wanted
        assert not declared(many).wanted
        assert many.min_people == 9


def test_a_unit_that_is_reached_pays_in_both_tables() -> None:
    with jali.connect() as db:
        orders, items = pa.table({"o": [1, 2], "c": [7, 8]}), pa.table({"l": [1, 2], "x": [3.0, 4.0]})
        db.protect("orders", orders, unit="c", max_rows=2, budget=BUDGET)
        via = jali.Via("orders", on="l = o", unit="c")
        db.protect("items", items, unit=via, max_rows=2, columns={"x": AUTO}, budget=BUDGET)
        assert [account.spent.epsilon for account in db.ledger.accounts()] == [Fraction(1, 10)] * 2


def test_text_has_no_range() -> None:
    with jali.connect() as db, pytest.raises(jali.errors.CatalogError, match="x is text"):
        protect(db, ["a"])


@pytest.mark.parametrize(
    "wrong", [{}, {"low": 1}, {"low": 0, "high": 1, "epsilon": 1}, {"auto": True, "epsilon": 0}]
)
def test_half_a_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jali.errors.CatalogError):
        jali.Range(**wrong)


# Crashes.


class Died(BaseException):
    """As a killed process: nothing of the package catches it."""


STEPS = [
    (SqliteLedger, "open_account", False),
    (SqliteLedger, "reserve", False),
    (SqliteLedger, "reserve", True),
    (DuckDBEngine, "run", True),
    (SqliteLedger, "release", False),
    (SqliteLedger, "release", True),
    (ask, "answer_of", True),
]


@pytest.mark.parametrize(("owner", "name", "after"), STEPS)
def test_a_crash_at_any_step_never_charges_twice(owner: Any, name: str, after: bool, tmp_path: Path) -> None:
    source = write_parquet("SELECT i AS uid, 3.0 AS x FROM range(50) t(i)", tmp_path / "t.parquet")

    def attempt() -> Table:
        with jali.connect(tmp_path / "t.jali") as db:
            return db.protect("t", source, unit="uid", max_rows=1, columns={"x": AUTO}, budget=BUDGET)

    real = getattr(owner, name)
    static = isinstance(inspect.getattr_static(owner, name), staticmethod)

    def deadly(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        raise Died

    with patch.object(owner, name, staticmethod(deadly) if static else deadly), pytest.raises(Died):
        attempt()
    table = attempt()
    assert not declared(table).wanted
    assert attempt() == table
    with jali.connect(tmp_path / "t.jali") as db:
        assert len(db.receipts()) == 1
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(1, 10)
        assert db.verify().problems == ()


def test_an_open_purchase_runs_as_it_was_paid_for_whatever_is_declared_next(tmp_path: Path) -> None:
    source = write_parquet("SELECT i AS uid, 3.0 AS x FROM range(50) t(i)", tmp_path / "t.parquet")
    with jali.connect(tmp_path / "t.jali") as db:
        cheap: dict[str, Any] = {"unit": "uid", "max_rows": 1, "budget": BUDGET, "columns": {"x": AUTO}}
        with patch.object(DuckDBEngine, "run", side_effect=Died), pytest.raises(Died):
            db.protect("t", source, **cheap)
        assert declared(db.tables.list()[0]).wanted
        with pytest.raises(jali.errors.QueryError, match="auto=True"):
            db.ask("SELECT SUM(x) FROM t", epsilon=1)
        dear = cheap | {"max_rows": 3, "columns": {"x": jali.Range(auto=True, epsilon=1)}}
        assert declared(db.protect("t", source, **dear)).epsilon == Fraction(1, 10)
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(1, 10)


def test_a_failing_engine_leaves_an_open_receipt_that_protecting_again_redeems(tmp_path: Path) -> None:
    with jali.connect() as db:
        with failing(), pytest.raises(jali.errors.EngineError):
            protect(db, [1.0])
        assert db.receipts()[0].state == "open"
        protect(db, [1.0])
        assert [receipt.state for receipt in db.receipts()] == ["released"]
