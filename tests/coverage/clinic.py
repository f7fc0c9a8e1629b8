"""A clinic whose groups are small and large, and the ways of asking it."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import jali

GROUPS = 40
MAX_ROWS = 4
FIRST_DAY = datetime.date(2025, 1, 1)
KEYS = [f"k{place:02d}" for place in range(GROUPS)]
# The unit and the loss: by person and by row, with Laplace and with Gaussian noise.
CASES: list[tuple[str | None, dict[str, Any]]] = [
    ("uid", {"epsilon": 6}),
    (None, {"epsilon": 1}),
    ("uid", {"rho": "1/2"}),
    (None, {"rho": "1/2"}),
]
NAMES = ["person-laplace", "row-laplace", "person-gauss", "row-gauss"]


@cache
def visits() -> pa.Table:
    """About 5,200 visits of 1,500 people, one to six each; the groups have from 14 to 600 of them.

    `points` depend on `cost`, so that there is a line to find; `code` has a few common values and many rare ones.
    """
    random = np.random.default_rng(7)
    owner = np.array([p for p in range(1500) for _ in range(1 + p % 6)])
    size = len(owner)
    shares = 2 + 1.13 ** np.arange(GROUPS)
    cost = 100 * random.beta(2, 3, size)
    return pa.table(
        {
            "uid": owner,
            "g": [KEYS[place] for place in random.choice(GROUPS, size, p=shares / shares.sum())],
            "h": [["x", "y"][place] for place in random.choice(2, size, p=[0.3, 0.7])],
            "cost": cost,
            "age": random.integers(20, 81, size),
            "points": np.clip(200 + 5 * cost + random.normal(0, 90, size), 0, 1000).astype(int),
            "day": [FIRST_DAY + datetime.timedelta(days=int(day)) for day in 365 * random.beta(3, 2, size)],
            "code": [f"c{int(place):03d}" for place in np.minimum(random.exponential(12, size), 300)],
        }
    )


def clinic(unit: str | None) -> jali.Database:
    db = jali.connect()
    columns: dict[str, jali.Range | jali.Keys] = {
        "g": jali.Keys(KEYS),
        "h": jali.Keys(["x", "y"]),
        "cost": jali.Range(0, 100),
        "age": jali.Range(0, 120),
        "points": jali.Range(0, 1000),
        "day": jali.Range(FIRST_DAY, datetime.date(2025, 12, 31)),
    }
    budget = jali.Budget(epsilon=10**6, delta=1e-3)
    db.protect("t", visits(), unit=unit, max_rows=MAX_ROWS if unit else None, columns=columns, budget=budget)
    return db
