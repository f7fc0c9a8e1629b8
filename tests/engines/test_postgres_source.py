"""Tables in Postgres: how they are named, what is refused before anything is spent, and what a restart leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from tests.harness import noise_off
from tests.servers.postgres import Postgres

import jali
from jali.errors import CatalogError, EngineError, QueryError, Unsupported
from jali.postgres_address import read_address

WARDS = jali.Keys(["A", "B"])
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PASSWORD = "hunter2"


@pytest.fixture
def clinic(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    """A schema with a table of visits; it is gone with the test."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.execute(
            "CREATE TABLE clinic.visits (patient_id bigint, ward text, age int, cost numeric(10, 2))"
        )
        connection.execute(
            "INSERT INTO clinic.visits SELECT i / 2, CASE WHEN i % 3 = 0 THEN 'A' ELSE 'B' END, i % 90, i * 1.25"
            " FROM generate_series(0, 99) AS i"
        )
        yield connection
    # The server may have been started again meanwhile.
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA clinic CASCADE")


def protect(db: jali.Database, postgres: Postgres, **terms: Any) -> None:
    known: dict[str, Any] = {"unit": "patient_id", "max_rows": 2, "columns": {"ward": WARDS}}
    db.protect("visits", f"{postgres.url}?schema=clinic", budget=jali.Budget(10), **(known | terms))


def spent(db: jali.Database) -> str:
    return str(db._ledger.spent("table visits"))


def test_a_table_is_named_by_its_schema_and_asked_like_any_other(
    postgres: Postgres, clinic: psycopg.Connection[Any]
) -> None:
    with jali.connect() as db, noise_off():
        columns = {"ward": WARDS, "age": jali.Range(0, 120), "cost": jali.Range(0, 200)}
        protect(db, postgres, columns=columns)
        answer = db.ask("SELECT ward, COUNT(*), SUM(cost), AVG(age) FROM visits GROUP BY ward", epsilon=1)
    wanted = clinic.execute(
        "SELECT ward, count(*), sum(cost), avg(age) FROM clinic.visits GROUP BY ward ORDER BY ward"
    ).fetchall()
    for found, row in zip(answer.rows, wanted, strict=True):
        assert found[:2] == row[:2]
        assert found[2:] == pytest.approx([float(value) for value in row[2:]], rel=1e-6)


def test_it_is_found_again_by_another_process(postgres: Postgres, clinic: Any, tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, postgres)
    with jali.connect(tmp_path / "clinic.jali") as db, noise_off():
        assert db.ask(COUNT, epsilon=1).rows == [("A", 34), ("B", 66)]


def test_relation_names_another_table(postgres: Postgres, clinic: psycopg.Connection[Any]) -> None:
    clinic.execute('CREATE TABLE clinic."Odd ""name""" (id bigint PRIMARY KEY, ward text)')
    with jali.connect() as db, noise_off():
        terms: dict[str, Any] = {"unit": "id", "unique": True, "budget": jali.Budget(1)}
        db.protect("odd", postgres.url, relation='clinic.Odd "name"', **terms)
        assert db.ask("SELECT COUNT(*) FROM odd", epsilon=1).rows == [(0,)]


