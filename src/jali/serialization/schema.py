"""Schemas of stored values: which types there are, their tags, and how each is written and read.

A type is stored as an object with its tag and its parts: `{"@": "Range", "low": ..., "high": ...}`. Tags and the
names of parts are literals in a schema, so that classes and attributes can be renamed without changing any text.
A type whose parts change gets a new version and a function that makes the new parts of the old ones; from version
2 on the version is written too (`"@version": 2`).

Single values that JSON has no word for (large integers, exact rationals, dates, times, decimals and bytes) are
objects with a tag and a text, such as `{"@": "Fraction", "value": "1/3"}`. These tags are frozen: they stand in
every ledger.

Guarantee:
    Equal values give equal texts. Only types of the schema are made, and reading runs no constructor but those
    that a type names as its `make`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from jali.errors import JaliError, LedgerError

TAG, VALUE = "@", "value"
# Beyond 2^53 some JSON readers lose digits.
SAFE = 1 << 53

# The tags of plans, tables and streams, and how their texts are read.
READ: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "int": int,
        "Fraction": Fraction,
        "date": datetime.date.fromisoformat,
        "datetime": datetime.datetime.fromisoformat,
    }
)
# A witness has these too.
READ_MORE: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {**READ, "int": lambda text: int(text, 0), "decimal": Decimal, "bytes": bytes.fromhex, "float": float}
)


def tag_value(tag: str, value: Any) -> dict[str, Any]:
    """Return a value under its tag.

    Example:
        >>> tag_value("Fraction", "1/3")
        {'@': 'Fraction', 'value': '1/3'}
    """
    return {TAG: tag, VALUE: value}


def write_integer(value: int) -> Any:
    """Return an integer as JSON has it; a large one as text."""
    # An integer that calls itself otherwise, such as an unlimited horizon, is written as its number.
    return int(value) if -SAFE < value < SAFE else tag_value("int", int.__repr__(value))


def write_scalar(value: Any) -> dict[str, Any] | None:
    """Return a rational, a date or a time under its tag; None for anything else.

    Example:
        >>> write_scalar(datetime.date(2026, 1, 31))
        {'@': 'date', 'value': '2026-01-31'}
    """
    if isinstance(value, Fraction):
        return tag_value("Fraction", str(value))
    if isinstance(value, datetime.datetime):
        return tag_value("datetime", value.isoformat())
    if isinstance(value, datetime.date):
        return tag_value("date", value.isoformat())
    return None


def read_rational(text: Any) -> Fraction:
    """Return the number that `str` writes like this: '0.1' or ' 1/10' would be other texts for the same number.

    Example:
        >>> read_rational("1/3")
        Fraction(1, 3)
    """
    number = Fraction(text or "")
    if str(number) != text:
        raise ValueError(text)
    return number


Parts: TypeAlias = dict[str, Any]

VERSION = "@version"
_AS_THEY_ARE = frozenset({str, bool, float, type(None)})
_READ_AS_IS = _AS_THEY_ARE | {int}


@dataclass(frozen=True)
class StoredType:
    """How the values of one class are stored.

    Attributes:
        tag: What it is called in texts. It never changes.
        kind: The class.
        names: For each part, its name in texts and the attribute that holds it. An Enum has none.
        optional: The parts that are not written where they have their defaults: those that came later, so that
            texts that are without them stay as they are.
        aliases: Further tags under which it is read, and never written.
        upgrades: One for each version but the last: makes the parts of the next version. Types begin at version 1.
        write: Returns the parts of a value; by default its attributes.
        make: Makes a value from its parts, given as keywords; by default attributes are set, and nothing is
            checked: what was stored is used as it was frozen.
    """

    tag: str
    kind: type
    names: tuple[tuple[str, str], ...] = ()
    optional: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    upgrades: tuple[Callable[[Parts], Parts], ...] = ()
    write: Callable[[Any], Parts] | None = None
    make: Callable[..., Any] | None = None

    @property
    def version(self) -> int:
        """The version that is written."""
        return len(self.upgrades) + 1

    @cached_property
    def head(self) -> dict[str, Any]:
        """What is written before the parts."""
        return {TAG: self.tag} if self.version == 1 else {TAG: self.tag, VERSION: self.version}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """What attributes are where a text has no such part: a part that came later has a default."""
        return {f.name: f.default for f in fields(self.kind) if f.default is not MISSING}

    @cached_property
    def attributes_without_parts(self) -> dict[str, Any]:
        """The attributes that no text has, such as positions in a question: as if they had never been given."""
        kept = {attribute for _, attribute in self.names}
        return {f.name: self.defaults.get(f.name) for f in fields(self.kind) if f.name not in kept}

    def parts(self, value: Any) -> Parts:
        """Return the parts of a value, under their names in texts."""
        if self.write is not None:
            return self.write(value)
        found = {name: getattr(value, attribute) for name, attribute in self.names}
        for name, attribute in self.names if self.optional else ():
            if name in self.optional and found[name] == self.defaults[attribute]:
                del found[name]
        return found

    def build(self, parts: Parts, version: int) -> Any:
        """Make a value from the parts of a version."""
        for upgrade in self.upgrades[version - 1 :]:
            parts = upgrade(parts)
        if self.make is None:
            return self._restore(parts)
        try:
            return self.make(**parts)
        except TypeError:
            raise LedgerError("stored-parts-differ", tag=self.tag) from None

    def _restore(self, parts: Parts) -> Any:
        made: Any = object.__new__(self.kind)
        found = 0
        for name, attribute in self.names:
            if name in parts:
                part, found = parts[name], found + 1
            elif attribute in self.defaults:
                part = self.defaults[attribute]
            else:
                raise LedgerError("stored-part-missing", tag=self.tag, part=name)
            object.__setattr__(made, attribute, part)
        if found < len(parts):
            unknown = min(parts.keys() - {name for name, _ in self.names})
            raise LedgerError("stored-part-unknown", tag=self.tag, part=unknown)
        for attribute, part in self.attributes_without_parts.items():
            object.__setattr__(made, attribute, part)
        return made


def define_type(
    tag: str,
    kind: type,
    names: str = "",
    *,
    aliases: tuple[str, ...] = (),
    upgrades: tuple[Callable[[Parts], Parts], ...] = (),
    write: Callable[[Any], Parts] | None = None,
    make: Callable[..., Any] | None = None,
) -> StoredType:
    """Say how a class is stored.

    Args:
        tag: What it is called in texts.
        kind: The class: a frozen dataclass, or an Enum, which is stored by its values.
        names: Its parts, separated by spaces: `"low high"`, or `"low:least high"` where an attribute is called
            otherwise by now, or `"low high auto?"` for a part that came later and is written where it is not its
            default.
        aliases: Further tags under which it is read.
        upgrades: Functions that make the parts of the next version, from version 1 on.
        write: Returns the parts of a value, where they are not its attributes.
        make: Makes a value from its parts, where attributes are not to be set as they are.
    """
    split = [one.removesuffix("?").partition(":") for one in names.split()]
    pairs = tuple((name, attribute or name) for name, _, attribute in split)
    optional = frozenset(name for name, one in zip(dict(pairs), names.split(), strict=True) if one.endswith("?"))
    return StoredType(tag, kind, pairs, optional, aliases, upgrades, write, make)


@dataclass(frozen=True)
class Schema:
    """The types that a text may have in it.

    Attributes:
        types: How each is stored. No two have one class or one tag.
    """

    types: tuple[StoredType, ...] = ()

    def __post_init__(self) -> None:
        tags = [tag for one in self.types for tag in (one.tag, *one.aliases)]
        if len({*tags, *READ}) < len(tags) + len(READ) or len(self._by_class) < len(self.types):
            raise AssertionError("Two types of a schema have one tag, or one class has two.")

    def extend(self, types: Iterable[StoredType]) -> Schema:
        """Return a schema with further types."""
        return Schema((*self.types, *types))

    def encode(self, value: Any) -> str:
        """Write a frozen value as canonical JSON: equal values give equal texts."""
        return write_plain(self.to_plain(value))

    def decode(self, text: str) -> Any:
        """Read what `encode` wrote, or refuse it: what another version wrote is never guessed at."""
        try:
            return self.of_plain(json.loads(text))
        except JaliError:
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
            raise LedgerError("stored-value-unreadable") from None

    @cached_property
    def _by_class(self) -> Mapping[type, StoredType]:
        return {one.kind: one for one in self.types}

    @cached_property
    def _by_tag(self) -> Mapping[str, StoredType]:
        return {tag: one for one in self.types for tag in (one.tag, *one.aliases)}

    def to_plain(self, value: Any) -> Any:
        """Return a value in the kinds of JSON."""
        kind = type(value)
        if kind in _AS_THEY_ARE:
            return value
        known = self._by_class.get(kind)
        if known is None:
            return self._other(value)
        if isinstance(value, Enum):
            return {**known.head, VALUE: value.value}
        plain = self.to_plain
        return known.head | {name: plain(part) for name, part in known.parts(value).items()}

    def _other(self, value: Any) -> Any:
        if isinstance(value, Enum):
            raise _unknown(value)
        if isinstance(value, int):
            return write_integer(value)
        if isinstance(value, str | float):
            return value
        if isinstance(value, tuple | list):
            return self._several(value)
        found = write_scalar(value)
        if found is None:
            raise _unknown(value)
        return found

    def _several(self, values: tuple[Any, ...] | list[Any]) -> list[Any]:
        # Keys are many and plain: they take no call each.
        if values and all(type(item) is datetime.date for item in values):
            return [tag_value("date", item.isoformat()) for item in values]
        return [
            item
            if type(item) in _AS_THEY_ARE or (type(item) is int and -SAFE < item < SAFE)
            else self.to_plain(item)
            for item in values
        ]

    def of_plain(self, plain: Any) -> Any:
        """Return the value that `to_plain` wrote."""
        if isinstance(plain, list):
            return tuple(item if type(item) in _READ_AS_IS else self.of_plain(item) for item in plain)
        if not isinstance(plain, dict):
            return plain
        tag: Any = plain.get(TAG)
        if tag in READ:
            return READ[tag](plain[VALUE])
        known = self._by_tag.get(tag)
        if known is None:
            raise LedgerError("stored-tag-unknown", tag=str(tag))
        version = plain.get(VERSION, 1)
        if type(version) is not int or not 1 <= version <= known.version:
            raise LedgerError("stored-version-unknown", tag=known.tag, version=str(version), newest=known.version)
        if issubclass(known.kind, Enum):
            return known.kind(plain[VALUE])
        read = self.of_plain
        parts = {name: read(part) for name, part in plain.items() if name not in (TAG, VERSION)}
        return known.build(parts, version)


# Values alone: numbers, texts, dates and tuples of them, such as keys and noisy draws.
VALUES = Schema()


def write_plain(plain: Any) -> str:
    """Write plain JSON values in the one form that ledgers have: sorted, without spaces."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _unknown(value: Any) -> TypeError:
    return TypeError(f"cannot store a {type(value).__name__}")
