"""Quantiles of sums of many independent integer noises, bounded through their moment generating functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.combined import AnyLaw, linear_quantile
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.mechanisms.mechanism import miss
from jali.privacy.planning.gaussian import normal_quantile

# With so few terms the tail of the continuous noises, in closed form, is the better bound.
_FEW = 12
# Coefficients are rounded up to powers of exp(1/_STEPS), so that millions of them become a few thousand.
_STEPS = 1000
# Where s is looked for, as a share of its limit: many small coefficients want a small one.
_SHARES = np.concatenate([np.geomspace(1e-8, 0.05, 250), np.linspace(0.055, 0.999, 150)])


def sum_quantile(coefficients: NDArray[Any], law: AnyLaw, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent X_i of one law.

    Guarantee:
        For every s > 0, Pr[|Y| > t] <= 2 exp(K(s) - s t) where K is the logarithm of E exp(s Y); so every
        (K(s) + ln(2 / (1-c))) / s is a valid t, and the least on a grid of s is taken.
        For the discrete Gaussian K(s) <= s^2 variance sum c_i^2 / 2; for the discrete Laplace of scale b, K(s)
        is the sum of -ln(1 - sinh(s c_i / 2)^2 / sinh(1 / (2b))^2).
    Proof:
        docs/proofs/hierarchy.md, Lemma 4.
    """
    sizes = np.abs(np.asarray(coefficients, dtype=np.float64))
    sizes = sizes[sizes > 0]
    allowed = miss(confidence)
    if not len(sizes):
        return 0.0
    bound = moment_quantile(sizes, law, math.log(2 / allowed))
    if len(sizes) > _FEW:
        return bound
    return min(bound, linear_quantile(sizes.tolist(), [law] * len(sizes), confidence))


def moment_quantile(sizes: NDArray[Any], law: AnyLaw, exponent: float) -> float:
    """Return a t that the sum exceeds in size with probability at most 2 exp(-exponent), by moments alone.

    Args:
        sizes: The absolute coefficients, all above 0.
        law: The law of each noise.
        exponent: The logarithm of two over the probability.
    """
    if isinstance(law, DiscreteGaussianLaw):
        return gaussian_quantile(float(law.variance) * float(sizes @ sizes), float(sizes.sum()), exponent)
    values, counts = _grouped(sizes)
    top = float(1 / law.scale) / values[-1]
    with np.errstate(all="ignore"):
        logs = -(np.log1p(-_sinh_ratio(np.outer(_SHARES * top, values), law.rate)) @ counts)
    return float(np.nanmin((logs + exponent) / (_SHARES * top)))


def gaussian_quantile(variance: float, slack: float, exponent: float) -> float:
    """Return a t that a sum of discrete Gaussians exceeds in size with probability at most 2 exp(-exponent).

    Args:
        variance: The sum of c_i^2 times the variance parameters.
        slack: The sum of |c_i|: how far the sum can be from a normal variable coupled to it.
        exponent: The logarithm of two over the probability.
    """
    smooth = normal_quantile(2 * math.exp(-exponent)) * math.sqrt(variance) + slack
    return min(smooth, math.sqrt(2 * exponent * variance))


def _grouped(sizes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Round coefficients up to a grid, and count them."""
    steps = np.ceil(np.log(sizes) * _STEPS + 1e-9).astype(np.int64)
    values, counts = np.unique(steps, return_counts=True)
    return np.exp(values / _STEPS), counts.astype(np.float64)


def _sinh_ratio(moment: NDArray[Any], rate: float) -> NDArray[Any]:
    """Return (sinh(moment/2) / sinh(rate/2))^2 for 0 < moment < rate, also where the sinh would overflow."""
    ratio = np.exp((moment - rate) / 2) * np.expm1(-moment) / math.expm1(-rate)
    return np.asarray(ratio * ratio)
