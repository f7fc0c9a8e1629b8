"""The noncentral chi-square law, without a library."""

from __future__ import annotations

import math
from statistics import NormalDist

from jali.privacy.planning.poisson import mass

_NORMAL_FROM = 100_000
_CENTRAL = 1e-12


def noncentral_cdf(x: float, degrees: int, noncentrality: float) -> float:
    """Return Pr[X <= x] for the sum X of squares of normal variables of variance 1.

    It is a mixture of central laws with degrees + 2 J degrees of freedom, J Poisson with half the noncentrality.
    From a noncentrality of 100,000 on it is taken for the normal law, which it is within 0.001.

    Args:
        x: Where.
        degrees: How many variables.
        noncentrality: The sum of the squares of their means.

    Example:
        >>> round(noncentral_cdf(1.0, 1, 0.0), 4), round(noncentral_cdf(4.0, 2, 1.0), 4)
        (0.6827, 0.731)
    """
    if x <= 0:
        return 0.0
    if noncentrality > _NORMAL_FROM:
        return NormalDist(degrees + noncentrality, math.sqrt(2 * (degrees + 2 * noncentrality))).cdf(x)
    mean = noncentrality / 2 if noncentrality > _CENTRAL else 0.0
    last = math.ceil(mean + 12 * math.sqrt(mean) + 40)
    total, central, half = 0.0, _central(x / 2, degrees), degrees / 2
    for j in range(last):
        total += mass(j, mean) * central
        central -= _step(x / 2, half + j)
    return min(1.0, total)


def _central(x: float, degrees: int) -> float:
    """Return the regularized incomplete gamma function P(degrees / 2, x), by steps of 1 from P(1/2) or P(1)."""
    order, value = (0.5, math.erf(math.sqrt(x))) if degrees % 2 else (1.0, -math.expm1(-x))
    while order < degrees / 2:
        value -= _step(x, order)
        order += 1
    return value


def _step(x: float, order: float) -> float:
    """Return P(order, x) - P(order + 1, x)."""
    return math.exp(order * math.log(x) - x - math.lgamma(order + 1))
