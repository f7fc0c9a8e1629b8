"""The law of sums of differences of counts whose noises are independent."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from jali.attacks.noises import Noise


def sum_right(noise: Noise, splits: int) -> float | None:
    """Return how often a sum of differences tells a fair bit right, if above half their number it says 1.

    The sum has the noise of 2 * splits answers. For Laplace noise on whole numbers that is the difference of two
    negative binomial variables, and its law is summed exactly.

    Example:
        >>> round(sum_right(Noise("gaussian", 1.0), 2), 4)  # Phi(1 / 2)
        0.6915
    """
    if noise.stddev is None or noise.kind not in ("none", "gaussian", "geometric"):
        return None
    if noise.stddev == 0 or splits == 0:
        return 1.0 if splits else 0.5
    if noise.kind == "gaussian":
        return NormalDist().cdf(splits / 2 / (noise.stddev * math.sqrt(2 * splits)))
    above, at = _geometric_tail(noise.size, 2 * splits, splits / 2)
    return 1 - above - at / 2


def _geometric_tail(scale: float, terms: int, bound: float) -> tuple[float, float]:
    """Return Pr[S > bound] and Pr[S = bound] for the sum S of discrete Laplace variables."""
    chance = _negative_binomial(math.exp(-1 / scale), terms)
    whole = math.floor(bound)
    beyond = np.concatenate([chance[whole:], np.zeros(whole)])
    tail = np.cumsum(beyond[::-1])[::-1] - beyond
    at = float(chance @ beyond) if whole == bound else 0.0
    return float(chance @ tail), at


def _negative_binomial(q: float, terms: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the law of a sum of geometric variables with masses (1 - q) q^x, as far as it matters."""
    mean, spread = terms * q / (1 - q), math.sqrt(terms * q) / (1 - q)
    x = np.arange(math.ceil(mean + 40 * spread) + 40)
    steps = np.log(q * (x[1:] + terms - 1) / x[1:])
    return np.exp(terms * math.log1p(-q) + np.concatenate([[0.0], np.cumsum(steps)]))
