"""Whole questions against the same plain query in DuckDB, over 10 million rows of Parquet."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb
from benchmarks.measure import Row, at_most, best_of, reported

import jali

ROWS = 10_000_000
GROUPS = 1000
SQL = "SELECT city, COUNT(*), SUM(fare) FROM rides GROUP BY city"


def rows() -> list[Row]:
    """Measure questions by 1,000 groups, at row level and at person level, and a warm small count."""
    with tempfile.TemporaryDirectory() as directory:
        source = make_rides(Path(directory) / "rides.parquet")
        return [*_grouped(source), *_warm_count(Path(directory))]


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


def _grouped(source: Path) -> list[Row]:
    plain = duckdb.connect()
    query = SQL.replace("FROM rides", f"FROM read_parquet('{source}')")
    by_row, by_person = protected(source, None), protected(source, "user_id")

    losses = count(1000)

    def ask(db: jali.Database) -> None:
        db.ask(SQL, epsilon=Fraction(next(losses), 1000))  # another loss each time, so that nothing is cached

    seconds = best_of(
        {
            "plain": lambda: plain.execute(query).fetchall(),
            "row": lambda: ask(by_row),
            "person": lambda: ask(by_person),
        }
    )
    return [
        at_most(
            "count and sum by 1,000 groups, 10M rows, row level / plain DuckDB",
            seconds["row"] / seconds["plain"],
            1.7,
        ),
        at_most("the same at person level / plain DuckDB", seconds["person"] / seconds["plain"], 15),
        reported("  plain DuckDB, CPU seconds", seconds["plain"]),
        reported("  row level, CPU seconds", seconds["row"]),
        reported("  person level, CPU seconds", seconds["person"]),
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
