"""Budgets over several tables: all are debited or none, before the data is read; nothing is reset or free."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.adversarial.hospital import BUDGET, TABLES, WARDS, frame, hospital, put
from tests.frames import failing

import jali
from jali.ledger import ReceiptState

JOINED = "SELECT p.home, COUNT(*) FROM visits v LEFT JOIN patients p ON v.uid = p.pid GROUP BY p.home"


def spent(db: jali.Database, account: str) -> Fraction:
    found = next(a.spent for a in db.ledger.accounts() if a.name == account)
    return found.epsilon or Fraction(0)


def test_each_table_of_a_question_is_debited_for_its_own_share() -> None:
    with hospital() as db:
        answer = db.ask(JOINED, epsilon=1)
        assert dict(answer.costs)["patients"].epsilon == 1
        assert (spent(db, "table visits"), spent(db, "table patients")) == (Fraction(1, 2), Fraction(1))
        assert spent(db, "table orders") == 0
        assert db.verify().problems == ()


@pytest.mark.parametrize("poor", ["visits", "patients"])
def test_one_table_out_of_budget_refuses_the_question_and_charges_none(poor: str) -> None:
    with hospital(budgets={poor: jali.Budget(epsilon="1/4")}) as db:
        with pytest.raises(jali.BudgetExceeded, match=poor):
            db.ask(JOINED, epsilon=1)
        assert all((a.spent.epsilon or 0) == 0 for a in db.ledger.accounts())
        assert db.receipts() == ()


def test_an_analyst_needs_a_grant_on_every_table_and_pays_in_each() -> None:
    with hospital() as db:
        db.grant("ana", "visits", jali.Budget(epsilon=1))
        ana = db.session("ana")
        with pytest.raises(jali.errors.CatalogError, match="patients"):
            ana.ask(JOINED, epsilon=1)
        db.grant("ana", "patients", jali.Budget(epsilon=1))
        ana.ask(JOINED, epsilon=1)
        assert spent(db, "grant ana on visits") == Fraction(1, 2)
        assert spent(db, "grant ana on patients") == 1
        before = db.ledger.accounts()
        with pytest.raises(jali.BudgetExceeded, match="ana"):
            ana.ask(f"{JOINED} LIMIT 2", epsilon="1/2")
        assert db.ledger.accounts() == before


def test_a_reached_table_costs_the_table_that_it_is_reached_through() -> None:
    with hospital(budgets={"orders": jali.Budget(epsilon=1)}) as db:
        db.ask("SELECT COUNT(*) FROM items", epsilon=1)
        assert spent(db, "table orders") == 1
        with pytest.raises(jali.BudgetExceeded, match="orders"):
            db.ask("SELECT COUNT(*) FROM items WHERE price > 1", epsilon="1/10")


def test_a_cached_answer_over_several_tables_is_free_until_one_of_them_is_new() -> None:
    with hospital() as db:
        first = db.ask(JOINED, epsilon=1)
        again = db.ask(JOINED.lower().replace("'", "'"), epsilon=1)
        assert (again.rows, again.receipt, again.cached) == (first.rows, first.receipt, True)
        db.refresh("patients")
        assert db.ask(JOINED, epsilon=1).receipt != first.receipt
        assert spent(db, "table patients") == 2
        db.publish("wards", WARDS.slice(0, 2))
        assert db.ask(JOINED, epsilon=1).cached


def test_a_cached_answer_is_debited_once_to_each_grant_of_each_analyst() -> None:
    with hospital(memory="common") as db:
        for table in ("visits", "patients"):
            db.grant("ana", table, jali.Budget(epsilon=1))
        db.ask(JOINED, epsilon=1)
        for _ in range(3):
            assert db.session("ana").ask(JOINED, epsilon=1).cached
        assert spent(db, "grant ana on patients") == 1
        assert spent(db, "table patients") == 1


def test_the_same_answer_is_read_as_often_as_wanted_without_new_noise() -> None:
    """A lazy result that draws new noise each time it is collected would average to the truth."""
    with hospital() as db:
        answer = db.ask(JOINED, epsilon=1)
        forms = [answer.rows for _ in range(5)] + [db.redeem(answer.receipt).rows, db.ask(JOINED, epsilon=1).rows]
        assert all(rows == forms[0] for rows in forms)
        assert [tuple(row) for row in answer.to_pandas()[["home"]].itertuples(index=False)] == [
            (row[0],) for row in forms[0]
        ]


def files(directory: Path) -> dict[str, Path]:
    paths = {name: directory / f"{name}.parquet" for name in ("visits", "patients")}
    for name, path in paths.items():
        pq.write_table(frame(name, list(TABLES[name])), path)
    return paths


def protect(db: jali.Database, paths: dict[str, Path], max_rows: int = 3) -> None:
    for name, path in paths.items():
        unit, key = ("uid", "ward") if name == "visits" else ("pid", "home")
        columns = {key: jali.Keys(["A", "B", "C"])}
        db.protect(name, path, unit=unit, max_rows=max_rows, columns=columns, budget=jali.Budget(epsilon=5))


def test_a_plan_over_several_tables_is_redeemed_as_it_was_frozen(tmp_path: Path) -> None:
    paths = files(tmp_path)
    with jali.connect(tmp_path / "db.jali") as db:
        protect(db, paths)
        with failing(), pytest.raises(jali.errors.EngineError):
            db.ask(JOINED, epsilon=1)
        (receipt,) = db.receipts()
        assert receipt.state is ReceiptState.OPEN
        assert spent(db, "table patients") == 1
        db.protect(
            "patients",
            paths["patients"],
            unit="pid",
            max_rows=1,
            columns={"home": jali.Keys(["C"])},
            budget=jali.Budget(epsilon=5),
        )
        answer = db.redeem(receipt.id)
        assert [key for key, _ in answer.rows] == ["A", "B", "C"]
        assert spent(db, "table patients") == 1
        assert db.redeem(receipt.id).rows == answer.rows
        assert db.verify().problems == ()


def test_budgets_survive_reopening_and_protecting_again(tmp_path: Path) -> None:
    paths = files(tmp_path)
    for times in range(1, 3):
        with jali.connect(tmp_path / "db.jali") as db:
            protect(db, paths)
            db.ask(f"SELECT COUNT(*) FROM visits WHERE uid > {times}", epsilon=2)
            assert spent(db, "table visits") == 2 * times
    with jali.connect(tmp_path / "db.jali") as db:
        with pytest.raises(jali.errors.CatalogError, match="budget"):
            db.protect("visits", paths["visits"], unit="uid", max_rows=3, budget=jali.Budget(epsilon=50))
        with pytest.raises(jali.BudgetExceeded):
            db.ask("SELECT COUNT(*) FROM visits", epsilon=2)


def test_a_choice_of_groups_needs_a_delta_in_every_table_that_it_reads() -> None:
    with hospital(budgets={"patients": jali.Budget(epsilon=9)}) as db:
        sql = "SELECT v.code, COUNT(*) FROM visits v JOIN patients p ON v.uid = p.pid GROUP BY v.code"
        with pytest.raises(jali.BudgetExceeded, match="patients"):
            db.ask(sql, epsilon=1, delta="1/1000000")
        assert db.receipts() == ()


# What is public and what is not.


def test_a_protected_source_is_not_published_and_a_public_one_not_protected(tmp_path: Path) -> None:
    paths = files(tmp_path)
    pq.write_table(WARDS, tmp_path / "wards.parquet")
    (tmp_path / "link.parquet").symlink_to(paths["visits"])
    shown = frame("visits", list(TABLES["visits"]))
    with jali.connect() as db:
        protect(db, paths)
        db.protect("kept", shown, unit="uid", max_rows=1, budget=BUDGET)
        db.publish("wards", tmp_path / "wards.parquet")
        db.publish("floors", WARDS)
        attempts: list[tuple[Any, ...]] = [
            (db.publish, "open", paths["visits"]),
            (db.publish, "open", tmp_path / "link.parquet"),
            (db.publish, "visits", tmp_path / "wards.parquet"),
            (db.publish, "VISITS", tmp_path / "wards.parquet"),
            (db.publish, "open", shown),
        ]
        for publish, name, source in attempts:
            with pytest.raises(jali.errors.CatalogError):
                publish(name, source)
        for name, source in (
            ("secret", tmp_path / "wards.parquet"),
            ("wards", paths["visits"]),
            ("wards", tmp_path / "wards.parquet"),
            ("secret", WARDS),
        ):
            with pytest.raises(jali.errors.CatalogError):
                db.protect(name, source, unit=None, budget=BUDGET)
        assert {table.name for table in db.tables.list_public()} == {"wards", "floors"}
        assert {table.name for table in db.tables.list()} == {"visits", "patients", "kept"}


def test_public_tables_alone_are_not_asked_through_noise() -> None:
    with hospital() as db, pytest.raises(jali.errors.Unsupported, match="public"):
        db.ask("SELECT COUNT(*) FROM wards", epsilon=1)


# A unit that is reached.


def test_a_key_that_is_not_unique_reaches_nobody() -> None:
    twice = pa.table({"o": [1, 1], "uid": [1, 2]})
    with jali.connect() as db:
        db.protect("orders", twice, unit="uid", max_rows=1, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError, match="not unique"):
            db.protect(
                "items",
                pa.table({"i": [1]}),
                unit=jali.Via("orders", on="i = o", unit="uid"),
                max_rows=1,
                budget=BUDGET,
            )
        assert [table.name for table in db.tables.list()] == ["orders"]


def test_if_keys_repeat_later_each_row_still_counts_for_one_person_at_a_time() -> None:
    """The row of item 10 is then two rows, one for each owner; each owner is bounded and goes with the order."""
    with hospital() as db:
        plan = db.explain("SELECT COUNT(*), COUNT(DISTINCT uid) FROM items JOIN orders ON item_o = o", epsilon=1)
        put(db, "orders", [(10, 1), (10, 2), (10, 2)])
        both = db._engine.run(plan.sql, plan.read)
        put(db, "orders", [(10, 1)])
        one = db._engine.run(plan.sql, plan.read)
        assert both[0][1] == 2
        assert one[0][1] == 1
        assert 0 < both[0][0] - one[0][0] <= 3 << 20


@pytest.mark.parametrize(
    "via",
    [
        jali.Via("nowhere", on="item_o = o", unit="uid"),
        jali.Via("staff", on="item_o = uid", unit="uid"),
        jali.Via("wards", on="item_o = floor", unit="w"),
        jali.Via("orders", on="item_o = o", unit="o"),
        jali.Via("orders", on="price = o", unit="uid"),
        jali.Via("orders", on="item_o > o", unit="uid"),
        jali.Via("orders", on="item_o = o OR TRUE", unit="uid"),
        jali.Via("badges", on="item_o = uid", unit="uid"),
    ],
    ids=repr,
)
def test_a_unit_is_reached_through_a_declared_equality_of_one_type_only(via: jali.Via) -> None:
    with hospital() as db, pytest.raises(jali.errors.CatalogError):
        db.protect("more", frame("items", list(TABLES["items"])), unit=via, max_rows=1, budget=BUDGET)
