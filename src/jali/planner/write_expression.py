"""Expressions of a plan as its asker would write them: what the planner added is taken out again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from jali.planner.show_expression import show_expression
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, walk
from jali.query.relation import Belonging, Capped, Compute, Keep, Match, Pair, PerOwner, Relation, Summary

Names = Mapping[str, Expression]
_NOTHING = Literal(None)
# Columns that the planner named: those of a SELECT list, a DISTINCT, a summary per person.
_MADE = re.compile(r"(select|distinct|person)(_\d+)?\.")


def written(expression: Expression, names: Names | None = None) -> str:
    """Write an expression without clamps, guards against NULL, and names that only the planner knows.

    Example:
        >>> x = Call("clamp", (Column("x"), Literal(0), Literal(9)))
        >>> less = Call("-", (x, Literal(4)))
        >>> written(Call("*", (less, less)))
        '(x - 4)²'
    """
    return show_expression(_plain(expression, names or {}))


def condition_of(value: Expression) -> tuple[Expression, Expression | None]:
    """Split what FILTER (WHERE ...) became: a value where a condition holds, else NULL."""
    if isinstance(value, Call) and value.function == "case" and len(value.arguments) == 3:
        condition, kept, otherwise = value.arguments
        if otherwise == _NOTHING:
            return kept, condition
    return value, None


def factors(value: Expression) -> tuple[str, ...]:
    """Return two values of which both must be there, where a product of them stands for that."""
    if isinstance(value, Call) and value.function == "*" and all(_clamp(part) for part in value.arguments):
        return tuple(written(part) for part in value.arguments)
    return ()


def _clamp(part: Expression) -> bool:
    return isinstance(part, Call) and part.function == "clamp"


def guard(value: Expression) -> Expression | None:
    """Return the other value without which this one does not count."""
    for node in walk(value):
        if isinstance(node, Call) and _guarded(node) and isinstance(node.arguments[0], Call):
            return node.arguments[0].arguments[0]
    return None


def names_of(relation: Relation) -> dict[str, Expression]:
    """Return what the planner's own names stand for, in conditions over a relation."""
    if isinstance(relation, Keep | Belonging | Capped):
        return names_of(relation.source)
    if isinstance(relation, Pair):
        return names_of(relation.left) | names_of(relation.right)
    if isinstance(relation, Match):
        return names_of(relation.source) | _flag(relation)
    if isinstance(relation, PerOwner):
        return _summarised(relation)
    return _selected(relation) if isinstance(relation, Compute) else {}


def summary(made: Summary, names: Names) -> str:
    """Write one number about a person's rows."""
    return written(Aggregate(made.function, made.argument, made.distinct), names)


def _summarised(relation: PerOwner) -> dict[str, Expression]:
    inner = names_of(relation.source)
    found: dict[str, Expression] = {k.field.name: _plain(k.expression, inner) for k in relation.keys}
    return found | {s.field.name: Column(summary(s, inner)) for s in relation.summaries}


def _selected(relation: Compute) -> dict[str, Expression]:
    inner = names_of(relation.source)
    made = (c for c in relation.columns if _MADE.match(c.field.name))
    return {c.field.name: _plain(c.expression, inner) for c in made}


def _flag(relation: Match) -> dict[str, Expression]:
    if relation.flag is None:
        return {}
    from jali.planner.explanation.rows import side

    return {relation.flag.name: Column(f"EXISTS (a row of {side(relation.other)})")}


def _plain(expression: Expression, names: Names) -> Expression:
    if isinstance(expression, Column):
        return names.get(expression.name, expression)
    if isinstance(expression, Aggregate):
        argument = None if expression.argument is None else _plain(expression.argument, names)
        return _unfiltered(replace(expression, argument=argument))
    return _plain_call(expression, names) if isinstance(expression, Call) else expression


def _unfiltered(aggregate: Aggregate) -> Aggregate:
    """Write FILTER (WHERE ...) again where the planner moved it into the argument."""
    if aggregate.argument is None or aggregate.filter is not None:
        return aggregate
    value, condition = condition_of(aggregate.argument)
    if condition is None:
        return aggregate
    return replace(aggregate, argument=None if value == Literal(1) else value, filter=condition)


def _plain_call(call: Call, names: Names) -> Expression:
    if call.function == "clamp":
        return _plain(call.arguments[0], names)
    if _guarded(call):
        return _plain(call.arguments[2], names)
    parts = tuple(_plain(argument, names) for argument in call.arguments)
    if call.function == "*" and parts[0] == parts[1] and isinstance(parts[0], Call):
        return Column(f"({show_expression(parts[0])})²")
    return replace(call, arguments=parts)


def _guarded(call: Call) -> bool:
    """Whether a value counts only where another one is there: CASE WHEN y IS NULL THEN NULL ELSE x END."""
    if call.function != "case" or len(call.arguments) != 3 or call.arguments[1] != _NOTHING:
        return False
    condition = call.arguments[0]
    return isinstance(condition, Call) and condition.function == "is null"
