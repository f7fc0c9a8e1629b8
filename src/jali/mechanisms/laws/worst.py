"""The largest of several independent noises: its quantile and its expectation.

Pr[max > t] = 1 - (1 - tail(t))^d. The quantile is a quantile of one noise at another chance. The expectation is
the sum of Pr[max > t] over t = 0, 1, ...: term by term where the noise is narrow, as an integral (the midpoint
rule read backwards, whose first correction vanishes for d >= 2) where it is wide.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Up to this spread the sum is taken term by term; above, the integral errs by less than 1e-9 of its value.
WIDE = 64.0
_PANELS, _NODES = 128, 16


class Smooth(Protocol):
    """A law whose tail is also known between the integers."""

    @property
    def spread(self) -> float:
        """The scale of the noise, roughly."""

    @property
    def expected(self) -> float:
        """The expectation of |X|."""

    def reach(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""

    def tails(self, thresholds: Floats) -> Floats:
        """Return Pr[|X| > t] for each t, continued smoothly between integers if the law is wide."""


def allowed_for_one(allowed: float, count: int) -> float:
    """Return the tail that each of `count` independent noises may have, if the largest may have `allowed`."""
    return -math.expm1(math.log1p(-allowed) / count)


def expected_worst(law: Smooth, count: int) -> float:
    """Return the expectation of the largest |X| among `count` independent noises."""
    if count == 1:
        return law.expected
    end = law.reach(1e-18 / count)
    if law.spread <= WIDE:
        return math.fsum(_beyond(law.tails(np.arange(end + 1.0)), count).tolist())
    places, weights = quadrature(end + 0.5)
    return float(weights @ _beyond(law.tails(places - 0.5), count))


def _beyond(tails: Floats, count: int) -> Floats:
    """Return 1 - (1 - tail)^count without losing digits of either."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(count * np.log1p(-np.minimum(tails, 1.0))))


def quadrature(end: float, panels: int = _PANELS) -> tuple[Floats, Floats]:
    """Return the places and weights of a composite Gauss-Legendre rule on [0, end]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = end / (2 * panels)
    centres = half * (2 * np.arange(panels) + 1)
    return (centres[:, None] + half * nodes).ravel(), np.tile(half * weights, panels)
