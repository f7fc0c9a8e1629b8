"""OpenDP's side of the mechanism benchmark: CPU seconds of one selection and of one vector release, as JSON."""

from __future__ import annotations

import json
import sys

import numpy as np
import opendp.prelude as dp
from benchmarks.measure import best_of

ROUNDS = 3


def main(source: str) -> None:
    """Measure on the scores and values in `source`, after a warm-up."""
    dp.enable_features("contrib")
    given = np.load(source)
    scores, values = given["scores"].tolist(), given["values"].tolist()
    integers = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    select = dp.m.make_noisy_max(*integers, dp.max_divergence(), scale=2.0)
    reals = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    noise = dp.m.make_laplace(*reals, scale=1.0)
    few = values[: len(values) // 20]  # the whole vector would take too long
    seconds = best_of({"selection": lambda: select(scores), "vector": lambda: noise(few)}, ROUNDS)
    print(json.dumps({**seconds, "vector": 20 * seconds["vector"]}))


if __name__ == "__main__":
    main(sys.argv[1])
