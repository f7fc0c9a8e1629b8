"""What a quantile of bounded rows is, computed from the definition: rows by value, each as wide as it weighs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

RESOLUTION = 1 << 20


def weights(owners: Sequence[Any], most: int | None) -> NDArray[Any]:
    """Return what each row weighs, in whole rows; a person's rows count for `most` of them together."""
    if most is None:
        return np.ones(len(owners))
    rows = Counter(owners)
    return np.array([math.floor(RESOLUTION * min(1.0, most / rows[owner])) / RESOLUTION for owner in owners])


def between_rows(values: NDArray[Any], weighed: NDArray[Any], at: float) -> float:
    """Return the mean of the rows over one whole row of weight, which ends at the quantile's rank.

    Among n whole rows the window at rank 1 + at (n - 1) meets two of them, in proportion: QUANTILE_CONT.
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weighed[order])
    end = 1 + at * (upto[-1] - 1)
    inside = np.minimum(upto, end) - np.maximum(upto - weighed[order], end - 1)
    return float(np.maximum(inside, 0) @ values[order])


def at_row(values: NDArray[Any], weighed: NDArray[Any], at: float) -> float:
    """Return the least value with the share `at` of the weight up to it: QUANTILE_DISC."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weighed[order])
    # The weights are multiples of 2^-20: their sums are exact, and the product is kept from rounding up.
    return float(values[order][np.searchsorted(upto, at * upto[-1] - 1e-9)])


def by_group(
    table: pa.Table, column: str, most: int | None
) -> dict[tuple[str], tuple[NDArray[Any], NDArray[Any]]]:
    """Return the values and the weights of each group; days are counted."""
    weighed = weights(table["uid"].to_pylist(), most)
    values = table[column].to_pylist()
    if column == "day":
        values = [day.toordinal() for day in values]
    groups = np.array(table["g"].to_pylist())
    return {(key,): (np.array(values, float)[groups == key], weighed[groups == key]) for key in np.unique(groups)}
