"""Per-person subaggregates: what a subquery with GROUP BY computes of one owner's rows, whatever their order."""

from __future__ import annotations

from fractions import Fraction

from jali.catalog.columns import Field, Kind
from jali.catalog.number_intervals import NumberInterval
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import Aggregate, Column, Expression, map_children
from jali.ir.ownership import own
from jali.ir.relations import Computed, PerOwner, Relation, Summary, rename_field
from jali.ir.types import find_field, infer_type
from jali.planner.public_facts import apply_filter, choose_lattice_steps, find_range

_ALLOWED = ("count", "sum", "avg", "min", "max")
_BITS = 40


class PersonSummaries:
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
        if isinstance(expression, Column):
            raise QueryError("column-not-grouped", position=expression.position, column=expression.name)
        return map_children(self.after, expression)

    def _key(self, index: int, key: Expression) -> Computed:
        name = f"{self.prefix}key{index}"
        if isinstance(key, Column):
            return Computed(rename_field(find_field(key, self.source), name), key)
        kind = infer_type(key, self.source)
        return Computed(Field(name, kind.kind or Kind.INTEGER, "", computed=True, bounds=kind.bounds), key)

    def _summary(self, aggregate: Aggregate) -> Summary:
        if aggregate not in self.summaries:
            name = f"{self.prefix}{aggregate.function}{len(self.summaries)}"
            self.summaries[aggregate] = self._build_summary(name, aggregate)
        return self.summaries[aggregate]

    def _build_summary(self, name: str, written: Aggregate) -> Summary:
        aggregate = apply_filter(written)
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
            else (infer_type(aggregate.argument, self.source).kind or Kind.INTEGER)
        )
        if aggregate.function == "count":
            field = self._number(name, Kind.INTEGER, NumberInterval(Fraction(0), Fraction(self.rows)))
            return Summary(field, "count", aggregate.argument, kind, aggregate.distinct)
        assert aggregate.argument is not None
        if aggregate.function in ("min", "max"):
            bounds = infer_type(aggregate.argument, self.source).bounds
            return Summary(
                Field(name, kind, "", computed=True, bounds=bounds), aggregate.function, aggregate.argument, kind
            )
        return self._total(name, aggregate, aggregate.argument, kind)

    def _total(self, name: str, aggregate: Aggregate, argument: Expression, kind: Kind) -> Summary:
        if not kind.numeric:
            raise QueryError(
                "aggregate-number-expected", position=aggregate.position, function=aggregate.function.upper()
            )
        low, high = find_range(argument, self.source)
        whole = kind is Kind.INTEGER and max(abs(low), abs(high)) < 1 << _BITS
        steps = Fraction(1) if whole else choose_lattice_steps(max(abs(low), abs(high)), _BITS)
        bounds = NumberInterval(low, high)
        if aggregate.function == "sum":
            bounds = NumberInterval(min(low * self.rows, low), max(high * self.rows, high))
        result = kind if aggregate.function == "sum" else Kind.REAL
        return Summary(
            self._number(name, result, bounds), aggregate.function, argument, kind, steps=steps, low=low, high=high
        )

    @staticmethod
    def _number(name: str, kind: Kind, bounds: NumberInterval) -> Field:
        return Field(name, kind, "", computed=True, bounds=bounds)
