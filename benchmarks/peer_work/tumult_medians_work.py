"""Tumult's side of the median benchmark: `NoisyQuantile` at epsilon 1, add-remove, without Spark around it."""

from __future__ import annotations

import sys

import pandas as pd
from benchmarks.peer_work.errors import HIGH, LOW, Column, Release, print_errors
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP

DRAWS = 1500


def median(column: Column) -> Release:
    """Return what releases the median of a column."""
    made = NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), 0.5, LOW, HIGH, 1)
    values = pd.Series(column)
    return lambda: float(made(values))


if __name__ == "__main__":
    print_errors(sys.argv[1], DRAWS, median)
