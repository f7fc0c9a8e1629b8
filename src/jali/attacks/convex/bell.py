"""The normal law about 0, to the last digits of its tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

_ROOT = math.sqrt(2)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_TERMS = 12


def density(x: float) -> float:
    """Return the standard normal density."""
    return _DENSITY * math.exp(-x * x / 2)


def above(x: float) -> float:
    """Return Pr[g > x] for a standard normal g."""
    return math.erfc(x / _ROOT) / 2


def squares(x: float) -> float:
    """Return E g^2 over 0 < g < x: Phi(x) - 1/2 - x phi(x), and for small x its series, in which nothing cancels.

    Example:
        >>> round(squares(1e-5) / 1e-15, 6), round(squares(50.0), 6)  # x^3 / (3 sqrt(2 pi))
        (0.132981, 0.5)
    """
    if x > 1:
        return 0.5 - above(x) - x * density(x)
    term, total = x**3, 0.0
    for k in range(_TERMS):
        total += term / (2 * k + 3)
        term *= -x * x / (2 * (k + 1))
    return _DENSITY * total


@dataclass(frozen=True)
class Bell:
    """Normal errors.

    Attributes:
        stddev: Their standard deviation, above 0.
    """

    stddev: float

    def beyond(self, line: float, power: int) -> float:
        """Return E (|e| - line)_+^power."""
        z = line / self.stddev
        tails = (above(z), density(z) - z * above(z), (1 + z * z) * above(z) - z * density(z))
        return 2 * self.stddev**power * max(0.0, tails[power])

    def within(self, line: float) -> float:
        """Return Pr[|e| < line]."""
        return math.erf(line / self.stddev / _ROOT)

    def capped(self, line: float) -> float:
        """Return E min(|e|, line)^2."""
        z = line / self.stddev
        return 2 * (self.stddev**2 * squares(z) + line**2 * above(z))
