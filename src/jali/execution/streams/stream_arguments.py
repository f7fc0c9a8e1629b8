"""The arguments of `db.stream`, as they were given.

It imports nothing at run time: the database reads it before anybody makes a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

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
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
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
    query: str | None = None
    key: str | None = None
    late: int | None = None
    last: int | None = None
    restart: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether only a name was given: a stream that there is already is meant."""
        return self == StreamArguments()
