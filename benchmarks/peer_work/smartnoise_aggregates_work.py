"""SmartNoise SQL's side of the aggregate benchmark.

Its epsilon is per noisy column: it is scaled here so that the whole question costs what the others pay, by its own
`get_privacy_cost`. Every run is a group of its own, disjoint from the others in rows and people, so that one
question draws all answers; the exact aggregates of a run are handed in, as `execute` allows. At person level
several draws of the rows that are kept take turns.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from benchmarks.aggregates.table import DELTA, EPSILON, HIGH, KEYS, LOW, MAX_ROWS, TOP_AGE, WARDS, loaded
from benchmarks.peer_work.answers import PERSON, ROW, Asked, Release, listed, once, print_answers
from snsql import Privacy, from_df  # type: ignore[import-not-found]

SAMPLES = 10
AGGREGATES = {
    "count": "COUNT(*)",
    "distinct": "COUNT(DISTINCT key)",
    "sum": "SUM(cost)",
    "avg": "AVG(cost)",
    "var": "VAR(cost)",
    "stddev": "STDDEV(cost)",
    "min": "MIN(cost)",
    "max": "MAX(cost)",
    "median": "MEDIAN(cost)",
}


def questions(frame: pd.DataFrame, runs: int) -> Iterator[Asked]:
    """Return every question at both levels; those it does not know it refuses itself."""
    for level, rows in ((ROW, 1), (PERSON, MAX_ROWS)):
        for name, aggregate in AGGREGATES.items():
            yield Asked(name, partial(released, frame, runs, aggregate, level, rows), level)
        yield Asked("by_ward", partial(released, frame, runs, "COUNT(*)", level, rows, ("ward", WARDS)), level)
    people = "COUNT(DISTINCT uid)"
    yield Asked("people", partial(released, frame, runs, people, PERSON, 1), PERSON)
    yield Asked("keys", partial(released, frame, runs, "COUNT(*)", ROW, 1, ("key", KEYS), censor=True), ROW)
    yield Asked(
        "keys", partial(released, frame, runs, people, PERSON, MAX_ROWS, ("key", KEYS), censor=True), PERSON
    )


def released(
    frame: pd.DataFrame,
    runs: int,
    aggregate: str,
    level: str,
    rows: int,
    group: tuple[str, int] | None = None,
    *,
    censor: bool = False,
) -> Release:
    """Return what gives the answers one by one, each at the whole loss."""
    keys = "run" if group is None else f"run, {group[0]}"
    sql = f"SELECT {keys}, {aggregate} AS n FROM s.visits GROUP BY {keys}"
    metadata = described(level, rows, censor=censor)

    def reader(epsilon: float) -> Any:
        return from_df(frame, privacy=Privacy(epsilon=epsilon, delta=DELTA), metadata=metadata)

    calibrated = reader(EPSILON**2 / reader(EPSILON).get_privacy_cost(sql)[0])
    assert calibrated.get_privacy_cost(sql)[0] <= EPSILON * (1 + 1e-9)
    samples = [_exact(calibrated, sql) for _ in range(1 if level == ROW else SAMPLES)]
    header = list(samples[0][0])
    exact = [_numbered(row, header, run) for run in range(runs) for row in samples[run % len(samples)][1:]]
    answered = calibrated.execute(sql, pre_aggregated=[header, *exact])[1:]
    return once(_by_run(answered, runs, group and group[1]))()


def described(level: str, rows: int, *, censor: bool) -> dict[str, Any]:
    """Return the metadata: ranges, whom it protects, and for how many rows one person may count."""
    whole = {"type": "int"}
    table = {
        "row_privacy": level == ROW,
        "max_ids": rows,
        "censor_dims": censor,
        "clamp_counts": False,
        "uid": {**whole, "private_id": True} if level == PERSON else whole,
        "cost": {"type": "float", "lower": LOW, "upper": HIGH},
        "age": {"type": "int", "lower": 0, "upper": TOP_AGE},
        "ward": whole,
        "key": whole,
        "run": whole,
    }
    return {"": {"s": {"visits": table}}}


def _exact(reader: Any, sql: str) -> list[Any]:
    subquery, _ = reader._rewrite(sql)
    rows: list[Any] = reader._get_reader(subquery)._execute_ast(subquery)
    return rows


def _numbered(row: Any, header: list[str], run: int) -> list[Any]:
    return [run if name == "run" else value for name, value in zip(header, row, strict=True)]


def _by_run(rows: list[Any], runs: int, groups: int | None) -> list[list[float | None]]:
    found: dict[int, dict[int, float]] = defaultdict(dict)
    for row in rows:
        found[int(row[0])][int(row[1]) if groups else 0] = row[-1]
    return [listed(found[run], groups or 1) for run in range(runs)]


def main(source: str, runs: int) -> None:
    """Answer every question on the table in `source`."""
    frame = pd.DataFrame(loaded(source).columns).assign(run=0)
    print_answers(questions(frame, runs), runs)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
