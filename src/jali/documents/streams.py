"""Streams and their ticks as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jali.documents.accounts import event_json

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick


def stream_json(view: StreamView) -> dict[str, Any]:
    """Return what was declared about a stream, as plain JSON values."""
    declared = view.declaration
    clock = declared.clock
    return {
        "stream": view.name,
        "measure": declared.measure.name,
        "horizon": declared.horizon,
        "window": None if declared.window is None else declared.window.words,
        "published": view.published,
        "mechanism": counter_name(view),
        "cost": event_json(view.cost),
        "clock": None if clock is None else {"every": clock.every, "start": str(clock.start)},
        "keys": [plain(label) for label in declared.measure.labels if label is not None],
    }


def counter_name(view: StreamView) -> str:
    """Return what `--mechanism` calls the counter of a stream."""
    from jali.streams.choice import name_of

    return name_of(view.declaration.mechanism)


def tick_json(tick: Tick, confidence: float) -> dict[str, Any]:
    """Return a tick as plain JSON values: a list of keys with their values and intervals."""
    spans = tick.interval(confidence)
    values = [
        {"key": plain(key), "value": number(value), "interval": [number(end) for end in spans[key]]}
        for key, value in tick.values.items()
    ]
    return {"tick": tick.number, "label": tick.label, "values": values}


def ticks_json(ticks: Sequence[Tick], confidence: float) -> dict[str, Any]:
    """Return ticks as plain JSON values, with the confidence of their intervals."""
    return {"confidence": confidence, "ticks": [tick_json(tick, confidence) for tick in ticks]}


def plain(value: Any) -> Any:
    """Return a key as JSON knows it."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def number(value: float | None) -> float | None:
    """Return a number as JSON knows it: it has no word for what is unbounded."""
    return value if value is not None and math.isfinite(value) else None
