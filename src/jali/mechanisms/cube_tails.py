"""Tails of linear forms in the coordinates of one continuous cube noise.

Statement:
    Let R have the Gamma(d+1) law and U_1, ..., U_d be uniform on [-1, 1], all independent; R U has a density
    proportional to exp(-max|z_i|). For c_1, ..., c_m > 0, m <= d, and t >= 0,
    Pr[|sum c_j R U_j| >= t] = 2/(2^m m! prod c_j) times the sum over signs s with A = sum s_j c_j > 0 of
    prod s_j A^m g(t/A), where g(x) = sum over i <= d-m of exp(-x) x^i/i! times the product over l < i of
    (d-m-l)/(d-l). The tail grows with every c_j.
Proof:
    docs/proofs/intervals.md, part 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from jali.mechanisms.laws.worst import Floats
from jali.numbers.search import bisect, bracket

# With more coordinates there are too many signs to sum over.
_MANY = 8
# Coefficients are raised to this share of the largest, so that the sum over signs keeps its digits.
_SMALLEST = 0.03
# What the rounding of a term may be, as a share of it.
_ROUNDING = 1e-12
# Beyond this an exponential is 0 in double precision.
_FAR = 1e9
_POINTS = 256
# Where there are many terms and few points, all terms are computed at once.
_FEW, _SMALL = 8, 4096


def cube_tail(dimension: int, sizes: Sequence[Floats], t: Floats) -> Floats:
    """Return an upper bound on Pr[|sum c_j R U_j| >= t] for sizes c_j >= 0, elementwise; t in units of 1/rate."""
    used = [size for size in sizes if size.any()]
    if not used:
        return np.where(t > 0, 0.0, 1.0)
    largest = np.maximum(np.maximum.reduce(used), 1e-300)
    shares = [size / largest for size in used]
    x = np.minimum(t / largest, _FAR)
    return _over_signs(dimension, shares, x) if len(used) <= _MANY else _over_radii(dimension, shares, x)


def _over_signs(dimension: int, shares: Sequence[Floats], x: Floats) -> Floats:
    raised, count = np.maximum(np.stack(shares), _SMALLEST), len(shares)
    signs = np.array(list(product((1.0, -1.0), repeat=count - 1)))
    reaches = raised[0] + signs @ raised[1:]
    # Of two opposite signs the one with a positive sum counts.
    products = signs.prod(axis=1)[:, None] * np.where(reaches < 0, (-1.0) ** count, 1.0)
    shape = (len(signs), *(1,) * (x.ndim - 1), -1)
    sizes = np.maximum(np.abs(reaches), 1e-15).reshape(shape)
    terms = sizes**count * _fall(dimension, count, np.minimum(x / sizes, _FAR))
    total = ((products.reshape(shape) + _ROUNDING) * terms).sum(axis=0)
    volume = 2**count * math.factorial(count) * raised.prod(axis=0)
    return np.asarray(np.clip(2 / volume * total, 0.0, 1.0))


def _fall(dimension: int, count: int, x: Floats) -> Floats:
    """Return g(x): a sum of Poisson masses with falling weights, each at most 1."""
    if dimension - count > _FEW and x.size <= _SMALL:
        weights = _log_weights(dimension, count)
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
def _log_weights(dimension: int, count: int) -> Floats:
    """Return the logarithms of the weights over the factorials."""
    steps = [
        math.log((dimension - count - i + 1) / (dimension - i + 1)) - math.log(i)
        for i in range(1, dimension - count + 1)
    ]
    return np.cumsum([0.0, *steps])


@lru_cache(maxsize=256)
def coordinate_reach(dimension: int, allowed: float) -> float:
    """Return the t with Pr[|R U_1| >= t] = allowed, from above."""

    def rare(t: float) -> bool:
        return bool(_fall(dimension, 1, np.array([t]))[0] <= allowed)

    return bisect(rare, *bracket(rare, 0.0, 1.0), steps=60)[1]


def _over_radii(dimension: int, shares: Sequence[Floats], x: Floats) -> Floats:
    """Sum Hoeffding's bound 2 exp(-3 (x/R)^2 / (2 sum c^2)), which grows with R, over cells of R."""
    squares, most = sum(s * s for s in shares), sum(shares)
    radii, tails = _radii(dimension)
    total, before, last = np.zeros_like(x), np.zeros_like(x), 1.0
    for radius, tail in zip(radii, tails, strict=True):
        chance = np.where(x < radius * most, np.minimum(1.0, 2 * np.exp(-1.5 * (x / radius) ** 2 / squares)), 0.0)
        total += (chance - before) * last
        before, last = chance, tail
    return np.asarray(total + (1.0 - before) * last)


@lru_cache(maxsize=16)
def _radii(dimension: int) -> tuple[list[float], list[float]]:
    """Return values of R, and the chance that it is larger: that of at most d events of a Poisson law."""
    middle, width = dimension + 1.0, 9 * math.sqrt(dimension + 1.0)
    radii = np.linspace(max(0.01, middle - width), middle + width + 45, _POINTS)
    events = np.arange(dimension + 1.0)
    factorials = np.array([math.lgamma(event + 1) for event in events])
    logs = np.log(radii)[:, None] * events - radii[:, None] - factorials
    tails = np.minimum(1.0, np.exp(np.logaddexp.reduce(logs, axis=1)) * (1 + 1e-9))
    return radii.tolist(), tails.tolist()
