"""Sensitivity: how far apart the values of neighbouring tables can be, in a norm, under an adjacency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.privacy.rounding import float_above


@dataclass(frozen=True)
class Root:
    """The square root of a rational, exactly: what an L2 sensitivity is.

    Example:
        >>> Root(2) * 3
        Root(squared=Fraction(18, 1))
        >>> round(float(Root(2)), 6)
        1.414214
    """

    squared: Fraction

    def __init__(self, squared: Number) -> None:
        object.__setattr__(self, "squared", parameter(squared, "squared"))

    def __mul__(self, factor: Number) -> Root:
        return Root(self.squared * parameter(factor, "factor") ** 2)

    def __float__(self) -> float:
        return math.nextafter(math.sqrt(float_above(self.squared)), math.inf)

    def __str__(self) -> str:
        return f"sqrt({self.squared})"


@dataclass(frozen=True)
class Sensitivity:
    """The largest distances between the values of neighbouring tables.

    Attributes:
        l1: In the L1 norm: what Laplace noise is calibrated to.
        l2: In the L2 norm, as the exact root of a rational: what Gaussian noise is calibrated to.
        l_infinity: Of one coordinate: what the l-infinity mechanism and selection are calibrated to.
        adjacency: When two tables are neighbours.
        monotone: Whether all coordinates move the same way between neighbours: counts do so under add-remove,
            and not under replace-one.

    Example:
        >>> cells = Sensitivity(l1=2, l2=Root(2), l_infinity=1, adjacency="replace-one")
        >>> cells.l1, str(cells.l2), cells.adjacency.value
        (Fraction(2, 1), 'sqrt(2)', 'replace-one')
    """

    l1: Fraction
    l2: Root
    l_infinity: Fraction
    adjacency: Adjacency
    monotone: bool

    def __init__(
        self,
        *,
        l1: Number,
        l2: Number | Root,
        l_infinity: Number,
        adjacency: str | Adjacency,
        monotone: bool = False,
    ) -> None:
        object.__setattr__(self, "l1", parameter(l1, "l1"))
        object.__setattr__(self, "l2", l2 if isinstance(l2, Root) else Root(parameter(l2, "l2") ** 2))
        object.__setattr__(self, "l_infinity", parameter(l_infinity, "l_infinity"))
        object.__setattr__(self, "adjacency", Adjacency.of(adjacency))
        if not isinstance(monotone, bool):
            raise MechanismError("parameter-not-boolean", value=monotone, name="monotone")
        object.__setattr__(self, "monotone", monotone)

    def __mul__(self, factor: Number) -> Sensitivity:
        """Return the sensitivity of the values multiplied by a public factor."""
        by = parameter(factor, "factor")
        return Sensitivity(
            l1=self.l1 * by,
            l2=self.l2 * by,
            l_infinity=self.l_infinity * by,
            adjacency=self.adjacency,
            monotone=self.monotone,
        )


def l1_distance(sensitivity: Number | Sensitivity) -> Fraction:
    """Read the L1 distance from a parameter `sensitivity`."""
    return sensitivity.l1 if isinstance(sensitivity, Sensitivity) else parameter(sensitivity, "sensitivity")


def l2_distance(sensitivity: Number | Root | Sensitivity) -> Root:
    """Read the L2 distance from a parameter `sensitivity`."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.l2
    return sensitivity if isinstance(sensitivity, Root) else Root(parameter(sensitivity, "sensitivity") ** 2)


def l_infinity_distance(sensitivity: Number | Sensitivity) -> Fraction:
    """Read the distance of one coordinate from a parameter `sensitivity`."""
    return (
        sensitivity.l_infinity if isinstance(sensitivity, Sensitivity) else parameter(sensitivity, "sensitivity")
    )
