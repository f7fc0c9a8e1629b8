"""Forms of the pages: CSRF check and validated fields.

Columns are declared in a form with one line each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from jali.catalog.columns import Kind, Range
from jali.errors import CatalogError
from jali.numbers.exact import decimal, decimal_above
from jali.server.csrf import check_csrf_token
from jali.server.dependencies import PageCaller
from jali.server.http_errors import refuse_malformed
from jali.server.schemas import ColumnForm
from jali.server.state import get_state
from jali.server.validation import describe_field_error

Fields = Mapping[str, str]
F = TypeVar("F", bound=BaseModel)


async def read_checked_form(request: Request, caller: PageCaller) -> Fields:
    """Return the fields of a form; reject it without a valid CSRF token."""
    found = await read_form(request)
    check_csrf_token(request, get_state(request), caller.cookie, found.get("csrf", ""))
    return found


CheckedForm = Annotated[Fields, Depends(read_checked_form)]


async def read_form(request: Request) -> Fields:
    """Return the texts of a form."""
    async with request.form(max_files=0, max_fields=100) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def local_path(path: str) -> str:
    r"""Return a path of this site; its first page instead of anything that a browser may take for another site.

    Example:
        >>> paths = ("/budget?x=1", "//evil.example", "https://evil.example", "/\\evil.example")
        >>> [local_path(path) for path in paths]
        ['/budget?x=1', '/', '/', '/']
    """
    plain = path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def validate_fields(kind: type[F], document: Mapping[str, object]) -> F:
    """Validate the fields of a form; empty ones count as missing.

    Raises:
        RequestRefused: A field is wrong.
    """
    try:
        return kind.model_validate({name: value for name, value in document.items() if value not in ("", None)})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise refuse_malformed(describe_field_error(first, first["loc"])) from None


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
        name, declared = _read_column(name, value)
        if name in found:
            raise CatalogError("column-line-twice", column=name)
        found[name] = declared
    return found


def describe_range(known: Range) -> str:
    """Say what a range is, and what it cost where it was bought."""
    ends = [decimal(end) if isinstance(end, Fraction) else str(end) for end in (known.low, known.high)]
    price = "" if known.epsilon is None else f", for epsilon {decimal_above(known.epsilon)}"
    return f"{ends[0]} to {ends[1]}{price}"


def _read_column(name: str, value: str) -> tuple[str, ColumnForm]:
    if value == "auto":
        return name, _build_column_form(range="auto")
    if value in _KINDS:
        return name, _build_column_form(kind=value)
    ends = _RANGE.fullmatch(value)
    if ends:
        low, high = (end for end in ends.groups() if end is not None)
        return name, _build_column_form(range=(low, high))
    bare, _, kind = name.rpartition(":")
    known = bool(bare) and kind.strip() in _KINDS
    words = next(csv.reader([value], skipinitialspace=True), [])
    return (bare.strip() if known else name), _build_column_form(
        keys=_read_keys(words, kind.strip() if known else "")
    )


def _build_column_form(**given: Any) -> ColumnForm:
    return ColumnForm.model_validate(given)


def _read_keys(words: list[str], kind: str) -> list[Any]:
    """Read keys; those that are all whole numbers are numbers, unless their kind is given."""
    words = [word.strip() for word in words]
    if kind == "boolean":
        return [word.casefold() == "true" for word in words]
    if kind != "text" and all(_INTEGER.fullmatch(word) for word in words):
        return [int(word) for word in words]
    return list(words)
