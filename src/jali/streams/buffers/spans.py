"""Many ticks at once: spans of them, measured by exact products with matrices."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats
from jali.streams.buffers.products import ExactProduct
from jali.streams.buffers.recurrence import POWER_PLACES, Recurrence

# So many ticks are one product with a matrix, and so many such blocks are a span.
BLOCK, BLOCKS = 32, 32
SPAN = BLOCK * BLOCKS
# So many blocks go through a product at a time: their numbers stay near the processor.
_SLICE = 1024
# Places of what a buffer keeps over a span, of its size 2^0 and below.
_KEPT_PLACES = 192
# Buffers within spans are integers below this power of 2, so that doubles hold them and their products nearly.
_LARGEST = 51


class Spans:
    """Measures whole spans of ticks.

    At the beginning of every span buffers are the integers of the recurrence, within its errors. From block to
    block in a span they are integers with fewer places, held by doubles.

    Args:
        recurrence: The strategy.
        lattice: L, the binary logarithm of what an increment of 1 is multiplied by.
        places: F, the binary places of a buffer.
        bits: Increments are below 2^bits in size.
        limbs: Buffers within a span are cut into so many limbs of as many bits.
    """

    def __init__(self, recurrence: Recurrence, lattice: int, places: int, *, bits: int, limbs: int) -> None:
        self.bits, self.limbs = bits, limbs
        kept = 10 + len(recurrence.decays).bit_length()
        self.dropped = places - lattice - kept
        powers = recurrence.powers(SPAN + 1)
        self.decays = [row[SPAN] >> POWER_PLACES - _KEPT_PLACES for row in powers]
        self.block_decays = np.array([row[BLOCK] / (1 << POWER_PLACES) for row in powers])
        weights = [int(weight * (1 << places)) for weight in recurrence.weights]
        self.far = ExactProduct(_entering(weights, powers, SPAN), POWER_PLACES, bits)
        self.near = ExactProduct(_entering(weights, powers, BLOCK), POWER_PLACES + self.dropped, bits)
        inside = _toeplitz([c << lattice for c in recurrence.coefficients(BLOCK)])
        carried = [
            [row[tick] << bits * limb >> kept for limb in range(limbs) for row in powers] for tick in range(BLOCK)
        ]
        measured = np.hstack([inside, np.array(carried, dtype=object)])
        self.measured = ExactProduct(measured, POWER_PLACES, bits)

    def measure(self, increments: NDArray[Any], buffers: list[int]) -> NDArray[Any] | None:
        """Return the measurements of whole spans, and move the buffers on; None if a number is too large.

        They are integers, of a type that holds them: doubles if they are small.
        """
        most = _size(increments)
        if most >> self.bits:
            return None
        spans = increments.astype(np.float64).reshape(-1, SPAN)
        numbers = spans.reshape(-1, BLOCK)
        passed = self._passed(self.far(spans, most), buffers)
        kept = [[buffer >> self.dropped for buffer in row[:-1]] for row in passed]
        entering = self.near(numbers, most)
        bound = max(abs(buffer) for row in kept for buffer in row) + BLOCKS * (_size(entering) + 2)
        if bound >> min(_LARGEST, self.bits * self.limbs - 1):
            return None
        buffers[:] = [row[-1] for row in passed]
        within = self._within(np.array(kept, dtype=np.float64).T, entering)
        return self._measured(numbers, within).ravel()

    def _passed(self, entering: NDArray[Any], buffers: list[int]) -> list[list[int]]:
        """Return every buffer before each span, and after the last."""
        words = entering if entering.dtype == object else entering.astype(np.int64)
        rows = zip(words.T.tolist(), self.decays, buffers, strict=True)
        return [_decaying(row, decay, buffer) for row, decay, buffer in rows]

    def _within(self, before: Floats, entering: NDArray[Any]) -> NDArray[Any]:
        """Return the buffers before each block of spans: each decays, is rounded, and takes what enters."""
        size = before.shape[1]
        by = np.tile(self.block_decays, len(before))
        new = entering.reshape(-1, BLOCKS, size).swapaxes(0, 1).reshape(BLOCKS, -1)
        found = np.empty((BLOCKS, before.size))
        found[0] = before.ravel()
        for block in range(1, BLOCKS):
            np.multiply(found[block - 1], by, out=found[block])
            np.rint(found[block], out=found[block])
            found[block] += new[block - 1]
        return found.reshape(BLOCKS, -1, size).swapaxes(0, 1).reshape(-1, size).astype(np.int64)

    def _measured(self, numbers: Floats, within: NDArray[Any]) -> NDArray[Any]:
        """Return the measurements of blocks, from their increments and the buffers before them."""
        found = np.empty(numbers.shape)
        parts = [slice(start, start + _SLICE) for start in range(0, len(numbers), _SLICE)]
        rows = [
            self.measured(self._vectors(numbers[part], within[part]), 1 << self.bits, found[part])
            for part in parts
        ]
        return found if rows[0].dtype == np.float64 else np.concatenate(rows)

    def _vectors(self, numbers: Floats, within: NDArray[Any]) -> Floats:
        """Put the limbs of buffers beside increments: from 0 to 2^bits, but for the last, which has the sign."""
        size = within.shape[1]
        found = np.empty((len(numbers), BLOCK + size * self.limbs))
        found[:, :BLOCK] = numbers
        for place in range(BLOCK, found.shape[1] - size, size):
            found[:, place : place + size] = within & (1 << self.bits) - 1
            within = within >> self.bits
        found[:, -size:] = within
        return found


def _decaying(entering: list[int], decay: int, buffer: int) -> list[int]:
    return list(accumulate(entering, lambda last, new: (last * decay >> _KEPT_PLACES) + new, initial=buffer))


def _size(integers: NDArray[Any]) -> int:
    return max(abs(int(integers.max())), abs(int(integers.min())))


def _entering(weights: list[int], powers: list[list[int]], ticks: int) -> NDArray[Any]:
    """Return what the increments of some ticks add to each buffer, in units of 2^-POWER_PLACES."""
    rows = [
        [weight * power for power in row[ticks - 1 :: -1]] for weight, row in zip(weights, powers, strict=True)
    ]
    return np.array(rows, dtype=object)


def _toeplitz(coefficients: list[int]) -> NDArray[Any]:
    size = len(coefficients)
    rows = [[*coefficients[row::-1], *[0] * (size - 1 - row)] for row in range(size)]
    return np.array(rows, dtype=object)
