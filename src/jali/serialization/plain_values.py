"""Write plain Python values as JSON, and read them back, for the witnesses of the auditor.

JSON's own kinds stand for themselves, lists too; every other kind is an object with a tag, as in a schema. Nothing
but numbers, texts, dates, collections and arrays is ever made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np

from jali.errors import CatalogError
from jali.serialization.schema import READ_MORE, TAG, VALUE, tag_value, write_scalar

# Python reads no longer decimal from a text.
_LONG = 10**300
_COLLECTIONS: Mapping[type, str] = MappingProxyType({tuple: "tuple", set: "set", frozenset: "frozen set"})
# What version 2 called its values, and how they are called since.
_SECOND: Mapping[str, str] = MappingProxyType({"fraction": "Fraction", "time": "datetime", "integer": "int"})


def to_plain(value: Any) -> Any:
    """Return a value in JSON's kinds, so that `of_plain` makes it again.

    Example:
        >>> to_plain((1, [math.nan, None]))
        {'@': 'tuple', 'value': [1, [{'@': 'float', 'value': 'nan'}, None]]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _array(value)
    if isinstance(value, int | float):
        return _number(value)
    return _write_collection(value)


def of_plain(value: Any) -> Any:
    """Return the value that `to_plain` wrote.

    Example:
        >>> of_plain([{"@": "float", "value": "-inf"}, {"@": "Fraction", "value": "1/3"}])
        [-inf, Fraction(1, 3)]
    """
    if isinstance(value, list):
        return [of_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    try:
        return _READ[value[TAG]](value[VALUE])
    except (KeyError, ValueError, TypeError, ArithmeticError):
        raise CatalogError("witness-value-malformed", value=str(value)[:60]) from None


def upgrade_from_second(value: Any) -> Any:
    """Return what `to_plain` writes now for what it wrote in version 2, where tags were keys of their own.

    Example:
        >>> upgrade_from_second({"tuple": [1, {"fraction": "1/3"}]})
        {'@': 'tuple', 'value': [1, {'@': 'Fraction', 'value': '1/3'}]}
    """
    if isinstance(value, list):
        return [upgrade_from_second(part) for part in value]
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "array" and isinstance(held, dict):
        held = held | {"values": upgrade_from_second(held.get("values"))}
    return tag_value(_SECOND.get(kind, kind), upgrade_from_second(held) if isinstance(held, list) else held)


def _number(value: float) -> Any:
    if isinstance(value, int):
        # A subclass, such as an enumeration, is an integer all the same.
        return int(value) if abs(value) < _LONG else tag_value("int", hex(value))
    return float(value) if math.isfinite(value) else tag_value("float", str(float(value)))


def _array(value: Any) -> Any:
    if value.dtype.kind not in "biufUS":
        raise _unknown(value)
    if value.ndim == 0:
        return to_plain(value.item())
    held = {"of": value.dtype.str, "shape": list(value.shape), "values": to_plain(value.ravel().tolist())}
    return tag_value("array", held)


def _write_collection(value: Any) -> Any:
    """Return a collection, or a value that a text says exactly."""
    if isinstance(value, dict):
        return tag_value("dictionary", [[to_plain(key), to_plain(held)] for key, held in value.items()])
    if type(value) in (list, *_COLLECTIONS):
        parts = [to_plain(part) for part in value]
        if isinstance(value, (set, frozenset)):  # in an order that does not depend on the hash seed
            parts.sort(key=repr)
        name = _COLLECTIONS.get(type(value))
        return parts if name is None else tag_value(name, parts)
    if isinstance(value, Decimal):
        return tag_value("decimal", str(value))
    if isinstance(value, bytes):
        return tag_value("bytes", value.hex())
    found = write_scalar(value)
    if found is None:
        raise _unknown(value)
    return found


_READ: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        **READ_MORE,
        "tuple": lambda parts: tuple(map(of_plain, parts)),
        "set": lambda parts: set(map(of_plain, parts)),
        "frozen set": lambda parts: frozenset(map(of_plain, parts)),
        "dictionary": lambda pairs: {of_plain(key): of_plain(value) for key, value in pairs},
        "array": lambda made: np.array(of_plain(made["values"]), made["of"]).reshape(made["shape"]),
    }
)


def _unknown(value: Any) -> CatalogError:
    return CatalogError("witness-value-impossible", kind=type(value).__name__)
