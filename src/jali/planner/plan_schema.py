"""How plans are stored: the tag and the parts of each type of a plan, and of its mechanisms.

The nodes that plans are made of are in `ir.serialization`. Tags and names of parts stand in every ledger and never
change. A class or an attribute may be renamed: see "How to rename what is stored" in CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import Any

from jali.errors import LedgerError
from jali.ir.serialization import NODES
from jali.mechanisms import Gaussian, Laplace, LInfinity, Root
from jali.mechanisms.lattice import Lattice
from jali.mechanisms.planner_registry import list_stored_measurements
from jali.planner.measured_query import AxisRelease, GroupingSet, MeasuredQuery
from jali.planner.plan import Plan
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.serialization.schema import Schema, StoredType, define_type

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


# The plan and its levels, parts and releases.
_PLANS: tuple[StoredType, ...] = (
    define_type("Plan", Plan, "question keys levels estimates cost costs selection part"),
    define_type("Level", GroupingSet, "places parts"),
    define_type("Part", MeasuredQuery, "aggregation mechanisms draws sql"),
    define_type("Draw", AxisRelease, "axis kind at end picks steps"),
    define_type("Membership", ResolvedSubpopulation, "table expression kind values place"),
)
# How noise is written stays as it was, whatever its classes are made of.
_NOISE: tuple[StoredType, ...] = (
    define_type("Laplace", Laplace, write=_laplace_parts, make=_laplace),
    define_type("Gaussian", Gaussian, write=_gaussian_parts, make=_gaussian),
    define_type("LInfinity", LInfinity, write=_joint_parts, make=_joint),
    define_type("Lattice", Lattice, "step dimension"),
)
# Every other measurement names its tag and its parameters itself.
_MEASUREMENTS: tuple[StoredType, ...] = tuple(
    define_type(kind.tag, kind, kind.stored_parts)
    for kind in list_stored_measurements()
    if all(kind is not one.kind for one in _NOISE)
)

# Plans of one question, and tables.
PLANS = Schema((*_PLANS, *NODES, *_MEASUREMENTS, *_NOISE))
