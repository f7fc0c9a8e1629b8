"""Data-dependent medians of a million numbers against numpy's sort of the same array."""

from __future__ import annotations

import numpy as np
from benchmarks.measure import Row, at_most, best_of, reported

from jali.mechanisms import Median, PiecewiseLaplace, SmoothSensitivity

VALUES = 1_000_000
_TIMES = 5


def rows() -> list[Row]:
    """Measure the whole release, from the array of doubles to the answer."""
    column = np.random.default_rng(1).normal(50, 10, VALUES)
    smooth = SmoothSensitivity(statistic=Median(low=0, high=100, adjacency="replace-one"), epsilon=1)
    piecewise = PiecewiseLaplace(at="1/2", low=0, high=100, epsilon=1, adjacency="replace-one")
    seconds = best_of(
        {
            "numpy": lambda: np.sort(column),
            "smooth sensitivity": lambda: smooth.release(column),
            "piecewise Laplace": lambda: piecewise.release(column),
        }
    )
    ratios = [
        at_most(f"median of 10^6 by {name} / numpy's sort", seconds[name] / seconds["numpy"], _TIMES)
        for name in ("smooth sensitivity", "piecewise Laplace")
    ]
    return [*ratios, reported("  milliseconds of numpy's sort", 1e3 * seconds["numpy"])]
