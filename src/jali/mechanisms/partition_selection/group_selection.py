"""The protocol of partition selection, its loss per key and the least size of a group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number

if TYPE_CHECKING:
    from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts


# Decimal's ln and exp are correctly rounded; the result is lowered by more than all roundings together.
_DIGITS, _SLACK = 60, Decimal("1e-40")

# The precision of all bounds grows with the digits of delta.
_LEAST = Fraction(1, 10**300)


def read_delta(delta: Number) -> Fraction:
    """Return a parameter `delta` as a rational from 1e-300 to below 1."""
    value = read_parameter(delta, "delta")
    if value >= 1:
        raise MechanismError("parameter-not-below-one", value=delta, name="delta")
    if value < _LEAST:
        raise MechanismError("delta-too-small", name="delta")
    return value


def count_changed_keys(max_keys: int, adjacency: Adjacency) -> int:
    """Return how many counts one person's change can move: a replacement takes from some, adds to others."""
    return max_keys if adjacency is Adjacency.ADD_REMOVE else 2 * max_keys


@lru_cache(maxsize=256)
def split_delta(delta: Fraction, keys: int) -> Fraction:
    """Return 1 - (1-delta)^(1/keys), rounded down by less than 1e-39 of itself.

    Example:
        >>> split_delta(Fraction(1, 10), 1), round(float(split_delta(Fraction(3, 4), 2)), 9)
        (Fraction(1, 10), 0.5)
    """
    if keys == 1:
        return delta
    # 1 - delta/keys agrees with 1 in so many digits that the difference loses.
    lost = len(str(delta.denominator * keys // delta.numerator))
    with localcontext(Context(prec=_DIGITS + lost)):
        rest = Decimal((1 - delta).numerator) / Decimal((1 - delta).denominator)
        each = 1 - (rest.ln() / keys).exp()
        return Fraction(Context(prec=_DIGITS).multiply(each, 1 - _SLACK))


class KeySelector(Protocol):
    """A mechanism that releases a key the more likely, the more people it has."""

    @property
    def least_people(self) -> int:
        """A key of fewer people is never released."""

    def error(self, confidence: float, *, keys: int = 1) -> int:
        """Return the least number of people from which keys are released with this confidence."""


@dataclass(frozen=True)
class GroupSizes:
    """Three sizes of a group: one that is likely to appear, one that does half the time, and the least that can.

    Attributes:
        likely: The least number of people that appears with probability `confidence`.
        even: The least number of people that appears with probability 1/2.
        least: A group of fewer people than this never appears.
        confidence: How likely is likely.
    """

    likely: int
    even: int
    least: int
    confidence: float

    def __str__(self) -> str:
        never = f"one of fewer than {self.least:,} never" if self.least > 1 else "an empty one never"
        shown = f"a group of {_format_people(self.likely)} appears with {100 * self.confidence:.12g} %"
        return f"{shown}, one of {self.even:,} with 50 %, {never}"


def group_sizes(mechanism: KeySelector, *, confidence: float = 0.95) -> GroupSizes:
    """Return how many people a key of this mechanism needs to appear: public, as it looks at no data.

    Args:
        mechanism: `OptimalKeys`, `LaplaceThreshold` or `GaussianThreshold`.
        confidence: How likely a likely group is to appear, strictly between 0 and 1.

    Example:
        >>> from jali.mechanisms import OptimalKeys
        >>> mechanism = OptimalKeys(epsilon=1, delta=1e-6, adjacency="add-remove", least_people=10)
        >>> print(group_sizes(mechanism))
        a group of 25 people appears with 95 %, one of 23 with 50 %, one of fewer than 10 never
    """
    likely, even = mechanism.error(confidence), mechanism.error(0.5)
    return GroupSizes(likely, even, mechanism.least_people, float(confidence))


def _format_people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


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
    def counts(self) -> ThresholdedCounts | None:
        """The noisy counts by which groups are chosen, and which may be released with them, or None."""
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
        """Return the places of the groups that are shown, each with its noisy count where that is released."""

    @abstractmethod
    def compute_choice_event(self, max_keys: int, changes: int) -> Event | None:
        """Return the loss, from the noise or the draws; None if it was not made for so many changes."""

    @abstractmethod
    def error(self, confidence: float, *, keys: int = 1) -> int:
        """Return the least number of people from which keys are shown with this confidence."""

    def covers(self, max_keys: int, changes: int) -> bool:
        """Say whether so many counts can move by what one unit changes, and no more."""
        return max_keys * changes <= self.max_keys * (1 if self.adjacency is Adjacency.ADD_REMOVE else 2)


def find_adjacency(changes: int) -> Adjacency:
    """Return the adjacency under which one unit changes so many sets of groups."""
    return Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
