"""Find the Rényi order at which two laws are furthest apart, as zCDP measures it: the largest D_a / a over a > 1.

Statement:
    Let K(t) = ln sum p (p/q)^t, so that D_a / a = K(t) / (t (1 + t)) for a = 1 + t. K is convex and K(0) = 0. So
    between two orders K is at most its chord c + s t there, and D_a / a at most (c + s t) / (t (1 + t)), which has
    at most one maximum between them, where s t^2 + 2 c t + c = 0. And D_a is at most the largest ln p/q, so that
    no order above that over the best slope is better. Intervals of orders that could hold more than the best slope
    are halved until none could hold more by a relative 1e-3; then the order is moved to the top of its interval.
Proof:
    K is the logarithm of a moment generating function. Its chord bounds it; the derivative of (c + s t)/(t + t^2)
    has the sign of -(s t^2 + 2 c t + c), and c <= 0 <= s: K is convex with K(0) = 0, so that the chord meets the
    axis at or below 0. There is at most one positive root.

Orders begin at 1, for which D_1 is the Kullback-Leibler divergence, as D_a grows with a: up to the first order of
the grid, D_a / a is at most D of that order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The first order after 1, the factor between orders of the first grid, and the most halvings: an interval is then
# narrower than doubles tell apart from its bound.
_FIRST, _FACTOR, _HALVINGS = 1e-6, 2.0, 20
# Slopes that may be missed are larger by no more than this, on curves that are not the best one's neighbourhood.
_CLOSE, _STEPS = 1e-3, 40
# From here on exponentials are summed by their logarithms: no digits are lost to the 1 that they are near.
_FAR = 0.5


def find_steepest(p: Floats, q: Floats) -> tuple[float, float]:
    """Return the largest D_a(p||q) / a over all orders a, and the order, of laws given by log-masses.

    Outputs that either law lacks are left out, which makes it smaller at most.

    Example:
        >>> p, q = np.log([0.75, 0.25]), np.log([0.25, 0.75])
        >>> slope, order = find_steepest(p, q)
        >>> round(slope, 6), order  # the Kullback-Leibler divergence, ln(3)/2
        (0.549306, 1.0)
    """
    both = np.isfinite(p) & np.isfinite(q)
    p, ratios = p[both], (p - q)[both]
    largest = float(ratios.max(initial=0.0))
    best, at = _compute_kullback_leibler(p, ratios), 1.0
    if largest <= 0:
        return 0.0, at
    ends = _build_grid(p, ratios, largest, best)
    values = _compute_logarithms(p, ratios, ends)
    for _ in range(_HALVINGS):
        best = max(best, float((values / (ends * (1 + ends))).max()))
        unsure = _bound_slopes(ends, values) > best * (1 + _CLOSE)
        if not unsure.any():
            break
        ends, values = _halve(p, ratios, ends, values, unsure)
    place = int(np.argmax(values / (ends * (1 + ends))))
    low, high = float(ends[max(0, place - 1)]), float(ends[min(len(ends) - 1, place + 1)])
    return max((best, at), _search_top(p, ratios, low, high), key=lambda one: one[0])


def _search_top(p: Floats, ratios: Floats, low: float, high: float) -> tuple[float, float]:
    """Return the largest slope between two orders less 1, by sections, and its order; the ends are tried too."""

    def slope(t: float) -> tuple[float, float]:
        return float(_compute_logarithms(p, ratios, np.array([t]))[0]) / (t * (1 + t)), 1 + t

    tried = [slope(low), slope(high)]
    for _ in range(_STEPS):
        first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
        pair = slope(first), slope(second)
        tried += pair
        low, high = (low, second) if pair[0] >= pair[1] else (first, high)
        if high - low < 1e-6 * high:
            break
    return max(tried)


def _compute_kullback_leibler(p: Floats, ratios: Floats) -> float:
    """Return the Kullback-Leibler divergence as a sum of terms none of which is negative."""
    return float(np.sum(np.exp(p) * (ratios + np.expm1(-ratios))))


def _build_grid(p: Floats, ratios: Floats, largest: float, best: float) -> Floats:
    """Return orders less 1, up to one above which none can be better than what was seen."""
    ends = [_FIRST]
    while best * (1 + ends[-1]) < largest and math.isfinite(ends[-1]):
        ends.append(ends[-1] * _FACTOR)
        at = ends[-1]
        best = max(best, float(_compute_logarithms(p, ratios, np.array([at]))[0]) / (at * (1 + at)))
    return np.array(ends)


def _compute_logarithms(p: Floats, ratios: Floats, orders: Floats) -> Floats:
    """Return K for some orders less 1."""
    return np.array(
        [_compute_far(p, ratios, t) if t >= _FAR else _compute_near(p, ratios, t) for t in orders.tolist()]
    )


def _compute_far(p: Floats, ratios: Floats, t: float) -> float:
    terms = p + t * ratios
    top = float(terms.max())
    return max(0.0, top + math.log(float(np.exp(terms - top).sum())))


def _compute_near(p: Floats, ratios: Floats, t: float) -> float:
    """Return K for a small t, as ln(1 + sum (p (p/q)^t - p - t (p - q))): no term is negative (Bernoulli)."""
    with np.errstate(over="ignore"):
        grown = np.exp(p + np.minimum(t * ratios, 700.0))
    small = np.abs(ratios) < 1
    terms = np.exp(p) * (np.expm1(np.where(small, t * ratios, 0.0)) + t * np.expm1(np.where(small, -ratios, 0.0)))
    wide = grown - np.exp(p) - t * (np.exp(p) - np.exp(p - ratios))
    return math.log1p(float(np.maximum(0.0, np.where(small, terms, wide)).sum()))


def _bound_slopes(ends: Floats, values: Floats) -> Floats:
    """Return what D_a / a is at most between each two orders, by the chord of K."""
    low, high, first, last = ends[:-1], ends[1:], values[:-1], values[1:]
    rise = (last - first) / (high - low)
    start = np.minimum(0.0, first - rise * low)
    with np.errstate(all="ignore"):
        root = (-start + np.sqrt(np.maximum(0.0, start * start - rise * start))) / rise
    between = np.clip(np.nan_to_num(root), low, high)
    reached = [(start + rise * t) / (t * (1 + t)) for t in (low, between, high)]
    return np.asarray(np.max(reached, axis=0))


def _halve(
    p: Floats, ratios: Floats, ends: Floats, values: Floats, unsure: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return orders with new ones in the middle of intervals that may hold more."""
    middles = np.sqrt(ends[:-1] * ends[1:])[unsure]
    orders = np.concatenate([ends, middles])
    order = np.argsort(orders)
    return orders[order], np.concatenate([values, _compute_logarithms(p, ratios, middles)])[order]
