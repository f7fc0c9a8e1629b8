"""PipelineDP's side of the aggregate benchmark.

One answer of its engine takes a fifth of a second on this table. So the engine's own combiners are used: what it
keeps of the rows is summed once for several draws of them, and the noise is drawn anew for each answer. Unknown
keys go through the engine, with the noisy count of people as the threshold, which is its best way.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import pipeline_dp  # type: ignore[import-not-found]
from benchmarks.aggregates.table import (
    DELTA,
    EPSILON,
    HIGH,
    KEYS,
    LOW,
    MAX_ROWS,
    QUARTERS,
    WARDS,
    Table,
    bounded,
    loaded,
)
from benchmarks.peer_work.answers import PERSON, ROW, Asked, Release, listed, print_answers
from pipeline_dp.combiners import create_compound_combiner  # type: ignore[import-not-found]

SAMPLES = 10
METRICS = {
    "count": [pipeline_dp.Metrics.COUNT],
    "sum": [pipeline_dp.Metrics.SUM],
    "avg": [pipeline_dp.Metrics.MEAN],
    "var": [pipeline_dp.Metrics.VARIANCE],
    "median": [pipeline_dp.Metrics.PERCENTILE(50)],
    "quartiles": [pipeline_dp.Metrics.PERCENTILE(100 * q) for q in QUARTERS],
    "min": [pipeline_dp.Metrics.PERCENTILE(0)],
    "max": [pipeline_dp.Metrics.PERCENTILE(100)],
}


def questions(table: Table) -> Iterator[Asked]:
    """Return the questions that it offers, at both levels."""
    rows = Table(**{**table.columns, "uid": np.arange(table.rows)})
    generator = np.random.default_rng()
    kept = {ROW: [rows], PERSON: [bounded(table, generator) for _ in range(SAMPLES)]}
    for level, most in ((ROW, 1), (PERSON, MAX_ROWS)):
        for name, metrics in METRICS.items():
            yield Asked(name, partial(_combined, kept[level], metrics, _one_partition(most)), level)
        yield Asked("stddev", partial(_stddev, kept[level], _one_partition(most)), level)
        by_ward = {"max_contributions": most} if level == PERSON else _one_partition(1)
        yield Asked("by_ward", partial(_by_ward, kept[level], by_ward), level)
        yield Asked("keys", partial(_keys, rows if level == ROW else table, most), level)
    people = [pipeline_dp.Metrics.PRIVACY_ID_COUNT]
    yield Asked("people", partial(_combined, [table], people, _one_partition(1)), PERSON)


def _one_partition(rows: int) -> dict[str, int]:
    return {"max_partitions_contributed": 1, "max_contributions_per_partition": rows}


def _combined(samples: list[Table], metrics: list[Any], bounds: dict[str, int]) -> Release:
    combiner = _combiner(metrics, bounds)
    summed = cycle([_summed(combiner, sample) for sample in samples])
    return lambda: [float(value) for value in combiner.compute_metrics(next(summed))]


def _stddev(samples: list[Table], bounds: dict[str, int]) -> Release:
    variance = _combined(samples, METRICS["var"], bounds)
    return lambda: [max(variance()[0] or 0.0, 0.0) ** 0.5]


def _by_ward(samples: list[Table], bounds: dict[str, int]) -> Release:
    combiner = _combiner(METRICS["count"], bounds)
    wards = cycle([[_summed(combiner, sample.only(sample.ward == w)) for w in range(WARDS)] for sample in samples])
    return lambda: [float(combiner.compute_metrics(ward)[0]) for ward in next(wards)]


def _combiner(metrics: list[Any], bounds: dict[str, int]) -> Any:
    """Return what sums and adds the noise, as the engine makes it where the partitions are public."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=0)
    params = pipeline_dp.AggregateParams(
        metrics=metrics, noise_kind=pipeline_dp.NoiseKind.LAPLACE, min_value=LOW, max_value=HIGH, **bounds
    )
    combiner = create_compound_combiner(params, accountant)
    accountant.compute_budgets()
    return combiner


def _summed(combiner: Any, table: Table) -> Any:
    """Sum the rows person by person, as the engine does."""
    ordered = table.only(np.argsort(table.uid, kind="stable"))
    starts = np.flatnonzero(np.diff(ordered.uid)) + 1
    parts = iter(np.split(ordered.cost, starts))
    whole = combiner.create_accumulator(next(parts).tolist())
    for part in parts:
        whole = combiner.merge_accumulators(whole, combiner.create_accumulator(part.tolist()))
    return whole


def _keys(table: Table, most: int) -> Release:
    rows = list(zip(table.uid.tolist(), table.key.tolist(), strict=True))
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda _: 0,
    )
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=most,
        max_contributions_per_partition=1,
        post_aggregation_thresholding=True,
    )

    def release() -> list[float | None]:
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        shown = engine.aggregate(rows, params, extractors)
        accountant.compute_budgets()
        return listed({key: told.privacy_id_count for key, told in shown}, KEYS)

    return release


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    print_answers(questions(loaded(sys.argv[1])), int(sys.argv[2]))
