"""Dense linear algebra for the tests: slow, plain, and independent of the package's closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def covariance(strategy: NDArray[Any], *, pinned: bool) -> NDArray[Any]:
    """Return the covariance of the best estimate of all cells from unit noise, with a known total if pinned."""
    inverse = np.linalg.inv(strategy.T @ strategy)
    if not pinned:
        return np.asarray(inverse)
    along = inverse @ np.ones(len(inverse))
    return np.asarray(inverse - np.outer(along, along) / along.sum())


def estimate(strategy: NDArray[Any], noisy: NDArray[Any], total: float | None) -> NDArray[Any]:
    """Return the least-squares cells, corrected to a known total."""
    inverse = np.linalg.inv(strategy.T @ strategy)
    cells = inverse @ strategy.T @ noisy
    if total is None:
        return np.asarray(cells)
    along = inverse @ np.ones(len(inverse))
    return np.asarray(cells + along * (total - cells.sum()) / along.sum())


def variances(queries: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """Return the variance of each query."""
    return np.asarray(np.einsum("ij,jk,ik->i", queries, spread, queries))
