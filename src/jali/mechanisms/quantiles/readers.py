"""Reading what the quantile mechanisms are given: one reader for each parameter, wherever it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.mechanism import natural, parameter
from jali.privacy.rationals import Number, rational, share

_FINEST = 10**6
# Beyond these, errors would be no doubles; nobody means such losses.
_LEAST, _MOST = Fraction(1, 10**100), 10**100


def quantile_of(value: Number, name: str) -> Fraction:
    """Read a quantile: the fraction of denominator at most 10^6 that is nearest to a number from 0 to 1.

    Ranks and noise are on a lattice of 1/denominator people; nobody means more digits, and 1 - 0.99 has sixteen.
    """
    return _read(share, value, name).limit_denominator(_FINEST)


def rising_quantiles(at: Any) -> tuple[Fraction, ...]:
    """Read quantiles from 0 to 1, each above the one before it, or refuse them by name."""
    if isinstance(at, str | bytes) or not isinstance(at, Sequence | np.ndarray) or not len(at):
        raise MechanismError("quantiles-malformed")
    found = tuple(quantile_of(one, "at") for one in at)
    if any(one >= other for one, other in pairwise(found)):
        raise MechanismError("quantiles-not-rising")
    return found


def loss_of(epsilon: Number, *, most: int = _MOST) -> Fraction:
    """Read a loss, from 1e-100 to 1e100 or less."""
    loss = parameter(epsilon, "epsilon")
    if not _LEAST <= loss <= most:
        raise MechanismError("quantile-epsilon-out-of-range", least=float(_LEAST), most=most)
    return loss


def low_of(low: Number | None) -> Fraction | None:
    """Read the known end of an open range."""
    return None if low is None else _read(rational, low, "low")


def reach_of(reach: Number | None) -> Fraction | None:
    """Read how far an open range goes."""
    return None if reach is None else parameter(reach, "reach")


def spare_of(spare: int) -> int:
    """Read how many people may be left out."""
    return natural(spare, "spare", least=0)


def _read(reader: Callable[[Number, str], Fraction], value: Number, name: str) -> Fraction:
    try:
        return reader(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
