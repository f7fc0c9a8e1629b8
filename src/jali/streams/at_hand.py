"""Noise at hand: drawn ahead in blocks, and handed out to single ticks without the cost of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.noise import BitSource, DiscreteGaussian, DiscreteLaplace
from jali.streams.ahead import NoiseAhead, read_left


class NoiseAtHand(NoiseAhead):
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
        return np.concatenate([read_left(early, self.width), super().take(ticks - len(early))])

    def left(self) -> list[list[int]]:
        """Return what is drawn and not used, for the state of a stream."""
        return [*self._rows[::-1], *super().left()]
