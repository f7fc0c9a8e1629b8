"""What the database asks of a mechanism that chooses which groups of a question are shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import NDArray

from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss

if TYPE_CHECKING:
    from jali.mechanisms.keys.noisy_counts import NoisyCounts


class GroupSelection(ABC):
    """Chooses groups by the number of people behind each, one count for each key."""

    # What it is called in stored plans, and its parameters.
    tag: ClassVar[str]
    stored_parts: ClassVar[str]
    page: ClassVar[str]

    delta: Fraction
    max_keys: int
    adjacency: Adjacency
    least_people: int

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What it was made to spend."""

    @property
    def counts(self) -> NoisyCounts | None:
        """The noisy counts by which groups are chosen and which may be told with them; None if there are none."""
        return None

    @classmethod
    @abstractmethod
    def calibrate(
        cls, loss: Loss, delta: Fraction, *, max_keys: int, changes: int, least_people: int
    ) -> Self | None:
        """Return the selection for a loss, or None if the loss is not of its kind.

        Args:
            loss: What choosing may spend, besides delta.
            delta: With what probability it may fail.
            max_keys: How many groups one person keeps at most.
            changes: How many sets of kept groups one unit changes.
            least_people: Groups of fewer people are never shown.
        """

    @abstractmethod
    def choose_groups(self, people: NDArray[Any]) -> list[tuple[int, int | None]]:
        """Return the places of the groups that are shown, each with its noisy count where that is told."""

    @abstractmethod
    def spent_choosing(self, max_keys: int, changes: int) -> Event | None:
        """Return the loss, from the noise or the coins; None if it was not made for so many changes."""

    @abstractmethod
    def error(self, confidence: float, *, keys: int = 1) -> int:
        """Return the least number of people from which keys are shown with this confidence."""

    def made_for(self, max_keys: int, changes: int) -> bool:
        """Say whether so many counts can move by what one unit changes, and no more."""
        return max_keys * changes <= self.max_keys * (1 if self.adjacency is Adjacency.ADD_REMOVE else 2)


def adjacency_of(changes: int) -> Adjacency:
    """Return the adjacency under which one unit changes so many sets of groups."""
    return Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
