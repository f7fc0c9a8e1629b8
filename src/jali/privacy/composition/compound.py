"""Losses that are composed, each with its count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import ClassVar, TypeAlias

from jali.errors import CatalogError
from jali.privacy.event import NOTHING, Event
from jali.privacy.loss import Loss

Parts: TypeAlias = tuple[tuple[Loss, int], ...]


class Compound(Loss):
    """A loss made of others."""

    _cheap: ClassVar[bool] = False

    @property
    @abstractmethod
    def dominating(self) -> Parts:
        """Losses whose composition dominates this one, where they are known; else itself."""


def dominating(loss: Loss) -> Parts:
    """Return losses whose composition dominates a loss: what a distribution is made of."""
    return loss.dominating if isinstance(loss, Compound) else ((loss, 1),)


def merge_parts(parts: Iterable[tuple[Loss, int]]) -> Parts:
    """Return each different loss once, with the sum of its counts, in an order of its own."""
    counts: dict[Loss, int] = {}
    for loss, count in parts:
        counts[loss] = counts.get(loss, 0) + count
    return tuple(sorted(counts.items(), key=lambda part: _key(part[0])))


def total(parts: Parts) -> Event:
    """Return the exact sum of all events; refused where a loss has none."""
    return reduce(add, (_times(loss.event, count) for loss, count in parts), NOTHING)


def event_of(loss: Loss) -> Event | None:
    """Return the event of a loss; None where it has none (a Rényi curve)."""
    try:
        return loss.event
    except CatalogError:
        return None


def events(parts: Parts) -> tuple[tuple[Event, int], ...]:
    """Return the events of losses that all have one, with their counts."""
    return tuple((loss.event, count) for loss, count in parts)


def epsilons(parts: Parts) -> tuple[tuple[Fraction, int], ...]:
    """Return the pure epsilons of losses that all have one, with their counts."""
    return tuple((event.epsilon, count) for event, count in events(parts) if event.epsilon is not None)


def lacks_event(parts: Parts) -> str | None:
    """Say which kind of loss has no event, if one has none."""
    kinds = (kind(loss) for loss, _ in parts if event_of(loss) is None)
    return next((f"{name} has no event" for name in kinds), None)


def lacks_epsilon(parts: Parts) -> str | None:
    """Say which kind of loss has no pure epsilon, if one has none."""
    kinds = (kind(loss) for loss, _ in parts if not has_epsilon(loss))
    return next((f"{name} has no pure epsilon" for name in kinds), None)


def has_epsilon(loss: Loss) -> bool:
    """Say whether the loss has a pure epsilon, besides its delta."""
    event = event_of(loss)
    return event is not None and event.epsilon is not None


def kind(loss: Loss) -> str:
    """Return the name of the kind of a loss."""
    return type(loss).__name__


def _times(event: Event, count: int) -> Event:
    epsilon = None if event.epsilon is None else count * event.epsilon
    return Event(epsilon, count * event.rho, count * event.delta)


def _key(loss: Loss) -> tuple[str, tuple[float, ...], str]:
    """Return what losses are ordered by: the kind, its numbers, and all of its fields exactly."""
    values = [getattr(loss, field.name) for field in fields(loss)] if is_dataclass(loss) else [loss]
    return kind(loss), tuple(float(value) for value in values if isinstance(value, Fraction)), repr(values)
