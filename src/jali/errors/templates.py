"""The texts of errors, and how they are written for each face.

A template has its fields in braces, as texts of Python have; besides what `format` offers, a field is written by

| Form | Written |
|---|---|
| `{names}` | the elements of a tuple, with commas between them |
| `{names:* or }` | the same with another text between them; `{names!r:*, }` quotes each |
| `{names:*, |none}` | the same, and `none` where there is no element |
| `{count:?row|rows}` | the left one for 1, for a tuple of one and for what is true; otherwise the right one |
| `{loss:decimal}`, `{loss:decimal9}` | a rational as a short decimal that is never above it, to 9 digits |
| `{loss:above}`, `{loss:above9}` | the same, never below it |
| `{name:shell}` | quoted for a shell |
| `{name:bare}` | without its table: `age` for v.age |
| `{name:option}` | the option of the command line: `--max-rows` for max_rows |
| `{reason}`, `{reason:remedy}` | the message, or the remedy, of a `Phrase` |

Branches may hold fields: `{column:?column {column}|the row}`. A field that is None is written as nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from string import Formatter
from typing import Any

from jali.errors.fields import Field, Phrase, Shown
from jali.numbers.exact import decimal, decimal_above


class Face(Enum):
    """Where an error is read."""

    PYTHON = "python"
    COMMAND_LINE = "command line"
    HTTP = "http"
    PAGE = "page"


@dataclass(frozen=True)
class Words:
    """A message, and what the reader can do about it. In a `Text`, None stands for the words for Python."""

    message: str | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class Text:
    """The text of a code: templates for Python, and those of other faces where they differ.

    Attributes:
        message: What happened, in one sentence.
        remedy: What the reader can do about it.
        command_line: Words with options and verbs, where Python has arguments and calls.
        http: Words for programs.
        page: Words with forms and buttons.
        besides: Fields that no template names, for programs.
    """

    message: str
    remedy: str | None = None
    command_line: Words = field(default=Words(), kw_only=True)
    http: Words = field(default=Words(), kw_only=True)
    page: Words = field(default=Words(), kw_only=True)
    besides: tuple[str, ...] = field(default=(), kw_only=True)

    def templates(self, face: Face) -> tuple[str, str | None]:
        """Return the templates of the message and of the remedy."""
        faces = {Face.COMMAND_LINE: self.command_line, Face.HTTP: self.http, Face.PAGE: self.page}
        words = faces.get(face, Words())
        return words.message or self.message, self.remedy if words.remedy is None else words.remedy

    @property
    def fields(self) -> frozenset[str]:
        """The names of all fields, without those that only a face adds."""
        every = [template for face in Face for template in self.templates(face) if template]
        named = frozenset(name for template in every for name in find_field_names(template))
        return named.union(self.besides) - set(ASKED)


@dataclass(frozen=True)
class Wording:
    """An error in the words of a face."""

    message: str
    remedy: str | None


# Any error may have this field: a phrase that says what to do instead of the remedy of the catalogue.
ADVICE = "advice"

# What the command line named, for templates of that face.
ASKED: Mapping[str, str] = {"asked_database": "DATABASE", "asked_analyst": ""}


def write(
    code: str, fields: Mapping[str, Field], face: Face = Face.PYTHON, *, asked: Mapping[str, str] | None = None
) -> Wording:
    """Write a code of the catalogue with its fields.

    Args:
        code: The code.
        fields: Its fields.
        face: Where it is read.
        asked: What the command line named, as `ASKED` names it; where nothing is given, `ASKED` itself.
    """
    if code not in load_texts():  # a server of a later version has told it
        return Wording(code, None)
    message, remedy = load_texts()[code].templates(face)
    values = {**ASKED, **(asked or {}), **fields}
    advice = fields.get(ADVICE)
    if isinstance(advice, Phrase):
        remedy = f"{{{ADVICE}}}"
    return Wording(_fill(message, values, face), (_fill(remedy, values, face) if remedy else None) or None)


@cache
def load_texts() -> Mapping[str, Text]:
    """Return the catalogue: the text of each code."""
    from jali.errors.catalogue import read_catalogue

    return read_catalogue()


def find_field_names(template: str) -> Iterator[str]:
    """Yield the names of the fields of a template, those in branches too.

    Example:
        >>> list(find_field_names("{a!r}: {b:?one|{c:,} rows}"))
        ['a', 'b', 'c']
    """
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            yield name
            yield from find_field_names(spec or "")


def _fill(template: str, values: Mapping[str, Any], face: Face) -> str:
    """Put fields into a template."""
    parts = []
    for literal, name, spec, conversion in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            parts.append(_write_field(values.get(name), spec or "", conversion, values, face))
    return "".join(parts)


def _write_field(value: Any, spec: str, conversion: str | None, values: Mapping[str, Any], face: Face) -> str:
    if spec.startswith("?"):
        left, _, right = _split(spec[1:])
        return _fill(left if is_one(value) else right, values, face)
    if isinstance(value, tuple) and (spec.startswith("*") or conversion is None):
        between, _, nothing = spec[1:].partition("|") if spec.startswith("*") else (", ", "", "")
        return between.join(_write_field(each, "", conversion, values, face) for each in value) or nothing
    if isinstance(value, Phrase):
        written = write(value.code, value.fields, face, asked={name: str(values[name]) for name in ASKED})
        return (written.remedy or "") if spec == "remedy" else written.message
    if conversion == "r":
        return format(repr(value), spec)
    return "" if value is None else _format(value, spec)


def _format(value: Any, spec: str) -> str:
    if isinstance(value, Shown) and spec not in ("shell", "option"):
        return str(value)
    if spec == "shell":
        return shlex.quote(str(value))
    if spec == "bare":
        return str(value).rpartition(".")[2]
    if spec == "option":
        return "--" + str(value).replace("_", "-")
    try:
        return _shorten(value, spec) or format(value, spec)
    except (
        AttributeError,
        TypeError,
        ValueError,
    ):  # whatever a server of another version put into it
        return str(value)


def _shorten(value: Any, spec: str) -> str | None:
    """Write a rational as a short decimal, where that is asked for."""
    for name, shorten in (("decimal", decimal), ("above", decimal_above)):
        if spec.startswith(name):
            return shorten(value, int(spec.removeprefix(name) or 6))
    return None


def is_one(value: Any) -> bool:
    """Say whether a value takes the left one of two branches.

    Example:
        >>> [is_one(value) for value in (1, 2, ("a",), ("a", "b"), True, None, "age", "")]
        [True, False, True, False, True, False, True, False]
    """
    if isinstance(value, tuple):
        return len(value) == 1
    return value == 1 if isinstance(value, int | float) else bool(value)


def _split(spec: str) -> tuple[str, str, str]:
    """Split two branches at the bar that is in no braces."""
    depth = 0
    for place, sign in enumerate(spec):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "|" and depth == 0:
            return spec[:place], "|", spec[place + 1 :]
    return spec, "", ""
