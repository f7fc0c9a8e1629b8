"""What all means share: their parameters, their range, and the middle of it for an empty column."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

from jali.mechanisms.ruler import Marks, Ruler
from jali.mechanisms.smooth.statistics.clipped import Clipped
from jali.mechanisms.smooth.statistics.sums import Sorted
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


class Location(Clipped):
    """A mean of some kind, between the least and the largest mark; the middle of the range if there are none."""

    def _declare(self, low: Number, high: Number, step: Number | None, adjacency: str | Adjacency) -> None:
        ruler = Ruler.of(low, high, step)
        self._set(low=ruler.low, high=ruler.high, step=ruler.step, adjacency=Adjacency.of(adjacency))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def ruler(self) -> Ruler:
        """The lattice of the column, and of what is released."""
        return Ruler(self.low, self.high, self.step)

    @property
    def unit(self) -> Fraction:
        """The step: a mean has the units of the column."""
        return self.step

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The first and the last mark."""
        return self.ruler.first * self.step, (self.ruler.first + self.ruler.top) * self.step

    def value(self, column: Marks) -> Fraction:
        """Return the mean, exactly; of nobody, the middle of the range."""
        centre = self.centre(self._sorted(column), len(column)) if len(column) else Fraction(self.ruler.top, 2)
        return (self.ruler.first + centre) * self.step

    @abstractmethod
    def centre(self, column: Sorted, size: int) -> Fraction:
        """Return the mean of the `size` smallest marks of a column, in marks; at least one."""
