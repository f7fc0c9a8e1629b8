"""Jali's side of the peer benchmark: prints CPU seconds per draw and per warm count as JSON."""

from __future__ import annotations

import json
import sys
import time
from fractions import Fraction
from pathlib import Path

import duckdb

import jali
from jali.sampling import DiscreteLaplace

DRAWS = 1_000_000


def main(source: Path) -> None:
    """Measure, after a warm-up."""
    if not source.exists():
        _write(source)
    law = DiscreteLaplace(Fraction(10))
    law.sample(DRAWS)
    start = time.process_time()
    law.sample(DRAWS)
    laplace = (time.process_time() - start) / DRAWS
    print(json.dumps({"laplace": laplace, "count": _count(source)}))


def _count(source: Path) -> float:
    best = float("inf")
    with jali.connect() as db:
        db.protect("rides", source, unit=None, budget=jali.Budget(epsilon=10**6))
        for number in range(1000, 1010):
            start = time.process_time()
            db.ask("SELECT COUNT(*) FROM rides", epsilon=Fraction(number, 1000))
            best = min(best, time.process_time() - start)
    return best


def _write(source: Path) -> None:
    with duckdb.connect() as connection:
        select = "SELECT (i % 1000)::INTEGER AS city, i / 7.0::DOUBLE AS fare FROM range(200000) t(i)"
        connection.execute(f"COPY ({select}) TO '{source}' (FORMAT parquet)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
