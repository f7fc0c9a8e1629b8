"""PipelineDP's side of the question benchmark: its engine on its local backend, over rows in memory.

Its other backends are Beam and Spark. The rows are made once, and do not count in a warm question.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import pipeline_dp  # type: ignore[import-not-found]
from benchmarks.peer_work.questioned import PERSON, Numbers, Release, measure
from benchmarks.questions.table import CITIES, DELTA, EPSILON, HIGH, LOW, MAX_ROWS, SHORT, arrays

METRICS = {
    "count": pipeline_dp.Metrics.COUNT,
    "short": pipeline_dp.Metrics.COUNT,
    "sum": pipeline_dp.Metrics.SUM,
    "avg": pipeline_dp.Metrics.MEAN,
    "median": pipeline_dp.Metrics.PERCENTILE(50),
    "people": pipeline_dp.Metrics.PRIVACY_ID_COUNT,
    "zones": pipeline_dp.Metrics.PRIVACY_ID_COUNT,
}
Row = tuple[int, int, float, int]


def prepare(source: str, level: str, name: str) -> Release:
    """Return what asks a question once."""
    rows = _rows(source, level, "zone" if name == "zones" else "city")
    params = _params(level, name)
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    delta, public = (DELTA, None) if name == "zones" else (0, list(range(CITIES)))

    def release() -> Numbers:
        kept: Iterable[Row] = [row for row in rows if row[3] < SHORT] if name == "short" else rows
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=delta)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        shown = engine.aggregate(kept, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        return {key: told[0] for key, told in shown}

    return release


def _rows(source: str, level: str, group: str) -> list[Row]:
    rides = arrays(source)
    owners = rides["user_id"].tolist() if level == PERSON else range(len(rides["user_id"]))
    columns = (rides[column].tolist() for column in (group, "fare", "km"))
    return list(zip(owners, *columns, strict=True))


def _params(level: str, name: str) -> Any:
    """Return the bounds: rows in all for a count; otherwise one row in each city, in at most so many cities."""
    most = MAX_ROWS if level == PERSON else 1
    by_city = {"max_partitions_contributed": most, "max_contributions_per_partition": 1}
    return pipeline_dp.AggregateParams(
        metrics=[METRICS[name]],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        min_value=LOW,
        max_value=HIGH,
        post_aggregation_thresholding=name == "zones",
        **({"max_contributions": most} if name in ("count", "short") else by_city),
    )


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    measure(prepare)
