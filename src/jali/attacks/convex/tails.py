"""How far, and how often, the errors of answers exceed a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.convex.bell import Bell
from jali.attacks.noises import Noise

# The trapezoidal rule for expectations under the normal law; functions with a kink need the many nodes.
_NORMAL = np.linspace(-6, 6, 577)
_WEIGHTS = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()
# Beside a normal part that is so much larger, any part is as good as normal: the fourth power is left.
_SMALL = 0.05


class Part(Protocol):
    """A law that is symmetric about 0. No difference of large numbers is taken, however large its errors are."""

    @property
    def stddev(self) -> float:
        """Its standard deviation."""

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y, and k = 0, 1 or 2."""

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y."""

    def capped(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""


@dataclass(frozen=True)
class Errors:
    """The law of an error e that is as likely as -e.

    Attributes:
        part: A part of e that is not normal, if there is one.
        stddev: Of a normal part.
    """

    part: Part | None = None
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

    def capped(self, line: float, *, spread: float) -> float:
        """Return E min(|e + spread g|, line)^2."""
        return self._mean(spread, lambda bell: bell.capped(line), lambda part, shift: part.capped(shift, line))

    def _mean(
        self, spread: float, normal: Callable[[Bell], float], shifted: Callable[[Part, Doubles], Doubles]
    ) -> float:
        """Return a mean over all of the error, by that of its part at each place of the normal part."""
        around = math.hypot(spread, self.stddev)
        if self.part is None or self.part.stddev < _SMALL * around:
            return normal(Bell(math.hypot(around, 0.0 if self.part is None else self.part.stddev)))
        return float(_WEIGHTS @ shifted(self.part, around * _NORMAL))


def errors_of(noise: Noise, people: int) -> Errors | None:
    """Return the law of an error of this noise, in units of sqrt(n); None if it has none that is independent."""
    size = noise.size / math.sqrt(people)
    if noise.kind not in ("none", "uniform", "gaussian", "laplace", "geometric"):
        return None
    if noise.kind in ("none", "gaussian") or size == 0:
        return Errors(stddev=size)
    return Errors(Uniform(size) if noise.kind == "uniform" else Laplace(size))


@dataclass(frozen=True)
class Uniform:
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

    def capped(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""
        high, low = (_sum_of_capped(shift + end, line) for end in (self.size, -self.size))
        return np.asarray((high - low) / (2 * self.size))


def _sum_of_capped(x: Doubles, line: float) -> Doubles:
    """Return the integral of min(|t|, line)^2 from 0 to x."""
    inside = np.clip(x, -line, line)
    return np.asarray(inside**3 / 3 + line**2 * (x - inside))


@dataclass(frozen=True)
class Laplace:
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

    def capped(self, shift: Doubles, line: float) -> Doubles:
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
