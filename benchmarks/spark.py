"""Whole questions against the same plain query in Spark, over 10 million rows of Parquet, with two threads.

Spark computes in a process of its own: CPU seconds are those of both processes. A question that counts by person
must bring the rows of each person together, which the plain query has no need of; a prepared copy has them so.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engine import GROUPS, SQL, make_rides
from benchmarks.measure import Row, at_most, reported
from tests.servers.spark import MISSING, is_installed

import jali

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ADDRESS = "local[2]"
# Java compiles what it runs often: the first rounds are for that.
ROUNDS = 6
FILTER = " WHERE fare > 5"
FILTERED = SQL.replace(" GROUP BY", f"{FILTER} GROUP BY")
MEMORY = "4g"


def rows() -> list[Row]:
    """Measure a count and a sum by 1,000 groups: plain, by row, and by person, with and without a copy."""
    if not is_installed():
        print(f"  {MISSING}: not measured")
        return []
    with tempfile.TemporaryDirectory() as folder:
        return _compared(Path(folder))


def _compared(folder: Path) -> list[Row]:
    session = _started(folder)
    losses = (f"0.{number:06d}" for number in count(1))
    made = make_rides(folder / "plain.parquet")
    for name in ("rides", "people", "copied"):
        # The same rows: one source has one budget.
        shutil.copy(made, folder / f"{name}.parquet")
    with jali.connect(folder / "rides.jali") as db:
        for name, unit in (("rides", None), ("people", "user_id"), ("copied", "user_id")):
            _protect(db, session, name, folder / f"{name}.parquet", unit)
        start = time.perf_counter()
        db.prepare("copied")
        prepared = time.perf_counter() - start

        def asked(sql: str, name: str) -> Callable[[], object]:
            return lambda: db.ask(sql.replace("FROM rides", f"FROM {name}"), epsilon=next(losses))

        def plain(sql: str) -> Callable[[], object]:
            return lambda: session.sql(sql.replace("FROM rides", f"FROM parquet.`{made}`")).collect()

        cpu, wall = best_of(
            {
                "plain": plain(SQL),
                "row level": asked(SQL, "rides"),
                "person level, prepared": asked(SQL, "copied"),
                "person level, prepared, rho": lambda: db.ask(SQL.replace("rides", "copied"), rho=next(losses)),
                "plain, filtered": plain(FILTERED),
                "person level, prepared, filtered": asked(FILTERED, "copied"),
                "person level, not prepared": asked(SQL, "people"),
            },
            session,
        )
    session.stop()
    return _rows(cpu, wall, prepared)


def _rows(cpu: Mapping[str, float], wall: Mapping[str, float], prepared: float) -> list[Row]:
    limits = {"row level": 2, "person level, prepared": 4, "person level, prepared, filtered": 4}
    limits["person level, not prepared"] = 4
    found = []
    for name in cpu:
        beside = "plain, filtered" if name.endswith("filtered") else "plain"
        if name == beside:
            continue
        title, ratio = f"{name} / {beside} Spark, CPU", cpu[name] / cpu[beside]
        found.append(at_most(title, ratio, limits[name], digits=3) if name in limits else reported(title, ratio))
        found.append(reported("  the same, wall", wall[name] / wall[beside], digits=3))
    found += [reported(f"  {name}, CPU seconds", cpu[name], digits=3) for name in cpu]
    return [*found, reported("  preparing the copy, seconds", prepared, digits=3)]


def _started(folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master(ADDRESS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.driver.memory", MEMORY)
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )


def _protect(db: jali.Database, session: SparkSession, name: str, path: Path, unit: str | None) -> None:
    columns: Any = {"city": jali.Keys(list(range(GROUPS))), "fare": jali.Range(0, 100)}
    budget = jali.Budget(epsilon=10**6, delta=1e-6)
    bound = 5 if unit else None
    db.protect(
        name, session, relation=f"parquet:{path}", unit=unit, max_rows=bound, columns=columns, budget=budget
    )


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
