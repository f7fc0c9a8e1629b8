"""Discrete Laplace noise on the marks of a lattice, clamped to its ends."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from jali.errors import MechanismError
from jali.mechanisms.base import ApproximateMechanism, read_parameter
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.smooth.statistic import Statistic
from jali.numbers.rounding import float_above
from jali.privacy.rationals import Number


class StatisticRelease(ApproximateMechanism):
    """A mechanism that releases a statistic, or a number given with its sensitivity, on a bounded lattice."""

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False

    statistic: Statistic | None
    low: Fraction | None
    high: Fraction | None
    step: Fraction | None

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The lattice of the values that can be released."""
        return read_output_lattice(self.statistic, self.low, self.high, self.step)[0]


def read_output_lattice(
    statistic: Statistic | None, low: Number | None, high: Number | None, step: Number | None
) -> tuple[BoundedLattice, dict[str, Fraction | None]]:
    """Return the lattice of the outputs and the fields low, high and step: the statistic's, or declared ones."""
    if statistic is not None:
        if not isinstance(statistic, Statistic):
            raise MechanismError("statistic-wrong", statistic=statistic)
        for name, given in (("low", low), ("high", high), ("step", step)):
            if given is not None:
                raise MechanismError("public-range-with-statistic", name=name)
        return BoundedLattice.of(*statistic.outputs, statistic.step), {"low": None, "high": None, "step": None}
    for name, given in (("low", low), ("high", high)):
        if given is None:
            raise MechanismError("public-range-missing", name=name)
    ruler = BoundedLattice.of(low, high, step)  # type: ignore[arg-type]
    return ruler, {"low": ruler.low, "high": ruler.high, "step": ruler.step}


def read_share(value: Number, name: str) -> Fraction:
    """Return a parameter as a rational strictly between 0 and 1."""
    part = read_parameter(value, name)
    if part >= 1:
        raise MechanismError("parameter-not-below-one", name=name, value=value)
    return part


def length(ruler: BoundedLattice, steps: int) -> int | float:
    """Return how long so many steps are: an int where the step is whole, else a double from above."""
    size = steps * ruler.step
    return size.numerator if ruler.step.denominator == 1 else float_above(size)


def steps_in(ruler: BoundedLattice, distance: Fraction) -> int:
    """Return how many steps a distance has, rounded up, and never more than the lattice has."""
    return min(math.ceil(distance / ruler.step), ruler.top)


def log_masses_after_clamping(centre: int, top: int, scale: Fraction) -> list[float]:
    """Return the law of min(max(centre + noise, 0), top) at 0, 1, ..., top."""
    rate = float(1 / scale)
    middle = [math.log(math.tanh(rate / 2)) - rate * abs(mark - centre) for mark in range(1, top)]
    return [_log_tail(centre, rate), *middle, _log_tail(top - centre, rate)]


def _log_tail(least: int, rate: float) -> float:
    """Return ln Pr[noise >= least], by symmetry also of noise <= -least: q^least/(1+q) from 0 on."""
    if least >= 0:
        return -rate * least - math.log1p(math.exp(-rate))
    return math.log1p(-math.exp(-rate * (1 - least)) / (1 + math.exp(-rate)))
