"""Tumult Analytics' side of the question benchmark: its session on Spark, on two threads and two partitions.

Spark's own settings would shuffle into 200 partitions, which is slower on a table of this size.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from benchmarks.peer_work.questioned import PERSON, Numbers, Release, measure
from benchmarks.questions.table import CITIES, DELTA, EPSILON, HIGH, LOW, MAX_ROWS, SHORT
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

MANY = 1_000


def prepare(source: str, level: str, name: str) -> Release:
    """Return what asks a question once."""
    spark = _spark()
    change = AddRowsWithID(id_column="user_id") if level == PERSON else AddOneRow()
    session = Session.from_dataframe(
        _budget(name, MANY), "rides", spark.read.parquet(source), protected_change=change
    )

    def release() -> Numbers:
        return {row[0]: row[1] for row in _answer(session, level, name).collect()}

    return release


def _spark() -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp(prefix="warehouse-"))
        .config("spark.driver.memory", "3g")
        .getOrCreate()
    )


def _budget(name: str, times: int) -> Any:
    return ApproxDPBudget(EPSILON * times, DELTA * times) if name == "zones" else PureDPBudget(EPSILON * times)


def _answer(session: Any, level: str, name: str) -> Any:
    group = "zone" if name == "zones" else "city"
    rows = _bounded(QueryBuilder("rides"), level, name, group)
    if name == "zones":
        return _zones(session, rows)
    grouped = rows.groupby(KeySet.from_dict({"city": list(range(CITIES))}))
    query = {
        "sum": lambda: grouped.sum("fare", LOW, HIGH),
        "avg": lambda: grouped.average("fare", LOW, HIGH),
        "median": lambda: grouped.median("fare", LOW, HIGH),
        "people": lambda: grouped.count_distinct(["user_id"]),
    }.get(name, grouped.count)()
    return session.evaluate(query, privacy_budget=_budget(name, 1))


def _zones(session: Any, rows: Any) -> Any:
    """Buy the zones with half of the loss, then their counts with the other half: there is no joint way."""
    found = session.evaluate(rows.get_groups(["zone"]), privacy_budget=ApproxDPBudget(EPSILON / 2, DELTA))
    counts = rows.groupby(KeySet.from_dataframe(found)).count()
    return session.evaluate(counts, privacy_budget=ApproxDPBudget(EPSILON / 2, 0))


def _bounded(rows: Any, level: str, name: str, group: str) -> Any:
    if name == "short":
        rows = rows.filter(f"km < {SHORT}")
    if level != PERSON:
        return rows
    if name in ("people", "zones"):
        return rows.enforce(MaxGroupsPerID(group, MAX_ROWS)).enforce(MaxRowsPerGroupPerID(group, 1))
    return rows.enforce(MaxRowsPerID(MAX_ROWS))


if __name__ == "__main__":
    measure(prepare)
