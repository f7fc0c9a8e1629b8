"""All kinds of events, and how one is made again of what a file keeps."""

from __future__ import annotations

from typing import Any

from jali.audit.events.atom import Atom
from jali.audit.events.between import Between
from jali.audit.events.event import Event
from jali.audit.events.low_bits import LowBits
from jali.audit.events.out_of_reach import OutOfReach
from jali.audit.events.outcome import Outcome
from jali.audit.events.score import Score
from jali.audit.events.threshold import Threshold
from jali.errors import CatalogError

EVENTS: tuple[type[Event], ...] = (Threshold, Between, Atom, Score, LowBits, OutOfReach, Outcome)


def event_of(made: dict[str, Any]) -> Event:
    """Make an event again of what its `to_dict` returned.

    Example:
        >>> str(event_of(Threshold(0, 1.5).to_dict()))
        'number 1 of the output is at least 1.5'
    """
    for kind in EVENTS:
        if kind.kind == made.get("kind"):
            return _made(kind, made)
    raise CatalogError("event-kind-unknown", kind=made.get("kind"), kinds=tuple(kind.kind for kind in EVENTS))


def _made(kind: type[Event], made: dict[str, Any]) -> Event:
    try:
        return kind.of_dict(made)
    except (KeyError, TypeError, ValueError):
        raise CatalogError("event-malformed", kind=kind.kind, given=str(made)[:80]) from None
