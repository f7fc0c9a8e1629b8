"""How declared tables, questions, relations and estimates are stored: the tag and the parts of each type.

Tags and names of parts stand in every ledger and never change. A class or an attribute may be renamed: see
"How to rename what is stored" in CONTRIBUTING.md.
"""

from __future__ import annotations

from jali.catalog import columns, tables
from jali.catalog.number_intervals import NumberInterval
from jali.ir import aggregates, estimators, expressions, relations
from jali.privacy import Adjacency, Budget, Event
from jali.serialization.schema import StoredType, define_type

# Tables as they are declared, and losses.
CATALOG: tuple[StoredType, ...] = (
    define_type("Kind", columns.Kind),
    define_type(
        "Table",
        tables.Table,
        "name source unit max_rows adjacency fields budget rows reach min_people unique copy",
    ),
    define_type("Public", tables.Public, "name source fields rows repeats"),
    define_type("Reach", tables.Reach, "table here there"),
    define_type("Field", columns.Field, "name kind type range keys computed bounds"),
    define_type("Source", tables.Source, "format location relation"),
    define_type("Range", columns.Range, "low high auto epsilon"),
    define_type("Keys", columns.Keys, "values"),
    define_type("Adjacency", Adjacency),
    define_type("Budget", Budget, "epsilon delta delta_events"),
    define_type("Bounds", NumberInterval, "low high"),
    define_type("Event", Event, "epsilon rho delta"),
)
# Questions and expressions.
QUESTIONS: tuple[StoredType, ...] = (
    define_type(
        "Question", expressions.Question, "source outputs where group_by having order_by limit offset sets"
    ),
    define_type("Output", expressions.Output, "name expression"),
    define_type("Ordering", expressions.Ordering, "expression descending nulls_first"),
    define_type("Named", expressions.NamedTable, "name alias"),
    define_type("Joined", expressions.Joined, "kind left right on using natural"),
    define_type("Derived", expressions.Derived, "query alias columns"),
    define_type("Select", expressions.Select, "source outputs where group_by having distinct"),
    define_type("Stacked", expressions.UnionQuery, "parts distinct"),
    define_type("Every", expressions.Star, "table"),
    define_type("Found", expressions.Subquery, "query value"),
    define_type("Column", expressions.Column, "name table"),
    define_type("Literal", expressions.Literal, "value"),
    define_type("Call", expressions.Call, "function arguments"),
    define_type("Aggregate", expressions.Aggregate, "function argument distinct others filter bounds per_group"),
)
# The rows that a question is about, and what is computed of them.
ROWS: tuple[StoredType, ...] = (
    define_type(
        "Aggregation",
        aggregates.Aggregation,
        "source keys measures weights along selecting required one_of_several",
    ),
    define_type("CountRows", aggregates.CountRows, "present kind"),
    define_type("SumValues", aggregates.SumValues, "value kind low high center steps missing"),
    define_type("CountPeople", aggregates.CountPeople, "present kind"),
    define_type("CountValues", aggregates.CountValues, "value kind"),
    define_type("Weights", aggregates.Weights, "max_rows max_groups resolution norm by"),
    define_type("KeySet", aggregates.KeySet, "expression kind values"),
    define_type("Marks", aggregates.Marks, "value kind low step top"),
    define_type("Categories", aggregates.Categories, "keys"),
    define_type("Scan", relations.Scan, "table prefix"),
    define_type("Compute", relations.Compute, "source columns"),
    define_type("Computed", relations.Computed, "field expression"),
    define_type("Keep", relations.Keep, "source condition"),
    define_type("Pair", relations.Pair, "kind left right condition"),
    define_type("Match", relations.Match, "source other condition flag"),
    define_type("Stack", relations.Stack, "parts fields"),
    define_type("PerOwner", relations.PerOwner, "source keys summaries"),
    define_type("Summary", relations.Summary, "field function argument kind distinct steps low high"),
    define_type("Belonging", relations.Belonging, "source expression kind values place"),
    define_type("Capped", relations.Capped, "source rows"),
)
# How answers are made of what is released.
ESTIMATES: tuple[StoredType, ...] = (
    define_type("Estimate", estimators.RatioEstimate, "numerator denominator bounds whole"),
    define_type("Linear", estimators.LinearCombination, "terms constant"),
    define_type("Moment", estimators.Moment, "kind sums x y"),
    define_type("Span", estimators.VariableRange, "low high center"),
    define_type("Picked", estimators.Picked, "axis picks several"),
    define_type("Pick", estimators.PickedCell, "value low high confidence"),
    define_type("Cells", estimators.Cells, "release axis labels worth cumulative"),
)
# All that plans and ledgers have in common.
NODES = (*CATALOG, *QUESTIONS, *ROWS, *ESTIMATES)
