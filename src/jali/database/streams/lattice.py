"""The values of a stream's items on a public lattice: exact numbers, clamped, in whole steps."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import CatalogError
from jali.query.catalog import Range

# The largest value of a sum is about so many steps of its lattice.
_STEPS = 20


def lattice_step(values: Range) -> Fraction:
    """Return the step of a lattice on which the largest value of a range is at most 2^20 steps, and over 2^19."""
    bounds = values.bounds
    assert bounds.low is not None
    assert bounds.high is not None
    largest = max(abs(bounds.low), abs(bounds.high))
    if largest == 0:
        raise CatalogError("stream-range-zero")
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length() - 1
    while Fraction(2) ** exponent < largest:
        exponent += 1
    return Fraction(2) ** (exponent - _STEPS)


def number_of(value: Any) -> Fraction | None:
    """Return the number that an item's value is, exactly; None for what is no finite number.

    A Decimal is read as a double: the exact number of '1e-999999999' would not fit into memory.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def clamped(value: Fraction, step: Fraction, ends: tuple[int, int]) -> int:
    """Return a number in steps of a lattice, within ends; rounding keeps the order, so it stays within them."""
    low, high = ends
    return min(max(round(value / step), low), high)
