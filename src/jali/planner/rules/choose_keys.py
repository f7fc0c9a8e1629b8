"""Rule: group keys come from public facts or from partition selection, never from the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jali.catalog.columns import Kind
from jali.errors import Phrase, Unsupported
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Column, Expression, walk
from jali.ir.ownership import list_protected_tables, own
from jali.ir.types import infer_type
from jali.planner.draft import Draft
from jali.planner.public_facts import filter_key_values, find_key_values
from jali.sql.printer import column_name, show_expression

_GROUPABLE = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def choose_keys(draft: Draft) -> Draft:
    """Give each grouping expression its keys; with a delta, keys that nobody declared are chosen privately."""
    least = max([draft.terms.min_people or 1, *(table.min_people for table in list_protected_tables(draft.rows))])
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
                "too-many-groups", position=draft.question.group_by[0].position, most=draft.limits.cells
            )
        yield found


def _keys_of(expression: Expression, draft: Draft) -> KeySet:
    kind = infer_type(expression, draft.rows).kind or Kind.INTEGER
    _check_owner(expression, draft)
    values = filter_key_values(expression, find_key_values(expression, draft.rows), draft.rows)
    if values is None and kind not in _GROUPABLE:
        raise Unsupported("group-by-real", position=expression.position, column=show_expression(expression))
    if values is None and not draft.terms.delta:
        raise Unsupported(
            "keys-undeclared",
            position=expression.position,
            column=show_expression(expression),
            declaration=_what_to_declare(expression, kind),
        )
    return KeySet(expression, kind, values)


def _what_to_declare(expression: Expression, kind: Kind) -> Phrase:
    """Keys of a column; where whole numbers or dates are made of columns, a range of those tells all keys."""
    columns = dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Column))
    if isinstance(expression, Column) or kind not in (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP) or not columns:
        return Phrase("keys-to-declare", column=show_expression(expression), name=column_name(expression))
    first, *others = columns
    return Phrase(
        "range-to-declare", columns=tuple(columns), first=first, others=tuple(others), several=bool(others)
    )


def _check_owner(expression: Expression, draft: Draft) -> None:
    if isinstance(expression, Column) and expression.name in own(draft.rows).owner_columns():
        raise Unsupported("group-by-unit", position=expression.position, column=expression.name)


def _check_selecting(draft: Draft, least: int) -> None:
    if not draft.terms.delta:
        raise Unsupported("min-people-needs-delta", position=draft.question.position, min_people=least)
    if draft.question.sets is not None:
        raise Unsupported("grouping-sets-undeclared", position=draft.question.position)
