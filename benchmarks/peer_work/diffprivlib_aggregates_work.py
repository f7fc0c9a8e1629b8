"""diffprivlib's side of the aggregate benchmark: rows only, as it knows no people.

Its sums, means, variances and quantiles take the number of rows for public and hide the change of one row; its
histogram and the selection among counts hide that a row is there. It has no question for the number of rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from benchmarks.aggregates.table import EPSILON, HIGH, LOW, QUARTERS, TOP_AGE, WARDS, Table, loaded
from benchmarks.peer_work.answers import ADD_REMOVE, REPLACE_ONE, Asked, Numbers, Release, print_answers
from diffprivlib import tools
from diffprivlib.mechanisms import PermuteAndFlip


def questions(table: Table) -> Iterator[Asked]:
    """Return the questions that it offers."""
    given: dict[str, Any] = {"epsilon": EPSILON, "bounds": (LOW, HIGH)}
    cost = table.cost
    scalars: dict[str, Callable[[], float]] = {
        "sum": lambda: tools.sum(cost, **given),
        "avg": lambda: tools.mean(cost, **given),
        "var": lambda: tools.var(cost, **given),
        "stddev": lambda: tools.std(cost, **given),
        "median": lambda: tools.median(cost, **given),
        "min": lambda: tools.quantile(cost, 0.0, **given),
        "max": lambda: tools.quantile(cost, 1.0, **given),
    }
    for name, draw in scalars.items():
        yield Asked(name, _alone(draw), adjacency=REPLACE_ONE)
    yield Asked("quartiles", lambda: lambda: tools.quantile(cost, QUARTERS, **given), adjacency=REPLACE_ONE)
    yield Asked("by_ward", lambda: lambda: _by_ward(table), adjacency=ADD_REMOVE)
    yield Asked("mode", lambda: _mode(table), adjacency=ADD_REMOVE)


def _alone(draw: Callable[[], float]) -> Callable[[], Release]:
    return lambda: lambda: [draw()]


def _by_ward(table: Table) -> Numbers:
    counts, _ = tools.histogram(table.ward, epsilon=EPSILON, bins=WARDS, range=(-0.5, WARDS - 0.5))
    return [float(count) for count in counts]


def _mode(table: Table) -> Release:
    counts = np.bincount(table.age, minlength=TOP_AGE + 1).tolist()
    # Counts move together, one way, when a row is added: its mechanism then needs half the noise.
    mechanism = PermuteAndFlip(epsilon=EPSILON, sensitivity=1, utility=counts, monotonic=True)
    return lambda: [float(mechanism.randomise())]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print_answers(questions(loaded(sys.argv[1])), int(sys.argv[2]))
