"""Names and constants in BigQuery's SQL: backslashes escape in both, and no line may end inside."""

from __future__ import annotations

from fractions import Fraction

_CONTROLS = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\0": "\\x00"}
_TEXT = str.maketrans(_CONTROLS | {"'": "\\'"})
_NAME = str.maketrans(_CONTROLS | {"`": "\\`"})
INFINITE = "CAST('inf' AS FLOAT64)"
NOT_A_NUMBER = "CAST('nan' AS FLOAT64)"


def quoted(name: str) -> str:
    """Write an identifier.

    No column of BigQuery has a dot in its name, and those of relations inside a query do: their dots are spelled
    out, so that different names stay different.
    """
    spelled = name.replace("_", "__").replace(".", "_o") if "." in name else name
    return f"`{spelled.translate(_NAME)}`"


def text(value: str) -> str:
    """Write a text constant."""
    return f"'{value.translate(_TEXT)}'"


def double(value: Fraction) -> str:
    """Write a number as the double nearest to it: a number with a point or an exponent is one."""
    number = float(value)
    if abs(number) == float("inf"):
        return INFINITE if number > 0 else f"(-{INFINITE})"
    return repr(number) if number >= 0 else f"({number!r})"
