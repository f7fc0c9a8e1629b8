"""Bound the tails of linear forms in continuous noises, and of sums of independent forms.

Every function returns an upper bound on Pr[|form| >= t], elementwise over arrays; t may have more axes in front.

Statement:
    For the coordinates of one cube noise, let R have the Gamma(d+1) law and U_1, ..., U_d be uniform on [-1, 1],
    all independent; R U has a density proportional to exp(-max|z_i|). For c_1, ..., c_m > 0, m <= d, and t >= 0,
    Pr[|sum c_j R U_j| >= t] = 2/(2^m m! prod c_j) times the sum over signs s with A = sum s_j c_j > 0 of
    prod s_j A^m g(t/A), where g(x) = sum over i <= d-m of exp(-x) x^i/i! times the product over l < i of
    (d-m-l)/(d-l). The tail grows with every c_j.
Proof:
    docs/proofs/intervals.md, part 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from jali.mechanisms.additive.noise_laws import Floats
from jali.numbers.search import bisect, bracket

Tail: TypeAlias = Callable[[Floats], Floats]
# With more terms the closed form of the Laplace tail loses too many digits.
_MOST_LAPLACE_TERMS = 12
# Into how many cells the narrower of two sums is cut (of three: less), up to so many deviations; and further out.
_CELLS, _FEW_CELLS, _DEVIATIONS, _OUTER = 16, 8, 12.0, 4
# Normal tails of whole grids are read from a table of so many steps for each deviation, up to where they are 0.
_STEPS, _LAST = 2048, 39


def bound_normal_tail(scales: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of normals of these standard deviations."""
    z = _divide(t, np.sqrt(sum(s * s for s in scales)))
    if z.ndim > 1:
        return _tabulate_normal_tail().take((np.minimum(z, _LAST) * _STEPS).astype(np.intp))
    return np.array([math.erfc(value) for value in (z / math.sqrt(2)).tolist()])


@cache
def _tabulate_normal_tail() -> Floats:
    """Return tails at multiples of a small step: the one below a number is an upper bound at the number."""
    return np.array([math.erfc(i / _STEPS / math.sqrt(2)) for i in range(_LAST * _STEPS + 1)])


def _divide(above: Floats, below: Floats) -> Floats:
    """Divide, where 0/0 is 0 and x/0 is infinite: noise of no size never exceeds a positive threshold."""
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, np.where(above > 0, np.inf, 0.0))


