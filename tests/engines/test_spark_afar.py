"""Spark in other processes: a server of Spark Connect by address and by session, and a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import deep
from tests.harness import noise_off
from tests.servers.spark import MISSING as NO_SPARK
from tests.servers.spark import is_installed
from tests.servers.spark_afar import MISSING, is_connectable, running_cluster, running_connect

import jali
from jali.errors import CatalogError, EngineError

# Of the golden questions so many-th are compared here; all of them are in test_golden_spark.py.
_EVERY = 8
COUNT = "SELECT ward, COUNT(*) AS n, SUM(cost) AS paid FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Spark Connect."""
    if not is_connectable():
        pytest.skip(MISSING)
    with running_connect(tmp_path_factory.mktemp("connect")) as address:
        yield address


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    rows = {
        "patient_id": [i // 2 for i in range(30)],
        "ward": ["A", "B", "C"] * 10,
        "cost": [1e300, 2.0, -5.0] * 10,
    }
    pq.write_table(pa.table(rows), path)
    return path


def protect(db: jali.Database, source: object, path: Path) -> None:
    columns: Any = {"ward": jali.Keys(["A", "B"]), "cost": jali.Range(0, 100)}
    budget = jali.Budget(10)
    db.protect(
        "visits", source, relation=f"parquet:{path}", unit="patient_id", max_rows=2, budget=budget, columns=columns
    )


def test_the_address_of_spark_connect_is_a_source(connect: str, visits: Path, tmp_path: Path) -> None:
    for turn in (1, 2):
        with jali.connect(tmp_path / "clinic.jali") as db, noise_off():
            if turn == 1:
                protect(db, connect, visits)
            # Found again by its address.
            assert db.ask(COUNT, epsilon=turn).rows == [("A", 10, 1000), ("B", 10, 20)]
            if turn == 2:
                check_apart(db, connect)


def check_apart(db: jali.Database, address: str) -> None:
    """Whoever asks Spark for a session gets another than ours, and another one is opened where ours has ended."""
    from pyspark.sql.connect.session import SparkSession

    ours = _ours(db, address)
    assert SparkSession.getActiveSession() is not ours
    assert SparkSession._get_default_session() is not ours
    ours.client.release_session()
    assert db.ask(COUNT, epsilon=3).rows == [("A", 10, 1000), ("B", 10, 20)]
    assert _ours(db, address) is not ours


@deep
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_session_of_spark_connect_is_a_source_and_keeps_its_settings(
    connect: str, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.connect.session import SparkSession

    # Then it stops the server together with a session.
    monkeypatch.setenv("SPARK_LOCAL_REMOTE", "1")
    given = SparkSession.builder.remote(connect).create()
    given.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with jali.connect() as db, noise_off():
        protect(db, given, visits)
        assert db.ask(COUNT, epsilon=1).rows == [("A", 10, 1000), ("B", 10, 20)]
        # Another one is opened where a server has ended ours.
        _ours(db, "session").client.release_session()
        assert db.ask(COUNT, epsilon=2).rows == [("A", 10, 1000), ("B", 10, 20)]
        db.refresh("visits")
    monkeypatch.delenv("SPARK_LOCAL_REMOTE")
    assert given.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert given.range(3).count() == 3
    given.stop()


def _ours(db: jali.Database, address: str) -> Any:
    return db._engine._others["spark"]._sessions[address]  # type: ignore[attr-defined]


def test_a_server_that_forgets_its_catalog_has_no_place_for_a_copy(
    connect: str, visits: Path, tmp_path: Path
) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db, noise_off():
        protect(db, connect, visits)
        with pytest.raises(CatalogError, match="cannot be kept, because the catalog of this Spark is temporary"):
            db.prepare("visits")
        assert db.ask(COUNT, epsilon=1).rows


@deep
def test_a_server_that_is_gone_is_said_and_nothing_is_spent(visits: Path, tmp_path: Path) -> None:
    if not is_connectable():
        pytest.skip(MISSING)
    with running_connect(tmp_path) as address, jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, address, visits)
    with jali.connect(tmp_path / "clinic.jali") as db:
        with pytest.raises(EngineError, match="Nothing was spent") as refused:
            db.ask(COUNT, epsilon=1)
        assert refused.value.__context__ is None
        assert db.receipts() == ()


def check_golden(address: str, folder: Path) -> None:
    """In a process of its own: each drives one Spark."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.engines.golden_afar", address, str(folder)]
    done = subprocess.run([*command, str(_EVERY)], check=False, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr[-3000:]


@deep
def test_golden_questions_have_the_same_integers_by_spark_connect(connect: str, tmp_path: Path) -> None:
    check_golden(connect, tmp_path)


@deep
def test_golden_questions_have_the_same_integers_on_a_cluster(tmp_path: Path) -> None:
    if not is_installed():
        pytest.skip(NO_SPARK)
    with running_cluster(tmp_path) as address:
        check_golden(address, tmp_path)
