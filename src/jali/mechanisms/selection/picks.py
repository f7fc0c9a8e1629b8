"""Picks of the heaviest cells: selections among the cells of an axis by their weight."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from jali.mechanisms.measurement import (
    Description,
    Pick,
    Reach,
    SparseCells,
    bounded_range,
    dense,
    pick_one_by_one,
    spent_on_picks,
)
from jali.mechanisms.selection.selection import EvenSelection
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss

EXPONENTIAL, PERMUTE_AND_FLIP = "exponential mechanism", "permute-and-flip"
EXPONENTIAL_PAGE = "docs/proofs/exponential.md (McSherry and Talwar 2007)"
PERMUTE_AND_FLIP_PAGE = "docs/proofs/permute_and_flip.md (McKenna and Sheldon 2020)"


class PickByWeight(EvenSelection, Pick):
    """A selection that a question may pick cells by."""

    stored_parts: ClassVar[str] = "sensitivity epsilon monotone adjacency step"
    looks_at: ClassVar[str] = "weight"
    noun: ClassVar[str]
    page: ClassVar[str]

    @classmethod
    def calibrate(cls, reach: Reach, loss: Loss) -> Self | None:
        """Return the pick for the loss of one of them, or None if the loss is not of its kind."""
        if (loss.event.epsilon is not None) is not cls.for_pure_loss:
            return None
        monotone = reach.changes == 1
        return cls(
            sensitivity=reach.cell,
            epsilon=bounded_range(loss),
            monotone=monotone,
            adjacency=Adjacency.ADD_REMOVE if monotone else None,
        )

    def spent(self, reach: Reach) -> Event:
        """Return a loss that is proportional to how far a cell moves, and to the number of picks."""
        moved = reach.cell / self.sensitivity
        if self.monotone and reach.changes > 1:
            moved *= 2
        return spent_on_picks(self, self.epsilon * moved, reach.picks)

    def describe(self) -> Description:
        """Name the choice, the scale on which weights are told apart, and the theorem."""
        return Description(self.noun, "weight", "scale", float(self.scale), (self.page,))

    def off_by(self, confidence: float, cells: int) -> float:
        """Return how much lighter the pick is at most than the heaviest, whatever the weights."""
        return self.error(confidence, candidates=cells)

    @abstractmethod
    def swapped(self) -> PickByWeight:
        """Return the pick of the other kind of loss."""

    def release_cells(self, groups: Sequence[SparseCells], width: int, picks: int) -> tuple[Any, ...]:
        """Pick cells of each group one after the other."""
        return tuple(pick_one_by_one(self, dense(group, width), picks) for group in groups)
