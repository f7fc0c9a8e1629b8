"""What the table of functions is made of: types of expressions, and functions with the rule for their type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jali.query.bounds import ANYTHING, Bounds
from jali.query.catalog import Kind


@dataclass(frozen=True)
class Type:
    """The kind of an expression, the interval of its values, and whether it can be NULL.

    A kind of None is the literal NULL. The interval of a date is in days, that of a timestamp in microseconds,
    both since 1970. Numbers are computed as doubles: every value the engine makes lies between the doubles nearest
    to the ends, as long as every column lies within its own. NaN is no value.
    """

    kind: Kind | None
    bounds: Bounds = ANYTHING
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
