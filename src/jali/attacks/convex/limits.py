"""The laws of convex reconstruction: what share of the bits is right as n grows, with m/n questions a person.

Let d be how far an estimate x is from the secret, e the errors of the answers, and let a program minimise some
loss of A d - e, where 0 <= x <= 1. Gordon's comparison (1988) allows the random matrix to be replaced by two
normal vectors: the program behaves as

    minimise over d, and w with |w| <= h.d / 2, the loss of e + |d| g / 2 - w,

where g has a coordinate for each question and h one for each person (Thrampoulidis, Abbasi and Hassibi 2018;
with a box: Thrampoulidis, Xu and Hassibi 2018). Of all d of a given length the one with the largest h.d wins.
It makes x the secret + spread h, cut off at 0 and 1, so every bit behaves as if it had been seen once with
normal noise: a share Phi(1 / (2 spread)) is right. What is left is to find the spread, or the length of d,
which is the least of a convex function of one number. The factor 1/2 is the standard deviation of a random bit
of A; its mean only tells how many ones there are.

The theorem is about normal matrices. Those of zeros and ones behave alike; at n = 64 the laws are already met. The
share of one secret scatters a little more than independent bits would, up to 1.4 times.

Everything is in units of sqrt(n), per person; `ratio` is m/n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from jali.attacks.attack import Prediction
from jali.attacks.convex.tails import Errors

_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 26
# Spreads from certainty to nothing known, as logarithms.
_SPREADS = (-8.0, 6.0)
CERTAIN = math.exp(_SPREADS[0])
_FAR = 6.0
_CLOSE = 1e-6


@dataclass(frozen=True)
class Cut:
    """The secret + spread h, cut off at 0 and 1.

    Attributes:
        length: The root of its mean squared distance from the secret.
        pull: The mean of h times that distance.
    """

    length: float
    pull: float

    @classmethod
    def at(cls, spread: float) -> Cut:
        """Integrate over h."""
        normal, edge = NormalDist(), 1 / spread
        inside = normal.cdf(edge) - 0.5 - edge * normal.pdf(edge)
        square = spread**2 * inside + normal.cdf(-edge)
        return cls(math.sqrt(square), spread * inside + normal.pdf(edge))


def share(spread: float) -> float:
    """Return the share of right bits."""
    return NormalDist().cdf(0.5 / spread)


def prediction(spread: float) -> Prediction:
    """Return the share of right bits as what theory says."""
    if spread < 2 * CERTAIN:
        return Prediction(1.0, "no error, in the limit")
    return Prediction(
        share(spread), f"Phi(1 / (2 spread)), where the spread of a bit is {spread:.3g} in the limit"
    )


def slab(errors: Errors, ratio: float, width: float) -> float | None:
    """Return the spread where the squared violation of |A x - a| <= width is least; None if that is 0.

    The distance of e + |d| g / 2 from the slabs, less what w takes off it, is minimised.
    """
    left, spread = _left(errors, ratio, width)
    return spread if left > 0 else None


def chebyshev(errors: Errors, ratio: float) -> float | None:
    """Return the spread where the largest |A x - a| is least; None if that is 0 for more than one x.

    That least is the width at which the slabs begin to have a point in common.
    """
    if ratio == 0 or _left(errors, ratio, 0.0)[0] <= 0:
        return None
    width = _crossing(lambda tried: _left(errors, ratio, tried)[0], 1.0)
    return _left(errors, ratio, width)[1]


def feasible(errors: Errors, ratio: float, bound: float) -> float:
    """Return the spread of the x with |A x - a| <= bound that is farthest in a random direction c.

    With d along c cos + h sin the slabs leave sin = 2 distance / pull, and pull cos is maximised.
    """

    def lost(spread: float) -> float:
        cut = Cut.at(spread)
        return 4 * ratio * errors.beyond(bound, 2, spread=cut.length / 2) - cut.pull**2

    return _least(lost)


def absolute(errors: Errors, ratio: float) -> float | None:
    """Return the spread where the sum of |A x - a| is least; None if that is 0 for more than one x.

    The best w cuts e + |d| g / 2 off at a line, and what is beyond the line is minimised.
    """
    if ratio == 0 or _left(errors, ratio, 0.0)[0] <= 0:
        return None
    return _least(lambda spread: _rest(errors, ratio, spread))


def survives(garbage: float, ratio: float) -> bool:
    """Return whether the least sum of |A x - a| gives all bits, if a share of the answers is far off, all one way.

    Garbage on both sides is easier to survive. Every small step d from the secret must cost more than it saves,
    per |d| / 2, whatever the shift of all answers: the number of ones is free to follow the garbage.
    """
    taken = 1 / (2 * ratio)

    def cost(shift: float) -> float:
        def missing(line: float) -> float:
            return taken - garbage * line**2 - (1 - garbage) * _kept(shift, line)

        line = _crossing(missing, 1.0)
        return (1 - garbage) * (_over(line - shift) + _over(line + shift)) - garbage * (shift + line)

    return garbage == 0 or cost(_golden(cost, 0.0, _FAR)) > 0


def _over(line: float) -> float:
    """Return E (g - line)_+ for a standard normal g."""
    return NormalDist().pdf(line) - line * NormalDist().cdf(-line)


def _kept(shift: float, line: float) -> float:
    """Return E min(|g + shift|, line)^2."""
    normal, low, high = NormalDist(), -line - shift, line - shift
    inside = normal.cdf(high) - normal.cdf(low)
    first = normal.pdf(low) - normal.pdf(high)
    second = inside + low * normal.pdf(low) - high * normal.pdf(high)
    return second + 2 * shift * first + shift**2 * inside + line**2 * (1 - inside)


def _left(errors: Errors, ratio: float, width: float) -> tuple[float, float]:
    """Return how far from slabs of a width the nearest point is, times two, and its spread."""

    def distance(spread: float) -> float:
        cut = Cut.at(spread)
        return 2 * math.sqrt(ratio * errors.beyond(width, 2, spread=cut.length / 2)) - cut.pull

    spread = _least(distance)
    return distance(spread), spread


def _rest(errors: Errors, ratio: float, spread: float) -> float:
    """Return the mean of what is left of |e + |d| g / 2| at a spread; 0 if nothing has to be."""
    cut = Cut.at(spread)

    def beyond(line: float, power: int) -> float:
        return errors.beyond(line, power, spread=cut.length / 2)

    whole, taken = beyond(0.0, 2), cut.pull**2 / (4 * ratio)
    if whole <= taken:
        return 0.0

    def missing(line: float) -> float:
        """Return how much a line must rise to leave no more than can be taken off, in squares."""
        return taken - whole + beyond(line, 2) + 2 * line * beyond(line, 1)

    return beyond(_crossing(missing, math.sqrt(taken)), 1)


def _least(function: Callable[[float], float]) -> float:
    """Return the spread where a function is least."""
    return math.exp(_golden(lambda logarithm: function(math.exp(logarithm)), *_SPREADS))


def _crossing(function: Callable[[float], float], high: float) -> float:
    """Return where a falling function that is positive at 0 crosses 0 (Illinois: Dowell and Jarratt 1971)."""
    low, at_low = 0.0, function(0.0)
    while (at_high := function(high)) > 0:
        low, at_low, high = high, at_high, 2 * high
    for _ in range(_STEPS):
        middle = low + (high - low) * at_low / (at_low - at_high)
        at_middle = function(middle)
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
        if high - low <= _CLOSE * high or abs(at_middle) <= _CLOSE**2:
            break
    return middle


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one valley is least, by golden sections (Kiefer 1953)."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2
