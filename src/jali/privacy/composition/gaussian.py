"""Gaussian composition: the squares of shifts add, and the sum is again the loss of Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.privacy.composition.parts import Parts
from jali.privacy.composition.theorem import Theorem
from jali.privacy.losses.gaussian import GaussianLoss

_DIGITS = 30


def _obstacle(parts: Parts) -> str | None:
    return None if all(isinstance(loss, GaussianLoss) for loss, _ in parts) else "not all noise is Gaussian"


def _sum(parts: Parts) -> GaussianLoss:
    """Return the loss of one release with the shift sqrt(2 sum rho), rounded up."""
    square = sum((2 * count * loss.event.rho for loss, count in parts), Fraction(0))
    return GaussianLoss(1, sensitivity=_root_above(square))


def _root_above(square: Fraction) -> Fraction:
    """Return a rational whose square is at or above a positive one, to 30 digits of it."""
    unit = 10 ** max(0, _DIGITS - math.floor(math.log10(square) / 2))
    whole = math.isqrt(square.numerator * unit**2 // square.denominator) + 1
    return Fraction(whole, unit)


def _epsilon(parts: Parts, delta: Fraction) -> float:
    return _sum(parts).epsilon(delta)


def _delta(parts: Parts, epsilon: Fraction) -> float:
    return _sum(parts).delta(epsilon)


GAUSSIAN = Theorem(
    name="sums of squares for Gaussian noise (exact)",
    citation="Dong, Roth and Su 2019, Corollary 3.3; concurrent: Vadhan and Zhang 2023",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_obstacle,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
