"""How far one person moves measurements: every pattern of ticks, one by one, however many ticks it has."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def furthest(strategy: NDArray[Any], ticks: int, separation: int) -> tuple[Fraction, Fraction]:
    """Return the largest norms over all patterns, one by one."""
    found = [0, 0]

    def enter(first: int, left: int, move: NDArray[Any]) -> None:
        found[:] = max(found[0], int(move.sum())), max(found[1], int(move @ move))
        for tick in range(first, strategy.shape[1] if left else 0):
            enter(tick + separation, left - 1, move + strategy[:, tick])

    enter(0, ticks, np.zeros(len(strategy), dtype=np.int64))
    return Fraction(found[0]), Fraction(found[1])
