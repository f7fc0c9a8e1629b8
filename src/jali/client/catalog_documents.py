"""Encode tables, columns, streams and ticks as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jali.client.account_documents import encode_budget, encode_event

if TYPE_CHECKING:
    from jali.catalog.columns import Field
    from jali.catalog.tables import Public, Table
    from jali.stream import StreamView, Tick


# How many keys of a column are shown.
SHOWN_KEYS = 5


def encode_table(table: Table) -> dict[str, Any]:
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
        "budget": encode_budget(table.budget),
        "rows": table.rows,
        "columns": [_encode_column(field) for field in table.fields],
    }


def encode_public_table(table: Public) -> dict[str, Any]:
    """Return a public table as plain JSON values."""
    return {"table": table.name, "columns": [_encode_column(field) for field in table.fields]}


def _encode_column(field: Field) -> dict[str, Any]:
    known = None if field.range is None or field.range.wanted else field.range
    ends = None if known is None else [str(known.low), str(known.high)]
    keys = None if field.keys is None else [_encode_key(value) for value in field.keys.values[:SHOWN_KEYS]]
    count = None if field.keys is None else len(field.keys.values)
    bought = None if known is None or known.epsilon is None else str(known.epsilon)
    ranged = {"name": field.name, "kind": field.kind.value, "range": ends, "range_epsilon": bought}
    return ranged | {"keys": keys, "key_count": count}


def _encode_key(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else value.isoformat()


def encode_stream(view: StreamView) -> dict[str, Any]:
    """Return what was declared about a stream, as plain JSON values."""
    declared = view.declaration
    clock = declared.clock
    return {
        "stream": view.name,
        "measure": declared.measure.name,
        "horizon": declared.horizon,
        "window": None if declared.window is None else declared.window.words,
        "published": view.published,
        "mechanism": find_counter_name(view),
        "cost": encode_event(view.cost),
        "clock": None if clock is None else {"every": clock.every, "start": str(clock.start)},
        "keys": [encode_label(label) for label in declared.measure.labels if label is not None],
    }


def find_counter_name(view: StreamView) -> str:
    """Return what `--mechanism` calls the counter of a stream."""
    from jali.streams.choose_counter import name_of

    return name_of(view.declaration.mechanism)


def encode_tick(tick: Tick, confidence: float) -> dict[str, Any]:
    """Return a tick as plain JSON values: a list of keys with their values and intervals."""
    spans = tick.interval(confidence)
    values = [
        {
            "key": encode_label(key),
            "value": encode_finite(value),
            "interval": [encode_finite(end) for end in spans[key]],
        }
        for key, value in tick.values.items()
    ]
    return {"tick": tick.number, "label": tick.label, "values": values}


def encode_ticks(ticks: Sequence[Tick], confidence: float) -> dict[str, Any]:
    """Return ticks as plain JSON values, with the confidence of their intervals."""
    return {"confidence": confidence, "ticks": [encode_tick(tick, confidence) for tick in ticks]}


def encode_label(value: Any) -> Any:
    """Return a key as JSON knows it."""
    if isinstance(value, tuple):
        return [encode_label(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def encode_finite(value: float | None) -> float | None:
    """Return a number as JSON knows it: it has no word for what is unbounded."""
    return value if value is not None and math.isfinite(value) else None
