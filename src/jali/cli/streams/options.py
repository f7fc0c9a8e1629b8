"""What the verbs of `jali stream` share: their arguments, and how a stream is told to people and to programs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.numbers import naming_options
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.query.catalog import Range
    from jali.stream import StreamView, Tick

StreamName = Annotated[str, typer.Argument(metavar="NAME", help="What the stream is called.")]

# A column that is named before its keys, as `jali protect` has it.
_NAMED = re.compile(r"[A-Za-z_]\w*(:\w+)?=")

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
    "last": "--last",
    "restart": "--restart",
    "mechanism": "--mechanism",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "query": "--query",
    "confidence": "--confidence",
}


def read_keys(text: str) -> list[Any]:
    """Read the keys of a stream: `A,B,C`, or `@file` with one in each line."""
    from jali.cli.declarations import read_keys

    if _NAMED.match(text):
        raise CatalogError(
            f"--keys {text} names a column, but the items of a stream have one key each.",
            remedy="Write --keys A,B,C; keys with = in them are read from a file: --keys @FILE.",
        )
    found = list(read_keys(f"keys={text}")[1].values) if text.strip() else [""]
    if "" in found:
        raise CatalogError("--keys has an empty key.", remedy="Write --keys A,B,C.")
    return found


def read_range(text: str) -> Range:
    """Read the range of a stream's values: `0:240`."""
    from jali.privacy.rationals import rational
    from jali.query.catalog import Range

    low, colon, high = (part.strip() for part in text.partition(":"))
    if not (low and colon and high) or ":" in high:
        raise CatalogError(f"--range {text} is not LOW:HIGH.", remedy="Write --range 0:240.")
    return Range(rational(low, "--range"), rational(high, "--range"))


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
        "window": None if declared.window is None else declared.window.words,
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
