"""The past of a stream: numbers for every tick so far, side by side for each key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Past:
    """One row for each key, one column for each tick; it only grows, and not by copying at every tick.

    Args:
        known: What it begins with.
    """

    def __init__(self, known: NDArray[Any]) -> None:
        self._room, self.ticks = known, known.shape[1]

    @property
    def rows(self) -> NDArray[Any]:
        """Everything so far."""
        return self._room[:, : self.ticks]

    def grow(self, new: NDArray[Any]) -> None:
        """Add ticks; Python integers make Python integers of all."""
        end, kind = self.ticks + new.shape[1], np.result_type(self._room, new)
        if end > self._room.shape[1] or kind != self._room.dtype:
            room = np.zeros((len(self._room), max(end, 2 * self.ticks)), kind)
            room[:, : self.ticks] = self.rows
            self._room = room
        self._room[:, self.ticks : end] = new
        self.ticks = end
