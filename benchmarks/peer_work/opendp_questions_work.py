"""OpenDP's side of the question benchmark: its Polars front on the Parquet file.

Every answer is a query of its own, at one share of a budget that is set up beforehand.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl
from benchmarks.peer_work.questioned import PERSON, WARM, Numbers, Release, measure
from benchmarks.questions.table import CITIES, DELTA, EPSILON, HIGH, LOW, MAX_ROWS, SHORT

ANSWERS = WARM + 1
# Public bounds on the length of the table and of a city, which its sums of floats ask for.
MOST_ROWS, MOST_IN_CITY = 1_000_000, 10_000
CANDIDATES = np.linspace(LOW, HIGH, 1_001).tolist()


def prepare(source: str, level: str, name: str) -> Release:
    """Return what asks a question once."""
    context = _context(source, level, DELTA if name == "zones" else None)
    group = "zone" if name == "zones" else "city"

    def release() -> Numbers:
        grouped = _rows(context.query(), level, name).group_by(group).agg(_output(name))
        if name != "zones":
            grouped = grouped.with_keys(pl.LazyFrame({"city": list(range(CITIES))}))
        return dict(grouped.release().collect().iter_rows())

    return release


def _context(source: str, level: str, delta: float | None) -> Any:
    people = {"identifier": "user_id"} if level == PERSON else {}
    loss = (
        {"epsilon": EPSILON * ANSWERS}
        if delta is None
        else {"epsilon": EPSILON * ANSWERS, "delta": delta * ANSWERS}
    )
    return dp.Context.compositor(
        data=pl.scan_parquet(source),
        privacy_unit=dp.unit_of(contributions=1, **people),
        privacy_loss=dp.loss_of(**loss),
        split_evenly_over=ANSWERS,
        margins=[
            dp.polars.Margin(max_length=MOST_ROWS),
            dp.polars.Margin(by=["city"], max_length=MOST_IN_CITY, max_groups=CITIES),
        ],
    )


def _rows(query: Any, level: str, name: str) -> Any:
    """Return the rows that count: filtered, and at person level at most MAX_ROWS of each person."""
    if name == "short":
        query = query.filter(pl.col("km") < SHORT)
    if level != PERSON:
        return query
    if name in ("people", "zones"):
        group = "zone" if name == "zones" else "city"
        query = query.truncate_per_group(1, by=[group])
    return query.truncate_per_group(MAX_ROWS)


def _output(name: str) -> Any:
    fare: Any = pl.col("fare").fill_null(float(LOW)).fill_nan(float(LOW))
    bounds = float(LOW), float(HIGH)
    return {
        "sum": lambda: fare.dp.sum(bounds),
        "avg": lambda: fare.dp.mean(bounds),
        "median": lambda: fare.dp.median(CANDIDATES),
    }.get(name, lambda: dp.len(signed=True))()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    dp.enable_features("contrib")
    measure(prepare)
