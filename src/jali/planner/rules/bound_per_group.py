"""Rule: bounds per group clamp what one person adds to one group, not what one row adds.

Statement:
    `SUM(x, contribution_bounds_per_group => (l, u))` sums, over the people of a group, each person's own sum
    there, clamped to [l, u]. The question is rewritten over a relation that has one row for each person and
    group. Its rows are weighed so that one person counts in at most `max_groups` groups; hence one person's vector
    over the groups has L1 norm at most max_groups * max(|l|, |u|), however many rows the person has.
Proof:
    docs/proofs/per_group.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from jali.catalog.columns import Field, Kind
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.value_domain import Value
from jali.errors import QueryError, Unsupported
from jali.ir.aggregates import KeySet
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Expression,
    Literal,
    Ordering,
    Output,
    Question,
    aggregates,
    map_children,
)
from jali.ir.ownership import own
from jali.ir.relations import Computed, Keep, PerOwner, Relation, Summary, rename_field
from jali.ir.types import find_field, infer_type
from jali.planner.draft import Draft
from jali.planner.public_facts import apply_filter, choose_lattice_steps, round_to_double

# A person's sum is put on a lattice with so many bits for a sum at its bound.
_BITS = 40
# A row counts for at most so many times the bound of its person's sum: one far value may cancel another.
_BEYOND = 1 << 16
_MOST_ROWS = 1 << 53
# Declared keys are written into the condition up to so many.
_MOST_LISTED = 1000
_PEOPLE = (Fraction(0), Fraction(1))


def bound_per_group(draft: Draft) -> Draft:
    """Rewrite a question with bounds per group over one row for each person and group."""
    if not any(aggregate.per_group for aggregate in aggregates(draft.question)):
        return draft
    _check(draft)
    grouped = _Grouped(draft)
    question = grouped.question()
    terms = replace(draft.terms, max_rows=most_groups(draft), max_groups=most_groups(draft))
    return replace(draft, question=question, relation=grouped.relation(), keys=grouped.keys(), terms=terms)


def most_groups(draft: Draft) -> int:
    """Return in how many groups one person counts: as the question says, or as many as the rows declared."""
    wanted = draft.terms.max_groups or own(draft.rows).max_rows
    known = all(key.values is not None for key in draft.keys)
    return min(wanted, math.prod(len(key.values or ()) for key in draft.keys)) if known else wanted


def _check(draft: Draft) -> None:
    place = next(a.position for a in aggregates(draft.question) if a.per_group)
    if draft.terms.max_rows is not None:
        raise QueryError("max-rows-with-per-group", position=place)
    if draft.question.sets is not None:
        raise Unsupported("per-group-with-grouping-sets", position=place)


class _Grouped:
    """Collects the keys and summaries of one person in one group, and rewrites the question over them."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rows = _keep_declared_groups(draft.rows, draft.keys)
        self.columns = [self._column(i, key) for i, key in enumerate(draft.keys)]
        self.summaries: dict[Aggregate, Summary] = {}

    def relation(self) -> PerOwner:
        return PerOwner(self.rows, tuple(self.columns), tuple(self.summaries.values()))

    def keys(self) -> tuple[KeySet, ...]:
        pairs = zip(self.draft.keys, self.columns, strict=True)
        return tuple(replace(key, expression=Column(column.field.name)) for key, column in pairs)

    def question(self) -> Question:
        asked = self.draft.question
        return replace(
            asked,
            outputs=tuple(Output(o.name, self.after(o.expression)) for o in asked.outputs),
            group_by=tuple(self.after(expression) for expression in asked.group_by),
            having=None if asked.having is None else self.after(asked.having),
            order_by=tuple(
                Ordering(self.after(o.expression), o.descending, o.nulls_first) for o in asked.order_by
            ),
        )

    def after(self, expression: Expression) -> Expression:
        """Rewrite what is computed after the noise over the new columns."""
        for column in self.columns:
            if column.expression == expression:
                return Column(column.field.name, expression.position)
        if isinstance(expression, Aggregate):
            return self._outer(expression)
        return map_children(self.after, expression)

    def _column(self, index: int, key: KeySet) -> Computed:
        name = f"group.key{index}"
        if isinstance(key.expression, Column):
            return Computed(rename_field(find_field(key.expression, self.rows), name), key.expression)
        bounds = infer_type(key.expression, self.rows).bounds
        return Computed(Field(name, key.kind, "", computed=True, bounds=bounds), key.expression)

    def _outer(self, written: Aggregate) -> Aggregate:
        """Return the aggregate over people: a sum of their sums and counts, or a mean of their means."""
        function, bounds = "avg" if written.function == "avg" else "sum", self._bounds(written)
        if written not in self.summaries:
            name = f"group.{written.function}{len(self.summaries)}"
            self.summaries[written] = self._summary(name, apply_filter(written), bounds)
        column = Column(self.summaries[written].field.name, written.position)
        return Aggregate(function, column, position=written.position, bounds=bounds)

    def _bounds(self, aggregate: Aggregate) -> tuple[Fraction, Fraction]:
        if aggregate.per_group and aggregate.bounds is not None and not aggregate.distinct:
            return aggregate.bounds
        if aggregate.function == "count" and aggregate.distinct and self._counts_people(aggregate):
            return _PEOPLE
        bounded = aggregate.function in ("count", "sum", "avg") and not aggregate.distinct
        advice = "bounds-per-group-missing" if bounded else "bounds-per-group-impossible"
        raise Unsupported(advice, position=aggregate.position, function=aggregate.function.upper())

    def _counts_people(self, aggregate: Aggregate) -> bool:
        argument = aggregate.argument
        return isinstance(argument, Column) and argument.name in own(self.rows).owner_columns()

    def _summary(self, name: str, aggregate: Aggregate, bounds: tuple[Fraction, Fraction]) -> Summary:
        """Return one person's number in one group. COUNT(DISTINCT unit) is the number of rows, cut at 1."""
        argument = aggregate.argument
        kind = Kind.INTEGER if argument is None else (infer_type(argument, self.rows).kind or Kind.INTEGER)
        if aggregate.function == "count":
            most = min(max(math.ceil(bounds[1]), 1), _MOST_ROWS)
            field = Field(
                name, Kind.INTEGER, "", computed=True, bounds=NumberInterval(Fraction(0), Fraction(most))
            )
            return Summary(field, "count", argument, kind)
        assert argument is not None
        result = Kind.INTEGER if kind is Kind.INTEGER and aggregate.function == "sum" else Kind.REAL
        low, high, steps = self._row_range(argument, kind, bounds)
        ends = NumberInterval(round_to_double(bounds[0], math.floor), round_to_double(bounds[1], math.ceil))
        field = Field(name, result, "", computed=True, bounds=ends)
        return Summary(field, aggregate.function, argument, kind, steps=steps, low=low, high=high)

    def _row_range(
        self, argument: Expression, kind: Kind, bounds: tuple[Fraction, Fraction]
    ) -> tuple[Fraction, Fraction, Fraction]:
        """Return the range of one row and its lattice: the declared range, or far beyond the person's bound.

        A row at 2^16 times the bound is at most 2^56 lattice points, and sums of those are 128 bits wide.
        """
        bound = max(abs(bounds[0]), abs(bounds[1]))
        most = round_to_double(_BEYOND * bound, math.ceil) if bound else Fraction(1)
        known = infer_type(argument, self.rows).bounds
        low = -most if known.low is None else round_to_double(min(max(known.low, -most), most), math.floor)
        high = most if known.high is None else round_to_double(min(max(known.high, -most), most), math.ceil)
        whole = kind is Kind.INTEGER and most < 1 << (_BITS + _BEYOND.bit_length())
        reach = min(max(abs(low), abs(high)), bound)
        return low, high, Fraction(1) if whole else choose_lattice_steps(reach, _BITS)


def _keep_declared_groups(rows: Relation, keys: tuple[KeySet, ...]) -> Relation:
    """Keep the rows of declared groups, so that no other group takes of a person's weight.

    A long list is not written out: then a person's other groups count too, which lowers weights and no more.
    """
    for key in keys:
        if key.values is not None and len(key.values) <= _MOST_LISTED and key.kind is not Kind.BOOLEAN:
            rows = Keep(rows, _build_key_test(key.expression, key.values))
    return rows


def _build_key_test(expression: Expression, values: tuple[Value, ...]) -> Expression:
    known = tuple(Literal(value) for value in values if value is not None)
    absent = Call("is null", (expression,))
    if len(known) == len(values):
        return Call("in", (expression, *known))
    return Call("or", (Call("in", (expression, *known)), absent)) if known else absent
