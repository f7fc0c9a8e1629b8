"""Exact convolution of integers, by one multiplication of very long numbers.

The standard library's decimal numbers are multiplied with number-theoretic transforms: integers only, no
rounding, in time n log n. A trap makes sure that no digit is ever lost.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, Context, Decimal, Inexact, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Python writes integers of at most 4300 digits; wider ones are multiplied one by one.
_WIDEST = 4000
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation])


def convolve(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the convolution of two integer vectors, exactly: int64 where all of it fits, else Python ints.

    Example:
        >>> convolve(np.array([1, 2]), np.array([10, -1]))
        array([10, 19, -2])
    """
    parts = [sign * _product(a, b) for sign, a, b in _signed(one, other)]
    total = sum(parts, np.zeros(len(one) + len(other) - 1, dtype=object))
    most = max(abs(total.min()), abs(total.max()))
    return total.astype(np.int64) if most < 1 << 62 else total


def _signed(one: NDArray[Any], other: NDArray[Any]) -> list[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Split a product of signed vectors into products of nonnegative ones."""
    ones, others = _halves(one), _halves(other)
    return [(s * t, a, b) for s, a in ones for t, b in others]


def _halves(vector: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
    if vector.dtype != object and int(vector.min()) == -(1 << 63):
        vector = vector.astype(object)  # int64 has no number to take for minus its least
    plus, minus = np.maximum(vector, 0), np.maximum(-vector, 0)
    return [(sign, part) for sign, part in ((1, plus), (-1, minus)) if part.any()]


def _product(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the convolution of nonnegative vectors, as Python ints."""
    most = int(one.max()) * int(other.max()) * min(len(one), len(other))
    width = most.bit_length() * 302 // 1000 + 1
    if width > _WIDEST:
        return np.convolve(one.astype(object), other.astype(object))
    digits = str(_EXACT.multiply(_number(one, width), _number(other, width)))
    count = len(one) + len(other) - 1
    digits = digits.zfill(width * count)
    # The last coefficient is written first: a number begins with its highest digits.
    slots = [int(digits[i : i + width]) for i in range(0, width * count, width)]
    return np.array(slots[::-1], dtype=object)


def _number(vector: NDArray[Any], width: int) -> Decimal:
    """Write the entries side by side, `width` digits each."""
    written = "".join([str(item).zfill(width) for item in vector.tolist()[::-1]])
    return _EXACT.create_decimal(written)
