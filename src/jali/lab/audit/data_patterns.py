"""Patterns of data as a short text: what a function under audit takes.

The command line and reports write patterns. How many neighbours two inputs of a pattern are apart is counted
here too: it checks what a witness says of its inputs.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from jali.errors import CatalogError
from jali.privacy import Adjacency

Span: TypeAlias = tuple[float, float]
# What a value may be: between two numbers, or one of several texts.
Values: TypeAlias = Span | tuple[str, ...]

PATTERN_KINDS = ("scalar", "choice", "answers", "monotone", "counts", "values", "table", "stream")
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
        kind: One of `PATTERN_KINDS`, or "either".
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
            return cls("either", pair=(_read_json(found["one"]), _read_json(found["other"])))
        head = _HEAD.fullmatch(text.strip())
        if head is None or head["kind"] not in PATTERN_KINDS:
            raise CatalogError("data-pattern-unknown", data=text, name="data")
        return _build_pattern(text, head)

    def __str__(self) -> str:
        if self.pair is not None:
            return f"either {json.dumps(self.pair[0])} or {json.dumps(self.pair[1])}"
        said = [f"{self.kind}:{self.size}" if self.kind in _SIZES else self.kind]
        if self.columns:
            said.append("of " + ", ".join(f"{name} {_write_values(values)}" for name, values in self.columns))
        elif self.values:
            said.append(f"in {_write_values(self.values)}")
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

    def to_input(self, items: list[Any]) -> Any:
        """Return a list as the function takes it."""
        return np.array(items) if self.array else items


def _build_pattern(text: str, head: re.Match[str]) -> Pattern:
    kind = head["kind"]
    _refuse_misfits(text, head)
    size = int(head["size"] or _SIZES.get(kind, 1))
    if not 1 <= size <= _MOST:
        raise CatalogError("data-size-wrong", data=text, size=size, most=_MOST, name="data")
    columns = tuple(_read_column(part) for part in head["columns"].split(",")) if head["columns"] else ()
    usual: Values = (0, 1) if kind in ("values", "stream") else ()
    values = _read_values(head["values"]) if head["values"] else usual
    step = _read_number(head["step"]) if head["step"] else 1
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


def _read_column(text: str) -> tuple[str, Values]:
    name, _, values = text.strip().partition(" ")
    if not values.strip():
        raise CatalogError("data-column-empty", column=text.strip())
    return name, _read_values(values.strip().removeprefix("in "))


def _read_values(text: str) -> Values:
    if "|" in text:
        return tuple(part.strip() for part in text.split("|"))
    if found := _SPAN.fullmatch(text):
        low, high = _read_number(found[1] or "0"), _read_number(found[2])
        if low < high:
            return low, high
    raise CatalogError("data-values-malformed", text=text)


def _read_number(text: str) -> float:
    """Return an integer for what is written as one."""
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _write_values(values: Values) -> str:
    return "|".join(map(str, values)) if isinstance(values[0], str) else f"{values[0]}..{values[1]}"


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise CatalogError("data-not-json", text=text) from None


# Steps are quotients of doubles: what is this little above a whole number is one.
_ROUNDING = 1e-9


def count_neighbour_steps(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    """Return how many steps between neighbours lead from one input to the other; None where none do.

    An input that the pattern does not have is no neighbour of any: a claim says nothing about it.

    Example:
        >>> count_neighbour_steps(Pattern.read("scalar by 2"), Adjacency.ADD_REMOVE, 0, 40)
        20
        >>> count_neighbour_steps(Pattern.read("values:3 in 0..1"), Adjacency.ADD_REMOVE, [0, 1], [0])
        1
    """
    try:
        return _COUNTERS[pattern.kind](pattern, adjacency, _to_plain(one), _to_plain(other))
    except (TypeError, ValueError, OverflowError):
        return None


def _to_plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _count_for_pair(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    return 1 if repr(pattern.pair) in (repr((one, other)), repr((other, one))) else None


def _count_for_scalar(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    if pattern.values and not (_is_within(one, pattern.values) and _is_within(other, pattern.values)):
        return None
    return _count_steps(other - one, pattern.step)


def _count_for_choice(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    return int(one != other) if {one, other} <= set(pattern.values) else None


def _count_for_answers(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count by the answer that moved furthest: each may move by a step at a time."""
    return max(_count_steps(move, pattern.step) for move in _subtract(one, other))


def _count_for_monotone(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count the way up and the way down: all answers move the same way at a time."""
    moves = _subtract(one, other)
    return _count_steps(max(0, *moves), pattern.step) + _count_steps(min(0, *moves), pattern.step)


def _count_for_counts(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    moves = _subtract(one, other)
    people = sum(_count_steps(move, pattern.step) for move in moves)
    if adjacency is Adjacency.ADD_REMOVE:
        return people
    return None if abs(sum(moves)) > _ROUNDING else people // 2


def _count_for_people(pattern: Pattern, adjacency: Adjacency, one: Any, other: Any) -> int | None:
    """Count the people that are in one table only; their order plays no part."""
    if not pattern.extremes and not all(_fits_pattern(pattern, record) for record in (*one, *other)):
        return None
    first, second = Counter(map(repr, one)), Counter(map(repr, other))
    gone, come = (first - second).total(), (second - first).total()
    if adjacency is Adjacency.ADD_REMOVE:
        return gone + come
    return gone if gone == come else None


def _count_for_stream(pattern: Pattern, _: Adjacency, one: Any, other: Any) -> int | None:
    """Count the increments that differ; one that is gone is 0."""
    inside = all(_is_within(value, pattern.values) or value == 0 for value in (*one, *other))
    return sum(move != 0 for move in _subtract(one, other)) if inside else None


_COUNTERS: dict[str, Callable[[Pattern, Adjacency, Any, Any], int | None]] = {
    "either": _count_for_pair,
    "scalar": _count_for_scalar,
    "choice": _count_for_choice,
    "answers": _count_for_answers,
    "monotone": _count_for_monotone,
    "counts": _count_for_counts,
    "values": _count_for_people,
    "table": _count_for_people,
    "stream": _count_for_stream,
}


def _count_steps(move: float, step: float) -> int:
    return math.ceil(abs(move) / step - _ROUNDING)


def _subtract(one: Any, other: Any) -> list[float]:
    return [second - first for first, second in zip(one, other, strict=True)]


def _fits_pattern(pattern: Pattern, record: Any) -> bool:
    """Return whether a record is one that the pattern has."""
    if not pattern.columns:
        return _is_within(record, pattern.values)
    columns = dict(pattern.columns)
    return record.keys() == columns.keys() and all(_is_within(record[name], columns[name]) for name in columns)


def _is_within(value: Any, values: Values) -> bool:
    if isinstance(values[0], str):
        return value in values
    return not isinstance(value, str) and bool(values[0] <= value <= values[-1])
