"""Privacy profiles and trade-off curves as data, and the searches that find points on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from jali.numbers.rounding import exp, round_up
from jali.numbers.search import bisect, bracket, golden_section

# A bound that has not passed its goal here never will.
_LARGEST_EPSILON = 1e9
# How near, in ln delta, a search comes to its goal.
_SETTLED = 1e-9
# A bound from below is good only near the point that its law was tilted for: it is looked for there first.
_NEAR = (1e-9, 1e-7, 1e-5, 1e-3)


@dataclass(frozen=True)
class Profile:
    """Points of delta(epsilon), ready to be drawn."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def fnr(self, fpr: float) -> float:
        """Return the least false negative rate that these points prove: each bounds the trade-off curve."""
        points = zip(self.epsilons, self.deltas, strict=True)
        rates = (max(1 - d - exp(e) * fpr, exp(-e) * (1 - d - fpr)) for e, d in points)
        return max(0.0, min(1.0, max(rates) * (1 - 1e-13)))


@dataclass(frozen=True)
class TradeOff:
    """Points of the trade-off between the false positive and the false negative rate, ready to be drawn."""

    fprs: tuple[float, ...]
    fnrs: tuple[float, ...]


def posterior_bound(prior: float, epsilon: float) -> float:
    """Return the belief whose odds are exp(epsilon) times those of the prior, rounded up."""
    if prior in (0.0, 1.0):
        return prior
    return min(1.0, round_up(prior / (prior + (1 - prior) * math.exp(-epsilon))))


def bisect_above(holds: Callable[[float], bool], limit: float) -> float:
    """Return the least epsilon >= 0 at which a monotone condition holds, from above; infinite beyond the limit."""
    if holds(0.0):
        return 0.0
    low, high = bracket(holds, 0.0, 1.0, most=limit)
    if high > limit:
        return math.inf
    return bisect(holds, low, high, close=lambda low, high: high - low <= 4e-16 * high)[1]


def inner_maximum(function: Callable[[float], float], top: float, steps: int = 81) -> float:
    """Return the largest value seen of a unimodal function on [0, top], by golden-section search."""
    inside = golden_section(lambda x: -function(x), 0.0, top, steps=steps)
    return max(function(0.0), function(top), -float(inside.value))


def crossing(value: Callable[[float], float], delta: float, guess: float, *, low: bool = False) -> float:
    """Return where a falling bound passes delta: a point at which it has passed, or (if `low`) one before.

    For bounds that are costly to compute: the secant on ln delta needs about ten of them.
    """
    goal = math.log(delta)
    left, over = _before(value, goal, guess, _NEAR if low else ())
    if over <= 0:
        return 0.0
    right, under = _after(value, goal, max(left, guess))
    if math.isinf(right):
        return left if low else right
    # The secant aims a little beyond the crossing, on the side that is wanted, so as to land there.
    aim = _SETTLED / 2 if low else -_SETTLED / 2
    (x, f), (y, g) = (left, over), (right, under)
    while right - left > 1e-13 * right:
        point = y + (aim - g) * (x - y) / (f - g) if f != g else math.nan
        if not left < point < right:
            point = (left + right) / 2
        (x, f), (y, g) = (y, g), (point, _log(value(point)) - goal)
        left, right = (point, right) if g > 0 else (left, point)
        if (g > 0) is low and abs(g) < _SETTLED:
            break
    return left if low else right


def _before(
    value: Callable[[float], float], goal: float, guess: float, near: tuple[float, ...]
) -> tuple[float, float]:
    """Return a point, as near to the guess as may be, at which the bound has not passed its goal; or 0."""
    for part in (*near, 0.01, 0.05, 0.2, 0.5, 0.8, 1.0):
        point = guess * (1 - part)
        over = _log(value(point)) - goal
        if over > 0 or part == 1.0:
            return point, over
    raise AssertionError


def _after(value: Callable[[float], float], goal: float, guess: float) -> tuple[float, float]:
    """Return a point beyond the guess at which the bound has passed its goal; infinite if it never does."""
    point, stride = guess, 0.01
    while (under := _log(value(point)) - goal) > 0:
        point, stride = (1 + stride) * point + 1e-9, min(2 * stride, 1.0)
        if point > _LARGEST_EPSILON:
            return math.inf, under
    return point, under


def _log(value: float) -> float:
    return math.log(max(value, 1e-320))
