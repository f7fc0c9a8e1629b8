"""Items of a durable stream, as they are appended."""

from __future__ import annotations

import datetime
import operator
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from jali.errors import CatalogError


@dataclass(frozen=True)
class Item:
    """One item of a stream: an admission, a purchase, a reading.

    Attributes:
        item: The item key: the same key of the same owner is the same item, and counts once.
        owner: Whose item it is; None where each item is a person of its own.
        key: Under which of the declared keys it counts; None where there are none.
        value: The number that is summed or averaged; None where items are counted.

    Example:
        >>> Item("visit 17", owner="ana", key="A")
        Item(item='visit 17', owner='ana', key='A', value=None)
    """

    item: str | int
    owner: str | int | None = None
    key: Any = None
    value: Any = None

    @classmethod
    def of(cls, given: Item | Mapping[str, Any]) -> Item | None:
        """Read an item, also from a mapping with the names of its parts.

        A mapping without 'item', or with other names, is None: it is no item, and must not keep others out. What
        is neither an Item nor a mapping is a mistake of the program that sends it, and is refused.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise CatalogError("item-malformed")
        return cls(**given) if "item" in given and given.keys() <= _NAMES else None


_NAMES = frozenset(field.name for field in fields(Item))
# How frames give their rows as mappings: of polars, of Arrow, of pandas.
_ROWS = {"to_dicts": "to_dicts()", "to_pylist": "to_pylist()", "to_dict": "to_dict('records')"}


def items_in(given: Any) -> list[Item | None]:
    """Read many items; None stands for a mapping that is none. What is no list of items at all is refused."""
    if hasattr(given, "columns"):
        rows = next((written for name, written in _ROWS.items() if hasattr(given, name)), "to_dict('records')")
        raise CatalogError("items-as-frame", rows=rows)
    if not isinstance(given, Iterable) or isinstance(given, Mapping | str | bytes):
        raise CatalogError("items-not-a-list")
    return [Item.of(item) for item in given]


def read_name(value: Any) -> str | None:
    """Return an item key or an owner as text; None for what names nothing.

    Whole numbers are read as text, so that 7 and "7" are one name; otherwise different texts are different names.
    Text that cannot be written down in UTF-8 names nothing. Nothing is refused: what one item holds must not keep
    other people's items out.

    Example:
        >>> read_name(7), read_name(float("nan"))
        ('7', None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        if isinstance(value, str | uuid.UUID | datetime.date):
            return str(value).encode().decode() or None
        return None if isinstance(value, bool) else str(operator.index(value))
    except (TypeError, ValueError):
        return None
