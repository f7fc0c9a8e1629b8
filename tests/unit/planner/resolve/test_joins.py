"""Joins of several tables: which condition proves that the owners of an earlier pair are equal."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from tests.harness import noise_off

import jali

PATIENTS = pa.table({"pid": [1, 2, 3], "sex": ["m", "f", "m"]})
VISITS = pa.table({"uid": [1, 1, 2, 4], "ward": ["A", "B", "A", "C"]})
WARDS = pa.table({"ward": ["A", "B", "C"], "floor": [1, 1, 2]})


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    budget = jali.Budget(epsilon=100)
    with jali.connect() as opened:
        opened.protect("visits", VISITS, unit="uid", max_rows=8, budget=budget)
        opened.protect("patients", PATIENTS, unit="pid", max_rows=1, budget=budget)
        opened.publish("wards", WARDS)
        yield opened


def plain(sql: str) -> int:
    with duckdb.connect() as connection:
        for name, table in (("visits", VISITS), ("patients", PATIENTS), ("wards", WARDS)):
            connection.register(name, table)
        found = connection.execute(sql).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize("kind", ["LEFT", "FULL"])
def test_the_condition_of_an_outer_join_proves_nothing_about_an_earlier_pair(db: jali.Database, kind: str) -> None:
    """Rows that do not satisfy it are kept: read as plain SQL, people would be paired with strangers."""
    sql = f"SELECT COUNT(*) FROM visits v JOIN patients p ON TRUE {kind} JOIN wards w ON v.uid = p.pid"
    assert plain(sql) > plain("SELECT COUNT(*) FROM visits v JOIN patients p ON v.uid = p.pid, wards")
    with pytest.raises(jali.errors.Unsupported, match="same person"):
        db.explain(sql, epsilon=1)


@pytest.mark.parametrize(
    "joins",
    [
        "visits v JOIN patients p ON TRUE JOIN wards w ON v.uid = p.pid AND v.ward = w.ward",
        "visits v JOIN patients p ON TRUE LEFT JOIN wards w ON v.ward = w.ward WHERE v.uid = p.pid",
        "visits v SEMI JOIN (patients p JOIN visits o ON p.pid = o.uid AND o.ward = 'B') ON v.uid = p.pid",
        "visits v ANTI JOIN (patients p JOIN visits o ON p.pid = o.uid AND o.ward = 'B') ON v.uid = p.pid",
    ],
)
def test_a_pair_is_proved_by_any_condition_that_its_rows_satisfy(db: jali.Database, joins: str) -> None:
    sql = f"SELECT COUNT(*) FROM {joins}"
    with noise_off():
        assert db.ask(sql, epsilon=1).rows == [(plain(sql),)]
