"""Rehearsals: made-up rows of the declared shape, without the data, and marked as what they are."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.database.clinic import open_clinic
from tests.parquet import write_parquet

import jali
from jali.rehearsal import Rehearsal

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def rows_of(rehearsal: Rehearsal, table: str, select: str) -> list[tuple[Any, ...]]:
    """Read the made-up rows: they are nobody's."""
    location = rehearsal.tables.find(table).source.location
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {select} FROM read_parquet('{location}')").fetchall()


def test_it_works_without_the_data_and_leaves_the_real_books_alone(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=2) as db:
        db.grant("ana", "visits", jali.Budget(epsilon=1))
        db.session("ana").ask(BY_WARD, epsilon="0.5")
        before = db.ledger.accounts(), db.receipts()
        (tmp_path / "visits.parquet").unlink()
        with db.rehearse(rows=200) as rehearsal:
            assert [row[0] for row in rehearsal.session("ana").ask(BY_WARD, epsilon=1).rows] == ["A", "B", "C"]
            assert rehearsal.remaining("visits").epsilon == 1
            with pytest.raises(jali.BudgetExceeded):
                rehearsal.session("ana").ask("SELECT COUNT(*) FROM visits", epsilon=1)
        assert (db.ledger.accounts(), db.receipts()) == before


def test_the_rows_have_the_declared_shape(tmp_path: Path) -> None:
    with open_clinic(tmp_path, rows=7_000) as db, db.rehearse() as rehearsal:
        ((rows, low, high, least, most),) = rows_of(
            rehearsal, "visits", "count(*), min(age), max(age), min(cost), max(cost)"
        )
        # 1,273 people with 5.5 rows each on average, of deviation 2.9: 7,000 up to 100.
        assert abs(rows - 7_000) < 800
        assert 0 <= low < 5
        assert 115 < high <= 120
        assert 0 <= least < most <= 100
        assert {ward for (ward,) in rows_of(rehearsal, "visits", "DISTINCT ward")} == {"A", "B", "C", None}
        ((unowned,),) = rows_of(rehearsal, "visits", "count(*) FILTER (patient_id IS NULL)")
        assert unowned == 0
        each = [n for _, n in rows_of(rehearsal, "visits", "patient_id, count(*) OVER (PARTITION BY patient_id)")]
        assert (min(each), max(each)) == (1, 10)


