"""What the verbs of `jali stream` share: their arguments, and how a stream is told to people and to programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.numbers import naming_options

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick

StreamName = Annotated[str, typer.Argument(metavar="NAME", help="What the stream is called.")]

# The parameters of a stream, and the options that set them.
_OPTIONS = {
    "horizon": "--horizon",
    "unit": "--unit",
    "measure": "--measure",
    "keys": "--keys",
    "value": "--range",
    "bins": "--bins",
    "every": "--every",
    "start": "--start",
    "until": "--until",
    "tick": "--tick",
    "max_ticks": "--max-ticks",
    "separation": "--separation",
    "max_items": "--max-items",
    "mechanism": "--mechanism",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "query": "--query",
    "confidence": "--confidence",
}


def in_stream_options() -> AbstractContextManager[None]:
    """Let an error about a parameter of a stream name the option that sets it."""
    return naming_options(_OPTIONS)


def stream_json(view: StreamView) -> dict[str, Any]:
    """Return what was declared about a stream, as plain JSON values."""
    declared = view.declaration
    clock = declared.clock
    return {
        "stream": view.name,
        "measure": declared.measure.name,
        "horizon": declared.horizon,
        "published": view.published,
        "mechanism": counter_name(view),
        "cost": cost_json(view),
        "clock": None if clock is None else {"every": clock.every, "start": str(clock.start)},
        "keys": [plain(label) for label in declared.measure.labels if label is not None],
    }


def counter_name(view: StreamView) -> str:
    """Return what `--mechanism` calls the counter of a stream."""
    from jali.streams.choice import name_of

    return name_of(view.declaration.mechanism)


def cost_json(view: StreamView) -> dict[str, str | None]:
    """Return the loss of a whole stream as exact rationals."""
    event = view.cost
    epsilon = None if event.epsilon is None else str(event.epsilon)
    return {"epsilon": epsilon, "rho": str(event.rho), "delta": str(event.delta)}


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
