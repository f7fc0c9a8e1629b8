"""Tumult's side of the aggregate benchmark, by Tumult Core without Spark around it.

One answer of Tumult Analytics takes Spark ten seconds and more on this table. What it does is short: exact
aggregates in Spark, then noise of Tumult Core. The exact ones are made with NumPy here; the noise, its shares of
the loss and the arithmetic after it follow `tmlt.core.measurements.aggregations` (average: sum of deviations from
the midpoint and count, half each; variance: those and the squares, a third each). Unknown keys keep the noisy
count that selects them, which Core gives at the whole loss, and Analytics would buy again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle

import numpy as np
from benchmarks.aggregates.table import (
    DELTA,
    EPSILON,
    HIGH,
    KEYS,
    LOW,
    MAX_ROWS,
    QUARTERS,
    WARDS,
    Column,
    Table,
    bounded,
    loaded,
    one_per_key,
)
from benchmarks.peer_work.answers import PERSON, ROW, Asked, Release, print_answers
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.spark_domains import SparkDataFrameDomain, SparkIntegerColumnDescriptor
from tmlt.core.measurements.aggregations import create_partition_selection_measurement
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise, AddLaplaceNoise
from tmlt.core.utils.exact_number import ExactNumber

SAMPLES = 50
LOSS = ExactNumber(int(EPSILON))
MIDDLE, HALF = (LOW + HIGH) / 2, (HIGH - LOW) / 2
SQUARES = HIGH**2 / 2  # the midpoint of the squares, and half their range
RANKS = {"median": [0.5], "quartiles": list(QUARTERS), "min": [0.0], "max": [1.0]}

Draw = Callable[[Table], list[float | None]]


def questions(table: Table) -> Iterator[Asked]:
    """Return the questions that it offers, at both levels."""
    generator = np.random.default_rng()
    kept = {ROW: [table], PERSON: [bounded(table, generator) for _ in range(SAMPLES)]}
    pairs = [bounded(one_per_key(table), generator).key for _ in range(SAMPLES)]
    for level, rows in ((ROW, 1), (PERSON, MAX_ROWS)):
        for name, draw in _draws(rows).items():
            yield Asked(name, partial(_drawn, kept[level], draw), level)
        for name, ranks in RANKS.items():
            yield Asked(name, partial(_quantiles, kept[level], ranks, rows), level)
        keyed = [table.key] if level == ROW else pairs
        yield Asked("keys", partial(_keys, keyed, rows), level)
    people = len(np.unique(table.uid))
    count = _counting(1)
    yield Asked("people", lambda: lambda: [count(people)], PERSON)


def _draws(rows: int) -> dict[str, Draw]:
    count = _counting(rows)
    summed = _summing(rows, HIGH)
    mean = _mean(rows)
    variance = _variance(rows)
    return {
        "count": lambda t: [count(t.rows)],
        "distinct": lambda t: [count(len(np.unique(t.key)))],
        "sum": lambda t: [summed(t.cost.sum())],
        "avg": lambda t: [mean(t.cost)],
        "var": lambda t: [variance(t.cost)],
        "stddev": lambda t: [variance(t.cost) ** 0.5],
        "by_ward": lambda t: [count(n) for n in np.bincount(t.ward, minlength=WARDS)],
    }


def _drawn(samples: list[Table], draw: Draw) -> Release:
    turns = cycle(samples)
    return lambda: draw(next(turns))


def _counting(rows: int, parts: int = 1) -> Callable[[int], float]:
    noise = AddGeometricNoise(rows * parts / LOSS)
    return lambda value: float(noise(int(value)))


def _summing(rows: int, most: float, parts: int = 1) -> Callable[[float], float]:
    noise = AddLaplaceNoise(NumpyFloatDomain(), int(most) * rows * parts / LOSS)
    return lambda value: float(noise(np.float64(value)))


def _mean(rows: int) -> Callable[[Column], float]:
    count, deviations = _counting(rows, 2), _summing(rows, HALF, 2)
    return lambda cost: deviations((cost - MIDDLE).sum()) / max(1.0, count(len(cost))) + MIDDLE


def _variance(rows: int) -> Callable[[Column], float]:
    count, deviations, squares = _counting(rows, 3), _summing(rows, HALF, 3), _summing(rows, SQUARES, 3)

    def release(cost: Column) -> float:
        n = count(len(cost))
        mean = deviations((cost - MIDDLE).sum()) / n + MIDDLE
        found = squares((cost**2 - SQUARES).sum()) / (n - 1) + (SQUARES - mean**2) * n / (n - 1)
        return min(max(found, 0.0), HALF**2)

    return release


def _quantiles(samples: list[Table], ranks: list[float], rows: int) -> Release:
    """Draw from the law of `NoisyQuantile`, which needs two seconds for one answer on 20,000 rows."""
    share = EPSILON / (len(ranks) * rows)
    generator = np.random.default_rng()
    columns = cycle([np.concatenate([[LOW], np.sort(sample.cost), [HIGH]]) for sample in samples])

    def release() -> list[float | None]:
        ends = next(columns)
        return [_quantile(ends, rank, share, generator) for rank in ranks]

    return release


def _quantile(ends: Column, rank: float, epsilon: float, generator: np.random.Generator) -> float:
    """Choose a gap by its width and by how far its rank is from the target, then a point in it."""
    widths = np.diff(ends)
    distance = np.abs(np.arange(len(widths)) - rank * (len(widths) - 1))
    scores = np.log(widths) - distance * epsilon / (2 * max(rank, 1 - rank))
    chosen = int(np.argmax(scores + generator.gumbel(size=len(widths))))
    return float(generator.uniform(ends[chosen], ends[chosen + 1]))


def _keys(samples: list[Column], rows: int) -> Release:
    domain = SparkDataFrameDomain({"key": SparkIntegerColumnDescriptor()})
    delta = ExactNumber(f"1/{round(1 / DELTA)}")
    selection = create_partition_selection_measurement(domain, epsilon=LOSS, delta=delta, d_in=rows)
    noise, threshold = AddGeometricNoise(selection.alpha), selection.threshold
    counts = cycle([np.bincount(sample, minlength=KEYS).tolist() for sample in samples])

    def release() -> list[float | None]:
        noisy = [noise(n) if n else -1 for n in next(counts)]
        return [float(n) if n >= threshold else None for n in noisy]

    return release


if __name__ == "__main__":
    print_answers(questions(loaded(sys.argv[1])), int(sys.argv[2]))
