"""How noise is written in a stored plan: words that stay, so that ledgers outlive the classes they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jali.errors import LedgerError
from jali.mechanisms import Gaussian, Laplace, LInfinity, Root
from jali.mechanisms.lattice import Lattice
from jali.query.codec import Form

# Plans add noise to integers, which need no lattice; its name has been written since the first ledger.
_INTEGERS = Lattice()


def _laplace_parts(noise: Laplace) -> dict[str, Any]:
    return {"epsilon": noise.epsilon, "lattice": _integers(noise.lattice), "sensitivity": noise.sensitivity}


def _laplace(*, epsilon: Any, sensitivity: Any, lattice: Any) -> Laplace:
    _integers(lattice)
    return Laplace.restored(sensitivity=sensitivity, epsilon=epsilon, step=None, dimension=1)


def _gaussian_parts(noise: Gaussian) -> dict[str, Any]:
    lattice = _integers(noise.lattice)
    return {"lattice": lattice, "rho": noise.rho, "squared_sensitivity": noise.squared_sensitivity}


def _gaussian(*, rho: Any, squared_sensitivity: Any, lattice: Any) -> Gaussian:
    _integers(lattice)
    return Gaussian.restored(sensitivity=Root(squared_sensitivity), rho=rho, step=None, dimension=1)


def _joint_parts(noise: LInfinity) -> dict[str, Any]:
    _integers(Lattice(noise.step))
    return {"dimension": noise.dimension, "epsilon": noise.epsilon, "sensitivity": noise.sensitivity}


def _joint(*, dimension: Any, epsilon: Any, sensitivity: Any) -> LInfinity:
    return LInfinity.restored(sensitivity=sensitivity, epsilon=epsilon, dimension=dimension, step=None)


def _integers(lattice: Any) -> Lattice:
    if lattice != _INTEGERS:
        raise LedgerError("stored-plan-not-integers")
    return _INTEGERS


FORMS: Mapping[type, Form] = MappingProxyType(
    {
        Laplace: Form(_laplace_parts, _laplace),
        Gaussian: Form(_gaussian_parts, _gaussian),
        LInfinity: Form(_joint_parts, _joint),
    }
)
