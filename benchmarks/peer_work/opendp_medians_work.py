"""OpenDP's side of the median benchmark: a quantile among evenly spaced candidates, at epsilon 1, add-remove."""

from __future__ import annotations

import sys

import numpy as np
import opendp.prelude as dp
from benchmarks.peer_work.errors import HIGH, LOW, STEP, Column, Release, print_errors

DRAWS = 4000


def median(column: Column) -> Release:
    """Return what releases the median of a column."""
    candidates = np.linspace(LOW, HIGH, round((HIGH - LOW) / STEP) + 1).tolist()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*space, candidates, alpha=0.5)
    made = dp.binary_search_chain(
        lambda scale: scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True),
        d_in=1,
        d_out=1.0,
    )
    values = column.tolist()
    return lambda: float(candidates[made(values)])


if __name__ == "__main__":
    dp.enable_features("contrib")
    print_errors(sys.argv[1], DRAWS, median)
