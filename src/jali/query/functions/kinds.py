"""Which kinds go together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jali.query.catalog import Kind
from jali.query.functions.function import Type

DATED = frozenset({Kind.DATE, Kind.TIMESTAMP})


def numbers(types: Sequence[Type]) -> Kind:
    """Return the kind of a number made of these numbers."""
    if not all(t.numeric for t in types):
        raise ValueError("takes numbers")
    return Kind.REAL if any(t.kind is Kind.REAL for t in types) else Kind.INTEGER


def alike(types: Sequence[Type]) -> Kind | None:
    """Return the kind that all types share; numbers of both kinds are alike, and NULL is like anything."""
    kinds = {t.kind for t in types if t.kind is not None}
    if kinds <= {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL if Kind.REAL in kinds else (Kind.INTEGER if kinds else None)
    if len(kinds) > 1 or kinds == {Kind.OTHER}:
        raise ValueError("compares values of one kind")
    return kinds.pop()


def comparable(types: Sequence[Type]) -> None:
    """Refuse values that cannot be compared; a date meets a timestamp as the midnight it begins with."""
    if not {t.kind for t in types if t.kind is not None} <= DATED:
        alike(types)


def only(types: Sequence[Type], kinds: Collection[Kind], takes: str) -> None:
    """Refuse kinds that a function does not take. NULL is of every kind."""
    if any(t.kind is not None and t.kind not in kinds for t in types):
        raise ValueError(f"takes {takes}")


def dated(types: Sequence[Type]) -> None:
    """Refuse what is neither a date nor a timestamp."""
    only(types, DATED, "dates or timestamps")