@pytest.mark.parametrize(
    "address", [f"postgresql://ana:{PASSWORD}@db/clinic", f"postgres://ana@db/clinic?password={PASSWORD}"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with jali.connect() as db, pytest.raises(CatalogError, match="PGPASSWORD") as refused:
        db.protect("visits", address, unit=None, budget=jali.Budget(1))
    assert PASSWORD not in str(refused.value)


def test_an_address_is_written_in_one_way() -> None:
    one = read_address("postgres://ana@DB.example:5432/clinic?sslmode=require&schema=a")
    assert one == read_address("postgresql://ana@db.example:5432/clinic?schema=a&sslmode=require")
    with pytest.raises(CatalogError, match="no option options"):
        read_address("postgresql://db/clinic?options=-csearch_path%3Dmine")


def test_a_role_with_a_password_reads_it_from_the_environment(
    postgres: Postgres, clinic: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic.execute("GRANT USAGE ON SCHEMA clinic TO guarded; GRANT SELECT ON clinic.visits TO guarded")
    with jali.connect() as db:
        terms: dict[str, Any] = {"relation": "clinic.visits", "unit": None, "budget": jali.Budget(1)}
        monkeypatch.delenv("PGPASSWORD", raising=False)
        with pytest.raises(CatalogError, match="cannot be reached"):
            db.protect("visits", postgres.guarded, **terms)
        monkeypatch.setenv("PGPASSWORD", postgres.password)
        db.protect("visits", postgres.guarded, **terms)
        assert postgres.password not in repr(db.tables.catalog.tables)


@pytest.mark.parametrize("relation", ["clinic.nothing", "nowhere.visits", "clinic.a_view"])
def test_what_is_no_table_is_refused(relation: str, postgres: Postgres, clinic: psycopg.Connection[Any]) -> None:
    clinic.execute("CREATE VIEW clinic.a_view AS SELECT * FROM clinic.visits WHERE random() < 0.5")
    with jali.connect() as db, pytest.raises(CatalogError, match="no table"):
        db.protect("visits", postgres.url, relation=relation, unit=None, budget=jali.Budget(1))


def test_a_unit_without_a_key_is_not_called_unique(postgres: Postgres, clinic: psycopg.Connection[Any]) -> None:
    clinic.execute("CREATE UNIQUE INDEX partly ON clinic.visits (patient_id) WHERE age = 1")
    with jali.connect() as db, pytest.raises(CatalogError, match="No constraint"):
        protect(db, postgres, unique=True, max_rows=None)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clinic.visits ALTER ward TYPE integer USING 1",
        "ALTER TABLE clinic.visits DROP ward",
        "ALTER TABLE clinic.visits RENAME TO other; CREATE VIEW clinic.visits AS SELECT * FROM clinic.other",
        "DROP TABLE clinic.visits",
    ],
)
def test_a_table_with_other_columns_is_refused_before_anything_is_spent(
    change: str, postgres: Postgres, clinic: psycopg.Connection[Any]
) -> None:
    with jali.connect() as db:
        protect(db, postgres)
        clinic.execute(change)
        with pytest.raises(EngineError, match="Nothing was spent"):
            db.ask(COUNT, epsilon=1)
        assert spent(db) == "epsilon 0"


def test_tables_in_different_places_cannot_be_joined(postgres: Postgres, clinic: Any) -> None:
    with jali.connect() as db:
        protect(db, postgres)
        db.publish("wards", pa.table({"ward": ["A", "B"], "floor": [1, 2]}))
        with pytest.raises(Unsupported, match="different places"):
            db.explain("SELECT floor, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY floor", epsilon=1)


def test_public_tables_and_reached_units_are_read_there_too(
    postgres: Postgres, clinic: psycopg.Connection[Any]
) -> None:
    clinic.execute("CREATE TABLE clinic.wards AS SELECT * FROM (VALUES ('A', 1), ('B', 2)) AS w(ward, floor)")
    clinic.execute("CREATE TABLE clinic.stays AS SELECT DISTINCT patient_id stay, patient_id FROM clinic.visits")
    clinic.execute("CREATE TABLE clinic.pills AS SELECT patient_id AS stay, 3 AS pieces FROM clinic.visits")
    address = f"{postgres.url}?schema=clinic"
    with jali.connect() as db, noise_off():
        protect(db, postgres)
        db.publish("wards", address)
        joined = "SELECT floor, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY floor"
        assert db.ask(joined, epsilon=1).rows == [(1, 34), (2, 66)]
        db.protect("stays", address, unit="patient_id", max_rows=1, budget=jali.Budget(1))
        via = jali.Via("stays", on="stay = stay", unit="patient_id")
        pieces = {"pieces": jali.Range(0, 10)}
        db.protect("pills", address, unit=via, max_rows=2, budget=jali.Budget(1), columns=pieces)
        assert db.ask("SELECT SUM(pieces) FROM pills", epsilon=1).rows[0][0] == pytest.approx(300)


def test_a_rehearsal_makes_up_its_rows_elsewhere(postgres: Postgres, clinic: Any) -> None:
    with jali.connect() as db:
        protect(db, postgres)
        with db.rehearse(rows=1000) as rehearsal:
            assert len(rehearsal.ask(COUNT, epsilon=1).rows) == 2
        assert spent(db) == "epsilon 0"


def test_nothing_is_written_and_no_function_of_a_user_is_called(
    postgres: Postgres, clinic: psycopg.Connection[Any]
) -> None:
    """A function of a user called like one of Postgres would be called in its place, and could see rows."""
    clinic.execute("CREATE FUNCTION public.abs(bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE; END'")
    try:
        with jali.connect() as db, noise_off():
            protect(db, postgres, columns={"ward": WARDS, "age": jali.Range(0, 120)})
            assert db.ask("SELECT SUM(ABS(age)) FROM visits", epsilon=1).rows[0][0] > 0
            connections = db._engine.of(db.tables.catalog.tables[0].source)._connections  # type: ignore[attr-defined]
            with (
                pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
                connections.transaction(postgres.url) as connection,
            ):
                connection.execute("CREATE TEMPORARY TABLE t (i int)")
    finally:
        clinic.execute("DROP FUNCTION public.abs(bigint)")


def test_a_server_that_is_away_is_told_before_anything_is_spent(
    postgres: Postgres, clinic: psycopg.Connection[Any]
) -> None:
    with jali.connect() as db:
        protect(db, postgres)
        clinic.close()
        postgres.stop()
        try:
            with pytest.raises(EngineError, match=r"cannot be reached\. Nothing was spent"):
                db.ask(COUNT, epsilon=1)
        finally:
            postgres.start()
        assert spent(db) == "epsilon 0"
        assert len(db.ask(COUNT, epsilon=1).rows) == 2


def test_a_restart_in_the_middle_of_a_question_leaves_a_receipt_that_is_redeemed_for_nothing(
    postgres: Postgres, clinic: psycopg.Connection[Any], tmp_path: Path
) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, postgres)
        engine = db._engine.of(db.tables.catalog.tables[0].source)  # type: ignore[attr-defined]
        held, honest = threading.Event(), engine._lock_columns

        def held_and_killed(*given: Any) -> bool:
            """Everything was reserved, and the query is about to begin: the server goes."""
            found = bool(honest(*given))
            clinic.close()
            postgres.kill()
            held.set()
            return found

        engine._lock_columns = held_and_killed
        with pytest.raises(EngineError, match="cannot be reached") as failed:
            db.ask(COUNT, epsilon=1)
        assert held.is_set()
        # Nothing of Postgres's own message, which may quote rows.
        assert failed.value.__cause__ is None
        assert failed.value.__context__ is None
        engine._lock_columns = honest
        postgres.start()
        (receipt,) = db.receipts()
        assert receipt.state == "open"
        assert spent(db) == "epsilon 1"
        assert len(db.redeem(receipt.id).rows) == 2
        assert spent(db) == "epsilon 1"
        assert [one.state for one in db.receipts()] == ["released"]