def bound_laplace_tail(scales: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of Laplace noises of these scales: in closed form for a dozen of them."""
    return (
        _sum_partial_fractions(scales, t) if len(scales) <= _MOST_LAPLACE_TERMS else _bound_by_chernoff(scales, t)
    )


def _sum_partial_fractions(scales: Sequence[Floats], t: Floats) -> Floats:
    """Pr[|sum b_i L_i| >= t] = sum_i w_i exp(-t/b_i), w_i = prod over j != i of b_i^2 / (b_i^2 - b_j^2).

    The tail grows with every scale, so scales that are too close for this formula are moved apart, upwards.
    """
    widened = _separate_scales(np.sort(np.stack(scales), axis=0))
    total = np.zeros_like(t)
    for i, scale in enumerate(widened):
        others = np.delete(widened, i, axis=0)
        weight = np.prod(1 / (1 - (others / scale) ** 2), axis=0)
        # Beyond 700 scales the exponential is 0 in double precision.
        total += weight * np.exp(-np.minimum(t / scale, 700.0))
    return np.clip(total, 0.0, 1.0)


def _separate_scales(scales: Floats) -> Floats:
    """Raise sorted scales so that each is at least 3 % above the one before (6 % among many)."""
    ratio = 1.03 if len(scales) <= 4 else 1.06
    widened: Floats = np.maximum(scales, np.maximum(scales[-1] * 1e-9, 1e-300))
    for i in range(1, len(widened)):
        widened[i] = np.maximum(widened[i], ratio * widened[i - 1])
    return widened


def _bound_by_chernoff(scales: Sequence[Floats], t: Floats) -> Floats:
    """Bound the tail by 2 min over s of exp(-s t) / prod(1 - (s b_i)^2), on a grid of s."""
    largest = np.maximum.reduce(list(scales))
    best = np.ones_like(t)
    for share in np.linspace(0.02, 0.98, 49):
        s = share / np.where(largest > 0, largest, 1.0)
        log = -s * t - sum(np.log1p(-((s * b) ** 2)) for b in scales)
        best = np.minimum(best, 2 * np.exp(log))
    return best


def bound_sum_tail(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Return the tail of a sum of independent, symmetric and unimodal forms from their tails.

    Args:
        tails: The tail of each form.
        deviations: About its standard deviation, for each place.
        t: The thresholds, one for each place.
    """
    order = sorted(range(len(tails)), key=lambda i: float(np.sum(deviations[i])))
    if len(tails) > 3:
        return _share_threshold(tails, deviations, t)
    return _fold_narrowest([tails[i] for i in order], [deviations[i] for i in order], t)


def _fold_narrowest(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Fold the narrowest form, cut into cells, with the sum of the others.

    Given that it is x the sum exceeds t with half of the others' tails at t - x and at t + x, which grows with |x|
    and is convex up to t. In a cell |x| is no larger than if it were uniform there: the mean of both ends bounds.
    """
    first, *others = tails
    if not others:
        return first(t)
    x = _cut_cells(t, deviations[0], _CELLS if len(tails) == 2 else _FEW_CELLS)
    near, far = (_fold_narrowest(others, deviations[1:], side) for side in (t - x, t + x))
    chances = np.maximum.accumulate(np.minimum(1.0, (near + far) / 2), axis=0)
    means = (chances[:-1] + chances[1:]) / 2
    steps = np.diff(means, axis=0, append=np.ones_like(means[:1]))
    return np.asarray(np.minimum(1.0, means[0] + (steps * first(x[1:])).sum(axis=0)))


def _cut_cells(t: Floats, deviation: Floats, cells: int) -> Floats:
    """Return the ends of cells from 0 to t, most of them within a few deviations."""
    shape = (-1, *(1,) * t.ndim)
    inner = np.minimum(t, np.maximum(_DEVIATIONS * deviation, 1e-6 * t))
    near = inner * np.linspace(0.0, 1.0, cells + 1).reshape(shape)
    outer = inner + (t - inner) * np.linspace(0.0, 1.0, _OUTER + 1)[1:].reshape(shape)
    return np.concatenate([near, outer])


def _share_threshold(tails: Sequence[Tail], deviations: Sequence[Floats], t: Floats) -> Floats:
    """Give each of many forms its share of the threshold: one of them exceeds it, or the sum does not."""
    total = np.maximum(sum(deviations, np.zeros_like(t)), 1e-300)
    parts = (tail(t * deviation / total) for tail, deviation in zip(tails, deviations, strict=True))
    return np.asarray(np.minimum(1.0, sum(parts, np.zeros_like(t))))


# With more coordinates there are too many signs to sum over.
_MOST_SIGNED_TERMS = 8
# Coefficients are raised to this share of the largest, so that the sum over signs keeps its digits.
_SMALLEST = 0.03
# What the rounding of a term may be, as a share of it.
_ROUNDING = 1e-12
# Beyond this an exponential is 0 in double precision.
_FAR = 1e9
_POINTS = 256
# Where there are many terms and few points, all terms are computed at once.
_FEW, _SMALL = 8, 4096


def bound_cube_tail(dimension: int, sizes: Sequence[Floats], t: Floats) -> Floats:
    """Return an upper bound on Pr[|sum c_j R U_j| >= t] for sizes c_j >= 0, elementwise; t in units of 1/rate."""
    used = [size for size in sizes if size.any()]
    if not used:
        return np.where(t > 0, 0.0, 1.0)
    largest = np.maximum(np.maximum.reduce(used), 1e-300)
    shares = [size / largest for size in used]
    x = np.minimum(t / largest, _FAR)
    return (
        _sum_over_signs(dimension, shares, x)
        if len(used) <= _MOST_SIGNED_TERMS
        else _sum_over_radii(dimension, shares, x)
    )


def _sum_over_signs(dimension: int, shares: Sequence[Floats], x: Floats) -> Floats:
    raised, count = np.maximum(np.stack(shares), _SMALLEST), len(shares)
    signs = np.array(list(product((1.0, -1.0), repeat=count - 1)))
    reaches = raised[0] + signs @ raised[1:]
    # Of two opposite signs the one with a positive sum counts.
    products = signs.prod(axis=1)[:, None] * np.where(reaches < 0, (-1.0) ** count, 1.0)
    shape = (len(signs), *(1,) * (x.ndim - 1), -1)
    sizes = np.maximum(np.abs(reaches), 1e-15).reshape(shape)
    terms = sizes**count * _sum_poisson_masses(dimension, count, np.minimum(x / sizes, _FAR))
    total = ((products.reshape(shape) + _ROUNDING) * terms).sum(axis=0)
    volume = 2**count * math.factorial(count) * raised.prod(axis=0)
    return np.asarray(np.clip(2 / volume * total, 0.0, 1.0))


def _sum_poisson_masses(dimension: int, count: int, x: Floats) -> Floats:
    """Return g(x): a sum of Poisson masses with falling weights, each at most 1."""
    if dimension - count > _FEW and x.size <= _SMALL:
        weights = _list_log_weights(dimension, count)
        flat, powers = x.ravel(), np.arange(len(weights))[:, None]
        terms = np.exp(powers * np.log(np.maximum(flat, 1e-300)) + weights[:, None] - flat)
        return np.asarray(terms.sum(axis=0).reshape(x.shape))
    log, total = np.log(np.maximum(x, 1e-300)), np.exp(-x)
    weight = 0.0
    for i in range(1, dimension - count + 1):
        weight += math.log((dimension - count - i + 1) / (dimension - i + 1)) - math.log(i)
        total += np.exp(i * log + weight - x)
    return np.asarray(total)


@lru_cache(maxsize=256)
def _list_log_weights(dimension: int, count: int) -> Floats:
    """Return the logarithms of the weights over the factorials."""
    steps = [
        math.log((dimension - count - i + 1) / (dimension - i + 1)) - math.log(i)
        for i in range(1, dimension - count + 1)
    ]
    return np.cumsum([0.0, *steps])


@lru_cache(maxsize=256)
def find_coordinate_threshold(dimension: int, allowed: float) -> float:
    """Return the t with Pr[|R U_1| >= t] = allowed, from above."""

    def rare(t: float) -> bool:
        return bool(_sum_poisson_masses(dimension, 1, np.array([t]))[0] <= allowed)

    return bisect(rare, *bracket(rare, 0.0, 1.0), steps=60)[1]


def _sum_over_radii(dimension: int, shares: Sequence[Floats], x: Floats) -> Floats:
    """Sum Hoeffding's bound 2 exp(-3 (x/R)^2 / (2 sum c^2)), which grows with R, over cells of R."""
    squares, most = sum(s * s for s in shares), sum(shares)
    radii, tails = _tabulate_radii(dimension)
    total, before, last = np.zeros_like(x), np.zeros_like(x), 1.0
    for radius, tail in zip(radii, tails, strict=True):
        chance = np.where(x < radius * most, np.minimum(1.0, 2 * np.exp(-1.5 * (x / radius) ** 2 / squares)), 0.0)
        total += (chance - before) * last
        before, last = chance, tail
    return np.asarray(total + (1.0 - before) * last)


@lru_cache(maxsize=16)
def _tabulate_radii(dimension: int) -> tuple[list[float], list[float]]:
    """Return values of R, and the probability that it is larger: that of at most d events of a Poisson law."""
    middle, width = dimension + 1.0, 9 * math.sqrt(dimension + 1.0)
    radii = np.linspace(max(0.01, middle - width), middle + width + 45, _POINTS)
    events = np.arange(dimension + 1.0)
    factorials = np.array([math.lgamma(event + 1) for event in events])
    logs = np.log(radii)[:, None] * events - radii[:, None] - factorials
    tails = np.minimum(1.0, np.exp(np.logaddexp.reduce(logs, axis=1)) * (1 + 1e-9))
    return radii.tolist(), tails.tolist()
