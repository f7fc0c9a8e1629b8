"""Binned chi-square tests of integer samples against a law with a given distribution function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric

Doubles = NDArray[np.float64]
Cdf = Callable[[Doubles], Doubles]

SMALLEST_EXPECTED = 25


def cdf_of(law: Geometric | DiscreteLaplace | DiscreteGaussian, factor: float = 1.0) -> Cdf:
    """Return x -> Pr[X <= x] in double for integers x, with the scale multiplied by a factor."""
    if isinstance(law, DiscreteGaussian):
        return _gaussian(float(law.variance) ** 0.5 * factor)
    scale = float(law.scale) * factor
    if isinstance(law, DiscreteLaplace):
        half = float(1 / (1 + np.exp(-1 / scale)))

        def laplace(x: Doubles) -> Doubles:
            below = np.exp(np.minimum(x, -1) / scale) * half
            above: Doubles = 1 - np.exp(-(np.maximum(x, 0) + 1) / scale) * half
            return np.where(x < 0, below, above)

        return laplace
    return lambda x: np.where(x < 0, 0.0, -np.expm1(-(x + 1) / scale))


def _gaussian(stddev: float) -> Cdf:
    if stddev > 500:  # the midpoint rule errs by less than 1e-7 here
        return lambda x: ndtr((x + 0.5) / stddev)
    reach = int(40 * stddev) + 2
    points = np.arange(-reach, reach + 1)
    weights = np.exp(-(points**2) / (2 * stddev**2))
    sums = np.cumsum(weights) / weights.sum()
    return lambda x: sums[np.clip(x, -reach, reach).astype(np.int64) + reach]


def p_value(sample: NDArray[Any], truth: Cdf, claim: Cdf, spread: float) -> float:
    """Return the p-value of `claim`; the bins are chosen so that `truth` fills each of them."""
    edges = _edges(truth, spread, len(sample))
    observed = np.bincount(np.searchsorted(edges, sample.astype(np.float64)), minlength=len(edges) + 1)
    probabilities = np.diff(claim(edges), prepend=0.0, append=1.0)
    expected = np.maximum(probabilities * len(sample), 1e-12)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(edges)))


def _edges(truth: Cdf, spread: float, size: int) -> Doubles:
    """Return integers between which the true law expects enough draws, at most 60 of them."""
    candidates = np.unique(np.floor(np.linspace(-12, 12, 4001) * max(spread, 1.0)))
    enough = max(SMALLEST_EXPECTED / size, 1 / 60)
    if spread < 1:
        enough = SMALLEST_EXPECTED / size
    edges: list[float] = []
    last = 0.0
    for edge, reached in zip(candidates.tolist(), truth(candidates).tolist(), strict=True):
        if reached - last >= enough and 1 - reached >= enough:
            edges.append(edge)
            last = reached
    return np.array(edges)
