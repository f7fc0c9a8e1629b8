"""The geometric and the discrete Laplace law by their binary digits: slow, simple, and only for comparison.

The binary digits of a geometric variable with q = exp(-1/t) are independent: digit j is 1 with probability
r/(1+r), r = exp(-2**j/t). Above digit J-1 the number of further 2**J is geometric again.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.sampling import BitSource, bernoulli_exp


def geometric_by_digits(scale: Fraction, size: int, bits: BitSource) -> NDArray[np.int64]:
    values = np.zeros(size, np.int64)
    top = int(scale).bit_length() + 1
    for j in range(top):
        values |= _digits((1 << j) / scale, size, bits) << j
    pending = np.arange(size)
    while len(pending):
        pending = pending[bernoulli_exp((1 << top) / scale, len(pending), bits=bits)]
        values[pending] += 1 << top
    return values


def laplace_by_digits(scale: Fraction, size: int, bits: BitSource) -> NDArray[np.int64]:
    values = geometric_by_digits(scale, size, bits)
    negative = bits.integers(size, 1).astype(np.bool_)
    again = np.flatnonzero(negative & (values == 0))  # zero must not be counted twice
    values = np.where(negative, -values, values)
    if len(again):
        values[again] = laplace_by_digits(scale, len(again), bits)
    return values


def _digits(x: Fraction, size: int, bits: BitSource) -> NDArray[np.int64]:
    """Ones with probability r/(1+r), r = exp(-x): toss a fair coin; a one stays with probability r."""
    digits = np.zeros(size, np.int64)
    pending = np.arange(size)
    while len(pending):
        fair = bits.integers(len(pending), 1).astype(np.bool_)
        stays = bernoulli_exp(x, len(pending), bits=bits)
        digits[pending[fair & stays]] = 1
        pending = pending[fair & ~stays]
    return digits
