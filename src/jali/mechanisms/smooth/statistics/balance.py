"""How few values may stay on one side of a gap so that a quantile still jumps across it.

A quantile other than the median, where people are added and removed: with i values kept below the gap and h above
it, k changes suffice if and only if n - 2(i + h) + max(s(i), t(h), i + h) <= k, where s(i) and t(h) are the least
sizes of balanced tables with so many values on that side (docs/proofs/smooth_sensitivity.md, Theorem 3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.numbers.search import least_integer

_SAFE = 1 << 62


@dataclass(frozen=True)
class Balance(ABC):
    """The side of the gap on which values count for less, and what it asks of the other side.

    Attributes:
        at: The share of the values at or below the quantile.
        people: How many values there are.
        changes: How many people may be added or removed; fewer than there are.
    """

    at: Fraction
    people: int
    changes: int

    @property
    @abstractmethod
    def last(self) -> int:
        """The most values that can be kept on this side."""

    @property
    @abstractmethod
    def least(self) -> int:
        """No fewer values than so many can be kept on this side."""

    @abstractmethod
    def size(self, kept: Any) -> Any:
        """Return the least size of a balanced table with so many values on this side."""

    @abstractmethod
    def other_size(self, kept: int) -> int:
        """Return the least size of a balanced table with so many values on the other side."""

    @property
    def first(self) -> int:
        """The fewest values that can be kept on this side: by bisection, as with more of them it gets easier."""
        return least_integer(self._possible, max(0, self.least) - 1, self.last)

    def fewest(self, kept: Any) -> Any:
        """Return how few values must be kept on the other side: for a number, or for each of many."""
        missing = self.people - self.changes - kept
        needed = -((kept - missing - self.size(kept)) // 2)
        if isinstance(kept, int):
            return max(0, missing, needed)
        return np.maximum(0, np.maximum(missing, needed))

    def _possible(self, kept: int) -> bool:
        other: int = self.fewest(kept)
        return self.other_size(other) <= self.changes - self.people + 2 * (kept + other)


class Below(Balance):
    """The values below the gap, for a quantile above the median."""

    @property
    def last(self) -> int:
        """The largest i with s(i) <= n + k."""
        size = self.people + self.changes + 1
        return min(self.people, -(-self.at.numerator * size // self.at.denominator) - 1)

    @property
    def least(self) -> int:
        """The rank less the changes and one."""
        return -(-self.at.numerator * self.people // self.at.denominator) - self.changes - 1

    def size(self, kept: Any) -> Any:
        """Return s(i) = floor(i / at)."""
        return quotient(kept, self.at.denominator, self.at.numerator)

    def other_size(self, kept: int) -> int:
        """Return t(h) = ceil((h - 1) / (1 - at)) + 1, and 0 for none."""
        other = self.at.denominator - self.at.numerator
        return 1 - (1 - kept) * self.at.denominator // other if kept else 0


class Above(Balance):
    """The values above the gap, for a quantile below the median."""

    @property
    def last(self) -> int:
        """The largest h with t(h) <= n + k."""
        size = self.people + self.changes + 1
        return min(self.people, (self.at.denominator - self.at.numerator) * size // self.at.denominator)

    @property
    def least(self) -> int:
        """The number of values above the rank, less the changes."""
        above = (self.at.denominator - self.at.numerator) * self.people // self.at.denominator
        return above - self.changes

    def size(self, kept: Any) -> Any:
        """Return t(h) = ceil(h / (1 - at)) - 1, and 0 for none."""
        larger = -quotient(-kept, self.at.denominator, self.at.denominator - self.at.numerator)
        return larger - (kept > 0)

    def other_size(self, kept: int) -> int:
        """Return s(i) = floor((i - 1) / at) + 2, and 0 for none."""
        return (kept - 1) * self.at.denominator // self.at.numerator + 2 if kept else 0


def quotient(counts: Any, numerator: int, denominator: int) -> Any:
    """Return floor(counts * numerator / denominator), within 62 bits for an array."""
    if isinstance(counts, int):
        return counts * numerator // denominator
    if int(np.abs(counts).max(initial=0)) * numerator < _SAFE and denominator < _SAFE:
        return counts * numerator // denominator
    exact = [count * numerator // denominator for count in counts.tolist()]
    return np.array([max(-_SAFE, min(_SAFE, item)) for item in exact], np.int64)
