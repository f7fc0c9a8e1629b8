"""What every side of the median benchmark shares: the columns, and how errors are summed up. Needs numpy only."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOW, HIGH, STEP = 0.0, 100.0, 0.1

Column = NDArray[np.float64]
Release = Callable[[], float]


def print_errors(source: str, draws: int, prepare: Callable[[Column], Release]) -> None:
    """Print the mean error of a median on each column of `source`, and its standard error, as JSON."""
    columns: Any = np.load(source)
    print(json.dumps({shape: _errors(columns[shape], draws, prepare) for shape in columns}))


def _errors(column: Column, draws: int, prepare: Callable[[Column], Release]) -> tuple[float, float]:
    truth = float(np.median(column))
    release = prepare(column)
    errors = np.array([abs(release() - truth) for _ in range(draws)])
    return float(errors.mean()), float(errors.std() / draws**0.5)
