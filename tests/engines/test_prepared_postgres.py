"""Prepared copies in Postgres: written whole or not at all, for their owner only, and read like the source."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from tests.depth import DEPTH
from tests.engines import movement
from tests.engines.copied import (
    SUMS,
    Row,
    check_fair,
    check_otherwise,
    check_ranked,
    check_rows,
    check_whose,
    declared,
    house,
    prepared,
    protect_house,
    table_of,
    with_copies,
)
from tests.engines.tables import load_postgres, schema_of
from tests.harness import noise_off
from tests.servers.postgres import Postgres

import jali
from jali.catalog.copy_names import SCHEMA
from jali.catalog.tables import Source
from jali.engines.copy_storage import PreparedCopies
from jali.engines.postgres import PostgresEngine
from jali.errors import CatalogError, EngineError
from jali.planner import make_plan
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql

_MINE = PreparedCopies(lambda: b"tests")


@pytest.fixture
def database(postgres: Postgres) -> str:
    """An empty database of Postgres."""
    return postgres.fresh()


def tables(url: str) -> list[str]:
    """What is in the schema of the copies."""
    found = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(%s)"
    with psycopg.connect(url, autocommit=True) as connection:
        return [name for (name,) in connection.execute(found, (SCHEMA,))]


def clinic(url: str, path: Path) -> jali.Database:
    """Put the tables into Postgres, and protect them."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name, table in house().items():
            load_postgres(connection, name, table)
    db = jali.connect(path / "clinic.jali")
    protect_house(db, url, lambda name: f"public.{name}")
    return db


def test_ranks_are_those_of_a_persons_own_rows(database: str) -> None:
    engine = PostgresEngine(_MINE)

    def copied(rows: Sequence[Row], seed: int) -> list[tuple[Any, ...]]:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS t")
            load_postgres(connection, "t", table_of(rows))
            copy = prepared(engine, declared(engine, Source("postgres", database, "public.t")), seed)
            names = sql.SQL('uid, "rank", word, place, person')
            place = sql.Identifier(*copy.relation.split("."))
            found = connection.execute(sql.SQL("SELECT {} FROM {}").format(names, place)).fetchall()
        # People are numbered, and their rows lie together.
        assert [row[4] for row in found] == sorted(row[4] for row in found)
        assert len({row[0] for row in found}) == len({row[4] for row in found}) == len({row[::4] for row in found})
        return [row[:4] for row in found]

    for seed in range(2 * DEPTH):
        check_rows(copied, seed)
        check_whose(copied, seed)
    check_fair(copied)
    engine.close()


def test_questions_on_a_copy_are_bounded_by_rank_or_find_what_the_source_has(
    database: str, tmp_path: Path
) -> None:
    with clinic(database, tmp_path) as db:
        check_otherwise(db)
        copy = db.tables.find("t").copy
        assert copy is not None
        text = (
            f"SELECT k, count(g), count(CASE WHEN x < 'NaN' THEN 1 END) FROM unnest('{{A,B}}'::text[]) k LEFT JOIN"
            f" {copy.relation} ON g = k AND place <= 3 GROUP BY k ORDER BY k"
        )

        def counted() -> list[tuple[Any, ...]]:
            with psycopg.connect(database, autocommit=True) as connection:
                return connection.execute(text.encode()).fetchall()

        check_ranked(db, counted)
        db.tables.drop_prepared("t")
        assert tables(database) == []
        with noise_off():
            assert db.ask("SELECT COUNT(*) FROM t WHERE x > 0", epsilon=2).rows


def test_nobody_moves_a_question_on_copies_further_than_declared(postgres: Postgres) -> None:
    engine = PostgresEngine(_MINE)
    with schema_of(postgres.url, movement.worlds(1)) as schema, jali.connect() as db:
        for name in movement.TABLES:
            place = f"{postgres.url}?schema={schema}"
            budget = jali.Budget(10**6)
            db.protect(name, place, unit="owner", max_rows=3, budget=budget, columns=movement.COLUMNS)
        catalog = with_copies(db.tables.catalog, engine, 5)
        ranked = 0
        for question in movement.QUESTIONS:
            asked = (read_sql(question.format(name)) for name in movement.TABLES)
            before, after = (make_plan(one, catalog, read_terms(epsilon=1)) for one in asked)
            weights = before.aggregation.weights
            ranked += weights is not None and weights.by_rank
            moved = movement.check_question(before, after, engine)
            # A bound that nobody comes near would let every query pass.
            assert any(one.furthest >= one.declared / 3 for one in moved)
        assert ranked >= 2
        for table in db.tables.catalog.tables:
            engine.discard(table)  # type: ignore[arg-type]
    engine.close()
    assert tables(postgres.url) == []


