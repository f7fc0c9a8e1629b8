"""Per-person subaggregates: what a subquery with GROUP BY computes of one owner's rows, whatever their order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from jali.errors import QueryError, Unsupported
from jali.planner.lattice import ends_of, filtered, steps_for
from jali.query.bounds import Bounds
from jali.query.catalog import Field, Kind
from jali.query.nodes import Aggregate, Call, Column, Expression
from jali.query.ownership import own
from jali.query.relation import Computed, PerOwner, Relation, Summary, renamed
from jali.query.types import find_field, type_of

_ALLOWED = ("count", "sum", "avg", "min", "max")
_BITS = 40


class Summaries:
    """Collects the keys and summaries of one grouped subquery."""

    def __init__(self, source: Relation, keys: list[Expression], prefix: str) -> None:
        self.source = source
        self.prefix = prefix
        self.keys = {key: self._key(i, key) for i, key in enumerate(dict.fromkeys(keys))}
        self.summaries: dict[Aggregate, Summary] = {}
        self.rows = own(source).max_rows

    def relation(self) -> PerOwner:
        """Return one row per owner and key."""
        return PerOwner(self.source, tuple(self.keys.values()), tuple(self.summaries.values()))

    def after(self, expression: Expression) -> Expression:
        """Rewrite an output or HAVING over the columns of the summary."""
        if expression in self.keys:
            return Column(self.keys[expression].field.name, expression.position)
        if isinstance(expression, Aggregate):
            return Column(self._summary(expression).field.name, expression.position)
        if isinstance(expression, Call):
            return replace(expression, arguments=tuple(self.after(a) for a in expression.arguments))
        if isinstance(expression, Column):
            raise QueryError("column-not-grouped", position=expression.position, column=expression.name)
        return expression

    def _key(self, index: int, key: Expression) -> Computed:
        name = f"{self.prefix}key{index}"
        if isinstance(key, Column):
            return Computed(renamed(find_field(key, self.source), name), key)
        kind = type_of(key, self.source)
        return Computed(Field(name, kind.kind or Kind.INTEGER, "", computed=True, bounds=kind.bounds), key)

    def _summary(self, aggregate: Aggregate) -> Summary:
        if aggregate not in self.summaries:
            name = f"{self.prefix}{aggregate.function}{len(self.summaries)}"
            self.summaries[aggregate] = self._made(name, aggregate)
        return self.summaries[aggregate]

    def _made(self, name: str, written: Aggregate) -> Summary:
        aggregate = filtered(written)
        if (
            aggregate.function not in _ALLOWED
            or aggregate.others
            or (aggregate.distinct and aggregate.function != "count")
        ):
            raise Unsupported(
                "aggregate-per-person", position=aggregate.position, function=aggregate.function.upper()
            )
        kind = (
            Kind.INTEGER
            if aggregate.argument is None
            else (type_of(aggregate.argument, self.source).kind or Kind.INTEGER)
        )
        if aggregate.function == "count":
            field = self._number(name, Kind.INTEGER, Bounds(Fraction(0), Fraction(self.rows)))
            return Summary(field, "count", aggregate.argument, kind, aggregate.distinct)
        assert aggregate.argument is not None
        if aggregate.function in ("min", "max"):
            bounds = type_of(aggregate.argument, self.source).bounds
            return Summary(
                Field(name, kind, "", computed=True, bounds=bounds), aggregate.function, aggregate.argument, kind
            )
        return self._total(name, aggregate, aggregate.argument, kind)

    def _total(self, name: str, aggregate: Aggregate, argument: Expression, kind: Kind) -> Summary:
        if not kind.numeric:
            raise QueryError(
                "aggregate-number-expected", position=aggregate.position, function=aggregate.function.upper()
            )
        low, high = ends_of(argument, self.source)
        whole = kind is Kind.INTEGER and max(abs(low), abs(high)) < 1 << _BITS
        steps = Fraction(1) if whole else steps_for(max(abs(low), abs(high)), _BITS)
        bounds = Bounds(low, high)
        if aggregate.function == "sum":
            bounds = Bounds(min(low * self.rows, low), max(high * self.rows, high))
        result = kind if aggregate.function == "sum" else Kind.REAL
        return Summary(
            self._number(name, result, bounds), aggregate.function, argument, kind, steps=steps, low=low, high=high
        )

    @staticmethod
    def _number(name: str, kind: Kind, bounds: Bounds) -> Field:
        return Field(name, kind, "", computed=True, bounds=bounds)
