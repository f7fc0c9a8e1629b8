"""Values as JSON has them, and back: numbers with nan and infinities, tuples, arrays, and whatever inputs hold.

JSON's own kinds stand for themselves; every other kind is an object with one key, which names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from jali.display.text import clean
from jali.errors import CatalogError

# Python reads no longer decimal from a text.
_LONG = 10**300
_TO_TEXT: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (Fraction, "fraction", str),
    (Decimal, "decimal", str),
    (datetime, "time", datetime.isoformat),
    (date, "date", date.isoformat),
    (bytes, "bytes", bytes.hex),
)
_COLLECTIONS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozen set"}
_OF_TEXT: dict[str, Callable[[Any], Any]] = {
    "fraction": Fraction,
    "decimal": Decimal,
    "time": datetime.fromisoformat,
    "date": date.fromisoformat,
    "bytes": bytes.fromhex,
    "float": float,
    "integer": lambda text: int(text, 16),
    "tuple": lambda parts: tuple(map(of_plain, parts)),
    "set": lambda parts: set(map(of_plain, parts)),
    "frozen set": lambda parts: frozenset(map(of_plain, parts)),
    "dictionary": lambda pairs: {of_plain(key): of_plain(value) for key, value in pairs},
    "array": lambda made: np.array(of_plain(made["values"]), made["of"]).reshape(made["shape"]),
}


def shown(value: Any, most: int = 120) -> str:
    """Write a value for people, cut off where it is long; a file has all of it.

    Example:
        >>> shown([1, 2, 3]), shown("a" * 500, most=5)
        ('[1, 2, 3]', 'aaaa…')
    """
    try:
        text = clean(str(value))
    except ValueError:  # Python writes no integer of thousands of digits
        return f"a very long {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def side_by_side(one: Any, other: Any, most: int = 60) -> tuple[str, str]:
    """Write two inputs; of long lists that differ in an entry, the first one and how the other differs.

    Example:
        >>> side_by_side([1, 2], [1])
        ('[1, 2]', '[1]')
        >>> side_by_side([{"age": 30}] * 9 + [{"age": 120}], [{"age": 30}] * 9)[1]
        "the same without {'age': 120}"
    """
    texts = shown(one), shown(other)
    if max(map(len, texts)) <= most or not (isinstance(one, list | tuple) and isinstance(other, list | tuple)):
        return texts
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if repr(a) != repr(b)), None)
    place = min(len(one), len(other)) if start is None else start
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place:])]:
        return texts[0], f"the same without {shown(one[place])}"
    if [*map(repr, one[place:])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same and {shown(other[place])}"
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same with {shown(other[place])} in place of {shown(one[place])}"
    return texts


def to_plain(value: Any) -> Any:
    """Return a value in JSON's kinds, so that `of_plain` makes it again.

    Example:
        >>> to_plain((1, [math.nan, None], {"a": 2.5}))
        {'tuple': [1, [{'float': 'nan'}, None], {'dictionary': [['a', 2.5]]}]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _array(value)
    if isinstance(value, int | float):
        return _number(value)
    return _held(value)


def of_plain(value: Any) -> Any:
    """Return the value that `to_plain` wrote.

    Example:
        >>> of_plain({"tuple": [1, [{"float": "-inf"}], {"fraction": "1/3"}]})
        (1, [-inf], Fraction(1, 3))
    """
    if isinstance(value, list):
        return [of_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    try:
        ((kind, held),) = value.items()
        return _OF_TEXT[kind](held)
    except (KeyError, ValueError, TypeError, ArithmeticError):
        raise CatalogError("witness-value-malformed", value=str(value)[:60]) from None


def _number(value: float) -> Any:
    if isinstance(value, int):
        # A subclass, such as an enumeration, is an integer all the same.
        return int(value) if abs(value) < _LONG else {"integer": hex(value)}
    return float(value) if math.isfinite(value) else {"float": str(float(value))}


def _array(value: Any) -> Any:
    if value.dtype.kind not in "biufUS":
        raise _unknown(value)
    if value.ndim == 0:
        return to_plain(value.item())
    return {
        "array": {"of": value.dtype.str, "shape": list(value.shape), "values": to_plain(value.ravel().tolist())}
    }


def _held(value: Any) -> Any:
    """Return a collection, or a value that a text says exactly."""
    if isinstance(value, dict):
        return {"dictionary": [[to_plain(key), to_plain(held)] for key, held in value.items()]}
    if type(value) in (list, tuple, set, frozenset):
        parts = [to_plain(part) for part in value]
        name = _COLLECTIONS.get(type(value))
        return parts if name is None else {name: parts}
    for kind, name, text in _TO_TEXT:
        if isinstance(value, kind):
            return {name: text(value)}
    raise _unknown(value)


def _unknown(value: Any) -> CatalogError:
    return CatalogError("witness-value-impossible", kind=type(value).__name__)
