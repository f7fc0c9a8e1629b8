"""Broken twins of mechanisms that add noise. They take generated data only."""

from __future__ import annotations

from fractions import Fraction

from jali.audit.registry import Registration
from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Adjacency, Concentrated, Pure

_EPSILON = Fraction(7, 10)


def _twin(name: str, mechanism: Laplace | Gaussian, claim: Pure | Concentrated, distance: int) -> Registration:
    pairs = ((0, distance), (distance, 0))
    return Registration(name, type(mechanism), claim, Adjacency.ADD_REMOVE, pairs, mechanism.log_masses)


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
        Gaussian(sensitivity=1, rho=Fraction(1, 4)),
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
