"""Compute running sums from the noisy measurements of buffers, in doubles: the public side of the buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats
from jali.streams.buffer_measurements import BLOCK, BLOCKS, times
from jali.streams.buffer_recurrence import BufferRecurrence


@dataclass(frozen=True)
class BufferInverse:
    """Values from measurements: A_0 times their sum, and d buffers that decay by the zeros.

    All coefficients are positive, so that doubles lose no digits by cancelling of the noise's own weights; the sum
    of all measurements is an integer.

    Attributes:
        recurrence: The strategy C.
        lattice: Measurements are in units of 2^-lattice.
    """

    recurrence: BufferRecurrence
    lattice: int

    @cached_property
    def residues(self) -> list[float]:
        """A_0 .. A_d over 2^lattice."""
        found: list[float] = np.ldexp(self.recurrence.residues, -self.lattice).tolist()
        return found

    @cached_property
    def gaps(self) -> list[float]:
        """1 - zero_j: with all digits, where the zero as a double would have lost some."""
        return [float(1 - zero) for zero in self.recurrence.zeros]

    def step(self, measured: int, total: int, buffers: list[float]) -> float:
        """Return the value after one more measurement, where `total` includes it; the buffers are moved on."""
        residues, number = self.residues, float(measured)
        value = residues[0] * total
        for j, gap in enumerate(self.gaps):
            buffer = buffers[j]
            buffer += number - gap * buffer
            buffers[j] = buffer
            value += residues[j + 1] * buffer
        return value

    def spans(self, measured: NDArray[Any], total: int, buffers: list[float], values: Floats) -> None:
        """Fill in the values after the measurements of whole spans, where `total` does not include them.

        The measurements are so small that doubles hold their sums over a block. The buffers are moved on.
        """
        numbers = np.empty((len(measured) // BLOCK, BLOCK + 1 + len(buffers)))
        numbers[:, :BLOCK] = measured.reshape(-1, BLOCK)
        added = times(numbers[:, :BLOCK], self._adding)
        numbers[0, BLOCK] = total
        numbers[1:, BLOCK] = total + np.cumsum(added[:-1, 0])
        numbers[:, BLOCK + 1 :] = self._within(added[:, 1:].reshape(-1, BLOCKS, len(buffers)), buffers)
        times(numbers, self._values, values.reshape(-1, BLOCK))

    def _within(self, added: Floats, buffers: list[float]) -> Floats:
        """Return the buffers before each block: first from span to span, then within all spans at once."""
        decays = self._powers[BLOCK]
        before = np.empty((len(added), len(buffers)))
        for j, row in enumerate(np.einsum("sbj,bj->js", added, self._later).tolist()):
            passed = _decaying(row, float(decays[j] ** BLOCKS), buffers[j])
            before[:, j], buffers[j] = passed[:-1], passed[-1]
        by = np.tile(decays, len(added))
        new = added.swapaxes(0, 1).reshape(BLOCKS, -1)
        found = np.empty((BLOCKS, before.size))
        found[0] = before.ravel()
        for block in range(1, BLOCKS):
            np.multiply(found[block - 1], by, out=found[block])
            found[block] += new[block - 1]
        return found.reshape(BLOCKS, *before.shape).swapaxes(0, 1).reshape(-1, len(buffers))

    @cached_property
    def _later(self) -> Floats:
        """How much of what enters in each block of a span is left at its end."""
        return np.asarray(self._powers[BLOCK] ** np.arange(BLOCKS - 1, -1, -1)[:, None])

    @cached_property
    def _powers(self) -> Floats:
        """zero_j^k: a row for each k up to a block."""
        return np.asarray(np.exp(np.arange(BLOCK + 1)[:, None] * np.log1p(-np.array(self.gaps))))

    @cached_property
    def _adding(self) -> Floats:
        """What the measurements of a block add to their sum, and to each buffer."""
        return np.hstack([np.ones((BLOCK, 1)), self._powers[BLOCK - 1 :: -1]])

    @cached_property
    def _values(self) -> Floats:
        """What the measurements of a block, the total and the buffers before it add to its values."""
        inverse = np.ldexp(self.recurrence.inverse(BLOCK), -self.lattice)
        inside = [[inverse[r - k] if k <= r else 0.0 for r in range(BLOCK)] for k in range(BLOCK)]
        total = np.full((1, BLOCK), self.residues[0])
        return np.vstack([inside, total, (self._powers[1:] * self.residues[1:]).T])


def _decaying(added: list[float], decay: float, buffer: float) -> list[float]:
    return list(accumulate(added, lambda last, new: last * decay + new, initial=buffer))
