"""Whole questions against the same plain query in DuckDB, over 10 and 100 million rows of Parquet."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
from benchmarks.measure import Row, at_most, best_of, reported

import jali

ROWS = 10_000_000
GROUPS = 1000
SQL = "SELECT city, COUNT(*), SUM(fare) FROM rides GROUP BY city"
MEDIAN = "SELECT city, MEDIAN(fare) FROM rides GROUP BY city"
HISTOGRAM = "SELECT city, fare, COUNT(*) FROM rides GROUP BY city, fare"
_GB = 1 << 30
# So much is free where the large table is made: its file, and what DuckDB may write beside it.
_ROOM = 12 * _GB
# Whose rows they are, and the loss, of the questions that are asked of the large table.
_LARGE: dict[str, tuple[str | None, dict[str, Any]]] = {
    "row level": (None, {"epsilon": 1}),
    "person level, L1 weights": ("user_id", {"epsilon": 1}),
    "person level, L2 weights": ("user_id", {"rho": 1}),
}


def rows() -> list[Row]:
    """Measure questions by 1,000 groups, at row level and at person level, and a warm small count."""
    with tempfile.TemporaryDirectory() as directory:
        source = make_rides(Path(directory) / "rides.parquet")
        return [
            *_grouped(source),
            *_prepared(source),
            *_medians(source),
            *_warm_count(Path(directory)),
            *_large(source, Path(directory)),
        ]


def make_rides(path: Path, count: int = ROWS) -> Path:
    """Write rides: 1,000 cities, a million people."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT (hash(i) % {GROUPS})::INTEGER AS city, (hash(i + 7) % 15000) / 100.0::DOUBLE AS fare,
                (hash(3 * i + 1) % 1000000)::BIGINT AS user_id FROM range({count}) t(i))
                TO '{path}' (FORMAT parquet)"""
        )
    return path


def protected(source: Path, unit: str | None) -> jali.Database:
    db = jali.connect()
    db.protect(
        "rides",
        source,
        unit=unit,
        max_rows=5 if unit else None,
        columns={"city": jali.Keys(list(range(GROUPS))), "fare": jali.Range(0, 100)},
        budget=jali.Budget(epsilon=10**6, delta=1e-6),
    )
    return db


def _plain(sql: str, source: Path) -> str:
    return sql.replace("FROM rides", f"FROM read_parquet('{source}')")


def _grouped(source: Path) -> list[Row]:
    plain = duckdb.connect()
    by_row, by_person = protected(source, None), protected(source, "user_id")
    losses = count(1000)

    def loss() -> Fraction:
        return Fraction(next(losses), 1000)  # another each time, so that nothing is cached

    seconds = best_of(
        {
            "plain": lambda: plain.execute(_plain(SQL, source)).fetchall(),
            "row": lambda: by_row.ask(SQL, epsilon=loss()),
            "L1": lambda: by_person.ask(SQL, epsilon=loss()),
            "L2": lambda: by_person.ask(SQL, rho=loss()),
        }
    )
    ratio = {name: seconds[name] / seconds["plain"] for name in seconds}
    return [
        at_most("count and sum by 1,000 groups, 10M rows, row level / plain DuckDB", ratio["row"], 1.5),
        at_most("the same at person level, L1 weights / plain DuckDB", ratio["L1"], 12),
        at_most("the same at person level, L2 weights / plain DuckDB", ratio["L2"], 45),
        reported("  plain DuckDB, CPU seconds", seconds["plain"]),
        reported("  row level, CPU seconds", seconds["row"]),
        reported("  person level, L1 weights, CPU seconds", seconds["L1"]),
        reported("  person level, L2 weights, CPU seconds", seconds["L2"]),
    ]


def _prepared(source: Path) -> list[Row]:
    """Ask of a prepared copy: all rows, bounded by rank, and some of them, bounded by weights over the codes."""
    plain, db, losses = duckdb.connect(), protected(source, "user_id"), count(1000)
    start = time.process_time()
    db.prepare("rides")
    written = time.process_time() - start
    some = SQL.replace("FROM rides", "FROM rides WHERE fare < 140")
    seconds = best_of(
        {
            "plain": lambda: plain.execute(_plain(SQL, source)).fetchall(),
            "plain, some": lambda: plain.execute(_plain(some, source)).fetchall(),
            "rank": lambda: db.ask(SQL, epsilon=Fraction(next(losses), 1000)),
            "weights": lambda: db.ask(some, epsilon=Fraction(next(losses), 1000)),
        }
    )
    db.close()
    filtered = seconds["weights"] / seconds["plain, some"]
    return [
        at_most(
            "the same prepared and unfiltered, by rank / plain DuckDB", seconds["rank"] / seconds["plain"], 1.5
        ),
        reported("  prepared and filtered, weights over codes / plain DuckDB, filtered", filtered),
        reported("  writing the prepared copy, CPU seconds", written),
    ]


def _medians(source: Path) -> list[Row]:
    """Medians read a histogram of each group: the plain query fetches the same."""
    plain, db, losses = duckdb.connect(), protected(source, None), count(1000)
    seconds = best_of(
        {
            "plain": lambda: plain.execute(_plain(HISTOGRAM, source)).fetchall(),
            "median": lambda: db.ask(MEDIAN, epsilon=Fraction(next(losses), 1000)),
        },
        rounds=2,
    )
    return [
        at_most("median by 1,000 groups / plain histogram of them", seconds["median"] / seconds["plain"], 2),
        reported("  plain histogram, CPU seconds", seconds["plain"]),
    ]


def _warm_count(directory: Path) -> list[Row]:
    source = make_rides(directory / "small.parquet", 200_000)
    with protected(source, None) as db:
        losses = count(1000)

        def ask() -> None:
            db.ask("SELECT COUNT(*) FROM rides", epsilon=Fraction(next(losses), 1000))

        ask()
        seconds = best_of({"count": ask}, rounds=30)["count"]
    return [at_most("a warm noisy count over 200,000 rows, milliseconds of CPU", 1000 * seconds, 20)]


def _large(source: Path, directory: Path) -> list[Row]:
    """Ask of ten times as many rows of as many people, each question in a process of its own.

    L2 weights group by person and city: there are ten times as many such pairs then, which spill to the disk.
    """
    if shutil.disk_usage(directory).free < _ROOM:
        return [
            reported("  100M rows: left out, the disk has no room (bytes free)", shutil.disk_usage(directory).free)
        ]
    large = make_rides(directory / "large.parquet", 10 * ROWS)
    found = []
    for kind in _LARGE:
        before, (after, peak) = min(_apart(source, kind)[0] for _ in range(3)), _apart(large, kind)
        found.append(at_most(f"100M rows / 10M rows, CPU, {kind}", after / before, 11))
        found.append(at_most(f"100M rows, GB of memory at most, {kind}", peak / _GB, 4))
    return found


def _apart(source: Path, kind: str) -> tuple[float, float]:
    """Run one question in a child process; return its CPU seconds and the most memory it had."""
    command = [sys.executable, "-m", "benchmarks.engine", str(source), kind]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found["seconds"], found["peak"]


def _child(source: Path, kind: str) -> None:
    unit, loss = _LARGE[kind]
    with protected(source, unit) as db:
        start = time.process_time()
        db.ask(SQL, **loss)
        seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "peak": _most_memory()}))


def _most_memory() -> int:
    """Return the most memory that this process had; getrusage would tell that of its parent if it had more."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    _child(Path(sys.argv[1]), sys.argv[2])
