"""Conditions: WHERE, and the subqueries that stand in expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from jali.errors import QueryError
from jali.planner.fresh_names import FreshNames
from jali.planner.level import Level
from jali.planner.meet_owners import equates, matched, unequal
from jali.planner.resolve_expression import expect_condition, has_aggregate, replaced, resolved
from jali.planner.scope import Scope
from jali.query.functions import alike
from jali.query.nodes import (
    Call,
    Column,
    Every,
    Expression,
    Found,
    Literal,
    Output,
    Select,
    Source,
    Stacked,
    conjuncts,
    walk,
)
from jali.query.ownership import own
from jali.query.read_expression import conjunction
from jali.query.relation import Keep, Relation, Side
from jali.query.types import type_of


class Relations(Protocol):
    """What conditions ask of the resolver around them: the relations of their subqueries."""

    def source(self, source: Source, outer: Scope | None) -> Level:
        """Resolve FROM of a subquery."""

    def query(self, query: Select | Stacked) -> Relation:
        """Resolve a subquery to a relation with one column per output."""

    def outputs(self, query: Select, scope: Scope) -> tuple[Output, ...]:
        """Return the outputs of a subquery, with stars written out."""


class Conditions:
    """Resolves conditions and expressions over the rows of a level; subqueries in them are matched to its rows."""

    def __init__(self, relations: Relations, names: FreshNames) -> None:
        self._relations = relations
        self._names = names

    def filtered(self, level: Level, where: Expression | None) -> Level:
        """Apply WHERE, and prove the meetings of the joins before it."""
        kept: list[Expression] = []
        for condition in conjuncts(where):
            if isinstance(condition, Found):
                level = self._semi(level, condition)
                continue
            (made,), level = self.expressions([condition], level)
            expect_condition(made, level.relation, "WHERE")
            kept.append(made)
        known = level.conditions + tuple(kept)
        for meeting in level.meetings:
            if not equates(meeting.left, meeting.right, known):
                raise unequal(own(meeting.left), own(meeting.right), meeting.position)
        every = conjunction(kept)
        relation = level.relation if every is None else Keep(level.relation, every)
        return replace(level, relation=relation, meetings=(), conditions=())

    def expressions(self, written: list[Expression], level: Level) -> tuple[list[Expression], Level]:
        """Resolve expressions over the rows of a level; subqueries in them become columns of it."""
        made, flags = [], dict[Found, Expression]()
        for root in written:
            expression = root
            for found in [node for node in walk(root) if isinstance(node, Found)]:
                # The same subquery written twice, in SELECT and in GROUP BY for example, is one column.
                if found not in flags:
                    flags[found], level = self._flagged(level, found)
                expression = replaced(expression, found, flags[found])
            made.append(resolved(expression, level.scope, level.relation))
        return made, level

    def _semi(self, level: Level, found: Found) -> Level:
        other, condition = self._sought(level, found)
        return replace(level, relation=matched(level.relation, other, condition, found.position))

    def _flagged(self, level: Level, found: Found) -> tuple[Expression, Level]:
        """Add a column that says whether the subquery has a row; IN is NULL where its value is."""
        other, condition = self._sought(level, found)
        flag = self._names.flag()
        relation = matched(level.relation, other, condition, found.position, flag)
        column: Expression = Column(flag.name, found.position)
        if found.value is not None:
            value = resolved(found.value, level.scope, level.relation)
            column = Call("case", (Call("is null", (value,)), Literal(None), column), found.position)
        return column, replace(level, relation=relation)

    def _sought(self, level: Level, found: Found) -> tuple[Relation, Expression | None]:
        """Return the rows that a subquery looks for, and the condition that ties them to a row around it."""
        query = found.query
        plain = isinstance(query, Select) and not (query.group_by or query.distinct or query.having is not None)
        if isinstance(query, Select) and plain and not any(_aggregated(output) for output in query.outputs):
            return self._correlated(level, found, query)
        other = self._relations.query(query)
        value = None if found.value is None else self._member(level, found, other, Column(other.fields[0].name))
        if len(other.fields) != 1 and found.value is not None:
            raise _one_column(found)
        return other, value

    def _correlated(self, level: Level, found: Found, query: Select) -> tuple[Relation, Expression | None]:
        inner = self._relations.source(query.source, level.scope)
        here: list[Expression] = []
        ties: list[Expression] = []
        for condition in conjuncts(query.where):
            (ties if _speaks_outside(condition, inner.scope) else here).append(condition)
        inner = self.filtered(inner, conjunction(here))
        both = Side(level.relation.fields + inner.relation.fields)
        parts = [resolved(tie, inner.scope, both) for tie in ties]
        for part in parts:
            expect_condition(part, both, "WHERE")
        if found.value is not None:
            outputs = self._relations.outputs(query, inner.scope)
            if len(outputs) != 1:
                raise _one_column(found)
            (item,), inner = self.expressions([outputs[0].expression], inner)
            parts.insert(0, self._member(level, found, inner.relation, item))
        return inner.relation, conjunction(parts)

    def _member(self, level: Level, found: Found, other: Relation, item: Expression) -> Expression:
        assert found.value is not None
        value = resolved(found.value, level.scope, level.relation)
        types = [type_of(value, level.relation), type_of(item, other)]
        try:
            alike(types)
        except ValueError:
            raise QueryError("in-kinds-differ", position=found.position) from None
        return Call("=", (value, item), found.position)


def _aggregated(output: Output | Every) -> bool:
    return isinstance(output, Output) and has_aggregate(output.expression)


def _speaks_outside(condition: Expression, scope: Scope) -> bool:
    columns = (node for node in walk(condition) if isinstance(node, Column))
    return any(not scope.knows(column) for column in columns)


def _one_column(found: Found) -> QueryError:
    return QueryError("in-subquery-columns", position=found.position)
