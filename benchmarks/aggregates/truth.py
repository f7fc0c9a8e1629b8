"""What the aggregates are without noise: of the whole table, and of what one person may count for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from benchmarks.aggregates.table import (
    KEYS,
    MAX_ROWS,
    QUARTERS,
    TOP_AGE,
    WARDS,
    Column,
    Table,
    bounded,
    one_per_key,
)

Truth: TypeAlias = Mapping[str, Column]
_DRAWS = 50


def whole(table: Table, *, people: bool) -> Truth:
    """Return the statistics of all rows; keys are counted in people if asked."""
    keyed = one_per_key(table) if people else table
    distinct = np.array([len(np.unique(table.key))])
    return _weighted(table, np.ones(table.rows), keyed, np.ones(keyed.rows), distinct)


def of_bounded(table: Table) -> Truth:
    """Return what a person's rows, weighed down or sampled to at most MAX_ROWS of them, come to on average.

    For a sum, a count and what is made of them both ways aim at the same number: a row of a person with c of them
    counts min(1, MAX_ROWS / c). The number of distinct keys among sampled rows is averaged over draws.
    """
    generator = np.random.default_rng(1)
    distinct = np.mean([len(np.unique(bounded(table, generator).key)) for _ in range(_DRAWS)])
    keyed = one_per_key(table)
    return _weighted(table, _weights(table), keyed, _weights(keyed), np.array([distinct]))


def _weights(table: Table) -> Column:
    return np.minimum(1.0, MAX_ROWS / np.bincount(table.uid)[table.uid])


def _weighted(table: Table, weights: Column, keyed: Table, key_weights: Column, distinct: Column) -> Truth:
    mean = np.average(table.cost, weights=weights)
    variance = np.average((table.cost - mean) ** 2, weights=weights) * weights.sum() / (weights.sum() - 1)
    ages = np.bincount(table.age, weights, TOP_AGE + 1)
    by_ward = np.bincount(table.ward, weights, WARDS)
    return {
        "count": np.array([weights.sum()]),
        "people": np.array([len(np.unique(table.uid))]),
        "distinct": distinct,
        "sum": np.array([(weights * table.cost).sum()]),
        "avg": np.array([mean]),
        "var": np.array([variance]),
        "stddev": np.array([variance**0.5]),
        "median": _quantiles(table.cost, weights, (0.5,)),
        "quartiles": _quantiles(table.cost, weights, QUARTERS),
        "min": np.array([table.cost.min()]),
        "max": np.array([table.cost.max()]),
        "mode": ages,
        "top5": ages,
        "by_ward": by_ward,
        "histogram": by_ward,
        "cdf": np.cumsum(ages),
        "keys": np.bincount(keyed.key, key_weights, KEYS),
    }


def _quantiles(values: Column, weights: Column, ranks: tuple[float, ...]) -> Column:
    """Interpolate between the values, each standing at the middle of its weight."""
    order = np.argsort(values)
    ends = np.cumsum(weights[order])
    return np.asarray(np.interp(np.array(ranks) * ends[-1], ends - weights[order] / 2, values[order]))
