"""Numerical composition by privacy-loss distributions, and the closed form for Gaussian noise.

For Gaussian noise the squares of the shifts add, and the sum is again the loss of Gaussian noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from jali.privacy.composition.compound import Parts, dominating, kind, merge_parts
from jali.privacy.composition.theorem import Theorem
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.pld.privacy_loss_distribution import PrivacyLossDistribution

_DIGITS = 30


def _sum(parts: Parts) -> GaussianLoss:
    """Return the loss of one release with the shift sqrt(2 sum rho), rounded up."""
    square = sum((2 * count * loss.event.rho for loss, count in parts), Fraction(0))
    return GaussianLoss(1, sensitivity=_root_above(square))


def _root_above(square: Fraction) -> Fraction:
    """Return a rational whose square is at or above a positive one, to 30 digits of it."""
    unit = 10 ** max(0, _DIGITS - math.floor(math.log10(square) / 2))
    whole = math.isqrt(square.numerator * unit**2 // square.denominator) + 1
    return Fraction(whole, unit)


GAUSSIAN = Theorem(
    name="sums of squares for Gaussian noise (exact)",
    citation="Dong, Roth and Su 2019, Corollary 3.3; concurrent: Vadhan and Zhang 2023",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=lambda parts: (
        None if all(isinstance(loss, GaussianLoss) for loss, _ in parts) else "not all noise is Gaussian"
    ),
    solve_epsilon=lambda parts, delta: _sum(parts).epsilon(delta),
    solve_delta=lambda parts, epsilon: _sum(parts).delta(epsilon),
)


@lru_cache(maxsize=16)
def distribution(parts: Parts) -> PrivacyLossDistribution:
    """Return the privacy-loss distribution of the composition."""
    return PrivacyLossDistribution(_atomic(parts))


def _atomic(parts: Parts) -> Parts:
    return merge_parts((inner, count * n) for loss, count in parts for inner, n in dominating(loss))


def lacks_distribution(parts: Parts) -> str | None:
    """Say which kind of loss determines no distribution, if one does not."""
    kinds = (kind(loss) for loss, _ in _atomic(parts) if not loss.spreads())
    return next((f"{name} determines no privacy-loss distribution" for name in kinds), None)


NUMERICAL = Theorem(
    name="the privacy-loss distribution (numerical)",
    citation="Koskela, Jälkö and Honkela 2020; Gopi, Lee and Wutschitz 2021; Zhu, Dong and Wang 2022, Theorem 10 "
    "for adaptive questions; concurrent: Vadhan and Zhang 2023",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=lacks_distribution,
    solve_epsilon=lambda parts, delta: distribution(parts).epsilon(delta),
    solve_delta=lambda parts, epsilon: distribution(parts).delta(epsilon),
)
