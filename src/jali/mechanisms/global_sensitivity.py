"""The sensitivity of a statistic in several norms, under a named adjacency.

Monotone values all move the same way between neighbours; half of the noise is enough for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


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
        object.__setattr__(self, "squared", read_parameter(squared, "squared"))

    def __mul__(self, factor: Number) -> Root:
        return Root(self.squared * read_parameter(factor, "factor") ** 2)

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
        object.__setattr__(self, "l1", read_parameter(l1, "l1"))
        object.__setattr__(self, "l2", l2 if isinstance(l2, Root) else Root(read_parameter(l2, "l2") ** 2))
        object.__setattr__(self, "l_infinity", read_parameter(l_infinity, "l_infinity"))
        object.__setattr__(self, "adjacency", Adjacency.of(adjacency))
        if not isinstance(monotone, bool):
            raise MechanismError("parameter-not-boolean", value=monotone, name="monotone")
        object.__setattr__(self, "monotone", monotone)

    def __mul__(self, factor: Number) -> Sensitivity:
        """Return the sensitivity of the values multiplied by a public factor."""
        by = read_parameter(factor, "factor")
        return Sensitivity(
            l1=self.l1 * by,
            l2=self.l2 * by,
            l_infinity=self.l_infinity * by,
            adjacency=self.adjacency,
            monotone=self.monotone,
        )


def read_l1_distance(sensitivity: Number | Sensitivity) -> Fraction:
    """Read the L1 distance from a parameter `sensitivity`."""
    return sensitivity.l1 if isinstance(sensitivity, Sensitivity) else read_parameter(sensitivity, "sensitivity")


def read_l2_distance(sensitivity: Number | Root | Sensitivity) -> Root:
    """Read the L2 distance from a parameter `sensitivity`."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.l2
    return sensitivity if isinstance(sensitivity, Root) else Root(read_parameter(sensitivity, "sensitivity") ** 2)


def read_l_infinity_distance(sensitivity: Number | Sensitivity) -> Fraction:
    """Read the distance of one coordinate from a parameter `sensitivity`."""
    return (
        sensitivity.l_infinity
        if isinstance(sensitivity, Sensitivity)
        else read_parameter(sensitivity, "sensitivity")
    )


def read_monotone(
    sensitivity: Number | Sensitivity, adjacency: str | Adjacency | None, *, monotone: bool
) -> tuple[bool, Adjacency | None]:
    """Return whether values are monotone, and the adjacency; refuse what cannot be true together.

    A `Sensitivity` knows both. Otherwise monotone values need the adjacency to be said.
    """
    if not isinstance(monotone, bool):
        raise MechanismError("parameter-not-boolean", value=monotone, name="monotone")
    named = None if adjacency is None else Adjacency.of(adjacency)
    if isinstance(sensitivity, Sensitivity):
        _check_agreement(sensitivity, named, monotone=monotone)
        named, monotone = sensitivity.adjacency, sensitivity.monotone
    if monotone and named is not Adjacency.ADD_REMOVE:
        raise MechanismError("monotone-under-replace-one")
    return monotone, named


def _check_agreement(sensitivity: Sensitivity, adjacency: Adjacency | None, *, monotone: bool) -> None:
    if adjacency not in (None, sensitivity.adjacency):
        raise MechanismError("adjacency-unlike-sensitivity", adjacency=adjacency, declared=sensitivity.adjacency)
    if monotone and not sensitivity.monotone:
        raise MechanismError("monotone-unlike-sensitivity")
