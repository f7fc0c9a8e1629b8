"""Tables in Spark through a database: how they are named, asked, and found again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.harness import noise_off

import jali
from jali.errors import CatalogError, EngineError, Unsupported

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TERMS: dict[str, Any] = {
    "unit": "patient_id",
    "max_rows": 2,
    "budget": jali.Budget(10),
    "columns": {"ward": jali.Keys(["A", "B"])},
}


@pytest.fixture
def visits(tmp_path: Path) -> str:
    """A Parquet file of visits, as Spark names it."""
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"patient_id": [i // 2 for i in range(30)], "ward": ["A", "B", "C"] * 10}), path)
    return f"parquet:{path}"


def test_a_session_is_a_source_and_is_given_again_after_reopening(spark: Any, visits: str, tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db, noise_off():
        db.protect("visits", spark, relation=visits, **TERMS)
        assert db.ask(COUNT, epsilon=1).rows == [("A", 10), ("B", 10)]
        assert "`ward`" in db.explain(COUNT, epsilon=1).sql
    with jali.connect(tmp_path / "clinic.jali") as db, noise_off():
        with pytest.raises(EngineError, match="Nothing was spent"):
            db.ask("SELECT COUNT(*) FROM visits", epsilon=1)
        db.tables.attach("visits", spark)
        assert db.ask("SELECT COUNT(*) FROM visits", epsilon=1).rows == [(30,)]


def test_the_address_of_a_cluster_is_a_source(spark: Any, visits: str) -> None:
    with jali.connect() as db, noise_off():
        db.protect("visits", spark.sparkContext.master, relation=visits, **TERMS)
        assert db.ask(COUNT, epsilon=1).rows == [("A", 10), ("B", 10)]


def test_a_catalog_table_is_named_and_a_view_is_refused(spark: Any, visits: str) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS care")
    spark.read.parquet(visits.removeprefix("parquet:")).write.saveAsTable("care.visits")
    spark.sql("CREATE VIEW care.some AS SELECT * FROM care.visits WHERE rand() < 0.5")
    try:
        with jali.connect() as db, noise_off():
            db.protect("visits", spark, relation="care.visits", **TERMS)
            assert db.ask(COUNT, epsilon=1).rows == [("A", 10), ("B", 10)]
            with pytest.raises(CatalogError, match="no table"):
                db.protect("drawn", spark, relation="care.some", **TERMS)
    finally:
        spark.sql("DROP DATABASE care CASCADE")


def test_tables_of_spark_and_of_files_are_not_joined(spark: Any, visits: str) -> None:
    with jali.connect() as db:
        db.protect("visits", spark, relation=visits, **TERMS)
        db.publish("wards", pa.table({"ward": ["A", "B"], "floor": [1, 2]}))
        with pytest.raises(Unsupported, match="different places"):
            db.explain("SELECT floor, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY floor", epsilon=1)


def test_a_public_table_is_published_from_a_session(spark: Any, visits: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"ward": ["A", "B"], "floor": [1, 2]}), tmp_path / "wards.parquet")
    with jali.connect() as db, noise_off():
        db.protect("visits", spark, relation=visits, **TERMS)
        db.publish("wards", spark, relation=f"parquet:{tmp_path / 'wards.parquet'}")
        sql = "SELECT floor, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY floor"
        assert db.ask(sql, epsilon=1).rows == [(1, 10), (2, 10)]


def test_what_spark_says_of_a_failure_is_in_no_log(spark: Any, visits: str) -> None:
    """Its Python side logs errors as they are raised; those of others' queries are theirs to see."""
    told: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    with jali.connect() as db:
        db.protect("visits", spark, relation=visits, **TERMS)
        logger, listener = logging.getLogger("SQLQueryContextLogger"), Listener()
        logger.addHandler(listener)
        try:
            with pytest.raises(EngineError):
                db._engine.run("SELECT * FROM secret_of_a_row", db.tables.catalog.tables)
            assert told == []
            with pytest.raises(Exception, match="secret_of_a_row"):
                spark.sql("SELECT * FROM secret_of_a_row")
            assert len(told) == 1
        finally:
            logger.removeHandler(listener)


def test_one_table_has_one_budget_whatever_it_is_called(spark: Any, visits: str, tmp_path: Path) -> None:
    path = visits.removeprefix("parquet:")
    spark.sql("CREATE DATABASE IF NOT EXISTS care")
    spark.read.parquet(path).write.saveAsTable("care.visits")
    try:
        with jali.connect() as db:
            db.protect("visits", spark, relation=visits, **TERMS)
            db.protect("kept", spark, relation="care.visits", **TERMS)
            (location,) = (
                row.data_type
                for row in spark.sql("DESCRIBE TABLE EXTENDED care.visits").collect()
                if row.col_name == "Location"
            )
            names = (
                f"{visits}/",
                f"parquet:file:{path}",
                f"parquet:{tmp_path}",
                f"parquet:{tmp_path}/../{tmp_path.name}",
            )
            for other in (*names, "spark_catalog.care.visits", f"parquet:{location}"):
                with pytest.raises(CatalogError, match="already protected as"):
                    db.protect("again", spark, relation=other, **TERMS)
            with pytest.raises(CatalogError, match="already protected as visits"):
                db.protect("again", path, **TERMS)
            with pytest.raises(
                CatalogError,
                match="A computed Spark DataFrame may change between readings, so only tables and files can be",
            ):
                db.protect("again", spark.read.parquet(path), **TERMS)
    finally:
        spark.sql("DROP DATABASE care CASCADE")
