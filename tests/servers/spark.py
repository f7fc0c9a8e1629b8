"""A Spark of the tests' own: one for each worker that needs it, as small as can be, and gone with the worker."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests import depth

from jali.catalog.tables import Source

MISSING = "Spark needs pyspark and Java 17 (Debian: apt-get install openjdk-17-jre-headless)"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.default.parallelism": "1",
}
# A question of a few rows is compiled and planned far longer than it runs.
_HASTY = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
_UNCOMPILED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def is_installed() -> bool:
    """Say whether pyspark and Java are there."""
    return importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None


@contextmanager
def running_spark() -> Iterator[Any]:
    """Start Spark in this process, with one thread and a warehouse in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").appName("jali tests")
        for name, value in {**_SETTINGS, "spark.sql.warehouse.dir": folder}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def hasten(session: Any) -> None:
    """Spend less on each of many small questions; deep runs compile them, as Spark does in earnest."""
    for name, value in (_HASTY | (_UNCOMPILED if depth.DEPTH == 1 else {})).items():
        session.conf.set(name, value)


def written(folder: Path, tables: Mapping[str, pa.Table], address: str = "session") -> dict[str, Source]:
    """Write tables as Parquet files, and return where Spark finds them."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return {name: Source("spark", address, f"parquet:{folder / name}.parquet") for name in tables}
