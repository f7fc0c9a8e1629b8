"""TPC-H at scale 0.01: with the noise off the questions equal plain DuckDB, and one customer moves little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from benchmarks.tpch.errors import by_keys, truth
from benchmarks.tpch.questions import Q1, Q5, Q6, Q12, Q14, QUESTIONS, Asked
from benchmarks.tpch.tables import PROTECTED, PUBLIC, generated, generator, plain, protected
from tests.depth import thinned
from tests.docs.sessions import blocks, failures
from tests.harness import noise_off

import jali

pytestmark = pytest.mark.skipif(
    generator() is None, reason="tpchgen-cli, which makes the tables, is not installed"
)

ALL = 400  # more lines than any customer has
HIGHEST = {"Q1": 113346, "Q5": 104950, "Q6": 10495, "Q12": 1}
EVERY = [*QUESTIONS, *(asked.edited for asked in QUESTIONS if asked.edit)]


def _named(asked: Asked) -> str:
    return asked.name if asked in QUESTIONS else f"{asked.name} edited"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("tpch"), "0.01")


@pytest.fixture(scope="module")
def raw(directory: Path) -> duckdb.DuckDBPyConnection:
    return plain(directory)


@pytest.fixture(scope="module")
def db(directory: Path) -> jali.Database:
    return protected(directory)


def _exact(db: jali.Database, asked: Asked, max_rows: int) -> dict[tuple[Any, ...], list[float]]:
    with noise_off():
        return by_keys(db.ask(asked.sql, epsilon=1, max_rows=max_rows).rows, asked.keys)


@pytest.mark.parametrize("asked", EVERY, ids=_named)
def test_without_noise_a_question_equals_plain_duckdb(
    db: jali.Database, raw: duckdb.DuckDBPyConnection, asked: Asked
) -> None:
    found, true = _exact(db, asked, ALL), truth(raw, asked)
    assert true
    for key, row in true.items():
        assert found.pop(key) == pytest.approx(row, rel=1e-4)
    # Declared keys that no row has.
    assert all(row[-1] == 0 for row in found.values())


@pytest.mark.parametrize("max_rows", [1, 2, 5])
@pytest.mark.parametrize("asked", [Q6, Q12.edited], ids=_named)
def test_without_noise_a_bounded_question_equals_weighted_sql(
    db: jali.Database, raw: duckdb.DuckDBPyConnection, asked: Asked, max_rows: int
) -> None:
    found, value = _exact(db, asked, max_rows), "l_extendedprice * l_discount" if asked is Q6 else "1"
    keys = "l_shipmode, o_orderpriority in ('1-URGENT', '2-HIGH'), " if asked.keys else ""
    rows = asked.rows.replace("from lineitem", "from orders, lineitem")
    if asked is Q6:
        rows += " and l_orderkey = o_orderkey"
    weighed = f"select *, least(1.0, {max_rows} / count(*) over (partition by o_custkey)) as w {rows}"
    grouped = " group by all" if asked.keys else ""
    expected = by_keys(
        raw.execute(f"select {keys}sum(w * {value}) from ({weighed}){grouped}").fetchall(), asked.keys
    )
    assert expected
    for key, row in expected.items():
        assert found[key] == pytest.approx(row, rel=1e-4)


def test_the_edits_ask_for_the_same_numbers(raw: duckdb.DuckDBPyConnection) -> None:
    for key, row in truth(raw, Q1).items():
        assert truth(raw, Q1.edited)[key] == pytest.approx(row)
    assert truth(raw, Q6.edited) == truth(raw, Q6)
    pivoted = {
        (mode, high): [n] for (mode,), row in truth(raw, Q12).items() for high, n in zip((1, 0), row, strict=True)
    }
    assert truth(raw, Q12.edited) == pivoted


@pytest.mark.parametrize(
    ("asked", "tables"),
    [
        (Q1, {"lineitem", "orders"}),
        (Q5, {"lineitem", "orders", "customer"}),
        (Q12, {"lineitem", "orders"}),
        (Q14, {"lineitem", "orders"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_protected_table_that_is_read_is_charged_in_full(
    db: jali.Database, asked: Asked, tables: set[str]
) -> None:
    costs = dict(db.explain(asked.sql, epsilon=1).costs)
    assert set(costs) == tables
    assert all(event.epsilon == 1 for event in costs.values())


@thinned(3)
@pytest.mark.parametrize("table", PROTECTED)
def test_a_customer_who_leaves_one_table_moves_the_sums_by_no_more_than_the_bound(
    db: jali.Database, raw: duckdb.DuckDBPyConnection, directory: Path, tmp_path: Path, table: str
) -> None:
    busiest = f"(select o_custkey {Q5.rows} group by o_custkey order by count(*) desc, o_custkey limit 1)"
    without = _without(raw, directory, tmp_path, table, busiest)
    moved = 0.0
    for asked in (Q1, Q5, Q6, Q12):
        before, after = (_exact(each, asked, 3) for each in (db, without))
        sums = slice(0, 4) if asked is Q1 else slice(None)
        for column in zip(*(_differences(before[key], after[key])[sums] for key in before), strict=True):
            assert sum(column) <= 3 * HIGHEST[asked.name]
            moved += sum(column)
    assert moved > 0


def _differences(one: list[float], other: list[float]) -> list[float]:
    return [abs(a - b) for a, b in zip(one, other, strict=True)]


def _without(
    raw: duckdb.DuckDBPyConnection, directory: Path, tmp_path: Path, table: str, customer: str
) -> jali.Database:
    """Protect the same tables where one customer has no rows in one of them."""
    for name in (*PUBLIC, *PROTECTED):
        (tmp_path / f"{name}.parquet").symlink_to(directory / f"{name}.parquet")
    rest = {
        "customer": f"c_custkey <> {customer}",
        "orders": f"o_custkey <> {customer}",
        "lineitem": f"l_orderkey not in (select o_orderkey from orders where o_custkey = {customer})",
    }[table]
    (tmp_path / f"{table}.parquet").unlink()
    raw.execute(f"copy (from {table} where {rest}) to '{tmp_path / table}.parquet'")
    return protected(tmp_path)


def test_the_page_shows_declarations_that_work(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tpch").symlink_to(directory)
    monkeypatch.chdir(tmp_path)
    assert blocks("tpch.md")
    assert failures("tpch.md") == 0
