"""The made-up rides that every side is asked about, and the one loss they all spend. Needs numpy only.

People have 1 to 7 rides each, 4 on average, in 1,000 cities of much the same size; a zone is one of 1,000 whose
sizes follow Zipf's law, so that the small ones cannot be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

EPSILON, DELTA = 1.0, 1e-6
MAX_ROWS = 5  # for how many rows one person may count, at person level
CITIES = ZONES = 1_000
LOW, HIGH = 0, 100
SHORT = 6  # a ride below so many kilometres is a short one
PEOPLE, SEED = 50_000, 11

Column: TypeAlias = NDArray[Any]
Rides: TypeAlias = Mapping[str, Column]


def generated(people: int = PEOPLE) -> dict[str, Column]:
    """Make the table, always the same."""
    generator = np.random.default_rng(SEED)
    owner = np.repeat(np.arange(people), 1 + generator.binomial(6, 0.5, people))
    owner = generator.permutation(owner)
    sizes = np.arange(1, ZONES + 1) ** -1.2
    return {
        "user_id": owner,
        "city": generator.integers(0, CITIES, len(owner)),
        "zone": generator.choice(ZONES, len(owner), p=sizes / sizes.sum()),
        "km": generator.integers(0, 24, len(owner)),
        "fare": HIGH * generator.beta(2, 5, len(owner)),
    }


def arrays(source: str) -> Rides:
    """Read the copy that lies beside the Parquet file, for the sides that cannot read Parquet."""
    with np.load(Path(source).with_suffix(".npz")) as columns:
        return {name: columns[name] for name in columns.files}
