"""How plans are stored: the tag and the parts of each type that a frozen plan or a declared table is made of.

Tags and names of parts stand in every ledger and are never changed. A class or an attribute may be renamed: see
"How to rename what is stored" in CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import Any

from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Field, Keys, Kind, Public, Range, Reach, Source, Table
from jali.errors import LedgerError
from jali.ir.aggregates import (
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
from jali.ir.estimators import Cells, LinearCombination, Moment, Picked, PickedCell, RatioEstimate, VariableRange
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Derived,
    Joined,
    Literal,
    NamedTable,
    Ordering,
    Output,
    Question,
    Select,
    Star,
    Subquery,
    UnionQuery,
)
from jali.ir.relations import (
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
from jali.mechanisms import Gaussian, Laplace, LInfinity, Root
from jali.mechanisms.lattice import Lattice
from jali.mechanisms.planner_registry import list_stored_measurements
from jali.planner.measured_query import AxisRelease, GroupingSet, MeasuredQuery
from jali.planner.plan import Plan
from jali.planner.subpopulations import ResolvedSubpopulation
from jali.privacy.adjacency import Adjacency
from jali.privacy.budget import Budget
from jali.privacy.event import Event
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
# Tables as they are declared, and losses.
_CATALOG: tuple[StoredType, ...] = (
    define_type("Kind", Kind),
    define_type(
        "Table", Table, "name source unit max_rows adjacency fields budget rows reach min_people unique copy"
    ),
    define_type("Public", Public, "name source fields rows repeats"),
    define_type("Reach", Reach, "table here there"),
    define_type("Field", Field, "name kind type range keys computed bounds"),
    define_type("Source", Source, "format location relation"),
    define_type("Range", Range, "low high auto epsilon"),
    define_type("Keys", Keys, "values"),
    define_type("Adjacency", Adjacency),
    define_type("Budget", Budget, "epsilon delta delta_events"),
    define_type("Bounds", NumberInterval, "low high"),
    define_type("Event", Event, "epsilon rho delta"),
)
# Questions and expressions.
_QUESTIONS: tuple[StoredType, ...] = (
    define_type("Question", Question, "source outputs where group_by having order_by limit offset sets"),
    define_type("Output", Output, "name expression"),
    define_type("Ordering", Ordering, "expression descending nulls_first"),
    define_type("Named", NamedTable, "name alias"),
    define_type("Joined", Joined, "kind left right on using natural"),
    define_type("Derived", Derived, "query alias columns"),
    define_type("Select", Select, "source outputs where group_by having distinct"),
    define_type("Stacked", UnionQuery, "parts distinct"),
    define_type("Every", Star, "table"),
    define_type("Found", Subquery, "query value"),
    define_type("Column", Column, "name table"),
    define_type("Literal", Literal, "value"),
    define_type("Call", Call, "function arguments"),
    define_type("Aggregate", Aggregate, "function argument distinct others filter bounds per_group"),
)
# The rows that a question is about, and what is computed of them.
_ROWS: tuple[StoredType, ...] = (
    define_type(
        "Aggregation", Aggregation, "source keys measures weights along selecting required one_of_several"
    ),
    define_type("CountRows", CountRows, "present kind"),
    define_type("SumValues", SumValues, "value kind low high center steps missing"),
    define_type("CountPeople", CountPeople, "present kind"),
    define_type("CountValues", CountValues, "value kind"),
    define_type("Weights", Weights, "max_rows max_groups resolution norm by"),
    define_type("KeySet", KeySet, "expression kind values"),
    define_type("Marks", Marks, "value kind low step top"),
    define_type("Categories", Categories, "keys"),
    define_type("Scan", Scan, "table prefix"),
    define_type("Compute", Compute, "source columns"),
    define_type("Computed", Computed, "field expression"),
    define_type("Keep", Keep, "source condition"),
    define_type("Pair", Pair, "kind left right condition"),
    define_type("Match", Match, "source other condition flag"),
    define_type("Stack", Stack, "parts fields"),
    define_type("PerOwner", PerOwner, "source keys summaries"),
    define_type("Summary", Summary, "field function argument kind distinct steps low high"),
    define_type("Belonging", Belonging, "source expression kind values place"),
    define_type("Capped", Capped, "source rows"),
)
# How answers are made of what is released.
_ESTIMATES: tuple[StoredType, ...] = (
    define_type("Estimate", RatioEstimate, "numerator denominator bounds whole"),
    define_type("Linear", LinearCombination, "terms constant"),
    define_type("Moment", Moment, "kind sums x y"),
    define_type("Span", VariableRange, "low high center"),
    define_type("Picked", Picked, "axis picks several"),
    define_type("Pick", PickedCell, "value low high confidence"),
    define_type("Cells", Cells, "release axis labels worth cumulative"),
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
PLANS = Schema((*_PLANS, *_CATALOG, *_QUESTIONS, *_ROWS, *_ESTIMATES, *_MEASUREMENTS, *_NOISE))
