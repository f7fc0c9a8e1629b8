"""Tails of linear forms in continuous noises, and of sums of independent forms.

Every function returns an upper bound on Pr[|form| >= t], elementwise over arrays; t may have more axes in front.
Proof:
    docs/proofs/intervals.md, part 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np

from jali.mechanisms.laws.worst import Floats

Tail: TypeAlias = Callable[[Floats], Floats]
# With more terms the closed form of the Laplace tail loses too many digits.
_MANY = 12
# Into how many cells the narrower of two sums is cut (of three: less), up to so many deviations; and further out.
_CELLS, _FEW_CELLS, _DEVIATIONS, _OUTER = 16, 8, 12.0, 4
# Normal tails of whole grids are read from a table of so many steps for each deviation, up to where they are 0.
_STEPS, _LAST = 2048, 39


def normal_tail(scales: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of normals of these standard deviations."""
    z = _ratio(t, np.sqrt(sum(s * s for s in scales)))
    if z.ndim > 1:
        return _normal_table().take((np.minimum(z, _LAST) * _STEPS).astype(np.intp))
    return np.array([math.erfc(value) for value in (z / math.sqrt(2)).tolist()])


@cache
def _normal_table() -> Floats:
    """Return tails at multiples of a small step: the one below a number is an upper bound at the number."""
    return np.array([math.erfc(i / _STEPS / math.sqrt(2)) for i in range(_LAST * _STEPS + 1)])


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide, where 0/0 is 0 and x/0 is infinite: noise of no size never exceeds a positive threshold."""
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, np.where(above > 0, np.inf, 0.0))


def laplace_tail(scales: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of Laplace noises of these scales: in closed form for a dozen of them."""
    return _partial_fractions(scales, t) if len(scales) <= _MANY else _chernoff(scales, t)


def _partial_fractions(scales: Sequence[Floats], t: Floats) -> Floats:
    """Pr[|sum b_i L_i| >= t] = sum_i w_i exp(-t/b_i), w_i = prod over j != i of b_i^2 / (b_i^2 - b_j^2).

    The tail grows with every scale, so scales that are too close for this formula are moved apart, upwards.
    """
    widened = _apart(np.sort(np.stack(scales), axis=0))
    total = np.zeros_like(t)
    for i, scale in enumerate(widened):
        others = np.delete(widened, i, axis=0)
        weight = np.prod(1 / (1 - (others / scale) ** 2), axis=0)
        # Beyond 700 scales the exponential is 0 in double precision.
        total += weight * np.exp(-np.minimum(t / scale, 700.0))
    return np.clip(total, 0.0, 1.0)


def _apart(scales: Floats) -> Floats:
    """Raise sorted scales so that each is at least 3 % above the one before (6 % among many)."""
    ratio = 1.03 if len(scales) <= 4 else 1.06
    widened: Floats = np.maximum(scales, np.maximum(scales[-1] * 1e-9, 1e-300))
    for i in range(1, len(widened)):
        widened[i] = np.maximum(widened[i], ratio * widened[i - 1])
    return widened


def _chernoff(scales: Sequence[Floats], t: Floats) -> Floats:
    """Bound the tail by 2 min over s of exp(-s t) / prod(1 - (s b_i)^2), on a grid of s."""
    largest = np.maximum.reduce(list(scales))
    best = np.ones_like(t)
    for share in np.linspace(0.02, 0.98, 49):
        s = share / np.where(largest > 0, largest, 1.0)
        log = -s * t - sum(np.log1p(-((s * b) ** 2)) for b in scales)
        best = np.minimum(best, 2 * np.exp(log))
    return best


def sum_tail(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of independent, symmetric and unimodal forms from their tails.

    Args:
        tails: The tail of each form.
        deviations: About its standard deviation, for each place.
        t: The thresholds, one for each place.
    """
    order = sorted(range(len(tails)), key=lambda i: float(np.sum(deviations[i])))
    if len(tails) > 3:
        return _shared(tails, deviations, t)
    return _folded([tails[i] for i in order], [deviations[i] for i in order], t)


def _folded(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Fold the narrowest form, cut into cells, with the sum of the others.

    Given that it is x the sum exceeds t with half of the others' tails at t - x and at t + x, which grows with |x|
    and is convex up to t. In a cell |x| is no larger than if it were uniform there: the mean of both ends bounds.
    """
    first, *others = tails
    if not others:
        return first(t)
    x = _ends(t, deviations[0], _CELLS if len(tails) == 2 else _FEW_CELLS)
    near, far = (_folded(others, deviations[1:], side) for side in (t - x, t + x))
    chances = np.maximum.accumulate(np.minimum(1.0, (near + far) / 2), axis=0)
    means = (chances[:-1] + chances[1:]) / 2
    steps = np.diff(means, axis=0, append=np.ones_like(means[:1]))
    return np.asarray(np.minimum(1.0, means[0] + (steps * first(x[1:])).sum(axis=0)))


def _ends(t: Floats, deviation: Floats, cells: int) -> Floats:
    """Return the ends of cells from 0 to t, most of them within a few deviations."""
    shape = (-1, *(1,) * t.ndim)
    inner = np.minimum(t, np.maximum(_DEVIATIONS * deviation, 1e-6 * t))
    near = inner * np.linspace(0.0, 1.0, cells + 1).reshape(shape)
    outer = inner + (t - inner) * np.linspace(0.0, 1.0, _OUTER + 1)[1:].reshape(shape)
    return np.concatenate([near, outer])


def _shared(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Give each of many forms its share of the threshold: one of them exceeds it, or the sum does not."""
    total = np.maximum(sum(deviations, np.zeros_like(t)), 1e-300)
    parts = (tail(t * deviation / total) for tail, deviation in zip(tails, deviations, strict=True))
    return np.asarray(np.minimum(1.0, sum(parts, np.zeros_like(t))))
