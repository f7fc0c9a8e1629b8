"""Names and constants in Spark's SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.catalog.value_domain import Value

# Spark reads backslashes in texts, and puts its settings and the environment in place of ${...}.
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "$": "\\u0024", "\0": "\\u0000"})
INFINITE = "double('Infinity')"


def quote(name: str) -> str:
    """Write an identifier."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """Write a text constant."""
    return f"'{value.translate(_ESCAPES)}'"


def double(value: Fraction) -> str:
    """Write a number as the double nearest to it."""
    return f"double('{float(value)!r}')"


def key_array(values: Sequence[Value], kind: Kind, name: str) -> str:
    """Write keys as one text that Spark reads as an array: a constant for each would take the parser seconds."""
    plain = kind in (Kind.INTEGER, Kind.BOOLEAN)
    items = json.dumps([value if plain or value is None else str(value) for value in values], ensure_ascii=False)
    if plain:
        return f"from_json({text(items)}, 'array<{name}>')"
    found = f"from_json({text(items)}, 'array<string>')"
    return found if kind is Kind.TEXT else f"transform({found}, x -> try_cast(x AS {name}))"
