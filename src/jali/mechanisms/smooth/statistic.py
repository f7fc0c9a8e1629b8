"""What a statistic tells besides its value: how far one person can move it, here and nearby."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import parameter
from jali.mechanisms.smooth.bound import SmoothBound
from jali.numbers.search import least_integer_near
from jali.privacy.adjacency import Adjacency


class Statistic(ABC):
    """A number computed from a table, and how far it can move between neighbouring tables.

    Every statistic is a frozen dataclass with a keyword-only constructor. `read` clamps a table to its public
    ranges and puts it on the lattice, once; all else takes what `read` returned. Nothing that depends on the
    values of a table can fail. Numbers are in the units of the data, as exact rationals.

    With LS(x) = max |f(x) - f(y)| over the neighbours y of x, and A(k)(x) = max LS(y) over the tables y that are
    reached from x by at most k changes, the smooth sensitivity is S(x) = max over k >= 0 of exp(-beta k) A(k)(x).
    """

    adjacency: Adjacency
    step: Fraction
    """The lattice on which noisy values are released: public."""

    def __repr__(self) -> str:
        parts = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in parts)})"

    @abstractmethod
    def read(self, table: Any) -> Any:
        """Clamp a table to the public ranges and put it on the lattice."""

    @abstractmethod
    def value(self, column: Any) -> Fraction:
        """Return the statistic itself, which is not private."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The least and the largest value that the statistic has for any table: public."""

    @abstractmethod
    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the largest local sensitivity of any table; of any with so many people, where that is public."""

    @abstractmethod
    def at_distance(self, column: Any, changes: int) -> Fraction:
        """Return A(k), or a bound of it that no neighbour exceeds at k + 1: A(k)(x) <= B(k)(x) <= B(k+1)(y)."""

    def smooth(self, column: Any, beta: Fraction) -> SmoothBound:
        """Return max over k of exp(-beta k) times what `at_distance` returns; beta is a number above 0."""
        return self._smooth(column, parameter(beta, "beta"))

    @abstractmethod
    def _smooth(self, column: Any, beta: Fraction) -> SmoothBound:
        """Return the same, for a beta that has been checked."""

    def _fill(self, **values: Any) -> None:
        """Set the fields of a frozen dataclass, once, in its constructor."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def local(self, column: Any) -> Fraction:
        """Return the local sensitivity, or its bound: noise scaled to it alone would leak."""
        return self.at_distance(column, 0)

    def distance_above(self, column: Any, bound: Fraction, most: int) -> int:
        """Return the least k with A(k) > bound; `most` if there is none below it. Looks nearby first."""
        return least_integer_near(lambda k: k >= most or self.at_distance(column, k) > bound, min(0, most))


def _shown(value: Any) -> str:
    """Write rationals as people do; an adjacency by its name."""
    return (
        str(value) if isinstance(value, Fraction) else repr(str(value) if isinstance(value, Adjacency) else value)
    )
