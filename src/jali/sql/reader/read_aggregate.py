"""Read SQL aggregates as nodes: one table of how each is written and which arguments it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from jali.ir.expressions import Aggregate, Call, Expression, Literal

if TYPE_CHECKING:
    from jali.sql.reader.read_expression import ExpressionReader

_ONE_COLUMN: dict[type[exp.Expression], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Median: "median",
    exp.Min: "min",
    exp.Max: "max",
    exp.Mode: "mode",
}
_TWO_COLUMNS: dict[type[exp.Expression], str] = {
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.Corr: "corr",
    exp.RegrSlope: "regr_slope",
    exp.RegrIntercept: "regr_intercept",
    exp.RegrCount: "regr_count",
    exp.RegrAvgx: "regr_avgx",
    exp.RegrAvgy: "regr_avgy",
    exp.RegrSxx: "regr_sxx",
    exp.RegrSyy: "regr_syy",
    exp.RegrSxy: "regr_sxy",
    exp.RegrR2: "regr_r2",
}
_COLUMN_AND_CONSTANT: dict[type[exp.Expression], tuple[str, str]] = {
    exp.PercentileCont: ("quantile_cont", "expression"),
    exp.PercentileDisc: ("quantile_disc", "expression"),
    exp.Quantile: ("quantile_disc", "quantile"),
    exp.ApproxQuantile: ("quantile_cont", "quantile"),
    exp.ApproxTopK: ("approx_top_k", "expression"),
    exp.ApproxQuantiles: ("approx_quantiles", "expression"),
}
_BY_NAME = {"histogram": "histogram", "cdf": "cdf", "mean": "avg", "top_k": "approx_top_k"}
_CLASSES = (
    {exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Filter, exp.WithinGroup, exp.Grouping}
    | set(_ONE_COLUMN)
    | set(_TWO_COLUMNS)
    | set(_COLUMN_AND_CONSTANT)
)
# Aggregates that would print a value of a row, or depend on the order of rows.
REFUSED = {
    "any_value": "it would print a value of a row",
    "first": "it would print a value of a row",
    "last": "it would print a value of a row",
    "arg_max": "it would print a value of a row",
    "arg_min": "it would print a value of a row",
    "list": "it would return rows",
    "array_agg": "it would return rows",
    "string_agg": "it would return rows",
    "group_concat": "it would return rows",
    "listagg": "it would return rows",
    "product": "one person can change a product without limit",
    "mad": "it is not offered yet",
}


@dataclass(frozen=True)
class _Reading:
    reader: ExpressionReader
    depth: int

    def one(self, node: exp.Expression) -> Expression:
        return self.reader.read(node, self.depth + 1)

    def several(self, node: exp.Expression) -> tuple[Expression, ...]:
        """Read a constant, or a list of them."""
        items = node.expressions if isinstance(node, exp.Array | exp.Tuple) else [node]
        if not items:
            raise self.reader.refuse(node, "list-empty")
        return tuple(self.one(item) for item in items)


def is_aggregate(node: exp.Expression) -> bool:
    """Say whether a node is an aggregate of the question language."""
    return type(node) in _CLASSES or (isinstance(node, exp.Anonymous) and node.name.lower() in _BY_NAME)


def read_aggregate(reader: ExpressionReader, node: exp.Expression, depth: int) -> Expression:
    """Read an aggregate, with its FILTER and WITHIN GROUP."""
    reading = _Reading(reader, depth)
    if isinstance(node, exp.Filter):
        return _read_filter(reading, node)
    if isinstance(node, exp.WithinGroup):
        return _within_group(reading, node)
    _check_plain(reader, node)
    return _READERS.get(type(node), _by_table)(reading, node)


def _check_plain(reader: ExpressionReader, node: exp.Expression) -> None:
    known = {"this", "expression", "expressions", "quantile", "big_int"}
    extra = [name for name, value in node.args.items() if value and name not in known]
    if extra or isinstance(node.parent, exp.Window):
        raise reader.refuse(
            node, "aggregate-clause", function=reader.name_construct(node), clause=(extra or ["over"])[0].upper()
        )


def _read_filter(reading: _Reading, node: exp.Filter) -> Expression:
    inner = reading.one(node.this)
    if not isinstance(inner, Aggregate) or inner.filter is not None:
        raise reading.reader.refuse(node, "filter-misplaced")
    condition = reading.one(node.expression.this)
    return replace(inner, filter=condition)


def _within_group(reading: _Reading, node: exp.WithinGroup) -> Expression:
    inner, terms = node.this, node.expression.expressions
    if len(terms) != 1 or not isinstance(inner, exp.PercentileCont | exp.PercentileDisc | exp.Mode):
        raise reading.reader.refuse(node, "within-group-misplaced")
    column = reading.one(terms[0].this)
    if isinstance(inner, exp.Mode):
        return _build_aggregate(reading, node, "mode", column)
    if inner.expression is not None:
        raise reading.reader.refuse(node, "percentile-one-number")
    levels = reading.several(inner.this)
    if terms[0].args.get("desc"):
        levels = tuple(Call("-", (Literal(1), level)) for level in levels)
    return _build_aggregate(reading, node, _COLUMN_AND_CONSTANT[type(inner)][0], column, levels)


def _build_aggregate(
    reading: _Reading,
    node: exp.Expression,
    function: str,
    argument: Expression | None,
    others: tuple[Expression, ...] = (),
    *,
    distinct: bool = False,
) -> Aggregate:
    given = reading.reader.bounds_at(node)
    return Aggregate(
        function,
        argument,
        distinct,
        reading.reader.position(node),
        others,
        bounds=None if given is None else (given.low, given.high),
        per_group=given is not None and given.per == "group",
    )


def _count(reading: _Reading, node: exp.Expression) -> Expression:
    inner = node.this
    if node.expressions:
        raise reading.reader.refuse(node, "count-one-argument")
    if isinstance(inner, exp.Star) and any(inner.args.values()):
        raise reading.reader.refuse(node, "count-star-argument")
    if inner is None or isinstance(inner, exp.Star):
        return _build_aggregate(reading, node, "count", None)
    if not isinstance(inner, exp.Distinct):
        return _build_aggregate(reading, node, "count", reading.one(inner))
    if len(inner.expressions) != 1 or inner.args.get("on"):
        raise reading.reader.refuse(node, "count-distinct-one-expression")
    return _build_aggregate(reading, node, "count", reading.one(inner.expressions[0]), distinct=True)


def _count_if(reading: _Reading, node: exp.Expression) -> Expression:
    return replace(_build_aggregate(reading, node, "count", None), filter=reading.one(node.this))


def _count_distinct(reading: _Reading, node: exp.Expression) -> Expression:
    return _build_aggregate(reading, node, "count", reading.one(node.this), distinct=True)


def _by_table(reading: _Reading, node: exp.Expression) -> Expression:
    if isinstance(node.this, exp.Distinct):
        raise reading.reader.refuse(node, "aggregate-distinct", function=reading.reader.name_construct(node))
    if type(node) in _ONE_COLUMN:
        _expect(reading, node, node.this is not None and node.expression is None)
        return _build_aggregate(reading, node, _ONE_COLUMN[type(node)], reading.one(node.this))
    if type(node) in _TWO_COLUMNS:
        _expect(reading, node, node.expression is not None)
        return _build_aggregate(
            reading, node, _TWO_COLUMNS[type(node)], reading.one(node.this), (reading.one(node.expression),)
        )
    if isinstance(node, exp.Anonymous):
        first, *rest = node.expressions or [None]
        _expect(reading, node, first is not None and len(rest) <= 1)
        others = reading.several(rest[0]) if rest else ()
        return _build_aggregate(reading, node, _BY_NAME[node.name.lower()], reading.one(first), others)
    function, place = _COLUMN_AND_CONSTANT[type(node)]
    constant = node.args.get(place)
    _expect(reading, node, constant is not None)
    assert constant is not None
    return _build_aggregate(reading, node, function, reading.one(node.this), reading.several(constant))


def _expect(reading: _Reading, node: exp.Expression, right: bool) -> None:
    if not right:
        raise reading.reader.refuse(node, "aggregate-argument-count", function=reading.reader.name_construct(node))


def _grouping(reading: _Reading, node: exp.Expression) -> Expression:
    arguments = tuple(reading.one(item) for item in node.expressions)
    return Call("grouping", arguments, reading.reader.position(node))


_READERS: dict[type[exp.Expression], Callable[[_Reading, exp.Expression], Expression]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _count_distinct,
    exp.Grouping: _grouping,
}
