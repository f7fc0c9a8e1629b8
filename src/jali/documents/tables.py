"""Tables as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jali.documents.accounts import budget_json

if TYPE_CHECKING:
    from jali.query.catalog import Field, Public, Table

# How many keys of a column are shown.
SHOWN_KEYS = 5


def table_json(table: Table) -> dict[str, Any]:
    """Return a protected table as plain JSON values."""
    reach = table.reach
    via = None if reach is None else {"table": reach.table.name, "here": reach.here, "there": reach.there}
    return {
        "table": table.name,
        "unit": table.owner,
        "via": via,
        "max_rows": table.max_rows,
        "min_people": table.min_people,
        "unique": table.unique,
        "prepared": table.copy is not None,
        "memory": table.memory,
        "adjacency": table.adjacency.value,
        "budget": budget_json(table.budget),
        "rows": table.rows,
        "columns": [_field_json(field) for field in table.fields],
    }


def public_json(table: Public) -> dict[str, Any]:
    """Return a public table as plain JSON values."""
    return {"table": table.name, "columns": [_field_json(field) for field in table.fields]}


def _field_json(field: Field) -> dict[str, Any]:
    known = None if field.range is None or field.range.wanted else field.range
    ends = None if known is None else [str(known.low), str(known.high)]
    keys = None if field.keys is None else [_plain(value) for value in field.keys.values[:SHOWN_KEYS]]
    count = None if field.keys is None else len(field.keys.values)
    bought = None if known is None or known.epsilon is None else str(known.epsilon)
    ranged = {"name": field.name, "kind": field.kind.value, "range": ends, "range_epsilon": bought}
    return ranged | {"keys": keys, "key_count": count}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else value.isoformat()
