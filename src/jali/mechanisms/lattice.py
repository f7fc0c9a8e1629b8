"""Lattices: where values live before noise is added to them. Integers in, integers out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.privacy.rationals import Number, positive

Integers = Any  # an int, or a numpy array of int64 or of Python ints
_SAFE = 1 << 62


def parameter(value: Number, name: str) -> Fraction:
    """Return a parameter of a mechanism as a rational above 0, or refuse it by name."""
    try:
        return positive(value, name)
    except CatalogError as problem:
        raise MechanismError(problem.message, remedy=problem.remedy) from None


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
        if dimension < 1:
            raise MechanismError("dimension must be at least 1.")
        return cls(None if step is None else parameter(step, "step"), dimension)

    def steps(self, sensitivity: Fraction) -> Fraction:
        """Return the L1 sensitivity in steps, rounded up."""
        if self.step is None:
            return sensitivity
        if self.dimension == 1:
            return Fraction(math.ceil(sensitivity / self.step))
        return Fraction(math.floor(sensitivity / self.step) + self.dimension)

    def squared_steps(self, sensitivity: Fraction) -> Fraction:
        """Return the squared L2 sensitivity in steps, rounded up: ceil(s/step + sqrt(dimension)) at most."""
        if self.step is None:
            return sensitivity**2
        if self.dimension == 1:
            return self.steps(sensitivity) ** 2
        return Fraction(math.ceil(sensitivity / self.step) + math.isqrt(self.dimension - 1) + 1) ** 2

    def integers(self, value: Any) -> Integers:
        """Put a value or an array on the lattice, as integers."""
        array = np.asarray(value)
        if self.step is None:
            return _whole(array)
        if array.size > self.dimension:
            raise MechanismError(
                f"The mechanism was made for dimension={self.dimension} and got {array.size} values."
            )
        rounded = [self._nearest(item) for item in array.ravel().tolist()]
        return _compact(np.array(rounded, dtype=object).reshape(array.shape))

    def _nearest(self, item: Any) -> int:
        # A value that is not finite counts as 0: an error would tell that it was there.
        if isinstance(item, float) and not math.isfinite(item):
            return 0
        step = self.step or Fraction(1)
        return math.floor(Fraction(item) / step + Fraction(1, 2))

    def real(self, integers: Integers) -> Any:
        """Turn noisy lattice points back into numbers: ints without a step, floats with one."""
        plain = np.asarray(integers)
        if self.step is None:
            return plain.item() if plain.ndim == 0 else plain
        step = self.step
        values = np.array([float(int(item) * step) for item in plain.ravel().tolist()]).reshape(plain.shape)
        return values.item() if values.ndim == 0 else values


def add(values: Integers, noise: np.ndarray) -> np.ndarray:
    """Add integers exactly: in int64 where nothing can overflow, in Python integers otherwise."""
    array = np.asarray(values)
    if _fits(array) and _fits(noise):
        return np.asarray(array.astype(np.int64) + noise.astype(np.int64))
    return np.asarray(array.astype(object) + noise.astype(object))


def _fits(array: np.ndarray) -> bool:
    return array.size == 0 or (int(array.min()) > -_SAFE and int(array.max()) < _SAFE)


def _whole(array: np.ndarray) -> np.ndarray:
    if array.dtype == object and all(isinstance(item, int) for item in array.ravel().tolist()):
        return array
    if array.dtype.kind not in "iub":
        raise MechanismError(
            "This mechanism takes integers.", remedy="Give `step=` to release real numbers on a lattice."
        )
    return array


def _compact(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int64) if _fits(array) else array
