"""Statistics whose values lie on the lattice of their column."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from jali.mechanisms.ruler import Ruler
from jali.mechanisms.smooth.statistic import Statistic
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


class OnRuler(Statistic):
    """A statistic of a column with a declared range; what it says lies between the first and the last mark."""

    low: Fraction
    high: Fraction

    def _declare(self, low: Number, high: Number, step: Number | None, adjacency: str | Adjacency) -> None:
        """Set the fields of the range, once, in a constructor."""
        ruler = Ruler.of(low, high, step)
        self._fill(low=ruler.low, high=ruler.high, step=ruler.step, adjacency=Adjacency.of(adjacency))

    @cached_property
    def ruler(self) -> Ruler:
        """The lattice of the column, and of what is released."""
        return Ruler(self.low, self.high, self.step)

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The first and the last mark."""
        return self.ruler.first * self.step, (self.ruler.first + self.ruler.top) * self.step
