"""Ladders: public distances that grow by one step at first and by a factor later, up to an end."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.mechanisms.ruler import Marks
from jali.privacy.rationals import Number

# A smaller growth would make ladders of millions of rungs.
_LEAST = Fraction(10001, 10000)


def growth_of(value: Number) -> Fraction:
    """Read the factor between neighbouring rungs from a mechanism's arguments."""
    growth = parameter(value, "growth")
    if growth < _LEAST:
        raise MechanismError("growth-too-small", least=float(_LEAST), value=value)
    return growth


@lru_cache(maxsize=32)
def ladder(growth: Fraction, top: int) -> Marks:
    """Return 0, 1, 2, ..., top, where d is followed by the larger of d + 1 and floor(d growth).

    Integers alone, so that it is the same on every machine.

    Example:
        >>> ladder(Fraction(3, 2), 20).tolist()
        [0, 1, 2, 3, 4, 6, 9, 13, 19, 20]
    """
    rungs = [0]
    while (last := rungs[-1]) < top:
        rungs.append(min(top, max(last + 1, last * growth.numerator // growth.denominator)))
    made = np.array(rungs, np.int64)
    made.flags.writeable = False
    return made


def rungs(growth: Fraction, bottom: int, top: int, *, longest: int) -> Marks:
    """Return the part of a ladder from `bottom` to `top`, both included; `longest` is the largest top there is."""
    full = ladder(growth, longest)
    return np.append(full[(full >= bottom) & (full < top)], np.int64(top))
