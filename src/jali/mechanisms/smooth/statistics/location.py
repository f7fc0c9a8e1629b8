"""What all means share: their parameters, their range, and the middle of it for an empty column."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.statistics.clipped import Clipped
from jali.mechanisms.smooth.statistics.on_ruler import OnRuler
from jali.mechanisms.smooth.statistics.sums import Sorted


class Location(OnRuler, Clipped):
    """A mean of some kind, between the least and the largest mark; the middle of the range if there are none."""

    @property
    def unit(self) -> Fraction:
        """The step: a mean has the units of the column."""
        return self.step

    def value(self, column: Marks) -> Fraction:
        """Return the mean, exactly; of nobody, the middle of the range."""
        centre = self.centre(self._sorted(column), len(column)) if len(column) else Fraction(self.ruler.top, 2)
        return (self.ruler.first + centre) * self.step

    @abstractmethod
    def centre(self, column: Sorted, size: int) -> Fraction:
        """Return the mean of the `size` smallest marks of a column, in marks; at least one."""
