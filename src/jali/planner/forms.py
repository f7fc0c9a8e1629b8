"""How noise is written in a stored plan: words that stay, so that ledgers outlive the classes they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.lattice import Lattice
from jali.query.codec import Form

# Plans add noise to integers, which need no lattice; its name has been written since the first ledger.
_INTEGERS = Lattice()


def _laplace_parts(noise: Laplace) -> dict[str, Any]:
    return {"epsilon": noise.epsilon, "lattice": _INTEGERS, "sensitivity": noise.sensitivity}


def _laplace(*, epsilon: Any, sensitivity: Any, lattice: Lattice) -> Laplace:  # noqa: ARG001 - always the integers
    return Laplace(sensitivity=sensitivity, epsilon=epsilon)


def _gaussian_parts(noise: Gaussian) -> dict[str, Any]:
    return {"lattice": _INTEGERS, "rho": noise.rho, "squared_sensitivity": noise.squared_sensitivity}


def _gaussian(*, rho: Any, squared_sensitivity: Any, lattice: Lattice) -> Gaussian:  # noqa: ARG001 - the same
    return Gaussian.squared(squared_sensitivity=squared_sensitivity, rho=rho)


FORMS: Mapping[type, Form] = MappingProxyType(
    {Laplace: Form(_laplace_parts, _laplace), Gaussian: Form(_gaussian_parts, _gaussian)}
)
