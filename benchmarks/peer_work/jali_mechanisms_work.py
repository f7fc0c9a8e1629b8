"""Jali's side of the mechanism benchmark: CPU seconds of one selection and of one vector release, as JSON."""

from __future__ import annotations

import json
import sys

import numpy as np
from benchmarks.measure import best_of

from jali.mechanisms import Laplace, PermuteAndFlip

ROUNDS = 3


def main(source: str) -> None:
    """Measure on the scores and values in `source`, after a warm-up."""
    given = np.load(source)
    scores, values = given["scores"], given["values"]
    noise = Laplace(sensitivity=1, epsilon=1, step="1/1024", dimension=len(values))
    work = {
        "selection": lambda: PermuteAndFlip(sensitivity=1, epsilon=1).release(scores),
        "vector": lambda: noise.release(values),
    }
    print(json.dumps(best_of(work, ROUNDS)))


if __name__ == "__main__":
    main(sys.argv[1])
