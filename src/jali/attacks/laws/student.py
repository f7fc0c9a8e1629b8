"""Student's law, without a library."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from jali.numbers.search import bisect

_STEPS = 60
# From here on it is the normal law, within a thousandth.
_MANY = 1000


def inside(degrees: int, t: float) -> float:
    """Return Pr[|T| < t] for Student's T, a finite sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    Example:
        >>> round(inside(1, 1.0), 12), round(inside(2, 1.0), 6)  # 2/pi arctan(1), 1/sqrt(3)
        (0.5, 0.57735)
    """
    angle = math.atan(t / math.sqrt(degrees))
    odd, square = degrees % 2, math.cos(angle) ** 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= square * k / (k + 1)
    scaled = math.sin(angle) * total
    return 2 / math.pi * (angle + scaled) if odd else scaled


@lru_cache(maxsize=256)
def student(degrees: int, confidence: float) -> float:
    """Return the t that Student's |T| is below with this probability.

    Example:
        >>> round(student(1, 0.95), 3), round(student(10, 0.95), 3)
        (12.706, 2.228)
    """
    if degrees > _MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    root = math.sqrt(degrees)
    found, _ = bisect(
        lambda angle: inside(degrees, root * math.tan(angle)) >= confidence, 0.0, math.pi / 2, steps=_STEPS
    )
    return root * math.tan(found)
