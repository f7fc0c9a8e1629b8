"""The laws of the samplers to 60 digits and more, written from their definitions and not from the samplers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import mpmath as mpmath  # type: ignore[import-untyped]  # noqa: PLC0414 - handed on to other tests

from jali.noise import DiscreteGaussian, DiscreteLaplace, Geometric

mpmath.mp.prec = 700

AnyLaw = Geometric | DiscreteLaplace | DiscreteGaussian


def real(x: Fraction | int) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def mass(law: AnyLaw) -> Callable[[int], mpmath.mpf]:
    """Return x -> Pr[X = x]."""
    if isinstance(law, DiscreteGaussian):
        return _gaussian(law.variance)
    q = mpmath.exp(-1 / real(law.scale))
    if isinstance(law, DiscreteLaplace):
        return lambda x: (1 - q) / (1 + q) * q ** abs(x)
    return lambda x: (1 - q) * q**x if x >= 0 else mpmath.mpf(0)


def _gaussian(variance: Fraction) -> Callable[[int], mpmath.mpf]:
    def weight(x: int) -> mpmath.mpf:
        return mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * real(variance)))

    total = mpmath.mpf(1)
    for x in count(1):
        total += 2 * weight(x)
        if weight(x) < mpmath.mpf(2) ** -650:
            break
    return lambda x: weight(x) / total
