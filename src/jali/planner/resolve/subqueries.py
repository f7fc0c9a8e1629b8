"""Resolve WHERE, and the subqueries in expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jali.errors import QueryError
from jali.ir.expressions import (
    Call,
    Column,
    Expression,
    Literal,
    Output,
    Select,
    Star,
    Subquery,
    conjuncts,
    join_conditions,
    walk,
)
from jali.ir.functions import find_common_kind
from jali.ir.ownership import find_owner_equality, own
from jali.ir.relations import Keep, Relation, Side
from jali.ir.types import infer_type
from jali.planner.resolve.column_names import (
    FreshNames,
    Scope,
    SelectScope,
    expect_condition,
    has_aggregate,
    replace_expression,
    resolve_expression,
)
from jali.planner.resolve.joins_and_unions import match_rows, refuse_unequal_owners

if TYPE_CHECKING:
    from jali.planner.resolve.resolver import Resolver


class ConditionResolver:
    """Resolves conditions and expressions over the rows of a level; subqueries in them are matched to its rows."""

    def __init__(self, relations: Resolver, names: FreshNames) -> None:
        self._relations = relations
        self._names = names

    def apply_where(self, level: SelectScope, where: Expression | None) -> SelectScope:
        """Apply WHERE, and prove the meetings of the joins before it."""
        kept: list[Expression] = []
        for condition in conjuncts(where):
            if isinstance(condition, Subquery):
                level = self._semi(level, condition)
                continue
            (made,), level = self.expressions([condition], level)
            expect_condition(made, level.relation, "WHERE")
            kept.append(made)
        known = level.conditions + tuple(kept)
        for meeting in level.meetings:
            if find_owner_equality(meeting.left, meeting.right, known) is None:
                raise refuse_unequal_owners(own(meeting.left), own(meeting.right), meeting.position)
        every = join_conditions(kept)
        relation = level.relation if every is None else Keep(level.relation, every)
        return replace(level, relation=relation, meetings=(), conditions=())

    def expressions(self, written: list[Expression], level: SelectScope) -> tuple[list[Expression], SelectScope]:
        """Resolve expressions over the rows of a level; subqueries in them become columns of it."""
        made, flags = [], dict[Subquery, Expression]()
        for root in written:
            expression = root
            for found in [node for node in walk(root) if isinstance(node, Subquery)]:
                # The same subquery written twice, in SELECT and in GROUP BY for example, is one column.
                if found not in flags:
                    flags[found], level = self._add_flag(level, found)
                expression = replace_expression(expression, found, flags[found])
            made.append(resolve_expression(expression, level.scope, level.relation))
        return made, level

    def _semi(self, level: SelectScope, found: Subquery) -> SelectScope:
        other, condition = self._find_sought_rows(level, found)
        return replace(level, relation=match_rows(level.relation, other, condition, found.position))

    def _add_flag(self, level: SelectScope, found: Subquery) -> tuple[Expression, SelectScope]:
        """Add a column that says whether the subquery has a row; IN is NULL where its value is."""
        other, condition = self._find_sought_rows(level, found)
        flag = self._names.flag()
        relation = match_rows(level.relation, other, condition, found.position, flag)
        column: Expression = Column(flag.name, found.position)
        if found.value is not None:
            value = resolve_expression(found.value, level.scope, level.relation)
            column = Call("case", (Call("is null", (value,)), Literal(None), column), found.position)
        return column, replace(level, relation=relation)

    def _find_sought_rows(self, level: SelectScope, found: Subquery) -> tuple[Relation, Expression | None]:
        """Return the rows that a subquery looks for, and the condition that ties them to a row around it."""
        query = found.query
        plain = isinstance(query, Select) and not (query.group_by or query.distinct or query.having is not None)
        if (
            isinstance(query, Select)
            and plain
            and not any(_has_plain_aggregate(output) for output in query.outputs)
        ):
            return self._correlate(level, found, query)
        other = self._relations.query(query)
        value = None if found.value is None else self._member(level, found, other, Column(other.fields[0].name))
        if len(other.fields) != 1 and found.value is not None:
            raise _one_column(found)
        return other, value

    def _correlate(self, level: SelectScope, found: Subquery, query: Select) -> tuple[Relation, Expression | None]:
        inner = self._relations.source(query.source, level.scope)
        here: list[Expression] = []
        ties: list[Expression] = []
        for condition in conjuncts(query.where):
            (ties if _speaks_outside(condition, inner.scope) else here).append(condition)
        inner = self.apply_where(inner, join_conditions(here))
        both = Side(level.relation.fields + inner.relation.fields)
        parts = [resolve_expression(tie, inner.scope, both) for tie in ties]
        for part in parts:
            expect_condition(part, both, "WHERE")
        if found.value is not None:
            outputs = self._relations.outputs(query, inner.scope)
            if len(outputs) != 1:
                raise _one_column(found)
            (item,), inner = self.expressions([outputs[0].expression], inner)
            parts.insert(0, self._member(level, found, inner.relation, item))
        return inner.relation, join_conditions(parts)

    def _member(self, level: SelectScope, found: Subquery, other: Relation, item: Expression) -> Expression:
        assert found.value is not None
        value = resolve_expression(found.value, level.scope, level.relation)
        types = [infer_type(value, level.relation), infer_type(item, other)]
        try:
            find_common_kind(types)
        except ValueError:
            raise QueryError("in-kinds-differ", position=found.position) from None
        return Call("=", (value, item), found.position)


def _has_plain_aggregate(output: Output | Star) -> bool:
    return isinstance(output, Output) and has_aggregate(output.expression)


def _speaks_outside(condition: Expression, scope: Scope) -> bool:
    columns = (node for node in walk(condition) if isinstance(node, Column))
    return any(not scope.knows(column) for column in columns)


def _one_column(found: Subquery) -> QueryError:
    return QueryError("in-subquery-columns", position=found.position)
