"""Read declarations of columns: `--range age=0:120`, `--keys ward=A,B`, `--kind seen=date`."""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jali.catalog.columns import read_end
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.catalog.columns import Declared, Keys, Range
    from jali.catalog.value_domain import Value

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_TRUTH = {"true": True, "false": False}


def read_columns(ranges: Sequence[str], keys: Sequence[str], kinds: Sequence[str]) -> dict[str, Declared | str]:
    """Read all declarations of columns; a column has one."""
    found: dict[str, Declared | str] = {}
    for option, texts, read in (
        ("--range", ranges, read_range),
        ("--keys", keys, read_keys),
        ("--kind", kinds, _read_kind),
    ):
        for text in texts:
            column, declared = read(text)
            if column in found:
                raise CatalogError("column-option-twice", column=column, option=option, given=text)
            found[column] = declared
    return found


def read_range(text: str) -> tuple[str, Range]:
    """Read `age=0:120`, `day=2025-01-01:2025-12-31` or `at=2025-01-01T08:00..2025-01-01T18:00`.

    `age=auto` and `age=auto:0.1` buy a range from the budget.
    """
    from jali.catalog.columns import Range

    column, value = _split_option(text, "--range age=0:120")
    low, between, high = value.partition(".." if ".." in value else ":")
    if low == "auto":
        return column, Range(auto=True, epsilon=high or None)
    if not between:
        raise CatalogError("range-option-without-colon", given=text)
    if between == ":" and ":" in high:
        raise CatalogError("range-option-ambiguous", given=text)
    return column, Range(read_end(low), read_end(high))


def read_keys(text: str) -> tuple[str, Keys]:
    """Read `ward=A,B,C`, `ward:text=1,2` or `ward=@file` with one key in each line."""
    from jali.catalog.columns import Keys

    column, value = _split_option(text, "--keys ward=A,B,C")
    column, kind = _split_kind(column)
    words = (
        _read_lines(value[1:]) if value.startswith("@") else next(csv.reader([value], skipinitialspace=True), [])
    )
    if kind is None:
        kind = "integer" if words and all(_INTEGER.fullmatch(word) for word in words) else "text"
    return column, Keys([_read_key(word, kind) for word in words])


def find_guessed_integers(keys: Sequence[str]) -> list[str]:
    """Return the columns whose keys were taken for integers without being told."""
    told = [_split_option(text, "--keys ward=A,B,C")[0] for text in keys]
    return [
        column
        for column, text in zip(told, keys, strict=True)
        if _split_kind(column)[1] is None and read_keys(text)[1].kind.value == "integer"
    ]


def _read_kind(text: str) -> tuple[str, str]:
    return _split_option(text, "--kind seen=date")


def _split_option(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column or not value:
        option = example.split(maxsplit=1)[0]
        raise CatalogError("option-not-column-value", option=option, given=text, example=example)
    return column, value


def _split_kind(column: str) -> tuple[str, str | None]:
    name, colon, kind = column.rpartition(":")
    return (name, kind) if colon and name and kind in _READERS else (column, None)


def _read_key(word: str, kind: str) -> Value:
    try:
        return _READERS[kind](word)
    except (ValueError, KeyError):
        raise CatalogError("key-option-wrong-kind", key=word, kind=kind) from None


def _read_lines(path: str) -> list[str]:
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise CatalogError("keys-file-unreadable", path=path) from None
    return [line for line in text.splitlines() if line]


_READERS: dict[str, Callable[[str], Value]] = {
    "text": str,
    "integer": int,
    "boolean": lambda word: _TRUTH[word.lower()],
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
}
