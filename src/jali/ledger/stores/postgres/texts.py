"""Texts as Postgres keeps them: it knows no NUL, which a question or the key of an item may hold.

Statement:
    `read(written(text)) == text` for every text, and different texts are written differently.
"""

from __future__ import annotations

from typing import Any

# A code point that is no letter and never will be stands before what it stands for.
_MARK, _NUL = "\uffff", "\x00"


def written(value: Any) -> Any:
    r"""Write a value for Postgres.

    Example:
        >>> written("a\x00b") == "a\uffff0b", read("a\uffff0b") == "a\x00b"
        (True, True)
    """
    if isinstance(value, str) and (_NUL in value or _MARK in value):
        return value.replace(_MARK, f"{_MARK}1").replace(_NUL, f"{_MARK}0")
    return value


def read(value: Any) -> Any:
    """Read a value as `written` wrote it."""
    if isinstance(value, str) and _MARK in value:
        return value.replace(f"{_MARK}0", _NUL).replace(f"{_MARK}1", _MARK)
    return value
