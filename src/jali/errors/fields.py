"""What the fields of an error may be, and their JSON form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias, runtime_checkable


@runtime_checkable
class Fact(Protocol):
    """A frozen dataclass that an error may hold: it has a JSON form, and a reader of it in `FACTS`."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        ...


@dataclass(frozen=True)
class Phrase:
    """A text of the catalogue inside another one: written for the same face as that one.

    Attributes:
        code: Its code in the catalogue.
        fields: Its fields.
    """

    code: str
    fields: Mapping[str, Field]

    def __init__(self, code: str, /, **fields: Field) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "fields", {name: settle(value) for name, value in fields.items()})

    @property
    def text(self) -> str:
        """The text for Python."""
        from jali.errors.templates import write

        return write(self.code, self.fields).message

    def __reduce__(self) -> tuple[Any, ...]:
        return _decode_phrase, (self.code, dict(self.fields))

    def __hash__(self) -> int:
        return hash((self.code, tuple(self.fields)))


class Shown(str):
    """A value of a type that no field has, as it was given: its text, and how Python writes it.

    Example:
        >>> shown = settle({"a": 1})
        >>> f"{shown}, {shown!r}"
        "{'a': 1}, {'a': 1}"
    """

    __slots__ = ("written",)

    written: str

    def __new__(cls, text: str, written: str) -> Shown:
        """Keep both forms."""
        made = super().__new__(cls, text)
        made.written = written
        return made

    def __repr__(self) -> str:
        return self.written

    def __reduce__(self) -> tuple[Any, ...]:
        return Shown, (str(self), self.written)


Field: TypeAlias = (
    "str | PurePath | int | float | Fraction | Decimal | date | Phrase | Fact | tuple[Field, ...] | None"
)


def settle(value: Any) -> Field:
    """Return a value as a field: immutable, and of a type that has a JSON form.

    Example:
        >>> settle(("a", Fraction(1, 3))), settle([1])
        (('a', Fraction(1, 3)), [1])
    """
    if value is None or type(value) in (str, int, float, bool, Fraction, date, datetime, Shown):
        return value  # type: ignore[no-any-return]  # as just tested
    if isinstance(value, tuple):
        return tuple(settle(each) for each in value)
    if isinstance(value, Phrase) or (is_dataclass(value) and isinstance(value, Fact)):
        return value
    return _simplify(value)


def _simplify(value: Any) -> Field:
    """Return a relative of a plain value as such, and anything else as it is written."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Integral):
        return _simplify_number(int(value), value)
    if isinstance(value, Real) and not isinstance(value, Rational):
        return _simplify_number(float(value), value)
    return Shown(str(value), repr(value))


def _simplify_number(number: int | float, value: Any) -> Field:
    """Return a plain number for one of a library, unless it is written in another way, as in an Enum."""
    return number if str(number) == str(value) else Shown(str(value), repr(value))


def encode_field(value: Field) -> Any:
    """Return the JSON form of a field: itself where JSON has its type, otherwise an object with its type's name.

    Example:
        >>> encode_field((1, "a", Fraction(1, 3), date(2024, 2, 29)))
        [1, 'a', {'fraction': '1/3'}, {'date': '2024-02-29'}]
    """
    if isinstance(value, Shown):
        return {"shown": [str(value), value.written]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [encode_field(each) for each in value]
    return encode_field(settle(value)) if isinstance(value, PurePath | Decimal) else _encode_object(value)


def _encode_object(value: Fraction | date | Phrase | Fact) -> dict[str, Any]:
    """Return the JSON form of what JSON has no type for."""
    if isinstance(value, Phrase):
        return {"phrase": value.code, "fields": {name: encode_field(each) for name, each in value.fields.items()}}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return {type(value).__name__.lower(): value.to_json()}


def decode_field(told: Any) -> Field:
    """Return the field that `encode_field` wrote.

    Example:
        >>> decode_field([1, {"fraction": "1/3"}])
        (1, Fraction(1, 3))
    """
    if isinstance(told, list):
        return tuple(decode_field(each) for each in told)
    if not isinstance(told, dict):
        return told  # type: ignore[no-any-return]  # a value that JSON has a type for
    (tag, value), *others = told.items()
    if tag == "phrase":
        return _decode_phrase(value, {name: decode_field(each) for name, each in dict(others)["fields"].items()})
    return _READERS[tag](value)  # type: ignore[no-any-return]  # one for each type


def _decode_phrase(code: str, fields: Mapping[str, Field]) -> Phrase:
    return Phrase(code, **fields)


def _decode_fit(told: dict[str, Any]) -> Field:
    from jali.errors.exceptions import Fit

    return Fit.from_json(told)


_READERS: dict[str, Any] = {
    "fraction": Fraction,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "float": float,
    "shown": lambda told: Shown(*told),
    "fit": _decode_fit,
}
