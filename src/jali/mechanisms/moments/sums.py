"""Linear forms in the six sums, and what the noisy sums say of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.combined import Form
from jali.mechanisms.moments.axis import Axis
from jali.mechanisms.noises import NoiseLaw, Noises

Floats: TypeAlias = NDArray[np.float64]
_NAMES = ("one", "n", "sx", "sy", "sxx", "syy", "sxy")
_PLACES = {name: place for place, name in enumerate(_NAMES)}


def form(**parts: Floats | float) -> Floats:
    """Return a linear form in the sums, by name; `one` is the constant. Arrays give many forms at once."""
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts.values()))
    found = np.zeros((len(_NAMES), *shape))
    for name, part in parts.items():
        found[_PLACES[name]] = part
    return found


def row(wanted: Floats, name: str) -> Floats:
    """Return the coefficient of a sum in a form."""
    return np.asarray(wanted[_PLACES[name]])


def in_units(name: str, x: Axis, y: Axis) -> float:
    """Return by what a sum is divided so that its values are in units of the reaches."""
    return math.prod(x.reach if letter == "x" else y.reach for letter in name[1:])


@dataclass(frozen=True)
class Reading:
    """The noisy sums of all groups, in units of the reaches, and how much of each noise is in each sum.

    Attributes:
        sums: One row per sum, the constant first; one column per group.
        shares: One row per sum, one column per noise.
        noises: The noises of the values.
    """

    sums: Floats
    shares: Floats
    noises: Noises

    @classmethod
    def of(
        cls, forms: Mapping[str, Form], laws: Sequence[NoiseLaw], values: Sequence[Floats], x: Axis, y: Axis
    ) -> Reading:
        """Read the sums from linear forms in the noisy values; a sum that is not given is never asked for."""
        sums, shares = np.zeros((len(_NAMES), len(values[0]))), np.zeros((len(_NAMES), len(laws)))
        sums[0] = 1.0
        for name, given in forms.items():
            unit = in_units(name, x, y)
            sums[_PLACES[name]] = given.of(values) / unit
            shares[_PLACES[name]] = np.asarray(given.coefficients, dtype=np.float64) / unit
        return cls(sums, shares, Noises.of(laws))

    def __getitem__(self, name: str) -> Floats:
        return row(self.sums, name)

    def value(self, wanted: Floats) -> Floats:
        """Return what the noisy sums give for forms of shape (sums, corners, groups)."""
        return np.asarray(np.einsum("k...g,kg->...g", wanted, self.sums))

    def coefficients(self, wanted: Floats) -> Floats:
        """Return the coefficients of the noises in such forms, of shape (noises, corners, groups)."""
        return np.asarray(np.einsum("k...,ki->i...", wanted, self.shares))
