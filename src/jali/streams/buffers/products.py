"""Products with matrices of rationals, rounded to integers, by products of doubles that are never rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats

# Doubles hold sums of two integers below this size, and machine words such sums of larger ones.
DOUBLES, _WORDS = 1 << 52, 1 << 62
# Products of up to so many terms are left to one thread by linear algebra libraries.
_TERMS = 1 << 18


class ExactProduct:
    """Multiply vectors of integers by a matrix of rationals, rounded to nearby integers.

    The rationals are rounded to binary places, and these integers are cut into limbs so small that a double holds
    every partial sum: no order of summation, and no fused multiplication, can change the result.

    Guarantee:
        Each result is within 1/2 + 1/32 of the true one. It is a function of the vector alone.
    Proof:
        docs/proofs/buffered_toeplitz.md, Lemma 4.

    Args:
        matrix: The rationals as integers, at least 0, in units of 2^-places: a row for each coordinate of results.
        places: Their binary places.
        bits: Vectors have integer entries of at most 2^bits in size.
    """

    def __init__(self, matrix: NDArray[Any], places: int, bits: int) -> None:
        entries = matrix.shape[1].bit_length()
        limb = 51 - bits - entries
        # The point is at least six places into its limb: what is cut off below that limb is less than 1/64.
        below, left = divmod(bits + entries + 5, limb)
        self.scales = [limb] * below + [max(left, 6) if below else left]
        shift = places - sum(self.scales)
        integers = (matrix.T + (1 << shift - 1)) >> shift
        limbs = _cut(integers, limb, len(self.scales))
        self.shifts = [limb * place - self.scales[-1] for place in range(1, len(limbs) - below)]
        powers = [*(-scale for scale in self.scales), *self.shifts]
        self.limbs = [np.ldexp(each, power) for each, power in zip(limbs, powers, strict=True)]
        self.most = (max(int(total) for total in integers.sum(0)) >> sum(self.scales)) + 2

    def __call__(self, vectors: Floats, largest: int, out: Floats | None = None) -> NDArray[Any]:
        """Return the results, one row for each vector, where `largest` bounds the entries of the vectors.

        They are integers, of the type that holds them: doubles (in `out`, if given), machine words, or Python's.
        """
        below = len(self.scales)
        found = times(vectors, self.limbs[0], out)
        for limb, scale in zip(self.limbs[1:below], self.scales[1:], strict=True):
            found = np.floor(found, out=found)
            found *= 2.0**-scale
            found += times(vectors, limb)
        found = np.rint(found, out=found)
        above = (times(vectors, limb) for limb in self.limbs[below:])
        kind = self.kind(largest)
        if kind is np.float64:
            for part in above:
                found += part
            return found
        result: NDArray[Any] = found.astype(np.int64).astype(kind)
        for part, shift in zip(above, self.shifts, strict=True):
            result += np.ldexp(part, -shift).astype(np.int64).astype(kind) << shift
        return result

    def kind(self, largest: int) -> type:
        """Return the type of results, where `largest` bounds the entries of vectors."""
        bound = self.most * (largest + 1)
        if bound < DOUBLES:
            return np.float64
        return np.int64 if bound < _WORDS else object


def times(vectors: Floats, matrix: Floats, out: Floats | None = None) -> Floats:
    """Multiply each row by a matrix, in pieces so small that one thread does them: others may be busy."""
    rows = max(1, _TERMS // matrix.size)
    found = np.empty((len(vectors), matrix.shape[1])) if out is None else out
    for start in range(0, len(vectors), rows):
        np.matmul(vectors[start : start + rows], matrix, out=found[start : start + rows])
    return found


def _cut(integers: NDArray[Any], bits: int, least: int) -> list[Floats]:
    """Return the limbs of integers from the lowest on, as doubles: at least so many."""
    limbs: list[Floats] = []
    while integers.any() or len(limbs) < least:
        limbs.append((integers & ((1 << bits) - 1)).astype(np.float64))
        integers = integers >> bits
    return limbs
