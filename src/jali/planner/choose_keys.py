"""Rule: groups come from public facts, or are chosen privately; never read off the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jali.errors import Unsupported
from jali.planner.draft import Draft
from jali.planner.key_values import kept_values, key_values
from jali.planner.show_expression import show_expression
from jali.query.aggregation import KeySet
from jali.query.catalog import Kind
from jali.query.nodes import Column, Expression, walk
from jali.query.ownership import own, protected
from jali.query.types import type_of

_GROUPABLE = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def choose_keys(draft: Draft) -> Draft:
    """Give each grouping expression its keys; with a delta, keys that nobody declared are chosen privately."""
    least = max([draft.terms.min_people or 1, *(table.min_people for table in protected(draft.rows))])
    keys = tuple(_all_keys(draft))
    selecting = least > 1 or any(key.values is None for key in keys)
    if selecting:
        _check_selecting(draft, least)
    return replace(draft, keys=keys, selecting=selecting, min_people=least)


def _all_keys(draft: Draft) -> Iterator[KeySet]:
    """Yield the keys of each grouping expression, while they do not multiply to too many groups."""
    known = 1
    for expression in draft.question.group_by:
        found = _keys_of(expression, draft)
        known *= 1 if found.values is None else len(found.values)
        if known > draft.limits.cells:
            raise Unsupported(
                f"The keys of this grouping multiply to more than {draft.limits.cells:,} groups.",
                position=draft.question.group_by[0].position,
                remedy="Group by fewer columns. The curator can raise the limit `cells`.",
            )
        yield found


def _keys_of(expression: Expression, draft: Draft) -> KeySet:
    kind = type_of(expression, draft.rows).kind or Kind.INTEGER
    _check_owner(expression, draft)
    values = kept_values(expression, key_values(expression, draft.rows), draft.rows)
    if values is None and kind not in _GROUPABLE:
        raise Unsupported(
            f"GROUP BY {show_expression(expression)} has too many possible groups: it is a real number.",
            position=expression.position,
            remedy=f"Group by bins: FLOOR({show_expression(expression)} / 10), or a column with declared keys.",
        )
    if values is None and not draft.terms.delta:
        shown = show_expression(expression)
        raise Unsupported(
            f"The keys of {shown} are not declared; reading them off the data would leak them.",
            position=expression.position,
            remedy="Ask with delta=1e-9, so that groups of many people are chosen privately; or ask the curator"
            f" to declare {_what_to_declare(expression, kind)}.",
        )
    return KeySet(expression, kind, values)


def _what_to_declare(expression: Expression, kind: Kind) -> str:
    """Keys of a column; where whole numbers or dates are made of columns, a range of those tells all keys."""
    columns = dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Column))
    if isinstance(expression, Column) or kind not in (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP) or not columns:
        return f"them, Keys([...]), for {show_expression(expression)}"
    return f"one, Range(low, high), for {' and '.join(columns)}"


def _check_owner(expression: Expression, draft: Draft) -> None:
    if isinstance(expression, Column) and expression.name in own(draft.rows).owner_columns():
        raise Unsupported(
            f"GROUP BY {expression.name} would print one row for each person.",
            position=expression.position,
            remedy="Group by it inside a subquery, and aggregate over the people outside.",
        )


def _check_selecting(draft: Draft, least: int) -> None:
    if not draft.terms.delta:
        raise Unsupported(
            f"Groups of fewer than {least} people are not shown, and deciding which are needs a delta.",
            position=draft.question.position,
            remedy="Ask with delta=1e-9.",
        )
    if draft.question.sets is not None:
        raise Unsupported(
            "ROLLUP, CUBE and GROUPING SETS need declared keys, and no minimum number of people.",
            position=draft.question.position,
            remedy="Declare the keys, or ask for each grouping set by itself.",
        )