def test_a_refresh_renews_the_copy_and_other_processes_see_it(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as db, jali.connect(tmp_path / "clinic.jali") as other, noise_off():
        place = db.prepare("t").copy
        before = other.ask("SELECT COUNT(*) FROM t", epsilon=1).rows[0][0]
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("INSERT INTO t SELECT 'new' || i, 'A', 1, 'w' FROM generate_series(1, 5) AS i")
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=2).rows[0][0] == before
        db.refresh("t")
        assert db.tables.find("t").copy == place
        assert other.ask("SELECT COUNT(*) FROM t", epsilon=3).rows[0][0] == before + 5


@pytest.mark.parametrize("word", ["ranking rows", "indexing people"])
def test_what_is_cut_off_leaves_the_earlier_copy(word: str, database: str, tmp_path: Path) -> None:
    def cut(stage: str) -> None:
        if stage == word:
            raise OSError

    with clinic(database, tmp_path) as db, noise_off():
        with pytest.raises(CatalogError, match="could not be written") as refused:
            db.prepare("t", on_stage=cut)
        assert refused.value.__context__ is None
        assert tables(database) == []
        assert db.tables.find("t").copy is None
        copy = db.prepare("t").copy
        found = db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows
        with pytest.raises(CatalogError, match="could not be written"):
            db.prepare("t", on_stage=cut)
        assert db.tables.find("t").copy == copy
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=2).rows == found


