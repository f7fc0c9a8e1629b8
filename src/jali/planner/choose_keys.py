"""Rule: groups come from declared keys, never from the data."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.errors import Unsupported
from jali.planner.draft import Draft
from jali.query.aggregation import KeySet
from jali.query.catalog import MAX_KEYS, Table
from jali.query.nodes import Column
from jali.query.types import find_field


def choose_keys(draft: Draft) -> Draft:
    """Give each grouping column its declared keys, or refuse and say how to declare them."""
    keys = tuple(_keys_of(column, draft.table) for column in draft.question.group_by)
    if math.prod(len(key.values) for key in keys) > MAX_KEYS:
        raise Unsupported(
            f"The keys of this grouping multiply to more than {MAX_KEYS:,} groups.",
            position=draft.question.group_by[0].position,
            remedy="Group by fewer columns.",
        )
    return replace(draft, keys=keys)


def _keys_of(column: Column, table: Table) -> KeySet:
    field = find_field(column, table)
    if field.keys is None:
        raise Unsupported(
            f"The keys of column {field.name} are not declared; reading them off the data would leak them.",
            position=column.position,
            remedy=f"Ask the curator to declare them, Keys([...]), for {table.name}.{field.name}.",
        )
    return KeySet(field.name, field.kind, field.keys.values)
