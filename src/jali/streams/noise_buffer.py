"""Draw noise in blocks, ahead of the ticks that use it; each number is used once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.sampling import BitSource, DiscreteGaussian, DiscreteLaplace


class NoiseBuffer:
    """Independent noises for the ticks to come, which arrive one by one or many at once.

    However ticks are grouped, they get the same noises in the same order.

    Args:
        sampler: The exact sampler of each noise.
        width: How many noises each tick takes.
        ahead: For how many ticks noise is drawn at once.
        unused: Noise that was drawn before and not used, in rows of one tick.
        bits: Where random bits come from.
    """

    def __init__(
        self,
        sampler: DiscreteLaplace | DiscreteGaussian,
        width: int,
        ahead: int,
        unused: NDArray[Any] | None = None,
        bits: BitSource | None = None,
    ) -> None:
        self.sampler, self.width, self.ahead, self.bits = sampler, width, ahead, bits
        self._unused = np.zeros((0, width), np.int64) if unused is None else unused
        # Rows that were set aside for single ticks, the next one last.
        self._rows: list[list[int]] = []

    def one(self) -> list[int]:
        """Return the noises of the next tick, which are never returned again."""
        if not self._rows:
            self._rows = self._take(self.ahead).tolist()[::-1]
        return self._rows.pop()

    def take(self, ticks: int) -> NDArray[Any]:
        """Return the noises of the next ticks, of shape (ticks, width), which are never returned again."""
        rows = self._rows
        if not rows:
            return self._take(ticks)
        early = rows[: -ticks - 1 : -1]
        del rows[len(rows) - len(early) :]
        return np.concatenate([read_unused(early, self.width), self._take(ticks - len(early))])

    def _take(self, ticks: int) -> NDArray[Any]:
        if len(self._unused) < ticks:
            rows = max(self.ahead, ticks - len(self._unused))
            drawn = self.sampler.sample(rows * self.width, bits=self.bits).reshape(rows, self.width)
            self._unused = np.concatenate([self._unused, drawn]) if len(self._unused) else drawn
        taken, self._unused = self._unused[:ticks], self._unused[ticks:]
        return taken

    def list_unused(self) -> list[list[int]]:
        """Return what is drawn and not used, for the state of a stream."""
        return [*self._rows[::-1], *self._unused.tolist()]


def read_unused(rows: list[list[int]], width: int) -> NDArray[Any]:
    """Read what `list_unused` returned: in machine words where they fit."""
    flat = [number for row in rows for number in row]
    kind = np.int64 if all(abs(number) < 1 << 63 for number in flat) else object
    return np.array(flat, dtype=kind).reshape(len(rows), width)
