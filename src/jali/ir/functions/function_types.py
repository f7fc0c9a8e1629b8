"""What the table of functions is made of: types, functions with their rules, and which kinds go together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import ANYTHING, NumberInterval


@dataclass(frozen=True)
class Type:
    """The kind of an expression, the interval of its values, and whether it can be NULL.

    A kind of None is the literal NULL. The interval of a date is in days, that of a timestamp in microseconds,
    both since 1970. Numbers are computed as doubles: every value the engine makes lies between the doubles nearest
    to the ends, as long as every column lies within its own. NaN is no value.
    """

    kind: Kind | None
    bounds: NumberInterval = ANYTHING
    nullable: bool = field(default=True, compare=False)

    @property
    def numeric(self) -> bool:
        """Whether this is a number (or NULL)."""
        return self.kind is None or self.kind.numeric


Rule = Callable[[Sequence[Type]], Type]


@dataclass(frozen=True)
class Function:
    """One function of the question language.

    Attributes:
        name: How nodes call it.
        shape: How people write it.
        least: The least number of arguments.
        most: The largest number of arguments, None for any.
        gives: The type of the result, or a ValueError with what it takes.
        after: Whether it may also be used on noisy values.
        nulls: What it does with NULL.
    """

    name: str
    shape: str
    least: int
    most: int | None
    gives: Rule
    after: bool
    nulls: str = "NULL if an argument is NULL"


DATED = frozenset({Kind.DATE, Kind.TIMESTAMP})


def find_number_kind(types: Sequence[Type]) -> Kind:
    """Return the kind of a number made of these numbers."""
    if not all(t.numeric for t in types):
        raise ValueError("takes numbers")
    return Kind.REAL if any(t.kind is Kind.REAL for t in types) else Kind.INTEGER


def find_common_kind(types: Sequence[Type]) -> Kind | None:
    """Return the kind that all types share; numbers of both kinds are alike, and NULL is like anything."""
    kinds = {t.kind for t in types if t.kind is not None}
    if kinds <= {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL if Kind.REAL in kinds else (Kind.INTEGER if kinds else None)
    if len(kinds) > 1 or kinds == {Kind.OTHER}:
        raise ValueError("compares values of one kind")
    return kinds.pop()


def check_comparable(types: Sequence[Type]) -> None:
    """Refuse values that cannot be compared; a date meets a timestamp as the midnight it begins with."""
    if not {t.kind for t in types if t.kind is not None} <= DATED:
        find_common_kind(types)


def check_kinds(types: Sequence[Type], kinds: Collection[Kind], takes: str) -> None:
    """Refuse kinds that a function does not take. NULL is of every kind."""
    if any(t.kind is not None and t.kind not in kinds for t in types):
        raise ValueError(f"takes {takes}")


def check_dated(types: Sequence[Type]) -> None:
    """Refuse what is neither a date nor a timestamp."""
    check_kinds(types, DATED, "dates or timestamps")
