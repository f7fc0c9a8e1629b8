"""Write expressions of a plan as an analyst would, without what the planner added."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jali.catalog.tables import Public
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, walk
from jali.ir.relations import (
    Belonging,
    Capped,
    Compute,
    Keep,
    Match,
    Pair,
    PerOwner,
    Relation,
    Scan,
    Stack,
    Summary,
)
from jali.sql.printer import show_expression

Names = Mapping[str, Expression]
_NOTHING = Literal(None)
# Columns that the planner named: those of a SELECT list, a DISTINCT, a summary per person.
_MADE = re.compile(r"(select|distinct|person)(_\d+)?\.")


def write_original(expression: Expression, names: Names | None = None) -> str:
    """Write an expression without clamps, guards against NULL, and names that only the planner knows.

    Example:
        >>> x = Call("clamp", (Column("x"), Literal(0), Literal(9)))
        >>> less = Call("-", (x, Literal(4)))
        >>> write_original(Call("*", (less, less)))
        '(x - 4)²'
    """
    return show_expression(_plain(expression, names or {}))


def split_filter(value: Expression) -> tuple[Expression, Expression | None]:
    """Split what FILTER (WHERE ...) became: a value where a condition holds, else NULL."""
    if isinstance(value, Call) and value.function == "case" and len(value.arguments) == 3:
        condition, kept, otherwise = value.arguments
        if otherwise == _NOTHING:
            return kept, condition
    return value, None


def factors(value: Expression) -> tuple[str, ...]:
    """Return two values of which both must be there, where a product of them stands for that."""
    if isinstance(value, Call) and value.function == "*" and all(_clamp(part) for part in value.arguments):
        return tuple(write_original(part) for part in value.arguments)
    return ()


def _clamp(part: Expression) -> bool:
    return isinstance(part, Call) and part.function == "clamp"


def find_guard(value: Expression) -> Expression | None:
    """Return the other value without which this one does not count."""
    for node in walk(value):
        if isinstance(node, Call) and _is_guarded(node) and isinstance(node.arguments[0], Call):
            return node.arguments[0].arguments[0]
    return None


def find_original_names(relation: Relation) -> dict[str, Expression]:
    """Return what the planner's own names stand for, in conditions over a relation."""
    if isinstance(relation, Keep | Belonging | Capped):
        return find_original_names(relation.source)
    if isinstance(relation, Pair):
        return find_original_names(relation.left) | find_original_names(relation.right)
    if isinstance(relation, Match):
        return find_original_names(relation.source) | _flag(relation)
    if isinstance(relation, PerOwner):
        return _name_summaries(relation)
    return _name_selected(relation) if isinstance(relation, Compute) else {}


def write_summary(made: Summary, names: Names) -> str:
    """Write one number about a person's rows."""
    return write_original(Aggregate(made.function, made.argument, made.distinct), names)


def _name_summaries(relation: PerOwner) -> dict[str, Expression]:
    inner = find_original_names(relation.source)
    found: dict[str, Expression] = {k.field.name: _plain(k.expression, inner) for k in relation.keys}
    return found | {s.field.name: Column(write_summary(s, inner)) for s in relation.summaries}


def _name_selected(relation: Compute) -> dict[str, Expression]:
    inner = find_original_names(relation.source)
    made = (c for c in relation.columns if _MADE.match(c.field.name))
    return {c.field.name: _plain(c.expression, inner) for c in made}


def _flag(relation: Match) -> dict[str, Expression]:
    if relation.flag is None:
        return {}

    return {relation.flag.name: Column(f"EXISTS (a row of {name_relation(relation.other)})")}


def _plain(expression: Expression, names: Names) -> Expression:
    if isinstance(expression, Column):
        return names.get(expression.name, expression)
    if isinstance(expression, Aggregate):
        argument = None if expression.argument is None else _plain(expression.argument, names)
        return _restore_filter(replace(expression, argument=argument))
    return _plain_call(expression, names) if isinstance(expression, Call) else expression


def _restore_filter(aggregate: Aggregate) -> Aggregate:
    """Write FILTER (WHERE ...) again where the planner moved it into the argument."""
    if aggregate.argument is None or aggregate.filter is not None:
        return aggregate
    value, condition = split_filter(aggregate.argument)
    if condition is None:
        return aggregate
    return replace(aggregate, argument=None if value == Literal(1) else value, filter=condition)


def _plain_call(call: Call, names: Names) -> Expression:
    if call.function == "clamp":
        return _plain(call.arguments[0], names)
    if _is_guarded(call):
        return _plain(call.arguments[2], names)
    parts = tuple(_plain(argument, names) for argument in call.arguments)
    if call.function == "*" and parts[0] == parts[1] and isinstance(parts[0], Call):
        return Column(f"({show_expression(parts[0])})²")
    return replace(call, arguments=parts)


def _is_guarded(call: Call) -> bool:
    """Whether a value counts only where another one is there: CASE WHEN y IS NULL THEN NULL ELSE x END."""
    if call.function != "case" or len(call.arguments) != 3 or call.arguments[1] != _NOTHING:
        return False
    condition = call.arguments[0]
    return isinstance(condition, Call) and condition.function == "is null"


def join_words(items: Sequence[str]) -> str:
    """Write a list.

    Example:
        >>> join_words(["a"]), join_words(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def name_relation(relation: Relation) -> str:
    """Name a relation, for the eye."""
    if isinstance(relation, Scan):
        return _name_scan(relation)
    if isinstance(relation, Compute):
        return _name_subquery(relation)
    if isinstance(relation, Stack):
        return "the union"
    if isinstance(relation, Pair):
        return join_words([name_relation(relation.left), name_relation(relation.right)])
    return name_relation(relation.source)


def _name_scan(scan: Scan) -> str:
    alias = scan.prefix.removesuffix(".")
    name = scan.table.name if alias in ("", scan.table.name) else f"{scan.table.name} AS {alias}"
    return f"public {name}" if isinstance(scan.table, Public) else name


def _name_subquery(relation: Compute) -> str:
    """Name a subquery by its alias; what a SELECT lists, by what it selects from."""
    alias = relation.columns[0].field.name.split(".")[0] if relation.columns else "subquery"
    if alias.startswith(("select", "union")):
        return name_relation(relation.source)
    return "the subquery" if alias.startswith("subquery") else f"the subquery {alias}"
