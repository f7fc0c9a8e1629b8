"""What a stable release answers, and the one step from data to the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jali.mechanisms.stability.declined import DECLINED
from jali.mechanisms.stability.stable_value import Stable, StableValue
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Told:
    """An exact answer or none, and what it spent: the same in both cases.

    Attributes:
        answer: The answer, or `DECLINED`.
        loss: What it spent.
        adjacency: When two tables are neighbours.
        mechanism: The mechanism that told it.
        assumed: What the loss rests on.
    """

    answer: Any
    loss: Loss
    adjacency: Adjacency
    mechanism: StableValue
    assumed: tuple[str, ...]

    @property
    def declined(self) -> bool:
        """Whether there is no answer."""
        return self.answer is DECLINED

    def __repr__(self) -> str:
        return f"Told({self.answer!r}, {self.loss.event})"


def tell(
    stable: Stable,
    mechanism: StableValue,
    adjacency: Adjacency,
    assumed: tuple[str, ...],
    bits: BitSource | None,
) -> Told:
    """Release a stable value and say what it spent."""
    return Told(mechanism.release(stable, bits=bits), mechanism.loss, adjacency, mechanism, assumed)


def prepared(epsilon: Number, delta: Number, adjacency: str | Adjacency) -> tuple[StableValue, Adjacency]:
    """Read what every application is given, before any data is touched."""
    return StableValue(epsilon=epsilon, delta=delta), Adjacency.of(adjacency)
