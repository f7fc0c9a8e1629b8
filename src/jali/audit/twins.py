"""Broken twins: mechanisms with a mistake that people really make. The auditor must catch each of them.

They take generated data only, and nothing else in the package may import them.
"""

from __future__ import annotations

from fractions import Fraction

from jali.audit.registry import Registration, additive
from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Adjacency, Concentrated, Pure

_EPSILON = Fraction(7, 10)


def _twin(name: str, mechanism: Laplace | Gaussian, claim: Pure | Concentrated, distance: int) -> Registration:
    # Wide enough for every twin's noise at this claim.
    laws = additive(mechanism, 400)
    return Registration(name, type(mechanism), claim, Adjacency.ADD_REMOVE, ((0, distance), (distance, 0)), laws)


TWINS: tuple[Registration, ...] = (
    _twin("Laplace with inverted scale", Laplace(sensitivity=1, epsilon=1 / _EPSILON), Pure(_EPSILON), distance=1),
    _twin(
        "replace-one histogram with add-remove noise",
        Laplace(sensitivity=1, epsilon=_EPSILON),
        Pure(_EPSILON),
        distance=2,
    ),
    _twin("Laplace that forgets max_rows", Laplace(sensitivity=1, epsilon=_EPSILON), Pure(_EPSILON), distance=5),
    _twin(
        "Gaussian with variance 1/(4 rho)",
        Gaussian.squared(squared_sensitivity=Fraction(1, 2), rho=Fraction(1, 8)),
        Concentrated(Fraction(1, 8)),
        distance=1,
    ),
    _twin(
        "Gaussian with the L2 sensitivity of one group",
        Gaussian(sensitivity=1, rho=Fraction(1, 8)),
        Concentrated(Fraction(1, 8)),
        distance=2,
    ),
)
