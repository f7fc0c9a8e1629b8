"""Columns as a curator writes them into a form: one in each line."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from typing import Any

from jali.errors import CatalogError
from jali.numerals import decimal, decimal_above
from jali.query.catalog import Kind, Range
from jali.server.api.forms import ColumnForm

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_END = r"[+-]?[0-9][0-9./eE+-]*|\d{4}-\d{2}-\d{2}(?:[T ][0-9:.]+)?"
_RANGE = re.compile(rf"({_END})\s*:\s*({_END})|({_END})\s*\.\.\s*({_END})")
_KINDS = frozenset(kind.value for kind in Kind)


def read_columns(text: str) -> dict[str, ColumnForm]:
    r"""Read declarations of columns.

    Example:
        >>> read_columns("age = 0:120")["age"].range
        ('0', '120')
        >>> read_columns("ward = A, B\nyear = 2024, 2025")["year"].keys
        [2024, 2025]
        >>> read_columns("code:text = 1, 2")["code"].keys, read_columns("seen = date")["seen"].kind
        (['1', '2'], 'date')
    """
    found: dict[str, ColumnForm] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals and value):
            raise CatalogError("column-line-malformed", line=line)
        name, declared = _declared(name, value)
        if name in found:
            raise CatalogError("column-line-twice", column=name)
        found[name] = declared
    return found


def range_said(known: Range) -> str:
    """Say what a range is, and what it cost where it was bought."""
    ends = [decimal(end) if isinstance(end, Fraction) else str(end) for end in (known.low, known.high)]
    price = "" if known.epsilon is None else f", for epsilon {decimal_above(known.epsilon)}"
    return f"{ends[0]} to {ends[1]}{price}"


def _declared(name: str, value: str) -> tuple[str, ColumnForm]:
    if value == "auto":
        return name, _form(range="auto")
    if value in _KINDS:
        return name, _form(kind=value)
    ends = _RANGE.fullmatch(value)
    if ends:
        low, high = (end for end in ends.groups() if end is not None)
        return name, _form(range=(low, high))
    bare, _, kind = name.rpartition(":")
    known = bool(bare) and kind.strip() in _KINDS
    words = next(csv.reader([value], skipinitialspace=True), [])
    return (bare.strip() if known else name), _form(keys=_keys(words, kind.strip() if known else ""))


def _form(**said: Any) -> ColumnForm:
    return ColumnForm.model_validate(said)


def _keys(words: list[str], kind: str) -> list[Any]:
    """Read keys; those that are all whole numbers are numbers, unless their kind was said."""
    words = [word.strip() for word in words]
    if kind == "boolean":
        return [word.casefold() == "true" for word in words]
    if kind != "text" and all(_INTEGER.fullmatch(word) for word in words):
        return [int(word) for word in words]
    return list(words)