def test_a_rehearsed_answer_says_so_everywhere_and_a_real_one_does_not(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as db:
        real = db.ask(BY_WARD, epsilon="0.5")
        with db.rehearse(rows=100) as rehearsal:
            made_up = rehearsal.ask(BY_WARD, epsilon="0.5")
            again = rehearsal.redeem(made_up.receipt)
            with rehearsal.batch(epsilon="0.2") as batch:
                asked = batch.ask("SELECT COUNT(*) FROM visits")
        assert asked.answer.rehearsed
        for answer in (made_up, again):
            for shown in (str(answer), repr(answer), answer._repr_html_()):
                assert "synthetic data" in shown
            assert answer.to_json()["rehearsed"]
        for shown in (str(real), repr(real), real._repr_html_()):
            assert "synthetic" not in shown
        assert real.to_json()["rehearsed"] is False


def test_units_are_shared_ways_to_them_lead_somewhere_and_public_tables_are_read(tmp_path: Path) -> None:
    write_parquet("SELECT 1 AS id, 'x' AS customer", tmp_path / "orders.parquet")
    write_parquet("SELECT 1 AS order_id, 2.0 AS price, 'A' AS city", tmp_path / "lines.parquet")
    write_parquet("SELECT 'x' AS name, DATE '2025-01-01' AS born", tmp_path / "people.parquet")
    write_parquet("SELECT unnest(['Rome', 'Oslo']) AS city, 1 AS country", tmp_path / "cities.parquet")
    budget = jali.Budget(epsilon=100)
    born = jali.Range(datetime.date(1950, 1, 1), datetime.date(1999, 12, 31))
    with jali.connect() as db:
        db.protect(
            "people", tmp_path / "people.parquet", unit="name", max_rows=1, columns={"born": born}, budget=budget
        )
        db.protect("orders", tmp_path / "orders.parquet", unit="customer", max_rows=3, budget=budget)
        via = jali.Via("orders", on="order_id = id", unit="customer")
        db.protect("lines", tmp_path / "lines.parquet", unit=via, max_rows=9, budget=budget)
        db.publish("cities", tmp_path / "cities.parquet")
        with db.rehearse(rows=600) as rehearsal:
            ((rows, names),) = rows_of(rehearsal, "orders", "count(id), count(DISTINCT id)")
            assert rows == names > 100
            ((ids, first, last),) = rows_of(rehearsal, "lines", "count(order_id), min(order_id), max(order_id)")
            assert ids == 600
            assert 1 <= first < last <= rows
            assert {city for (city,) in rows_of(rehearsal, "lines", "DISTINCT city")} == {"Rome", "Oslo", None}
            ((oldest, youngest),) = rows_of(rehearsal, "people", "min(born), max(born)")
            assert datetime.date(1950, 1, 1) <= oldest < youngest <= datetime.date(1999, 12, 31)
            # At epsilon 50 a count over 600 rows is off by less than 100 but with a chance below 1e-10.
            joined = "SELECT COUNT(*) FROM orders JOIN people ON orders.customer = people.name"
            assert rehearsal.ask(joined, epsilon=50).rows[0][0] > 200
            reached = "SELECT country, COUNT(*) AS n FROM lines JOIN cities USING (city) GROUP BY country"
            ((country, count),) = rehearsal.ask(reached, epsilon=50).rows
            assert (country, count > 100) == (1, True)


def test_every_kind_of_column_is_made_up(tmp_path: Path) -> None:
    made = """SELECT 1::UTINYINT AS small, 2::BIGINT AS large, 0.5::DECIMAL(9, 2) AS amount, 'x' AS word,
        true AS truth, DATE '2025-01-01' AS day, TIMESTAMP '2025-01-01' AS moment, [1] AS list"""
    write_parquet(made, tmp_path / "all.parquet")
    (tmp_path / "all.csv").write_text("number,word\n1,a\n")
    with jali.connect() as db:
        db.protect("everything", tmp_path / "all.parquet", unit="small", max_rows=2, budget=jali.Budget(epsilon=9))
        columns = {"number": jali.Range("1e200", "1e201")}
        db.protect("text", tmp_path / "all.csv", unit=None, columns=columns, budget=jali.Budget(epsilon=9))
        with db.rehearse(rows=50) as rehearsal:
            found = rows_of(rehearsal, "everything", "count(small), count(large), count(amount), count(word)")
            found += rows_of(rehearsal, "everything", "count(truth), count(day), count(moment)")
            assert min(count for row in found for count in row) > 10
            assert [(low > 0) for (low,) in rows_of(rehearsal, "text", "min(number)")] == [True]
            rehearsal.ask("SELECT COUNT(*) FROM everything WHERE truth AND day < moment", epsilon=1)
            rehearsal.ask("SELECT AVG(number) FROM text", epsilon=1)


def test_the_rows_are_deleted_and_the_real_database_goes_on(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as db:
        rehearsal = db.rehearse(rows=10)
        place = Path(rehearsal.tables.find("visits").source.location)
        assert place.is_file()
        rehearsal.close()
        assert not place.parent.exists()
        assert not db.ask("SELECT COUNT(*) FROM visits", epsilon="0.1").rehearsed


def test_a_prepared_copy_of_the_real_rows_is_not_read(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as db:
        copy = db.prepare("visits").copy
        assert copy is not None
        with db.rehearse(rows=10) as rehearsal:
            Path(copy.location).unlink()
            (tmp_path / "visits.parquet").unlink()
            assert copy.location not in rehearsal.explain(BY_WARD, epsilon=1).sql
            assert rehearsal.ask(BY_WARD, epsilon=1).rehearsed


def test_where_nobody_has_two_rows_nobody_is_given_two(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
    with jali.connect() as db:
        db.protect("people", tmp_path / "people.duckdb", unit="id", unique=True, budget=jali.Budget(epsilon=1))
        with db.rehearse(rows=50) as rehearsal:
            assert rows_of(rehearsal, "people", "count(*), count(DISTINCT id)") == [(50, 50)]
            rehearsal.ask("SELECT COUNT(*) FROM people", epsilon=1)
        assert db.advise("people", epsilon=1, dry_run=True).proposals[0].subject == "age"


@pytest.mark.parametrize("rows", [0, True, 10**9, "many"])
def test_a_number_of_rows_that_is_none_is_refused(tmp_path: Path, rows: Any) -> None:
    with open_clinic(tmp_path) as db, pytest.raises(jali.errors.CatalogError, match="rows must be"):
        db.rehearse(rows=rows)
