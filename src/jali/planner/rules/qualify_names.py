"""Rule: every name is a declared column, every part is of the right kind and stands where it may."""

from __future__ import annotations

from dataclasses import replace

from jali.catalog.columns import Kind
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Ordering,
    Output,
    Question,
    Source,
    aggregates,
    walk,
)
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.functions.aggregate_functions import AGGREGATES, infer_aggregate_type
from jali.ir.ownership import own
from jali.ir.relations import Relation
from jali.ir.types import infer_call_type, infer_type, literal_type
from jali.planner.draft import Draft
from jali.planner.resolve.column_names import SelectScope
from jali.planner.resolve.resolver import Resolver, is_bare
from jali.planner.subpopulations import check_reached, resolve_subpopulation


def qualify_names(draft: Draft) -> Draft:
    """Resolve the question against the catalog, or refuse it with the place and a remedy."""
    wanted, source = draft.terms.part, draft.question.source
    part = None if wanted is None else resolve_subpopulation(wanted, source, Resolver(draft.catalog))
    question, relation = _resolve_question(draft.question, Resolver(draft.catalog, part))
    if part is not None:
        check_reached(relation, part)
    if own(relation).public:
        raise Unsupported("only-public-tables", position=question.position)
    if not aggregates(question):
        raise Unsupported("no-aggregate", position=question.position)
    for aggregate in aggregates(question):
        _check_aggregate(aggregate, relation)
    _check_after(question, relation)
    return replace(draft, question=question, relation=relation, part=part)


def _resolve_question(question: Question, resolver: Resolver) -> tuple[Question, Relation]:
    roots = [*question.group_by, *(o.expression for o in question.outputs)]
    roots += [] if question.having is None else [question.having]
    roots += [ordering.expression for ordering in question.order_by]
    bare = is_bare(question.source, [*roots, *([] if question.where is None else [question.where])])
    # Bounds per group put a relation over the table: then its columns need names of their own.
    bare = bare and not any(aggregate.per_group for aggregate in aggregates(question))
    level = resolver.top(question.source, question.where, bare=bare)
    groups = [_grouping(e, question, level) for e in question.group_by]
    found, level = resolver.expressions([*groups, *roots[len(groups) :]], level)
    source = _use_declared_names(question.source, resolver)
    return replace(_rebuilt(question, found), source=source), level.relation


def _use_declared_names(source: Source, resolver: Resolver) -> Source:
    """Call tables what the curator calls them: a question in other letters is the same question."""
    if isinstance(source, Joined):
        left, right = (_use_declared_names(side, resolver) for side in (source.left, source.right))
        return replace(source, left=left, right=right)
    if not isinstance(source, NamedTable):
        return source
    found = resolver.catalog.find(source.name)
    return source if found is None else replace(source, name=found.name)


def _rebuilt(question: Question, found: list[Expression]) -> Question:
    """Put resolved expressions back in their places: groups, outputs, HAVING, ORDER BY."""
    rest = iter(found)
    groups = [next(rest) for _ in question.group_by]
    outputs = tuple(Output(o.name, next(rest)) for o in question.outputs)
    having = None if question.having is None else next(rest)
    order_by = tuple(Ordering(next(rest), o.descending, o.nulls_first) for o in question.order_by)
    kept = tuple(dict.fromkeys(groups))
    sets = question.sets
    if sets is not None:
        places = [kept.index(group) for group in groups]
        sets = tuple(dict.fromkeys(tuple(sorted({places[i] for i in one})) for one in sets))
    # Where and from where are in the relation now.
    return replace(
        question, outputs=outputs, where=None, group_by=kept, having=having, order_by=order_by, sets=sets
    )


def _grouping(expression: Expression, question: Question, level: SelectScope) -> Expression:
    """Read a name of GROUP BY: a column of the tables, or else the alias of an output, as DuckDB does."""
    if isinstance(expression, Column) and expression.table is None and not level.scope.knows(expression):
        for output in question.outputs:
            plain = not any(isinstance(node, Aggregate) for node in walk(output.expression))
            if output.name.lower() == expression.name.lower() and plain:
                return output.expression
    return expression


def _check_aggregate(aggregate: Aggregate, relation: Relation) -> None:
    for inner in (aggregate.argument, *aggregate.others, aggregate.filter):
        if inner is not None and any(isinstance(node, Aggregate) for node in walk(inner)):
            raise QueryError("aggregate-nested", position=aggregate.position)
    if aggregate.filter is not None:
        _expect_condition(infer_type(aggregate.filter, relation), aggregate.filter, "FILTER")
    shape = AGGREGATES[aggregate.function]
    kind = None if aggregate.argument is None else infer_type(aggregate.argument, relation)
    shape.check(aggregate, kind, [infer_type(other, relation) for other in aggregate.others])


def _expect_condition(kind: Type, expression: Expression, clause: str) -> None:
    if kind.kind not in (Kind.BOOLEAN, None):
        raise QueryError("condition-expected", position=expression.position, clause=clause)


def _check_after(question: Question, relation: Relation) -> None:
    """Check what is computed after the noise: it may use aggregates and grouping columns only."""
    for output in question.outputs:
        _after_type(output.expression, question, relation)
    if question.having is not None:
        _expect_condition(_after_type(question.having, question, relation), question.having, "HAVING")
    for ordering in question.order_by:
        if _after_type(ordering.expression, question, relation).kind is Kind.OTHER:
            raise QueryError("order-by-list", position=ordering.expression.position)


def _after_type(expression: Expression, question: Question, relation: Relation) -> Type:
    if expression in question.group_by:
        return infer_type(expression, relation)
    if isinstance(expression, Aggregate):
        return infer_aggregate_type(expression, relation)
    if isinstance(expression, Literal):
        return literal_type(expression.value)
    if isinstance(expression, Column) and expression.name.startswith("found."):
        raise Unsupported("subquery-beside-aggregates", position=expression.position)
    if isinstance(expression, Column):
        raise QueryError("column-not-grouped", position=expression.position, column=expression.name)
    if isinstance(expression, Call):
        return _after_call(expression, question, relation)
    raise Unsupported("subquery-outside-where", position=expression.position)


def _after_call(call: Call, question: Question, relation: Relation) -> Type:
    if call.function == "grouping":
        return _grouping_type(call, question)
    if not FUNCTIONS[call.function].after:
        raise Unsupported("function-of-rows", position=call.position, shape=FUNCTIONS[call.function].shape)
    return infer_call_type(call, [_after_type(argument, question, relation) for argument in call.arguments])


def _grouping_type(call: Call, question: Question) -> Type:
    if not call.arguments or any(argument not in question.group_by for argument in call.arguments):
        raise QueryError("grouping-of-ungrouped", position=call.position)
    return Type(Kind.INTEGER)