def test_an_unknown_column_is_a_mistake_in_the_question(postgres: Postgres, clinic: Any) -> None:
    with jali.connect() as db:
        protect(db, postgres)
        with pytest.raises(QueryError):
            db.explain("SELECT SUM(nothing) FROM visits", epsilon=1)


def test_one_table_has_one_budget_whatever_its_address_looks_like(
    postgres: Postgres, clinic: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    clinic.execute("GRANT USAGE ON SCHEMA clinic TO guarded")
    clinic.execute("GRANT SELECT ON clinic.visits TO guarded")
    with jali.connect() as db:
        protect(db, postgres)
        for address in (
            postgres.url.replace("127.0.0.1", "localhost"),
            f"{postgres.url}?sslmode=prefer",
            postgres.guarded,
        ):
            with pytest.raises(CatalogError, match="already protected as visits"):
                db.protect("again", address, relation="clinic.visits", unit=None, budget=jali.Budget(1))
            with pytest.raises(CatalogError, match="is protected as visits"):
                db.publish("again", address, relation="clinic.visits")


def test_what_cannot_be_read_is_refused_before_anything_is_spent(
    postgres: Postgres, clinic: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    clinic.execute("CREATE MATERIALIZED VIEW clinic.kept AS SELECT * FROM clinic.visits")
    clinic.execute("GRANT USAGE ON SCHEMA clinic TO guarded")
    with jali.connect() as db:
        for address, relation in ((postgres.url, "clinic.kept"), (postgres.guarded, "clinic.visits")):
            with pytest.raises(CatalogError, match="There is no table"):
                db.protect("t", address, relation=relation, unit=None, budget=jali.Budget(1))
        clinic.execute("GRANT SELECT ON clinic.visits TO guarded")
        db.protect("t", postgres.guarded, relation="clinic.visits", unit=None, budget=jali.Budget(1))
        clinic.execute("REVOKE SELECT ON clinic.visits FROM guarded")
        with pytest.raises(EngineError, match="Nothing was spent"):
            db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        assert db.receipts() == ()
        with pytest.raises(EngineError):
            db.refresh("t")


@pytest.mark.parametrize(
    "order", [("parent", "child"), ("child", "parent"), ("child", "sibling"), ("grandchild", "parent")]
)
def test_tables_that_inherit_from_each_other_have_one_budget(
    postgres: Postgres, clinic: psycopg.Connection[Any], order: tuple[str, str]
) -> None:
    """A scan of a parent reads the rows of its children."""
    clinic.execute("CREATE TABLE clinic.parent (u int, v int)")
    clinic.execute("CREATE TABLE clinic.child () INHERITS (clinic.parent)")
    clinic.execute("CREATE TABLE clinic.sibling () INHERITS (clinic.parent)")
    clinic.execute("CREATE TABLE clinic.grandchild () INHERITS (clinic.child)")
    clinic.execute("CREATE TABLE clinic.stranger (u int, v int)")
    first, second = order
    url = f"{postgres.url}?schema=clinic"
    with jali.connect() as db:
        db.protect(first, url, unit="u", max_rows=1, budget=jali.Budget(1))
        with pytest.raises(CatalogError, match="protected"):
            db.protect(second, url, unit="u", max_rows=1, budget=jali.Budget(1))
        with pytest.raises(CatalogError, match="protected"):
            db.publish(second, url)
        db.protect("stranger", url, unit="u", max_rows=1, budget=jali.Budget(1))
