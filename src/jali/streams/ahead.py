"""Noise drawn ahead: a block of it at once, handed out tick after tick, each number once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.noise import BitSource, DiscreteGaussian, DiscreteLaplace


class NoiseAhead:
    """Independent noises for the ticks to come, for each of some keys.

    Args:
        sampler: The exact sampler of each noise.
        width: How many noises each tick takes.
        ahead: For how many ticks noise is drawn at once.
        left: Noise that was drawn before and not used, in rows of one tick.
        bits: Where random bits come from.
    """

    def __init__(
        self,
        sampler: DiscreteLaplace | DiscreteGaussian,
        width: int,
        ahead: int,
        left: NDArray[Any] | None = None,
        bits: BitSource | None = None,
    ) -> None:
        self.sampler, self.width, self.ahead, self.bits = sampler, width, ahead, bits
        self._left = np.zeros((0, width), np.int64) if left is None else left

    def take(self, ticks: int) -> NDArray[Any]:
        """Return the noises of the next ticks, of shape (ticks, width): they are never handed out again."""
        if len(self._left) < ticks:
            rows = max(self.ahead, ticks - len(self._left))
            drawn = self.sampler.sample(rows * self.width, bits=self.bits).reshape(rows, self.width)
            self._left = drawn if not len(self._left) else np.concatenate([self._left, drawn])
        taken, self._left = self._left[:ticks], self._left[ticks:]
        return taken

    def left(self) -> list[list[int]]:
        """Return what is drawn and not used, for the state of a stream."""
        found: list[list[int]] = self._left.tolist()
        return found


def read_left(rows: list[list[int]], width: int) -> NDArray[Any]:
    """Read what `left` wrote: in machine words where they fit."""
    flat = [number for row in rows for number in row]
    kind = np.int64 if all(abs(number) < 1 << 63 for number in flat) else object
    return np.array(flat, dtype=kind).reshape(len(rows), width)
