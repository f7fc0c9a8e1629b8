"""The laws of the samplers to 60 digits and more, written from their definitions and not from the samplers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

import mpmath as arithmetic  # type: ignore[import-untyped]

from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric

# A context of its own: the precision of other tests is theirs, and 700 bits are slow.
mpmath: Any = arithmetic.mp.clone()
mpmath.prec = 700

AnyLaw = Geometric | DiscreteLaplace | DiscreteGaussian


def real(x: Fraction | int) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def mass(law: AnyLaw) -> Callable[[int], Any]:
    """Return x -> Pr[X = x]."""
    if isinstance(law, DiscreteGaussian):
        return _gaussian(law.variance)
    q = mpmath.exp(-1 / real(law.scale))
    if isinstance(law, DiscreteLaplace):
        return lambda x: (1 - q) / (1 + q) * q ** abs(x)
    return lambda x: (1 - q) * q**x if x >= 0 else mpmath.mpf(0)


def _gaussian(variance: Fraction) -> Callable[[int], Any]:
    def weight(x: int) -> Any:
        return mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * real(variance)))

    total = mpmath.mpf(1)
    for x in count(1):
        total += 2 * weight(x)
        if weight(x) < mpmath.mpf(2) ** -650:
            break
    return lambda x: weight(x) / total
