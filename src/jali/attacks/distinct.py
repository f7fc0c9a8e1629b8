"""Secrets that are attacked one after the other, each once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from jali.attacks.oracle import Opponent
from jali.errors import CatalogError

Foe = TypeVar("Foe", bound=Opponent)


def distinct(opponents: Iterable[Foe]) -> Iterator[Foe]:
    """Hand on opponents, and refuse one that comes again.

    Its secret would be counted twice, as if two had been guessed, and a bound on its loss would be false. Nothing
    is kept of those that were handed on, so that many fit into memory.
    """
    seen: dict[int, Callable[[], Foe | None]] = {}
    for opponent in opponents:
        known = seen.get(id(opponent))
        if known is not None and known() is opponent:
            raise CatalogError("attack-opponent-twice", opponent=opponent.name)
        seen[id(opponent)] = _reference(opponent)
        yield opponent


def _reference(opponent: Foe) -> Callable[[], Foe | None]:
    """Refer to an opponent weakly if it lets one."""
    try:
        return weakref.ref(opponent)
    except TypeError:
        return lambda: opponent
