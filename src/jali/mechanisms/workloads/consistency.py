"""Post-process noisy counts so that none is below 0, totals agree and CDFs rise.

What is computed here is computed from noisy values, so it costs no privacy. It does bias: a cell with a true count
of 0 can only be moved up. Intervals and standard deviations of a mechanism are about its answers before this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError

Floats: TypeAlias = NDArray[np.float64]
_LARGEST = 1e300


def nonnegative(cells: Sequence[float] | NDArray[Any], *, total: float | None = None) -> Floats:
    """Return the nearest histogram without counts below 0, and with a given total if there is one.

    Guarantee:
        The Euclidean projection: no vector with these properties is nearer. No cell of a true histogram with
        these properties is further from the result than, in sum of squares, it was from `cells`.
    Proof:
        docs/proofs/consistency.md, Theorem 1.

    Example:
        >>> nonnegative([3.0, -1.0, 2.0], total=4).tolist()
        [2.5, 0.0, 1.5]
    """
    noisy = _vector(cells)
    if total is None:
        return np.maximum(noisy, 0.0)
    return np.maximum(noisy - _water_level(noisy, _total(total)), 0.0)


def with_total(cells: Sequence[float] | NDArray[Any], *, total: float) -> Floats:
    """Return the nearest vector with a given total: the same amount is added to every cell. It does not bias.

    Example:
        >>> with_total([3.0, -1.0, 2.0], total=7).tolist()
        [4.0, 0.0, 3.0]
    """
    noisy = _vector(cells)
    return np.asarray(noisy + (_total(total) - noisy.sum()) / noisy.size)


def rising(values: Sequence[float] | NDArray[Any], *, weights: Sequence[float] | None = None) -> Floats:
    """Return the nearest sequence that never falls, for a noisy CDF: pool adjacent violators.

    Args:
        values: The noisy values.
        weights: How much each counts in the distance, such as one over its variance.

    Guarantee:
        The weighted Euclidean projection on the sequences that never fall (Ayer et al. 1955).
    Proof:
        docs/proofs/consistency.md, Theorem 2.

    Example:
        >>> rising([1.0, 3.0, 2.0, 4.0]).tolist()
        [1.0, 2.5, 2.5, 4.0]
    """
    noisy = _vector(values)
    mass = np.ones_like(noisy) if weights is None else _vector(weights)
    if mass.shape != noisy.shape or not (mass > 0).all():
        raise MechanismError("consistency-weights-wrong")
    means, lengths = _pools(noisy.tolist(), mass.tolist())
    return np.repeat(np.array(means), lengths)


def cumulative(values: Sequence[float] | NDArray[Any], *, total: float | None = None) -> Floats:
    """Return a noisy CDF that rises from 0 to the total: pooled, then cut to the range, which stays the nearest.

    Example:
        >>> cumulative([-1.0, 3.0, 2.0, 9.0], total=8).tolist()
        [0.0, 2.5, 2.5, 8.0]
    """
    top = math.inf if total is None else _total(total)
    return np.clip(rising(values), 0.0, top)


def _water_level(noisy: Floats, total: float) -> float:
    """Return the level w with sum of max(x - w, 0) = total: found among the sorted cells."""
    falling = np.sort(noisy)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, noisy.size + 1)
    # The first cells stay while they are above the level they would have with the others cut.
    kept = np.flatnonzero(falling > levels)
    return float(levels[kept[-1]]) if kept.size else float(falling[0])


def _pools(values: list[float], weights: list[float]) -> tuple[list[float], list[int]]:
    """Merge neighbours that fall until none does; each value is merged once, so this takes linear time."""
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values, weights, strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] >= mean:
            other = masses.pop()
            mean = (mean * mass + means.pop() * other) / (mass + other)
            mass, length = mass + other, length + lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return means, lengths


def _total(total: float) -> float:
    if isinstance(total, bool) or not isinstance(total, int | float | np.number) or not 0 <= total < _LARGEST:
        raise MechanismError("consistency-total-wrong", total=total)
    return float(total)


def _vector(values: Sequence[float] | NDArray[Any]) -> Floats:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        vector = np.zeros(0)
    # Noisy values, and so no secret: they may be refused for what they are. Sums of them must not overflow.
    if vector.ndim != 1 or not vector.size or not (np.abs(vector) < _LARGEST).all():
        raise MechanismError("consistency-row-wrong")
    return vector
