"""The arguments of `db.stream`, as they were given.

It imports nothing at run time: the database reads it before anybody makes a stream.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

if TYPE_CHECKING:
    from jali.catalog.columns import Keys, Range
    from jali.privacy import Adjacency, Budget
    from jali.privacy.rationals import Number


@dataclass(frozen=True)
class Unsaid:
    """Stands for what was not said, where None says something."""


UNSAID = Unsaid()


@dataclass(frozen=True, kw_only=True)
class StreamArguments:
    """What `db.stream` was told."""

    unit: str | Unsaid | None = UNSAID
    horizon: int | Unsaid | None = UNSAID
    budget: Budget | None = None
    measure: str | None = None
    keys: Sequence[Any] | Keys | None = None
    value: Range | None = None
    bins: Sequence[Any] | None = None
    every: str | None = None
    start: str | date | None = None
    max_ticks: int = 1
    separation: int = 1
    max_items: int = 1
    adjacency: str | Adjacency | None = None
    adaptive: bool = True
    mechanism: str | None = None
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    query: str | None = None
    key: str | None = None
    late: int | None = None
    last: int | None = None
    restart: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether only a name was given: a stream that there is already is meant."""
        return self == StreamArguments()


class StreamTerms(TypedDict, total=False):
    """The keywords of `db.stream`, as `StreamArguments` has them."""

    unit: str | Unsaid | None
    horizon: int | Unsaid | None
    budget: Budget | None
    measure: str | None
    keys: Sequence[Any] | Keys | None
    value: Range | None
    bins: Sequence[Any] | None
    every: str | None
    start: str | date | None
    max_ticks: int
    separation: int
    max_items: int
    adjacency: str | Adjacency | None
    adaptive: bool
    mechanism: str | None
    epsilon: Number | None
    rho: Number | None
    delta: Number | None
    query: str | None
    key: str | None
    late: int | None
    last: int | None
    restart: int | None


_Declaring = TypeVar("_Declaring", bound=Callable[..., Any])


def show_stream_terms(function: _Declaring) -> _Declaring:
    """Show the keywords one by one to whoever inspects a function that takes `**declared: Unpack[StreamTerms]`."""
    signature = inspect.signature(function)
    *others, _ = signature.parameters.values()
    keywords = inspect.signature(StreamArguments).parameters.values()
    function.__signature__ = signature.replace(parameters=[*others, *keywords])  # type: ignore[attr-defined]
    return function
