"""Measure a stream with buffers exactly: integers near a multiple of the strategy times the increments.

Single ticks follow the recurrence in fixed point. Spans of many ticks are measured at once, by products with
matrices of rationals in doubles that are never rounded. This side of the buffers is secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats
from jali.streams.buffer_recurrence import DECAY_BITS, POWER_PLACES, BufferRecurrence

# Doubles hold sums of two integers below this size, and machine words such sums of larger ones.
EXACT_DOUBLES, _WORDS = 1 << 52, 1 << 62
# Products of up to this many terms are left to one thread by linear algebra libraries.
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
        if bound < EXACT_DOUBLES:
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
    """Return the limbs of integers from the lowest on, as doubles: at least this many."""
    limbs: list[Floats] = []
    while integers.any() or len(limbs) < least:
        limbs.append((integers & ((1 << bits) - 1)).astype(np.float64))
        integers = integers >> bits
    return limbs


# This many ticks are one product with a matrix, and this many such blocks are a span.
BLOCK, BLOCKS = 32, 32
SPAN = BLOCK * BLOCKS
# This many blocks go through a product at a time: their numbers stay near the processor.
_SLICE = 1024
# Places of what a buffer keeps over a span, of its size 2^0 and below.
_KEPT_PLACES = 192
# Buffers within spans are integers below this power of 2, so that doubles hold them and their products nearly.
_LARGEST = 51


class SpanMeasurements:
    """Measures whole spans of ticks.

    At the beginning of every span buffers are the integers of the recurrence, within its errors. From block to
    block in a span they are integers with fewer places, held by doubles.

    Args:
        recurrence: The strategy.
        lattice: L, the binary logarithm of what an increment of 1 is multiplied by.
        places: F, the binary places of a buffer.
        bits: Increments are below 2^bits in size.
        limbs: Buffers within a span are cut into this many limbs of as many bits.
    """

    def __init__(self, recurrence: BufferRecurrence, lattice: int, places: int, *, bits: int, limbs: int) -> None:
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
        passed = self._decay_buffers(self.far(spans, most), buffers)
        kept = [[buffer >> self.dropped for buffer in row[:-1]] for row in passed]
        entering = self.near(numbers, most)
        bound = max(abs(buffer) for row in kept for buffer in row) + BLOCKS * (_size(entering) + 2)
        if bound >> min(_LARGEST, self.bits * self.limbs - 1):
            return None
        buffers[:] = [row[-1] for row in passed]
        within = self._within(np.array(kept, dtype=np.float64).T, entering)
        return self._measure_blocks(numbers, within).ravel()

    def _decay_buffers(self, entering: NDArray[Any], buffers: list[int]) -> list[list[int]]:
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

    def _measure_blocks(self, numbers: Floats, within: NDArray[Any]) -> NDArray[Any]:
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


# Increments beyond this size count as this much: no sum can overflow a double, and none is moved further apart.
LARGEST = 1 << 500
# What a measurement is off at most: half of a step, and what roundings before that can add up to.
OFF = Fraction(3, 4)


def places_for(decays: tuple[Fraction, ...], lattice: int) -> int:
    """Return how many binary places buffers have, so that their roundings move no measurement by over 1/32."""
    slowness = int(sum((1 / (1 - decay) for decay in decays), Fraction(0)))
    return max(40, lattice + 6 + slowness.bit_length(), lattice + 10 + len(decays).bit_length())


@dataclass(frozen=True)
class ExactBuffers:
    """The recurrence in integers.

    A buffer S_j is an integer near 2^F w_j sum_k theta_j^k x_(t-1-k), and a measurement is an integer near
    2^L x_t + 2^(L-F) sum_j S_j.

    Guarantee:
        However ticks are put together in batches, and whatever their sizes, every measurement is within 3/4 of
        2^L (C x)_t. The measurements of one key are a function of its increments, and of the batches.
    Proof:
        docs/proofs/buffered_toeplitz.md, Lemmas 3 to 5.

    Attributes:
        recurrence: The strategy C.
        lattice: L, the binary logarithm of what an increment of 1 is multiplied by.
    """

    recurrence: BufferRecurrence
    lattice: int

    def measure(self, increments: NDArray[Any], buffers: list[int]) -> NDArray[Any]:
        """Return the measurements of the next ticks; the buffers are moved on.

        They are integers, of a type that holds them: doubles if they are many and small.
        """
        if increments.dtype != object and len(increments) % SPAN == 0:
            for spans in self._sizes():
                found = spans.measure(increments, buffers)
                if found is not None:
                    return found
        return np.array([self.step(increment, buffers) for increment in increments.tolist()], dtype=object)

    def step(self, increment: int, buffers: list[int]) -> int:
        """Return the measurement of the next tick; the buffers are moved on."""
        if not -LARGEST <= increment <= LARGEST:
            increment = LARGEST if increment > 0 else -LARGEST
        total = self._half
        for place, (decay, weight) in enumerate(self._steps):
            buffer = buffers[place]
            total += buffer
            buffers[place] = (buffer * decay >> DECAY_BITS) + increment * weight
        return (increment << self.lattice) + (total >> self._shift)

    @cached_property
    def places(self) -> int:
        """F, the binary places of a buffer."""
        return places_for(self.recurrence.decays, self.lattice)

    @cached_property
    def _steps(self) -> tuple[tuple[int, int], ...]:
        """Each decay in units of 2^-60, and what an increment of 1 adds to its buffer."""
        rows = zip(self.recurrence.decays, self.recurrence.weights, strict=True)
        return tuple((int(decay * (1 << DECAY_BITS)), int(weight * (1 << self.places))) for decay, weight in rows)

    @cached_property
    def _shift(self) -> int:
        return self.places - self.lattice

    @cached_property
    def _half(self) -> int:
        return 1 << self._shift - 1

    def _sizes(self) -> Iterator[SpanMeasurements]:
        """Yield what measures many ticks at once: made when it is needed first."""
        yield self._small
        yield self._large

    @cached_property
    def _small(self) -> SpanMeasurements:
        """For counts: increments below 2^14, and buffers in four limbs of 14 bits."""
        return SpanMeasurements(self.recurrence, self.lattice, self.places, bits=14, limbs=4)

    @cached_property
    def _large(self) -> SpanMeasurements:
        """For sums: increments below 2^28, and buffers in two limbs of 28 bits."""
        return SpanMeasurements(self.recurrence, self.lattice, self.places, bits=28, limbs=2)
