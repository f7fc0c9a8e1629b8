"""Patterns of data as a short text: what a function under audit takes, for the command line and for reports."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from jali.errors import CatalogError

Span: TypeAlias = tuple[float, float]
# What a value may be: between two numbers, or one of several texts.
Values: TypeAlias = Span | tuple[str, ...]

KINDS = ("scalar", "choice", "answers", "monotone", "counts", "values", "table", "stream")
_SIZES = {"answers": 5, "monotone": 5, "counts": 5, "values": 10, "table": 10, "stream": 8}
_MOST = 100_000
_NUMBER = r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_SPAN = re.compile(rf"\s*({_NUMBER}?)\s*\.\.\s*({_NUMBER})\s*")
_HEAD = re.compile(
    r"(?P<kind>[a-z]+)\s*(?::\s*(?P<size>\d+))?"
    r"(?:\s+of\s+(?P<columns>.+?))?(?:\s+in\s+(?P<values>.+?))?"
    rf"(?:\s+by\s+(?P<step>{_NUMBER}))?(?P<array>\s+as\s+array)?(?P<extremes>\s+with\s+extremes)?\s*"
)
_EITHER = re.compile(r"either\s+(?P<one>.+?)\s+or\s+(?P<other>.+)", re.DOTALL)


@dataclass(frozen=True)
class Pattern:
    """What a function takes, and how far neighbouring inputs are apart.

    As a text: KIND[:SIZE] [of COLUMNS] [in VALUES] [by STEP] [as array] [with extremes].

    - `scalar [in LOW..HIGH] [by STEP]`: one number, which moves by the step (1).
    - `choice in a|b|c`: one person's value, replaced by any other; for the local model.
    - `answers:5 [by STEP]`: answers to queries, each of which moves by at most the step, either way.
    - `monotone:5 [by STEP]`: the same, all moving the same way, as counts do under add-remove.
    - `counts:5 [by STEP]`: the cells of a histogram: one person is in one cell.
    - `values:10 in LOW..HIGH`: a list of numbers, one for each person; `values:10 in a|b|c` of texts.
    - `table:10 of age 0..120, ward a|b`: a list of records, one for each person.
    - `stream:8 [in LOW..HIGH]`: increments over time, of which one changes.
    - `either JSON or JSON`: two neighbours, written out.

    Numbers written without a point are integers. `as array` gives numpy arrays in place of lists. `with extremes`
    tries tables with NaN, infinities, None or no record at all too: for functions that promise to clamp.

    Attributes:
        kind: One of `KINDS`, or "either".
        size: The length of a list.
        values: What a number or text may be; nothing where a pattern has no range.
        columns: The same for each column of a table.
        step: How far a number moves.
        array: Whether lists are numpy arrays.
        extremes: Whether records that nobody expects are tried too.
        pair: The two inputs, if they are written out.

    Example:
        >>> str(Pattern.read("values in 0..1"))
        'values:10 in 0..1'
    """

    kind: str
    size: int = 1
    values: Values = ()
    columns: tuple[tuple[str, Values], ...] = ()
    step: float = 1
    array: bool = False
    extremes: bool = False
    pair: tuple[Any, Any] | None = None

    @classmethod
    def read(cls, text: str) -> Pattern:
        """Return the pattern that a text describes."""
        if found := _EITHER.fullmatch(text.strip()):
            return cls("either", pair=(_json(found["one"]), _json(found["other"])))
        head = _HEAD.fullmatch(text.strip())
        if head is None or head["kind"] not in KINDS:
            raise CatalogError("data-pattern-unknown", data=text, name="data")
        return _made(text, head)

    def __str__(self) -> str:
        if self.pair is not None:
            return f"either {json.dumps(self.pair[0])} or {json.dumps(self.pair[1])}"
        said = [f"{self.kind}:{self.size}" if self.kind in _SIZES else self.kind]
        if self.columns:
            said.append("of " + ", ".join(f"{name} {_said(values)}" for name, values in self.columns))
        elif self.values:
            said.append(f"in {_said(self.values)}")
        if self.step != 1:
            said.append(f"by {self.step}")
        told = ((self.array, "as array"), (self.extremes, "with extremes"))
        return " ".join([*said, *(text for there, text in told if there)])

    @property
    def span(self) -> Span:
        """The least and the largest value of a pattern of numbers."""
        low, high = self.values[0], self.values[-1]
        assert not isinstance(low, str)
        assert not isinstance(high, str)
        return low, high

    def shaped(self, items: list[Any]) -> Any:
        """Return a list as the function takes it."""
        return np.array(items) if self.array else items


def _made(text: str, head: re.Match[str]) -> Pattern:
    kind = head["kind"]
    _refuse_misfits(text, head)
    size = int(head["size"] or _SIZES.get(kind, 1))
    if not 1 <= size <= _MOST:
        raise CatalogError("data-size-wrong", data=text, size=size, most=_MOST, name="data")
    columns = tuple(_column(part) for part in head["columns"].split(",")) if head["columns"] else ()
    usual: Values = (0, 1) if kind in ("values", "stream") else ()
    values = _values(head["values"]) if head["values"] else usual
    step = _number(head["step"]) if head["step"] else 1
    if step <= 0:
        raise CatalogError("data-step-wrong", data=text, step=step, name="data")
    return Pattern(kind, size, values, columns, step, bool(head["array"]), bool(head["extremes"]))


def _refuse_misfits(text: str, head: re.Match[str]) -> None:
    """Refuse parts that a kind has no use for, and the lack of one that it needs."""
    kind, several = head["kind"], "|" in (head["values"] or "")
    wrong = (
        (kind not in _SIZES and head["size"], "has no size"),
        (kind != "table" and head["columns"], "has no columns"),
        (kind == "table" and not head["columns"], "needs columns"),
        (kind in ("answers", "monotone", "counts", "table") and head["values"], "has no values"),
        (kind in ("scalar", "stream") and several, "takes numbers"),
        (kind == "choice" and not several, "needs values"),
        (kind not in ("scalar", "answers", "monotone", "counts") and head["step"], "has no step"),
        (kind in ("scalar", "choice", "table") and head["array"], "is no array"),
        ((kind not in ("values", "table") or head["array"]) and head["extremes"], "has no extremes here"),
    )
    for there, problem in wrong:
        if there:
            raise CatalogError("data-pattern-malformed", data=text, kind=kind, problem=problem, name="data")


def _column(text: str) -> tuple[str, Values]:
    name, _, values = text.strip().partition(" ")
    if not values.strip():
        raise CatalogError("data-column-empty", column=text.strip())
    return name, _values(values.strip().removeprefix("in "))


def _values(text: str) -> Values:
    if "|" in text:
        return tuple(part.strip() for part in text.split("|"))
    if found := _SPAN.fullmatch(text):
        low, high = _number(found[1] or "0"), _number(found[2])
        if low < high:
            return low, high
    raise CatalogError("data-values-malformed", text=text)


def _number(text: str) -> float:
    """Return an integer for what is written as one."""
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _said(values: Values) -> str:
    return "|".join(map(str, values)) if isinstance(values[0], str) else f"{values[0]}..{values[1]}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise CatalogError("data-not-json", text=text) from None
