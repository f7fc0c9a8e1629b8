"""How large a group must be to appear: what an answer says of the groups that it does not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ShowsKeys(Protocol):
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
        shown = f"a group of {_people(self.likely)} appears with {100 * self.confidence:.12g} %"
        return f"{shown}, one of {self.even:,} with 50 %, {never}"


def group_sizes(mechanism: ShowsKeys, *, confidence: float = 0.95) -> GroupSizes:
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


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"
