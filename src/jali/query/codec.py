"""Frozen dataclasses to JSON text and back: plans and catalogs are stored as they are, and run as stored."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any


def encode(value: Any) -> str:
    """Write a frozen value as canonical JSON: equal values give equal texts."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def decode(text: str, classes: Iterable[type]) -> Any:
    """Read what `encode` wrote; only the given classes are ever made."""
    return _alive(json.loads(text), {cls.__name__: cls for cls in classes})


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, bool | str | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return {"@": type(value).__name__, "value": value.value}
    if isinstance(value, int):
        # Beyond 2^53 some JSON readers lose digits.
        return value if abs(value) < 1 << 53 else {"@": "int", "value": str(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return _tagged(value)


def _tagged(value: Any) -> Any:
    if isinstance(value, Fraction):
        return {"@": "Fraction", "value": str(value)}
    if isinstance(value, datetime.datetime | datetime.date):
        return {"@": type(value).__name__, "value": value.isoformat()}
    if is_dataclass(value) and not isinstance(value, type):
        # Positions only serve error messages: the same question written differently is the same plan.
        body = {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.compare}
        return {"@": type(value).__name__, **body}
    raise TypeError(f"cannot store a {type(value).__name__}")


_SCALARS: dict[str, Any] = {
    "int": int,
    "Fraction": Fraction,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
}


def _alive(value: Any, classes: dict[str, type]) -> Any:
    if isinstance(value, list):
        return tuple(_alive(item, classes) for item in value)
    if not isinstance(value, dict):
        return value
    name = value["@"]
    if name in _SCALARS:
        return _SCALARS[name](value["value"])
    cls = classes[name]
    if issubclass(cls, Enum):
        return cls(value["value"])
    made = object.__new__(cls)
    for f in fields(cls):  # type: ignore[arg-type]  # only dataclasses are registered
        default = None if not f.compare else f.default
        object.__setattr__(made, f.name, _alive(value[f.name], classes) if f.name in value else default)
    return made