def test_a_copy_whose_declaration_was_cut_off_is_found_again_and_dropped(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as db:
        table = db.tables.find("t")
        with pytest.raises(RuntimeError):
            db._engine.prepare(table, lambda _: None, _fails_at_last())
        assert len(tables(database)) == 1
        assert db.tables.find("t").copy is None
        db.tables.drop_prepared("t")
        assert tables(database) == []


def _fails_at_last() -> Any:
    def tell(copy: Source | None) -> None:
        if copy is not None:
            raise RuntimeError

    return tell


def test_a_missing_copy_is_an_error_that_says_the_remedy_and_spends_nothing(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as db:
        copy = db.prepare("t").copy
        assert copy is not None
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"DROP TABLE {copy.relation}".encode())
        with pytest.raises(EngineError, match=r"copy of table t is missing.*db\.prepare"):
            db.ask(SUMS, epsilon=1)
        assert db.receipts() == ()
        db.prepare("t")
        assert db.ask(SUMS, epsilon=1).rows


def test_a_role_that_may_only_read_is_told_what_it_needs_and_can_still_ask(
    postgres: Postgres, database: str, tmp_path: Path
) -> None:
    reader = database.replace("jali@", "guarded@")
    with clinic(database, tmp_path), psycopg.connect(database, autocommit=True) as owner:
        owner.execute("GRANT USAGE ON SCHEMA public TO guarded")
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guarded")
    with pytest.MonkeyPatch.context() as patch, jali.connect(tmp_path / "reader.jali") as db:
        patch.setenv("PGPASSWORD", postgres.password)
        protect_house(db, reader, lambda name: f"public.{name}")
        with pytest.raises(CatalogError, match=f"CREATE SCHEMA {SCHEMA} AUTHORIZATION"):
            db.prepare("t")
        assert db.ask(SUMS, epsilon=1).rows
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            owner.execute(f"GRANT CREATE, USAGE ON SCHEMA {SCHEMA} TO guarded".encode())
        db.prepare("t")
        assert db.ask(SUMS, epsilon=1).rows


def test_nobody_else_can_read_a_copy(postgres: Postgres, database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as db:
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO guarded")
            owner.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
            owner.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            owner.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO guarded".encode())
        copy = db.prepare("t").copy
        assert copy is not None
    reader = database.replace("jali@", "guarded@")
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(reader, password=postgres.password, autocommit=True) as other, refused:
        other.execute(f"SELECT * FROM {copy.relation}".encode())


def test_a_copy_is_no_source_and_a_database_in_memory_keeps_none(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as db:
        copy = db.prepare("t").copy
        assert copy is not None
        with pytest.raises(CatalogError, match="copies of protected tables"):
            db.protect("u", database, relation=copy.relation, unit=None, budget=jali.Budget(1))
        with pytest.raises(CatalogError, match="copies of protected tables"):
            db.publish("u", database, relation=copy.relation)
    with jali.connect() as db:
        protect_house(db, database, lambda name: f"public.{name}")
        with pytest.raises(CatalogError, match="in-memory database"):
            db.prepare("t")
        db.tables.drop_prepared("t")


def test_two_databases_have_copies_of_their_own(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path) as one, jali.connect(tmp_path / "other.jali") as two:
        protect_house(two, database, lambda name: f"public.{name}")
        copies = {one.prepare("t").copy, two.prepare("t").copy}
        assert len(copies) == len(tables(database)) == 2
        one.tables.drop_prepared("t")
        assert two.ask(SUMS, epsilon=1).rows


def as_superuser(postgres: Postgres, database: str, *statements: str) -> None:
    """Do what neither the owner of the database nor anybody else there may."""
    name = database.rpartition("/")[2]
    with psycopg.connect(postgres.superuser.replace("/jali?", f"/{name}?"), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.format(name=name).encode())


def test_a_schema_of_somebody_else_holds_no_copies(postgres: Postgres, database: str, tmp_path: Path) -> None:
    """Its owner could put a table in the place of a copy, whose policies run as whoever asks."""
    as_superuser(postgres, database, "GRANT CREATE ON DATABASE {name} TO guarded")
    mallory = database.replace("jali@", "guarded@")
    with psycopg.connect(mallory, password=postgres.password, autocommit=True) as other:
        other.execute(f"CREATE SCHEMA {SCHEMA}".encode())
        other.execute(f"GRANT ALL ON SCHEMA {SCHEMA} TO PUBLIC".encode())
    with clinic(database, tmp_path) as db:
        with pytest.raises(CatalogError, match="another role"):
            db.prepare("t")
        assert tables(database) == []
        assert db.ask(SUMS, epsilon=1).rows


def test_a_table_of_somebody_else_in_the_place_of_a_copy_is_not_read(
    postgres: Postgres, database: str, tmp_path: Path
) -> None:
    with clinic(database, tmp_path) as db:
        copy = db.prepare("t").copy
        assert copy is not None
        given = f"GRANT SELECT ON {copy.relation} TO jali"
        as_superuser(postgres, database, f"ALTER TABLE {copy.relation} OWNER TO guarded", given)
        with pytest.raises(EngineError, match="copy of table t is missing"):
            db.ask(SUMS, epsilon=1)
        assert db.receipts() == ()
        guarded = f"ALTER TABLE {copy.relation} ENABLE ROW LEVEL SECURITY"
        as_superuser(postgres, database, f"ALTER TABLE {copy.relation} OWNER TO jali", guarded)
        with pytest.raises(EngineError, match="copy of table t is missing"):
            db.ask(SUMS, epsilon=1)


def test_the_first_two_copies_of_a_database_are_written_at_once(database: str, tmp_path: Path) -> None:
    with clinic(database, tmp_path):
        pass

    def prepare(name: str) -> Source | None:
        with jali.connect(tmp_path / "clinic.jali") as db:
            return db.prepare(name).copy

    with ThreadPoolExecutor(2) as both:
        copies = list(both.map(prepare, ("t", "other")))
    assert None not in copies
    assert len(tables(database)) == 2


def test_what_other_tables_reach_a_table_by_is_in_its_copy(database: str, tmp_path: Path) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        key = "to_hex(i + 16)"
        numbers = "FROM generate_series(0, 39) i"
        columns = f"{key} AS k, i % 10 AS person, i AS unit"
        connection.execute(f"CREATE TABLE orders AS SELECT {columns} {numbers}".encode())
        connection.execute(f"CREATE TABLE lines AS SELECT {key} AS l {numbers}".encode())
    budget = jali.Budget(10)
    with jali.connect(tmp_path / "shop.jali") as db, noise_off():
        db.protect("orders", database, unit="person", max_rows=4, budget=budget)
        db.protect(
            "lines", database, unit=jali.Via("orders", on="l = k", unit="person"), max_rows=4, budget=budget
        )
        assert db.ask("SELECT COUNT(*) FROM lines", epsilon=1).rows == [(40,)]
        copy = db.prepare("orders").copy
        assert copy is not None
        assert db.ask("SELECT COUNT(*) FROM lines", epsilon=2).rows == [(40,)]
        db.refresh("orders")
        # A column that is called as those of the query are: rows lie in the order of people all the same.
        with psycopg.connect(database, autocommit=True) as connection:
            found = connection.execute(f"SELECT person FROM {copy.relation}".encode()).fetchall()
        assert found == sorted(found)


def test_a_unit_is_reached_through_columns_that_can_be_read(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE keyed AS SELECT decode('ab', 'hex') AS k, 1 AS person")
        connection.execute("CREATE TABLE lines AS SELECT decode('ab', 'hex') AS l")
    budget, via = jali.Budget(10), jali.Via("keyed", on="l = k", unit="person")
    with jali.connect() as db:
        db.protect("keyed", database, unit="person", max_rows=4, budget=budget)
        with pytest.raises(CatalogError, match="l has a type that questions cannot read"):
            db.protect("lines", database, unit=via, max_rows=4, budget=budget)
