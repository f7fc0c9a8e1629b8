"""Numerical composition: the distribution of the sum of all privacy losses."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from jali.privacy.composition.parts import Parts, dominating, kind, merged
from jali.privacy.composition.theorem import Theorem
from jali.privacy.distribution.pld import PrivacyLossDistribution


@lru_cache(maxsize=16)
def distribution(parts: Parts) -> PrivacyLossDistribution:
    """Return the privacy-loss distribution of the composition."""
    return PrivacyLossDistribution(_atomic(parts))


def _atomic(parts: Parts) -> Parts:
    return merged((inner, count * n) for loss, count in parts for inner, n in dominating(loss))


def lacks_distribution(parts: Parts) -> str | None:
    """Say which kind of loss determines no distribution, if one does not."""
    kinds = (kind(loss) for loss, _ in _atomic(parts) if not loss.spreads())
    return next((f"{name} determines no privacy-loss distribution" for name in kinds), None)


def _epsilon(parts: Parts, delta: Fraction) -> float:
    return distribution(parts).epsilon(delta)


def _delta(parts: Parts, epsilon: Fraction) -> float:
    return distribution(parts).delta(epsilon)


NUMERICAL = Theorem(
    name="the privacy-loss distribution (numerical)",
    citation="Koskela, Jälkö and Honkela 2020; Gopi, Lee and Wutschitz 2021; Zhu, Dong and Wang 2022, Theorem 10 "
    "for adaptive questions; concurrent: Vadhan and Zhang 2023",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=lacks_distribution,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
