"""diffprivlib's side of the mechanism benchmark: CPU seconds of a selection and of a vector release, as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from benchmarks.measure import best_of
from diffprivlib.mechanisms import Exponential, Laplace, PermuteAndFlip

ROUNDS = 3


def main(source: str) -> None:
    """Measure on the scores and values in `source`, after a warm-up."""
    given = np.load(source)
    scores, values = given["scores"].tolist(), given["values"].tolist()
    noise = Laplace(epsilon=1.0, sensitivity=1.0)
    few = values[: len(values) // 20]  # it takes one number at a time; the whole vector would take too long

    def select(kind: Any) -> Any:
        return lambda: kind(epsilon=1.0, sensitivity=1, utility=scores).randomise()

    work = {
        "permute-and-flip": select(PermuteAndFlip),
        "exponential": select(Exponential),
        "vector": lambda: [noise.randomise(value) for value in few],
    }
    seconds = best_of(work, ROUNDS)
    selection = min(seconds["permute-and-flip"], seconds["exponential"])
    print(json.dumps({"selection": selection, "vector": 20 * seconds["vector"]}))


if __name__ == "__main__":
    main(sys.argv[1])
