"""How far, and how often, the errors of answers exceed a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.noises import Noise

Tail: TypeAlias = Callable[[Doubles, int], Doubles]

# The trapezoidal rule for expectations under the normal law; functions with a kink need the many nodes.
_NORMAL = np.linspace(-6, 6, 577)
_WEIGHTS = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()


@dataclass(frozen=True)
class Errors:
    """The law of an error e that is as likely as -e.

    Attributes:
        tail: E (e - y)_+^k for each y, and k = 1 or 2.
        stddev: Of a normal part that e has besides.
    """

    tail: Tail
    stddev: float = 0.0

    def beyond(self, line: float, power: int, *, spread: float) -> float:
        """Return E (|e + spread g| - line)_+^power for a standard normal g."""
        return 2 * float(_WEIGHTS @ self.tail(line - math.hypot(spread, self.stddev) * _NORMAL, power))


def errors_of(noise: Noise, people: int) -> Errors | None:
    """Return the law of an error of this noise, in units of sqrt(n); None if it has none that is independent."""
    size = noise.size / math.sqrt(people)
    if noise.kind not in ("none", "uniform", "gaussian", "laplace", "geometric"):
        return None
    if noise.kind in ("none", "gaussian") or size == 0:
        return Errors(_none, stddev=size)
    return Errors(_uniform(size) if noise.kind == "uniform" else _laplace(size))


def _none(line: Doubles, power: int) -> Doubles:
    return np.maximum(-line, 0.0) ** power


def _uniform(size: float) -> Tail:
    def tail(line: Doubles, power: int) -> Doubles:
        ends = np.maximum(size - line, 0.0) ** (power + 1) - np.maximum(-size - line, 0.0) ** (power + 1)
        return np.asarray(ends / ((power + 1) * 2 * size))

    return tail


def _laplace(scale: float) -> Tail:
    def tail(line: Doubles, power: int) -> Doubles:
        outside = math.factorial(power) * scale**power / 2 * np.exp(-np.abs(line) / scale)
        inside = 2 * scale**2 + line**2 - outside if power == 2 else outside - line
        return np.where(line >= 0, outside, inside)

    return tail
