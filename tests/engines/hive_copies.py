"""Prepared copies where Spark's catalog lasts: run as a process, twice over the same folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.engines.copied import OTHERWISE, SUMS, check_otherwise, protect_house
from tests.harness import noise_off

import jali
from jali.catalog.copy_names import SCHEMA


def started(folder: Path) -> Any:
    """Start a Spark with a metastore in a folder."""
    metastore = f"jdbc:derby:;databaseName={folder / 'metastore'};create=true"
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "1")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", metastore)
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder}")
        .enableHiveSupport()
        .getOrCreate()
    )


def shown(session: Any) -> list[str]:
    """What is in the schema of the copies."""
    return [row.tableName for row in session.sql(f"SHOW TABLES IN {SCHEMA}").collect()]


def first(folder: Path, session: Any) -> None:
    """Protect a table of the catalog, prepare it, and refresh it."""
    for name in ("t", "other"):
        session.read.parquet(str(folder / f"{name}.parquet")).write.saveAsTable(name)
    with jali.connect(folder / "clinic.jali") as db:
        protect_house(db, session, lambda name: f"default.{name}")
        db.prepare("t")
        (copy,) = shown(session)
        db.tables.drop_prepared("t")
        # What a process leaves that is killed while it writes: files, of which the catalog knows nothing.
        left = folder / "warehouse" / f"{SCHEMA}.db" / f"{copy}_new_0123abcd"
        (left / "_temporary").mkdir(parents=True)
        (left / "_temporary" / "part.parquet").write_text("rows")
        check_otherwise(db, OTHERWISE[:2])
        with noise_off():
            before = db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows[0][0]
            session.sql("INSERT INTO t SELECT 'new', 'A', 1.0D, 'w'")
            db.refresh("t")
            assert db.ask("SELECT COUNT(*) FROM t", epsilon=2).rows[0][0] == before + 1
    assert shown(session) == [copy]
    assert not left.exists()


def second(folder: Path, session: Any) -> None:
    """Find the copy again, and drop it."""
    with jali.connect(folder / "clinic.jali") as db:
        db.tables.attach("t", session)
        assert db.explain(SUMS, epsilon=1).aggregation.weights.by_rank  # type: ignore[union-attr]
        assert db.ask(SUMS, epsilon=3).rows
        db.tables.drop_prepared("t")
        assert db.ask(SUMS, epsilon=3).rows
    assert shown(session) == []


if __name__ == "__main__":
    place = Path(sys.argv[1])
    spark = started(place)
    {"first": first, "second": second}[sys.argv[2]](place, spark)
    spark.stop()
