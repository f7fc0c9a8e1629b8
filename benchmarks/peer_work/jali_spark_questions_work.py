"""Jali's side of the question benchmark on Spark, on two threads: the same SQL, computed where Tumult computes."""

from __future__ import annotations

from benchmarks.peer_work import jali_questions_work
from benchmarks.peer_work.questioned import Release, measure

ADDRESS = "local[2]"


def prepare(source: str, level: str, name: str) -> Release:
    """Return what asks a question once, of the same Parquet file, read by Spark."""
    return jali_questions_work.prepare(ADDRESS, level, name, relation=f"parquet:{source}")


if __name__ == "__main__":
    measure(prepare)
