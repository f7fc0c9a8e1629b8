"""Flatten any Python output into leaves: numbers at named places.

Nothing that a reader of the output could see is thrown away: the kind of each value, the length of each
collection and the order of the keys of a dictionary are leaves too. What a release shows besides its values has
broken claims before: a list that is one longer, a NaN, a minus zero, an error.

A text is a leaf by its hash, which tells whether two are equal and not whether they are near. So the numbers that
a text holds are leaves too, and what it says as JSON, and the numbers that bytes are: noise that is too small
shows in them.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# The place of the output itself; places inside it are named after it: "key 'a'", "item 2 of key 'a'".
ROOT = "the output"
LARGEST = sys.float_info.max
# A place of its own for this many items of a collection; the others share one.
MOST_ITEMS = 512
_DEEPEST = 12
# This many numbers are read out of a text, or out of bytes.
_MOST_NUMBERS = 16
_NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w)")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# What a run may end in besides an output. An interrupt is the auditor's own.
FAILURES = (Exception, SystemExit, GeneratorExit)
# What tables and columns of other packages call their way into plain Python.
_PLAIN_FORMS = ("to_pydict", "to_pylist", "to_dict", "to_list", "tolist")


class LeafKind(IntEnum):
    """What a leaf is. The numbers are kept in files: they never change."""

    ABSENT = 0
    FLOAT = 1
    MINUS_ZERO = 2
    NAN = 3
    INFINITE = 4
    INTEGER = 5
    HUGE = 6
    BOOLEAN = 7
    RATIONAL = 8
    NOTHING = 9
    TEXT = 10
    BYTES = 11
    OBJECT = 12
    RAISED = 13
    LIST = 14
    TUPLE = 15
    ARRAY = 16
    DICTIONARY = 17
    SET = 18
    ORDER = 19
    REST = 20

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


NUMBERS = frozenset(
    {
        LeafKind.FLOAT,
        LeafKind.MINUS_ZERO,
        LeafKind.INFINITE,
        LeafKind.INTEGER,
        LeafKind.HUGE,
        LeafKind.BOOLEAN,
        LeafKind.RATIONAL,
    }
)
TEXTS = frozenset({LeafKind.TEXT, LeafKind.BYTES, LeafKind.OBJECT, LeafKind.RAISED, LeafKind.ORDER, LeafKind.REST})
COLLECTIONS = frozenset({LeafKind.LIST, LeafKind.TUPLE, LeafKind.ARRAY, LeafKind.DICTIONARY, LeafKind.SET})


class Leaf(NamedTuple):
    """One value at one place of an output.

    Attributes:
        kind: What it is.
        number: The number; the length of a collection; the hash of a text.
        remainder: What is left of a number that no double holds, such as a third or 2**60 + 1.
        text: The text that was hashed.
    """

    kind: LeafKind
    number: float = 0.0
    remainder: float = 0.0
    text: str | None = None


Leaves: TypeAlias = dict[str, Leaf]


@dataclass(frozen=True)
class Raised:
    """The output of a run that raised: the type of the error, whose message may hold an address or a time."""

    error: str

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Return what was raised, as an output."""
        return cls(type(error).__qualname__)

    def __str__(self) -> str:
        return f"raises {self.error}"


def flatten(output: Any) -> Leaves:
    """Return the leaves of an output by their places, in an order that only its form decides.

    Example:
        >>> [(place, leaf.kind.name, leaf.number) for place, leaf in flatten((0.5, 7)).items()]
        [('the output', 'TUPLE', 2.0), ('item 1', 'FLOAT', 0.5), ('item 2', 'INTEGER', 7.0)]
    """
    found: Leaves = {}
    _read(output, ROOT, found, 0)
    return found


