"""Laws of the largest |coordinate| that are listed as arrays, and wide laws as stretched narrow ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.mechanisms.laws.law import Law
from jali.mechanisms.laws.worst import Floats


@dataclass(frozen=True, eq=False)
class StretchedLaw(Law):
    """The law of a size |X| from its masses at 0, 1, 2, ..., all distances multiplied by a factor.

    With factor 1 the law is the listed one. A noise that is `factor` times as wide as a listed noise of
    thousands of steps has the same law in those units, but for the square of one over its width: its tails are
    read between the listed ones.

    Args:
        sizes: Pr[|X| = 0], Pr[|X| = 1], ... of the listed law.
        factor: At least 1.
    """

    sizes: Floats
    factor: int

    @cached_property
    def _tails(self) -> Floats:
        """Pr[|X| > -1], Pr[|X| > 0], ..., smallest summed first."""
        return np.append(np.cumsum(self.sizes[::-1])[::-1], 0.0)

    @property
    def expected(self) -> float:
        """The expectation of |X|."""
        return self.factor * float(self.sizes @ np.arange(len(self.sizes), dtype=np.float64))

    @property
    def stddev(self) -> float:
        """The square root of the expectation of X^2."""
        squares = np.arange(len(self.sizes), dtype=np.float64) ** 2
        return self.factor * math.sqrt(float(self.sizes @ squares))

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value] of a symmetric X."""
        size = abs(value) // self.factor
        mass = float(self.sizes[size]) if size < len(self.sizes) else 0.0
        share = mass / self.factor / (2 if value else 1)
        return math.log(share) if share else -math.inf

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        place = (threshold + 0.5) / self.factor + 0.5  # of a listed tail, counted from Pr[|X| > -1]
        if place >= len(self._tails) - 1:
            return 0.0
        if self.factor == 1:
            return float(self._tails[threshold + 1])
        below = int(place)
        share = place - below
        return float((1 - share) * self._tails[below] + share * self._tails[below + 1])

    @property
    def far(self) -> int:
        """The end of the list."""
        return len(self.sizes) * self.factor

    def reach(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self.threshold(left)
