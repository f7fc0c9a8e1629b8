"""Frozen dataclasses to JSON text and back: plans and catalogs are stored as they are, and run as stored."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from jali.errors import LedgerError


@dataclass(frozen=True)
class Form:
    """How a class is stored, where its own fields are free to change: stored texts stay as they are.

    Attributes:
        parts: The parts under the names that are written.
        make: Makes the value from them, given as keywords.
    """

    parts: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]


Forms = Mapping[type, Form]
_AS_IT_IS: Forms = MappingProxyType({})
# Beyond 2^53 some JSON readers lose digits.
_SAFE = 1 << 53
_WRITTEN_AS_IS = frozenset({str, bool, float, type(None)})
_READ_AS_IS = _WRITTEN_AS_IS | {int}


def encode(value: Any, forms: Forms = _AS_IT_IS) -> str:
    """Write a frozen value as canonical JSON: equal values give equal texts."""
    return json.dumps(_plain(value, forms), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def decode(text: str, classes: Iterable[type], forms: Forms = _AS_IT_IS) -> Any:
    """Read what `encode` wrote; only the given classes are ever made."""
    return _Reader({cls.__name__: cls for cls in classes}, forms).alive(json.loads(text))


@cache
def _stored(kind: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass that are stored; None for any other class.

    Positions only serve error messages: the same question written differently is the same plan.
    """
    return tuple(f.name for f in fields(kind) if f.compare) if is_dataclass(kind) else None


def _plain(value: Any, forms: Forms) -> Any:
    kind: Any = type(value)
    if kind in _WRITTEN_AS_IS:
        return value
    names = _stored(kind)
    if names is not None and kind not in forms:
        body = {name: _plain(getattr(value, name), forms) for name in names}
        return {"@": kind.__name__, **body}
    return _other(value, forms)


def _other(value: Any, forms: Forms) -> Any:
    if value is None or (isinstance(value, bool | str | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return {"@": type(value).__name__, "value": value.value}
    if isinstance(value, int):
        return value if abs(value) < _SAFE else {"@": "int", "value": str(value)}
    if isinstance(value, tuple | list):
        # Keys are many and plain: they take no call each.
        if value and all(type(item) is datetime.date for item in value):
            return [{"@": "date", "value": item.isoformat()} for item in value]
        return [
            item
            if type(item) in _WRITTEN_AS_IS or (type(item) is int and -_SAFE < item < _SAFE)
            else _plain(item, forms)
            for item in value
        ]
    return _tagged(value, forms)


def _tagged(value: Any, forms: Forms) -> Any:
    if isinstance(value, Fraction):
        return {"@": "Fraction", "value": str(value)}
    if isinstance(value, datetime.datetime | datetime.date):
        return {"@": type(value).__name__, "value": value.isoformat()}
    if type(value) in forms:
        body = {name: _plain(part, forms) for name, part in forms[type(value)].parts(value).items()}
        return {"@": type(value).__name__, **body}
    raise TypeError(f"cannot store a {type(value).__name__}")


_SCALARS: dict[str, Any] = {
    "int": int,
    "Fraction": Fraction,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
}


@dataclass(frozen=True)
class _Reader:
    """Makes values from plain JSON."""

    classes: Mapping[str, type]
    forms: Forms

    def alive(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(item if type(item) in _READ_AS_IS else self.alive(item) for item in value)
        if not isinstance(value, dict):
            return value
        name = value["@"]
        if name in _SCALARS:
            return _SCALARS[name](value["value"])
        cls = self.classes[name]
        if issubclass(cls, Enum):
            return cls(value["value"])
        parts = {key: self.alive(part) for key, part in value.items() if key != "@"}
        return _formed(cls, self.forms[cls], parts) if cls in self.forms else _made(cls, parts)


def _formed(cls: type, form: Form, parts: dict[str, Any]) -> Any:
    try:
        return form.make(**parts)
    except TypeError:
        raise LedgerError("stored-parts-differ", kind=cls.__name__) from None


def _made(cls: type, parts: dict[str, Any]) -> Any:
    made: Any = object.__new__(cls)
    for f in fields(cls):
        # What is not compared is not stored: it is as if it had never been given.
        left_out = None if not f.compare and f.default is MISSING else f.default
        part = parts.get(f.name, left_out)
        if part is MISSING:
            raise LedgerError("stored-part-unknown", kind=cls.__name__, part=f.name)
        object.__setattr__(made, f.name, part)
    return made
