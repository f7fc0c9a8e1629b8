"""Privacy budgets as exact rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError
from jali.numbers.exact import decimal
from jali.privacy.rationals import Number, positive, probability


@dataclass(frozen=True)
class Budget:
    """A limit of (epsilon, delta) on everything that is ever released.

    Args:
        epsilon: The limit on epsilon.
        delta: The limit on delta.
        delta_events: The part of delta that events with a delta of their own may use; the rest is for
            adding up many questions by the square root. Fixed here for ever; half of delta by default.

    Example:
        >>> Budget(epsilon=3, delta=1e-6)
        Budget(epsilon=3, delta=1e-06)
    """

    epsilon: Fraction
    delta: Fraction
    delta_events: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0, *, delta_events: Number | None = None) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))
        part = self.delta / 2 if delta_events is None else probability(delta_events, "delta_events")
        if part > self.delta:
            raise CatalogError("delta-events-too-large")
        object.__setattr__(self, "delta_events", part)

    def __repr__(self) -> str:
        return f"Budget({self})"

    def __str__(self) -> str:
        return f"epsilon={decimal(self.epsilon)}, delta={decimal(self.delta)}"
