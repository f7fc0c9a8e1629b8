"""Read GROUP BY: expressions, ROLLUP, CUBE and GROUPING SETS, as one list of grouping sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product

from sqlglot import exp

from jali.errors import QueryError
from jali.ir.expressions import Aggregate, Expression, Output, walk
from jali.sql.reader.read_expression import ExpressionReader

Set = tuple[Expression, ...]


def read_grouping(
    group: exp.Expression, reader: ExpressionReader, ordinal: Callable[[Expression], Expression]
) -> tuple[tuple[Expression, ...], tuple[tuple[int, ...], ...] | None]:
    """Return the grouping expressions, and the grouping sets as places among them (None for a plain list)."""
    extra = [name for name, value in group.args.items() if value and name not in _LISTS]
    if extra:
        raise reader.refuse(group, "group-by-clause", clause=extra[0].upper())
    terms = [*group.expressions, *(item for name in _LISTS[1:] for item in group.args.get(name) or [])]

    def one(node: exp.Expression) -> Expression:
        return ordinal(reader.read(node))

    if math.prod(_number(term) for term in terms) > reader.limits.sets:
        raise QueryError("too-many-grouping-sets", position=reader.position(group), most=reader.limits.sets)
    choices = [_choices(term, one) for term in terms]
    if all(len(choice) == 1 for choice in choices):
        return tuple(dict.fromkeys(e for choice in choices for e in choice[0])), None
    sets = [tuple(dict.fromkeys(e for part in chosen for e in part)) for chosen in product(*choices)]
    every = tuple(dict.fromkeys(e for one_set in sets for e in one_set))
    places = (tuple(sorted(every.index(e) for e in one_set)) for one_set in sets)
    return every, tuple(dict.fromkeys(places))


_LISTS = ("expressions", "rollup", "cube", "grouping_sets")


def plain_outputs(outputs: Sequence[Output]) -> tuple[Expression, ...]:
    """GROUP BY ALL: every output without an aggregate."""
    kept = (output.expression for output in outputs)
    return tuple(dict.fromkeys(e for e in kept if not any(isinstance(node, Aggregate) for node in walk(e))))


def _number(node: exp.Expression) -> int:
    """Return how many sets one term of GROUP BY stands for, without listing them."""
    if isinstance(node, exp.Rollup):
        return len(node.expressions) + 1
    if isinstance(node, exp.Cube):
        return 1 << min(len(node.expressions), 64)
    return sum(_number(item) for item in node.expressions) if isinstance(node, exp.GroupingSets) else 1


def _choices(node: exp.Expression, one: Callable[[exp.Expression], Expression]) -> list[Set]:
    """Return the sets that one term of GROUP BY stands for; several terms are crossed."""
    if isinstance(node, exp.Rollup):
        parts = [_members(item, one) for item in node.expressions]
        return [_concatenate(parts[:length]) for length in range(len(parts), -1, -1)]
    if isinstance(node, exp.Cube):
        parts = [_members(item, one) for item in node.expressions]
        return [_concatenate(c) for length in range(len(parts), -1, -1) for c in combinations(parts, length)]
    if isinstance(node, exp.GroupingSets):
        return [chosen for item in node.expressions for chosen in _choices(item, one)]
    return [_members(node, one)]


def _members(node: exp.Expression, one: Callable[[exp.Expression], Expression]) -> Set:
    if isinstance(node, exp.Tuple):
        return tuple(one(item) for item in node.expressions)
    return (one(node.this) if isinstance(node, exp.Paren) else one(node),)


def _concatenate(parts: list[Set] | tuple[Set, ...]) -> Set:
    return tuple(e for part in parts for e in part)
