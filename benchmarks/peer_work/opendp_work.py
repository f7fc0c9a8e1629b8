"""OpenDP's side of the peer benchmark: prints CPU seconds per draw and per warm count as JSON."""

from __future__ import annotations

import json
import sys
import time

import opendp.prelude as dp
import polars as pl

DRAWS = 20_000


def main(source: str) -> None:
    """Measure, after a warm-up."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    laplace = space >> dp.m.then_laplace(scale=10.0)
    zeros = [0] * DRAWS
    laplace(zeros)
    start = time.process_time()
    laplace(zeros)
    draw = (time.process_time() - start) / DRAWS
    print(json.dumps({"laplace": draw, "count": _count(source)}))


def _count(source: str) -> float:
    data = pl.scan_parquet(source)
    best = float("inf")
    for _ in range(5):
        context = dp.Context.compositor(
            data=data,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
        )
        start = time.process_time()
        context.query().select(dp.len()).release().collect()
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    main(sys.argv[1])
