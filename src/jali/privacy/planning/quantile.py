"""Quantiles of noises with a log-concave tail, by Newton's method, from the side of more error."""

from __future__ import annotations

import math
from collections.abc import Callable

from jali.privacy.rounding import raised

_STEPS = 200


def upper_quantile(
    tail: Callable[[float], float], density: Callable[[float], float], allowed: float, start: float
) -> float:
    """Return the least t with tail(t) <= allowed, rounded up.

    The logarithm of the tail is concave, so a tangent lies above it: each step of Newton's method after the
    first ends at or right of the quantile, and the steps go down to it.

    Example:
        >>> round(upper_quantile(lambda t: math.exp(-t), lambda t: math.exp(-t), 0.05, 1.0), 6)
        2.995732
    """
    at = start
    for turn in range(_STEPS):
        reached = tail(at)
        step = math.log(reached / allowed) * reached / density(at)
        # A step up that is not the first is the rounding of the tail.
        if abs(step) <= 1e-15 * at or (turn and step > 0):
            break
        at += step
    return raised(at)
