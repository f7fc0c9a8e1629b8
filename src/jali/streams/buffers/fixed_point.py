"""The exact side of buffers: integers near a multiple of the strategy times the increments, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.streams.buffers.recurrence import DECAY_BITS, Recurrence
from jali.streams.buffers.spans import SPAN, Spans

# Increments beyond this size count as this much: no sum can overflow a double, and none is moved further apart.
LARGEST = 1 << 500
# What a measurement is off at most: half of a step, and what roundings before that can add up to.
OFF = Fraction(3, 4)


def places_for(decays: tuple[Fraction, ...], lattice: int) -> int:
    """Return how many binary places buffers have, so that their roundings move no measurement by over 1/32."""
    slowness = int(sum((1 / (1 - decay) for decay in decays), Fraction(0)))
    return max(40, lattice + 6 + slowness.bit_length(), lattice + 10 + len(decays).bit_length())


@dataclass(frozen=True)
class FixedPoint:
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

    recurrence: Recurrence
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

    def _sizes(self) -> Iterator[Spans]:
        """Yield what measures many ticks at once: made when it is needed first."""
        yield self._small
        yield self._large

    @cached_property
    def _small(self) -> Spans:
        """For counts: increments below 2^14, and buffers in four limbs of 14 bits."""
        return Spans(self.recurrence, self.lattice, self.places, bits=14, limbs=4)

    @cached_property
    def _large(self) -> Spans:
        """For sums: increments below 2^28, and buffers in two limbs of 28 bits."""
        return Spans(self.recurrence, self.lattice, self.places, bits=28, limbs=2)
