"""Quantiles of a column, and the median."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.statistics.order_statistic import OrderStatistic, share_of
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Quantile(OrderStatistic):
    """The value of rank max(1, ceil(at n)) in a column of n values; `low` if there is none.

    Args:
        at: The share of the values at or below it, from 0 to 1.
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6, after Nissim, Raskhodnikova and Smith 2007.

    Example:
        >>> upper = Quantile(at=0.75, low=0, high=100, step=1, adjacency="add-remove")
        >>> column = upper.read([10, 20, 30, 40])
        >>> int(upper.value(column)), int(upper.local(column))
        (30, 10)
    """

    at: Fraction

    def __init__(
        self, *, at: Number, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        super().__init__(low=low, high=high, step=step, adjacency=adjacency)
        self._fill(at=share_of(at, "at"))

    @property
    def share(self) -> Fraction:
        """The share of the values at or below it."""
        return self.at


@dataclass(frozen=True, init=False, repr=False)
class Median(OrderStatistic):
    """The value of rank ceil(n/2) in a column of n values; `low` if there is none.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6, after Nissim, Raskhodnikova and Smith 2007.

    Example:
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> column = middle.read(range(10, 100, 10))
        >>> int(middle.value(column)), round(float(middle.smooth(column, Fraction(1, 20))), 7)
        (50, 63.7628152)
    """

    @property
    def share(self) -> Fraction:
        """One half."""
        return Fraction(1, 2)
