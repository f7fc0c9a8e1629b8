"""How often noise carries an answer across the half between one count and the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist

from jali.attacks.noises import Noise

_HALF = 0.5
# In scales: e to the minus this is 0 in doubles.
_FAR = 1000.0


def crossing(noise: Noise) -> float | None:
    """Return Pr[X > 1/2] for the noise X of one answer; None where no law says it.

    With discrete Laplace noise it is q / (1 + q) for q = e^(-1/scale), so that a count of one person with the
    loss epsilon is read right with probability e^epsilon / (1 + e^epsilon): no more is possible.

    Example:
        >>> crossing(Noise("uniform", 1))
        0.25
    """
    return _of(noise, _ONE)


def difference_crossing(noise: Noise) -> float | None:
    """Return Pr[X - Y > 1/2] for the independent noises X and Y of two answers; None where no law says it.

    Example:
        >>> difference_crossing(Noise("uniform", 0.5))
        0.125
    """
    return _of(noise, _TWO)


def _of(noise: Noise, laws: Mapping[str, Callable[[float], float]]) -> float | None:
    if noise.stddev == 0:
        return 0.0
    return laws[noise.kind](noise.size) if noise.kind in laws else None


def _uniform(bound: float) -> float:
    return max(0.0, bound - _HALF) / (2 * bound)


def _triangular(bound: float) -> float:
    return max(0.0, 2 - _HALF / bound) ** 2 / 8


def _gaussian(stddev: float) -> float:
    return NormalDist().cdf(-_HALF / stddev)


def _laplace(scale: float) -> float:
    return math.exp(-_HALF / scale) / 2


def _two_laplace(scale: float) -> float:
    away = min(_HALF / scale, _FAR)
    return (1 + away / 2) * math.exp(-away) / 2


def _geometric(scale: float) -> float:
    q = math.exp(-1 / scale)
    return q / (1 + q)


def _two_geometric(scale: float) -> float:
    """Return half of 1 - Pr[X = Y], which is the sum of the squared masses."""
    q = math.exp(-1 / scale)
    same = (1 - q) * (1 + q * q) / (1 + q) ** 3
    return (1 - same) / 2


_ONE = {"uniform": _uniform, "gaussian": _gaussian, "laplace": _laplace, "geometric": _geometric}
_TWO = {
    "uniform": _triangular,
    "gaussian": lambda stddev: _gaussian(math.sqrt(2) * stddev),
    "laplace": _two_laplace,
    "geometric": _two_geometric,
}
