"""Compute how far, and how often, the errors of answers exceed a line.

The normal law is exact to the last digits of its tails. Expectations under the sum of a normal error and another
one are taken by the trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.noise_models import Noise

_ROOT_OF_TWO = math.sqrt(2)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_TERMS = 12


def find_density(x: float) -> float:
    """Return the standard normal density."""
    return _DENSITY * math.exp(-x * x / 2)


def find_tail(x: float) -> float:
    """Return Pr[g > x] for a standard normal g."""
    return math.erfc(x / _ROOT_OF_TWO) / 2


def find_square_within(x: float) -> float:
    """Return E g^2 over 0 < g < x: Phi(x) - 1/2 - x phi(x), and for small x its series, in which nothing cancels.

    Example:
        >>> round(find_square_within(1e-5) / 1e-15, 6), round(find_square_within(50.0), 6)  # x^3 / (3 sqrt(2 pi))
        (0.132981, 0.5)
    """
    if x > 1:
        return 0.5 - find_tail(x) - x * find_density(x)
    term, total = x**3, 0.0
    for k in range(_TERMS):
        total += term / (2 * k + 3)
        term *= -x * x / (2 * (k + 1))
    return _DENSITY * total


@dataclass(frozen=True)
class NormalErrors:
    """Normal errors.

    Attributes:
        stddev: Their standard deviation, above 0.
    """

    stddev: float

    def beyond(self, line: float, power: int) -> float:
        """Return E (|e| - line)_+^power."""
        z = line / self.stddev
        tails = (
            find_tail(z),
            find_density(z) - z * find_tail(z),
            (1 + z * z) * find_tail(z) - z * find_density(z),
        )
        return 2 * self.stddev**power * max(0.0, tails[power])

    def within(self, line: float) -> float:
        """Return Pr[|e| < line]."""
        return math.erf(line / self.stddev / _ROOT_OF_TWO)

    def mean_capped_square(self, line: float) -> float:
        """Return E min(|e|, line)^2."""
        z = line / self.stddev
        return 2 * (self.stddev**2 * find_square_within(z) + line**2 * find_tail(z))


# The trapezoidal rule for expectations under the normal law; functions with a kink need the many nodes.
_NORMAL_NODES = np.linspace(-6, 6, 577)
_WEIGHTS = np.exp(-(_NORMAL_NODES**2) / 2) / np.exp(-(_NORMAL_NODES**2) / 2).sum()
# Beside a normal part that is so much larger, any part is as good as normal: the fourth power is left.
_SMALL_PART = 0.05


class ErrorPart(Protocol):
    """A law that is symmetric about 0. No difference of large numbers is taken, however large its errors are."""

    @property
    def stddev(self) -> float:
        """Its standard deviation."""

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y, and k = 0, 1 or 2."""

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y."""

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""


@dataclass(frozen=True)
class ErrorLaw:
    """The law of an error e that is as likely as -e.

    Attributes:
        part: A part of e that is not normal, if there is one.
        stddev: Of a normal part.
    """

    part: ErrorPart | None = None
    stddev: float = 0.0

    def beyond(self, line: float, power: int, *, spread: float) -> float:
        """Return E (|e + spread g| - line)_+^power for a standard normal g."""
        return self._mean(
            spread,
            lambda bell: bell.beyond(line, power),
            lambda part, shift: 2 * part.tail(line - shift, power),
        )

    def within(self, line: float, *, spread: float) -> float:
        """Return Pr[|e + spread g| < line]."""
        return self._mean(spread, lambda bell: bell.within(line), lambda part, shift: part.within(shift, line))

    def mean_capped_square(self, line: float, *, spread: float) -> float:
        """Return E min(|e + spread g|, line)^2."""
        return self._mean(
            spread,
            lambda bell: bell.mean_capped_square(line),
            lambda part, shift: part.mean_capped_square(shift, line),
        )

    def _mean(
        self,
        spread: float,
        normal: Callable[[NormalErrors], float],
        shifted: Callable[[ErrorPart, Doubles], Doubles],
    ) -> float:
        """Return a mean over all of the error, by that of its part at each place of the normal part."""
        around = math.hypot(spread, self.stddev)
        if self.part is None or self.part.stddev < _SMALL_PART * around:
            return normal(NormalErrors(math.hypot(around, 0.0 if self.part is None else self.part.stddev)))
        return float(_WEIGHTS @ shifted(self.part, around * _NORMAL_NODES))


def find_error_law(noise: Noise, people: int) -> ErrorLaw | None:
    """Return the law of an error of this noise, in units of sqrt(n); None if it has none that is independent."""
    size = noise.size / math.sqrt(people)
    if noise.kind not in ("none", "uniform", "gaussian", "laplace", "geometric"):
        return None
    if noise.kind in ("none", "gaussian") or size == 0:
        return ErrorLaw(stddev=size)
    return ErrorLaw(UniformErrors(size) if noise.kind == "uniform" else LaplaceErrors(size))


@dataclass(frozen=True)
class UniformErrors:
    """Errors within a size, each as likely as any other."""

    size: float

    @property
    def stddev(self) -> float:
        """Its standard deviation."""
        return self.size / math.sqrt(3)

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y."""
        above, below = np.maximum(self.size - line, 0.0), np.maximum(-self.size - line, 0.0)
        return np.asarray((above ** (power + 1) - below ** (power + 1)) / ((power + 1) * 2 * self.size))

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y."""
        high, low = (np.clip(end - shift, -self.size, self.size) for end in (line, -line))
        return np.asarray((high - low) / (2 * self.size))

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""
        high, low = (_integrate_capped_square(shift + end, line) for end in (self.size, -self.size))
        return np.asarray((high - low) / (2 * self.size))


def _integrate_capped_square(x: Doubles, line: float) -> Doubles:
    """Return the integral of min(|t|, line)^2 from 0 to x."""
    inside = np.clip(x, -line, line)
    return np.asarray(inside**3 / 3 + line**2 * (x - inside))


@dataclass(frozen=True)
class LaplaceErrors:
    """Errors with density exp(-|e| / scale) / (2 scale)."""

    scale: float

    @property
    def stddev(self) -> float:
        """Its standard deviation."""
        return math.sqrt(2) * self.scale

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y."""
        outside = math.factorial(power) * self.scale**power / 2 * np.exp(-np.abs(line) / self.scale)
        inside = (1 - outside, outside - line, 2 * self.scale**2 + line**2 - outside)[power]
        return np.where(line >= 0, outside, inside)

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y: two halves of the line, or two tails' difference."""
        near, far = np.abs(shift) / self.scale, line / self.scale
        both = -(np.expm1(-np.maximum(far - near, 0.0)) + np.expm1(-(far + near))) / 2
        one = np.exp(-np.maximum(near - far, 0.0)) * -math.expm1(-2 * far) / 2
        return np.where(near < far, both, one)

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y.

        It is the solution G of G - scale^2 G'' = min(|y|, line)^2 that stays bounded, in units of the scale.
        """
        near, far = np.abs(shift) / self.scale, line / self.scale
        place, fade = np.minimum(near, far), math.exp(-far)
        rise = (np.exp((place - far) / 2) - np.exp((-place - far) / 2)) ** 2
        inside = -2 * (math.expm1(-far) + far * fade) + place**2 - (1 + far) * rise
        lost = 2 * far + (1 + far) * math.expm1(-2 * far)
        outside = far**2 - lost * np.exp(-np.maximum(near - far, 0.0))
        return np.asarray(self.scale**2 * np.where(near < far, inside, outside))
