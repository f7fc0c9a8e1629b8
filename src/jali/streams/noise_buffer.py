"""Noise that is drawn in blocks ahead of the ticks that use it, each number once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.sampling import BitSource, DiscreteGaussian, DiscreteLaplace


class NoiseBuffer:
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

    def list_unused(self) -> list[list[int]]:
        """Return what is drawn and not used, for the state of a stream."""
        found: list[list[int]] = self._left.tolist()
        return found


def read_unused(rows: list[list[int]], width: int) -> NDArray[Any]:
    """Read what `left` wrote: in machine words where they fit."""
    flat = [number for row in rows for number in row]
    kind = np.int64 if all(abs(number) < 1 << 63 for number in flat) else object
    return np.array(flat, dtype=kind).reshape(len(rows), width)


class TickNoiseBuffer(NoiseBuffer):
    """Noise drawn ahead, for ticks that come one by one as well as for many at once.

    However ticks are grouped, they get the same noises in the same order.
    """

    def __init__(
        self,
        sampler: DiscreteLaplace | DiscreteGaussian,
        width: int,
        ahead: int,
        left: NDArray[Any] | None = None,
        bits: BitSource | None = None,
    ) -> None:
        super().__init__(sampler, width, ahead, left, bits)
        # Rows that were taken for single ticks, the next one last.
        self._rows: list[list[int]] = []

    def one(self) -> list[int]:
        """Return the noises of the next tick: they are never handed out again."""
        if not self._rows:
            self._rows = super().take(self.ahead).tolist()[::-1]
        return self._rows.pop()

    def take(self, ticks: int) -> NDArray[Any]:
        """Return the noises of the next ticks: first those that were taken for single ticks."""
        rows = self._rows
        if not rows:
            return super().take(ticks)
        early = rows[: -ticks - 1 : -1]
        del rows[len(rows) - len(early) :]
        return np.concatenate([read_unused(early, self.width), super().take(ticks - len(early))])

    def list_unused(self) -> list[list[int]]:
        """Return what is drawn and not used, for the state of a stream."""
        return [*self._rows[::-1], *super().list_unused()]