def hash_text(text: str | bytes) -> float:
    """Return a whole number below 2**48 that stands for a text, the same in every process."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return float(int.from_bytes(blake2b(data, digest_size=6).digest(), "big"))


def _read(value: Any, place: str, found: Leaves, depth: int) -> None:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = _unwrap(value)
    reader = _READERS.get(type(value))
    if reader is not None:
        found[place] = reader(value)
        _read_within(value, place, found, depth)
    elif depth > _DEEPEST:
        found[place] = _make_object_leaf(value)
    else:
        _read_held(value, place, found, depth)


def _read_within(value: Any, place: str, found: Leaves, depth: int) -> None:
    """Read the numbers that a text, bytes or a complex number hold."""
    if isinstance(value, str):
        _read_text(value, place, found, depth)
    elif isinstance(value, bytes):
        _read_bytes(value, place, found, depth)
    elif isinstance(value, complex):
        found[f"real part of {place}"], found[f"imaginary part of {place}"] = map(
            _make_float_leaf, (value.real, value.imag)
        )


def _read_text(text: str, place: str, found: Leaves, depth: int) -> None:
    held = _parse_json(text)
    if held is not None:
        _read(held, f"JSON in {place}", found, depth + 1)
        return
    for i, number in enumerate(_find_numbers(text), 1):
        found[f"number {i} in {place}"] = (
            _make_float_leaf(number) if isinstance(number, float) else _make_integer_leaf(number)
        )


def _read_bytes(data: bytes, place: str, found: Leaves, depth: int) -> None:
    """Read bytes as a text, if they are one that holds numbers; otherwise as doubles, and as integers."""
    before = len(found)
    if data.isascii():
        _read_text(data.decode("ascii"), place, found, depth)
    if len(found) > before or not data or len(data) % 8 or len(data) > 8 * _MOST_NUMBERS:
        return
    for name, dtype in (("double", "<f8"), ("integer", "<i8")):
        for i, number in enumerate(np.frombuffer(data, dtype).tolist(), 1):
            found[f"{name} {i} in {place}"] = _READERS[type(number)](number)


def _parse_json(text: str) -> Any:
    """Return the list or object that a text is in JSON; None if it is none."""
    if text[:1] not in "[{" or not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _find_numbers(text: str) -> Iterable[float]:
    """Return the number that a text is, or those that it holds; integers where they are written so."""
    try:
        return [_parse_number(text)]
    except ValueError:
        return [_parse_number(found[0]) for found in islice(_NUMBER.finditer(text), _MOST_NUMBERS)]


def _parse_number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _unwrap(value: Any) -> Any:
    """Return a number of numpy's as one of Python's: a wide float as a rational, so that no bit is lost."""
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*value.as_integer_ratio())
    held = value.item()
    return float(held) if isinstance(held, np.longdouble) else held


def _read_held(value: Any, place: str, found: Leaves, depth: int) -> None:
    """Read a collection, or a value of a subclass or of an unknown class."""
    if isinstance(value, Enum | type):
        _read_object(value, place, found, depth)
    elif isinstance(value, Mapping):
        _read_mapping(value, place, found, depth)
    elif isinstance(value, Set):
        found[place] = Leaf(LeafKind.SET, float(len(value)))
        _read_items(((f"member {one!r}", True) for one in sorted(value, key=_make_sort_key)), place, found, depth)
    elif isinstance(value, np.ndarray | list | tuple):
        kind = (
            LeafKind.ARRAY
            if isinstance(value, np.ndarray)
            else LeafKind.LIST
            if isinstance(value, list)
            else LeafKind.TUPLE
        )
        found[place] = Leaf(kind, float(len(value)))
        _read_items(((f"item {i}", one) for i, one in enumerate(value, 1)), place, found, depth)
    else:
        _read_other(value, place, found, depth)


def _read_mapping(value: Mapping[Any, Any], place: str, found: Leaves, depth: int) -> None:
    found[place] = Leaf(LeafKind.DICTIONARY, float(len(value)))
    found[f"order of keys of {place}"] = _make_text_leaf(LeafKind.ORDER, ", ".join(map(repr, value)))
    _read_items(((f"key {key!r}", value[key]) for key in sorted(value, key=_make_sort_key)), place, found, depth)


def _read_items(items: Iterable[tuple[str, Any]], place: str, found: Leaves, depth: int) -> None:
    each = iter(items)
    for name, one in islice(each, MOST_ITEMS):
        _read(one, name if place == ROOT else f"{name} of {place}", found, depth + 1)
    others = list(each)
    if others:
        found[f"rest of {place}"] = _make_text_leaf(LeafKind.REST, repr(others))


def _read_other(value: Any, place: str, found: Leaves, depth: int) -> None:
    for base, reader in _READERS.items():
        if isinstance(value, base) and base is not object:
            found[place] = reader(value)
            _read_within(value, place, found, depth)
            return
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
        _read(value, place, found, depth + 1)
    elif plain := _find_plain_form(value):
        _read(plain(), place, found, depth + 1)
    else:
        _read_object(value, place, found, depth)


def _read_object(value: Any, place: str, found: Leaves, depth: int) -> None:
    """Read a value of which only its text is known."""
    found[place] = _make_object_leaf(value)
    _read_text(found[place].text or "", place, found, depth)


def _find_plain_form(value: Any) -> Callable[[], Any] | None:
    made = (getattr(value, name, None) for name in _PLAIN_FORMS)
    return next((method for method in made if callable(method)), None)


def _make_sort_key(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _make_float_leaf(value: float) -> Leaf:
    if math.isfinite(value):
        return Leaf(LeafKind.MINUS_ZERO if value == 0 and math.copysign(1, value) < 0 else LeafKind.FLOAT, value)
    return Leaf(LeafKind.NAN) if math.isnan(value) else Leaf(LeafKind.INFINITE, math.copysign(LARGEST, value))


def _make_exact_leaf(value: int | Fraction, kind: LeafKind) -> Leaf:
    """Return the nearest double, and the nearest double to what is left: 106 bits in all."""
    try:
        nearest = float(value)
    except OverflowError:
        return Leaf(LeafKind.HUGE, LARGEST if value > 0 else -LARGEST)
    return Leaf(kind, nearest, float(value - Fraction(nearest)))


def _make_integer_leaf(value: int) -> Leaf:
    return (
        Leaf(LeafKind.INTEGER, float(value))
        if -(2**53) <= value <= 2**53
        else _make_exact_leaf(int(value), LeafKind.INTEGER)
    )


def _make_decimal_leaf(value: Decimal) -> Leaf:
    if not value.is_finite():
        return _make_float_leaf(float("nan" if value.is_nan() else value))
    # A decimal of a huge exponent is no fraction that anybody could hold.
    if value and abs(value.adjusted()) > 400:
        return Leaf(LeafKind.HUGE, math.copysign(LARGEST if value.adjusted() > 0 else 0.0, value))
    return _make_exact_leaf(Fraction(value), LeafKind.RATIONAL)


def _make_complex_leaf(value: complex) -> Leaf:
    return _make_text_leaf(LeafKind.OBJECT, repr(value))


def _make_text_leaf(kind: LeafKind, text: str) -> Leaf:
    return Leaf(kind, hash_text(text), 0.0, text)


def _make_object_leaf(value: Any) -> Leaf:
    return _make_text_leaf(LeafKind.OBJECT, _ADDRESS.sub("", repr(value)))


_READERS: dict[type, Callable[[Any], Leaf]] = {
    float: _make_float_leaf,
    bool: lambda value: Leaf(LeafKind.BOOLEAN, float(value)),
    int: _make_integer_leaf,
    str: lambda value: _make_text_leaf(LeafKind.TEXT, str(value)),
    type(None): lambda _: Leaf(LeafKind.NOTHING),
    bytes: lambda value: Leaf(LeafKind.BYTES, hash_text(value), 0.0, repr(value)),
    Fraction: lambda value: _make_exact_leaf(value, LeafKind.RATIONAL),
    Decimal: _make_decimal_leaf,
    complex: _make_complex_leaf,
    Raised: lambda value: _make_text_leaf(LeafKind.RAISED, value.error),
}
