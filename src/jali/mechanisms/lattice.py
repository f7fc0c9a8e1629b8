"""Lattices: where values live before noise is added to them. Integers in, integers out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.grid import nearest_points, points_as_doubles
from jali.mechanisms.mechanism import natural, parameter
from jali.mechanisms.sensitivity import Root
from jali.mechanisms.values import integers_in, narrow, numbers_in
from jali.privacy.rationals import Number

Integers = Any  # an int, or a numpy array of int64 or of Python ints
_SAFE = 1 << 62


@dataclass(frozen=True)
class Lattice:
    """The multiples of `step`, for values with `dimension` coordinates.

    Without a step, inputs must be integers and are used as they are. With a step, real inputs are rounded to
    the lattice by floor(x/step + 1/2), which moves two coordinates at distance d to at most ceil(d/step) steps.

    Guarantee:
        If inputs differ by at most s in L1 norm, their lattice points differ by at most `steps(s)` steps:
        s itself for integers, ceil(s/step) in one dimension, floor(s/step) + dimension in several.
    """

    step: Fraction | None = None
    dimension: int = 1

    @classmethod
    def of(cls, step: Number | None, dimension: int) -> Lattice:
        """Read a lattice from a mechanism's arguments."""
        return cls(step_of(step), natural(dimension, "dimension"))

    def steps(self, sensitivity: Fraction) -> Fraction:
        """Return the L1 sensitivity in steps, rounded up."""
        if self.step is None:
            return sensitivity
        if self.dimension == 1:
            return Fraction(math.ceil(sensitivity / self.step))
        return Fraction(math.floor(sensitivity / self.step) + self.dimension)

    def whole_steps(self, sensitivity: Fraction) -> int:
        """Return how many steps one coordinate can move, at least 1."""
        return max(1, math.floor(sensitivity) if self.step is None else math.ceil(sensitivity / self.step))

    def squared_steps(self, sensitivity: Fraction | Root) -> Fraction:
        """Return the squared L2 sensitivity in steps, rounded up: at most (s/step + sqrt(dimension))^2."""
        squared = sensitivity.squared if isinstance(sensitivity, Root) else sensitivity**2
        if self.step is None:
            return squared
        squared /= self.step**2
        if self.dimension == 1:
            return Fraction(math.isqrt(math.ceil(squared) - 1) + 1) ** 2
        return Fraction(math.floor(squared + self.dimension + _root_above(4 * squared * self.dimension)))

    def integers(self, value: Any) -> Integers:
        """Put a value or an array on the lattice, as integers."""
        if self.step is None:
            return integers_in(value)
        array = numbers_in(value)
        if array.size > self.dimension:
            raise MechanismError("mechanism-width-wrong", dimension=self.dimension, size=array.size)
        return nearest_points(array, self.step)

    def real(self, integers: Integers) -> Any:
        """Turn noisy lattice points back into numbers: ints without a step, the nearest floats with one."""
        plain = np.asarray(integers)
        values = plain if self.step is None else points_as_doubles(plain, self.step)
        return values.item() if values.ndim == 0 else values


def step_of(step: Number | None) -> Fraction | None:
    """Read the step of a lattice from a mechanism's arguments; None stands for integers."""
    return None if step is None else parameter(step, "step")


def refuse_below_one_step(distance: Fraction, step: Fraction | None) -> None:
    """Refuse a distance, or a squared one, below 1 for integers: noise for it would hide nothing."""
    if step is None and distance < 1:
        raise MechanismError("sensitivity-below-one")


def _root_above(value: Fraction) -> Fraction:
    """Return a rational above the square root, by less than 2^-19."""
    return Fraction(math.isqrt(math.ceil(value * 4**20)) + 1, 2**20)


def add(values: Integers, noise: np.ndarray) -> np.ndarray:
    """Add integers exactly: int64 if every sum fits, Python ints otherwise.

    The type of the result is a function of the result alone. Chosen from the values or from the noise, it would
    tell of them.
    """
    array = np.asarray(values)
    if _fits(array) and _fits(noise):
        return np.asarray(array.astype(np.int64, copy=False) + noise.astype(np.int64, copy=False))
    return narrow(np.asarray(array.astype(object) + noise.astype(object), dtype=object))


def _fits(array: np.ndarray) -> bool:
    return array.size == 0 or (int(array.min()) > -_SAFE and int(array.max()) < _SAFE)
