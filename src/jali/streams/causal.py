"""Causal filters: sums over the past with fixed coefficients, exactly for integers, and in doubles.

Statement:
    Let c and x be vectors of a cyclic convolution of length 2^L that is computed by fast transforms in doubles,
    u = 2^-53. Its entries err by at most ((1+u)^(3L) (1+u sqrt(5))^(3L+1) (1+b)^(3L) - 1) |c| |x| where b bounds
    the error of the roots of unity (Percival 2003, Theorem 5.1): with b <= 2u and L >= 6 below 16.1 L u |c| |x|.
    Nearly twice that is allowed here, and integers x are cut into digits so short that it is at most 1/4:
    rounding is exact.
Proof:
    docs/proofs/toeplitz_root.md, Lemma 2.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats

# So few ticks are summed one by one: a product for each tick of the past.
_FEW = 32
# A quarter of 2^53 / 32: the error of a transform of length 2^L is at most 32 L |c| |x| / 2^53.
_ALLOWED = float(1 << 46)


class Causal:
    """The sums y_t = c_0 x_t + c_1 x_(t-1) + ... + c_t x_0.

    Args:
        column: The coefficients c: integers of at most 2^24, or doubles.
    """

    def __init__(self, column: NDArray[Any]) -> None:
        self.column = column
        self._backwards = column[::-1].copy()
        self._transform = lru_cache(maxsize=1)(self._transformed)

    @cached_property
    def roomy(self) -> int:
        """Below this size of all x the sums are machine words."""
        return (1 << 62) // max(1, int(np.abs(self.column).sum()))

    def integers(self, past: NDArray[Any], start: int) -> NDArray[Any]:
        """Return the sums from one tick on, exactly, of machine words that are `roomy` or of Python ints.

        Args:
            past: All increments, those of the new ticks included.
            start: How many ticks have been summed before.
        """
        if len(past) - start <= _FEW:
            return self._one_by_one(past, start, self._backwards.astype(past.dtype, copy=False))
        bits = self._bits(len(past), start)
        total = np.zeros(len(past) - start, past.dtype)
        for digits in reversed(_cut(past, bits)):
            part = np.rint(self._product(digits.astype(np.float64), start)).astype(np.int64)
            total = (total << bits) + part
        return total

    def doubles(self, past: Floats, start: int) -> Floats:
        """Return the sums from one tick on, in doubles."""
        few = len(past) - start <= _FEW
        return self._one_by_one(past, start, self._backwards) if few else self._product(past, start)

    def _one_by_one(self, past: NDArray[Any], start: int, backwards: NDArray[Any]) -> NDArray[Any]:
        sums = [backwards[len(backwards) - t :] @ past[:t] for t in range(start + 1, len(past) + 1)]
        return np.array(sums, past.dtype)

    def _product(self, past: Floats, start: int) -> Floats:
        """Convolve on a circle so long that nothing wraps around to the ticks that are asked for."""
        size = _length(len(past), start)
        product = np.fft.irfft(self._transform(size, len(past)) * np.fft.rfft(past, size), size)
        return np.asarray(product[start : len(past)])

    def _transformed(self, size: int, ticks: int) -> NDArray[np.complex128]:
        return np.fft.rfft(self.column[:ticks].astype(np.float64), size)

    def _bits(self, ticks: int, start: int) -> int:
        """Return how long digits may be, in bits."""
        levels = _length(ticks, start).bit_length() - 1
        length = float(np.linalg.norm(self.column.astype(np.float64)))
        return 1 + math.floor(math.log2(_ALLOWED / (levels * length * math.sqrt(ticks))))


def _length(ticks: int, start: int) -> int:
    """Return the length of the circle: a power of 2."""
    return 1 << (2 * ticks - start - 2).bit_length()


def _cut(integers: NDArray[Any], bits: int) -> list[NDArray[Any]]:
    """Return digits from -2^(bits-1) to 2^(bits-1) - 1, lowest first: integers are the sum of d_i 2^(i bits)."""
    half, parts, rest = 1 << (bits - 1), [], integers
    while rest.any():
        digit = ((rest + half) & (2 * half - 1)) - half
        parts.append(digit)
        rest = (rest - digit) >> bits
    return parts
