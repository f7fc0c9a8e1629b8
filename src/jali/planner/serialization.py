"""How plans are stored: the tag and the parts of each type that a frozen plan or a declared table is made of.

Tags and names of parts stand in every ledger and are never changed. A class or an attribute may be renamed: see
"How to rename what is stored" in CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import Any

from jali.errors import LedgerError
from jali.mechanisms import Gaussian, Laplace, LInfinity, Root
from jali.mechanisms.lattice import Lattice
from jali.mechanisms.planned import stored_measurements
from jali.planner.membership import Membership
from jali.planner.part import Draw, Level, Part
from jali.planner.plan import Plan
from jali.privacy.adjacency import Adjacency
from jali.privacy.budget import Budget
from jali.privacy.event import Event
from jali.query.aggregation import (
    Aggregation,
    Categories,
    CountPeople,
    CountRows,
    CountValues,
    KeySet,
    Marks,
    SumValues,
    Weights,
)
from jali.query.bounds import Bounds
from jali.query.catalog import Field, Keys, Kind, Public, Range, Reach, Source, Table
from jali.query.estimate import Estimate, Linear
from jali.query.estimates import Cells, Moment, Pick, Picked, Span
from jali.query.nodes import (
    Aggregate,
    Call,
    Column,
    Derived,
    Every,
    Found,
    Joined,
    Literal,
    Named,
    Ordering,
    Output,
    Question,
    Select,
    Stacked,
)
from jali.query.relation import (
    Belonging,
    Capped,
    Compute,
    Computed,
    Keep,
    Match,
    Pair,
    PerOwner,
    Scan,
    Stack,
    Summary,
)
from jali.serialization.schema import Schema, Stored, stored

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
_PLANS: tuple[Stored, ...] = (
    stored("Plan", Plan, "question keys levels estimates cost costs selection part"),
    stored("Level", Level, "places parts"),
    stored("Part", Part, "aggregation mechanisms draws sql"),
    stored("Draw", Draw, "axis kind at end picks steps"),
    stored("Membership", Membership, "table expression kind values place"),
)
# Tables as they are declared, and losses.
_CATALOG: tuple[Stored, ...] = (
    stored("Kind", Kind),
    stored("Table", Table, "name source unit max_rows adjacency fields budget rows reach min_people unique copy"),
    stored("Public", Public, "name source fields rows repeats"),
    stored("Reach", Reach, "table here there"),
    stored("Field", Field, "name kind type range keys computed bounds"),
    stored("Source", Source, "format location relation"),
    stored("Range", Range, "low high auto epsilon"),
    stored("Keys", Keys, "values"),
    stored("Adjacency", Adjacency),
    stored("Budget", Budget, "epsilon delta delta_events"),
    stored("Bounds", Bounds, "low high"),
    stored("Event", Event, "epsilon rho delta"),
)
# Questions and expressions.
_QUESTIONS: tuple[Stored, ...] = (
    stored("Question", Question, "source outputs where group_by having order_by limit offset sets"),
    stored("Output", Output, "name expression"),
    stored("Ordering", Ordering, "expression descending nulls_first"),
    stored("Named", Named, "name alias"),
    stored("Joined", Joined, "kind left right on using natural"),
    stored("Derived", Derived, "query alias columns"),
    stored("Select", Select, "source outputs where group_by having distinct"),
    stored("Stacked", Stacked, "parts distinct"),
    stored("Every", Every, "table"),
    stored("Found", Found, "query value"),
    stored("Column", Column, "name table"),
    stored("Literal", Literal, "value"),
    stored("Call", Call, "function arguments"),
    stored("Aggregate", Aggregate, "function argument distinct others filter bounds per_group"),
)
# The rows that a question is about, and what is computed of them.
_ROWS: tuple[Stored, ...] = (
    stored("Aggregation", Aggregation, "source keys measures weights along selecting required one_of_several"),
    stored("CountRows", CountRows, "present kind"),
    stored("SumValues", SumValues, "value kind low high center steps missing"),
    stored("CountPeople", CountPeople, "present kind"),
    stored("CountValues", CountValues, "value kind"),
    stored("Weights", Weights, "max_rows max_groups resolution norm by"),
    stored("KeySet", KeySet, "expression kind values"),
    stored("Marks", Marks, "value kind low step top"),
    stored("Categories", Categories, "keys"),
    stored("Scan", Scan, "table prefix"),
    stored("Compute", Compute, "source columns"),
    stored("Computed", Computed, "field expression"),
    stored("Keep", Keep, "source condition"),
    stored("Pair", Pair, "kind left right condition"),
    stored("Match", Match, "source other condition flag"),
    stored("Stack", Stack, "parts fields"),
    stored("PerOwner", PerOwner, "source keys summaries"),
    stored("Summary", Summary, "field function argument kind distinct steps low high"),
    stored("Belonging", Belonging, "source expression kind values place"),
    stored("Capped", Capped, "source rows"),
)
# How answers are made of what is released.
_ESTIMATES: tuple[Stored, ...] = (
    stored("Estimate", Estimate, "numerator denominator bounds whole"),
    stored("Linear", Linear, "terms constant"),
    stored("Moment", Moment, "kind sums x y"),
    stored("Span", Span, "low high center"),
    stored("Picked", Picked, "axis picks several"),
    stored("Pick", Pick, "value low high confidence"),
    stored("Cells", Cells, "release axis labels worth cumulative"),
)
# How noise is written stays as it was, whatever its classes are made of.
_NOISE: tuple[Stored, ...] = (
    stored("Laplace", Laplace, write=_laplace_parts, make=_laplace),
    stored("Gaussian", Gaussian, write=_gaussian_parts, make=_gaussian),
    stored("LInfinity", LInfinity, write=_joint_parts, make=_joint),
    stored("Lattice", Lattice, "step dimension"),
)
# Every other measurement names its tag and its parameters itself.
_MEASUREMENTS: tuple[Stored, ...] = tuple(
    stored(kind.tag, kind, kind.stored_parts)
    for kind in stored_measurements()
    if all(kind is not one.kind for one in _NOISE)
)

# Plans of one question, and tables.
PLANS = Schema((*_PLANS, *_CATALOG, *_QUESTIONS, *_ROWS, *_ESTIMATES, *_MEASUREMENTS, *_NOISE))
