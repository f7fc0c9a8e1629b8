"""Sums of Poisson probabilities, which are the incomplete gamma functions of whole order.

With N Poisson of mean t, the regularized incomplete gamma function is Q(k, t) = Pr[N < k]. Each sum runs from k
away from the mean, where its terms shrink, so that nothing cancels and about sqrt(k) terms are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

_Weight: TypeAlias = Callable[[int], float]
# Terms below this share of the sum no longer change it.
_NEGLIGIBLE = 1e-18
# From here on, five terms of Stirling's series err by less than a double does.
_STIRLING = 16


def mass(count: int, mean: float) -> float:
    """Return Pr[N = count] for N Poisson.

    The logarithm is taken around its maximum (Loader 2000), where t^k e^-t / k! would lose all digits of a
    large k.

    Example:
        >>> round(mass(3, 2.0), 12) == round(math.exp(-2) * 8 / 6, 12)
        True
    """
    if mean <= 0:
        return 1.0 if count == 0 else 0.0
    if count == 0:
        return math.exp(-mean)
    away = (mean - count) / count
    return math.exp(-count * (away - math.log1p(away)) - _stirling_error(count)) / math.sqrt(2 * math.pi * count)


def below(count: int, mean: float) -> float:
    """Return Pr[N < count]: the regularized incomplete gamma function Q(count, mean).

    Example:
        >>> round(below(1, 2.0), 12) == round(math.exp(-2), 12)
        True
    """
    if mean >= count:
        return _falling(count - 1, mean, lambda _: 1.0)
    return 1 - _rising(count, mean, lambda _: 1.0)


def shortfall(count: int, mean: float) -> float:
    """Return E[(1 - N/count)_+] for N Poisson, which is Q(count+1, mean) - mean/count Q(count, mean).

    Example:
        >>> round(shortfall(1, 2.0), 12) == round(math.exp(-2), 12)
        True
    """
    if mean >= count:
        return _falling(count - 1, mean, lambda j: 1 - j / count)
    return 1 - mean / count + _rising(count + 1, mean, lambda j: j / count - 1)


def _falling(start: int, mean: float, weight: _Weight) -> float:
    """Sum the weighted masses of start, start-1, ..., 0, for a mean above start."""
    term, total = mass(start, mean), 0.0
    for j in range(start, -1, -1):
        total += term * weight(j)
        if term <= _NEGLIGIBLE * total:
            break
        term *= j / mean
    return total


def _rising(start: int, mean: float, weight: _Weight) -> float:
    """Sum the weighted masses of start, start+1, ..., for a mean below start; small beside the 1 it joins."""
    term, total, j = mass(start, mean), 0.0, start
    while term * weight(j) > _NEGLIGIBLE:
        total += term * weight(j)
        j += 1
        term *= mean / j
    return total


def _stirling_error(count: int) -> float:
    """Return ln k! - ln(sqrt(2 pi k) k^k e^-k)."""
    if count < _STIRLING:
        return math.lgamma(count + 1) - (0.5 * math.log(2 * math.pi * count) + count * math.log(count) - count)
    square = 1 / (count * count)
    series = 1 / 1680 - square / 1188
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * series))) / count
