"""The most frequent value of a column with few marks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import natural
from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.bound import SmoothBound
from jali.mechanisms.smooth.peak import smooth_bound
from jali.mechanisms.smooth.statistics.contest import NEVER, Contest
from jali.mechanisms.smooth.statistics.on_ruler import OnRuler
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_MOST_MARKS = 256


@dataclass(frozen=True, repr=False)
class Winner(OnRuler):
    """The most frequent mark of a column, as a number: the smallest of them where several are; `low` if none is.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks; at most 256 of them on the range.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 4 and 5.

    Example:
        >>> favourite = Winner(low=1, high=5, step=1, adjacency="add-remove")
        >>> column = favourite.read([1, 4, 4, 4, 5])
        >>> int(favourite.value(column)), int(favourite.local(column)), int(favourite.at_distance(column, 1))
        (4, 0, 3)
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(self, *, low: Number, high: Number, step: Number, adjacency: str | Adjacency) -> None:
        self._declare(low, high, step, adjacency)
        if self.ruler.top >= _MOST_MARKS:
            raise MechanismError("step-too-small-for-marks", most=_MOST_MARKS)

    def read(self, table: Any) -> Contest:
        """Clamp a column to the range and count its marks."""
        return Contest(np.bincount(self.ruler.marks(table), minlength=self.ruler.top + 1))

    def value(self, column: Contest) -> Fraction:
        """Return the statistic itself, which is not private."""
        return (self.ruler.first + column.winner) * self.step

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the width of the range; 0 for no people, of whom none can be replaced."""
        alone = people == 0 and self.adjacency is Adjacency.REPLACE_ONE
        return Fraction(0) if alone else self.ruler.top * self.step

    def at_distance(self, column: Contest, changes: int) -> Fraction:
        """Return A(k), exactly."""
        return _gap(self._costs(column), natural(changes, "changes", least=0)) * self.step

    def _smooth(self, column: Contest, beta: Fraction) -> SmoothBound:
        """Return the smooth sensitivity, exactly."""
        costs = self._costs(column)
        most = int(costs.max(initial=0, where=costs < NEVER))
        return smooth_bound(lambda changes: _gap(costs, changes), most, beta, self.step)

    def _costs(self, column: Contest) -> Marks:
        return column.when_replacing if self.adjacency is Adjacency.REPLACE_ONE else column.when_adding


def _gap(costs: Marks, changes: int) -> int:
    """Return the widest gap that costs at most so many changes; wider ones never cost less."""
    return int(np.searchsorted(costs, changes, "right"))
