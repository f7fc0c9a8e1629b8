"""Whole questions against the same plain query in Spark, over 10 million rows of Parquet, with two threads.

Spark computes in a process of its own: CPU seconds are those of both processes. A question that counts by person
must bring the rows of each person together, which the plain query has no need of.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engine import GROUPS, SQL, make_rides
from benchmarks.measure import Row, at_most, reported

import jali
from jali.engines.spark import SparkEngine
from jali.planner import make_plan
from jali.planner.terms import terms_of
from jali.privacy import Adjacency
from jali.query.catalog import Catalog, Field, Source, Table
from jali.query.read_sql import read_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ADDRESS = "local[2]"
ROUNDS = 3
DECLARED: dict[str, dict[str, Any]] = {
    "city": {"keys": jali.Keys(list(range(GROUPS)))},
    "fare": {"range": jali.Range(0, 100)},
}


def rows() -> list[Row]:
    """Measure a count and a sum by 1,000 groups: plain, at row level, and at person level."""
    engine = SparkEngine()
    with tempfile.TemporaryDirectory() as folder:
        path = make_rides(Path(folder) / "rides.parquet")
        source = Source("spark", ADDRESS, f"parquet:{path}")
        fields = tuple(replace(f, **DECLARED.get(f.name, {})) for f in engine.fields(source, {}))
        session = engine._session(ADDRESS)
        plain = SQL.replace("FROM rides", f"FROM parquet.`{path}`")
        actions: dict[str, Callable[[], object]] = {"plain": lambda: session.sql(plain).collect()}
        for name, unit, loss in (("row", None, "epsilon"), ("L1", "user_id", "epsilon"), ("L2", "user_id", "rho")):
            actions[name] = asking(engine, source, fields, unit, **{loss: 1})
        cpu, wall = best_of(actions, session)
        engine.close()
    return [
        at_most(
            "count and sum by 1,000 groups, 10M rows, row level / plain Spark, CPU", cpu["row"] / cpu["plain"], 2
        ),
        reported("  the same, wall", wall["row"] / wall["plain"]),
        at_most("the same at person level, L1 weights / plain Spark, CPU", cpu["L1"] / cpu["plain"], 4),
        reported("  the same, wall", wall["L1"] / wall["plain"]),
        reported("  the same at person level, L2 weights / plain Spark, CPU", cpu["L2"] / cpu["plain"]),
        *(reported(f"  {name}, CPU seconds", cpu[name]) for name in actions),
        *(reported(f"  {name}, seconds", wall[name]) for name in actions),
    ]


def asking(
    engine: SparkEngine, source: Source, fields: tuple[Field, ...], unit: str | None, **loss: int
) -> Callable[[], object]:
    """Return what runs the exact part of a question: noise and ledger are the same for all engines."""
    budget = jali.Budget(10**6, "1/1000000")
    table = Table("rides", source, unit, 5 if unit else 1, Adjacency.ADD_REMOVE, fields, budget)
    plan = make_plan(read_sql(SQL), Catalog((table,)), terms_of(rho=loss.get("rho"), epsilon=loss.get("epsilon")))
    queries = [engine.emit(part.aggregation) for part in plan.parts]
    return lambda: [engine.run(query, plan.read) for query in queries]


def best_of(
    actions: Mapping[str, Callable[[], object]], session: SparkSession
) -> tuple[dict[str, float], dict[str, float]]:
    """Run all in turn, several times; return the least CPU seconds of Python and Java, and the least seconds."""
    java: Any = session.sparkContext._jvm
    process = java.java.lang.ProcessHandle.current()

    def clock() -> float:
        return float(process.info().totalCpuDuration().get().toMillis()) / 1000 + time.process_time()

    cpu, wall = (dict.fromkeys(actions, float("inf")) for _ in range(2))
    for _ in range(ROUNDS):
        for name, action in actions.items():
            began, start = clock(), time.perf_counter()
            action()
            cpu[name] = min(cpu[name], clock() - began)
            wall[name] = min(wall[name], time.perf_counter() - start)
    return cpu, wall


def main() -> int:
    """Print the rows; fail if a target was missed."""
    found = rows()
    for row in found:
        print(row)
    return any(row.good is False for row in found)


if __name__ == "__main__":
    sys.exit(main())
