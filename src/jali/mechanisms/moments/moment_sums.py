"""The sums behind variance, covariance, correlation and regression, and linear forms in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.intervals.linear_forms import AffineForm, LinearFormLaw, NoiseBlocks


@dataclass(frozen=True)
class Axis:
    """Values are clamped to [low, high]; the sums are those of value - center and of its square.

    Example:
        >>> Axis(0, 10, 5).reach
        5
    """

    low: float
    high: float
    center: float

    @property
    def reach(self) -> float:
        """How far from the centre a value can be; 1 for a range of one point, which needs some unit too."""
        return max(self.high - self.center, self.center - self.low) or 1.0

    @property
    def square(self) -> float:
        """The squared reach; infinite beyond all doubles, where a power would raise."""
        return self.reach * self.reach

    @property
    def unit_low(self) -> float:
        """The lower end, from the centre and in units of the reach."""
        return (self.low - self.center) / self.reach

    @property
    def unit_high(self) -> float:
        """The upper end, from the centre and in units of the reach."""
        return (self.high - self.center) / self.reach


# x is the explaining variable, which SQL writes second: REGR_SLOPE(y, x). Only rows that have both values count.
# What is subtracted from a square, in squared reaches: values in [0, 1] are then within 1/2.
SQUARE_CENTER = 0.5
_ONE = ("n", "sx", "sxx")
_TWO = ("n", "sx", "sy", "sxy")
_LINE = ("n", "sx", "sy", "sxx", "sxy")
_ALL = ("n", "sx", "sy", "sxx", "syy", "sxy")

KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "var_pop": _ONE,
        "var_samp": _ONE,
        "stddev_pop": _ONE,
        "stddev_samp": _ONE,
        "covar_pop": _TWO,
        "covar_samp": _TWO,
        "corr": _ALL,
        "regr_slope": _LINE,
        "regr_intercept": _LINE,
        "regr_r2": _ALL,
        "regr_count": ("n",),
        "regr_avgx": ("n", "sx"),
        "regr_avgy": ("n", "sy"),
        "regr_sxx": _ONE,
        "regr_syy": ("n", "sy", "syy"),
        "regr_sxy": _TWO,
    }
)


Floats: TypeAlias = NDArray[np.float64]
_NAMES = ("one", "n", "sx", "sy", "sxx", "syy", "sxy")
_PLACES = {name: place for place, name in enumerate(_NAMES)}


def build_form(**parts: Floats | float) -> Floats:
    """Return a linear form in the sums, by name; `one` is the constant. Arrays give many forms at once."""
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts.values()))
    found = np.zeros((len(_NAMES), *shape))
    for name, part in parts.items():
        found[_PLACES[name]] = part
    return found


def read_coefficient(wanted: Floats, name: str) -> Floats:
    """Return the coefficient of a sum in a form."""
    return np.asarray(wanted[_PLACES[name]])


def find_unit(name: str, x: Axis, y: Axis) -> float:
    """Return by what a sum is divided so that its values are in units of the reaches."""
    return math.prod(x.reach if letter == "x" else y.reach for letter in name[1:])


@dataclass(frozen=True)
class NoisySums:
    """The noisy sums of all groups, in units of the reaches, and how much of each noise is in each sum.

    Attributes:
        sums: One row per sum, the constant first; one column per group.
        shares: One row per sum, one column per noise.
        noises: The noises of the values.
    """

    sums: Floats
    shares: Floats
    noises: NoiseBlocks

    @classmethod
    def of(
        cls,
        forms: Mapping[str, AffineForm],
        laws: Sequence[LinearFormLaw],
        values: Sequence[Floats],
        x: Axis,
        y: Axis,
    ) -> NoisySums:
        """Read the sums from linear forms in the noisy values; a sum that is not given is never asked for."""
        sums, shares = np.zeros((len(_NAMES), len(values[0]))), np.zeros((len(_NAMES), len(laws)))
        sums[0] = 1.0
        for name, given in forms.items():
            unit = find_unit(name, x, y)
            sums[_PLACES[name]] = given.of(values) / unit
            shares[_PLACES[name]] = np.asarray(given.coefficients, dtype=np.float64) / unit
        return cls(sums, shares, NoiseBlocks.of(laws))

    def __getitem__(self, name: str) -> Floats:
        return read_coefficient(self.sums, name)

    def value(self, wanted: Floats) -> Floats:
        """Return what the noisy sums give for forms of shape (sums, corners, groups)."""
        return np.asarray(np.einsum("k...g,kg->...g", wanted, self.sums))

    def coefficients(self, wanted: Floats) -> Floats:
        """Return the coefficients of the noises in such forms, of shape (noises, corners, groups)."""
        return np.asarray(np.einsum("k...,ki->i...", wanted, self.shares))
