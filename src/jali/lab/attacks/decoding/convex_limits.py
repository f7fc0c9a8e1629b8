"""Predict what share of the bits convex reconstruction gets right as n grows, with m/n questions a person.

Let d be how far an estimate x is from the secret, e the errors of the answers, and let a program minimise some
loss of A d - e, where 0 <= x <= 1. Gordon's comparison (1988) allows the random matrix to be replaced by two
normal vectors: the program behaves as

    minimise over d, and w with |w| <= h.d / 2, the loss of e + |d| g / 2 - w,

where g has a coordinate for each question and h one for each person (Thrampoulidis, Abbasi and Hassibi 2018;
with a box: Thrampoulidis, Xu and Hassibi 2018). Of all d of a given length the one with the largest h.d wins.
It makes x the secret + spread h, cut off at 0 and 1, so every bit behaves as if it had been seen once with
normal noise: a share Phi(1 / (2 spread)) is right. What is left is to find the length of d, which minimises a
convex function of one number. Where its slope is 0,

    ratio spread P = h.d,

with P the share of the answers that hold on to x: those at the edge of what the loss forgives. So nothing is
compared that differs in the last digits only, and the laws hold for noise of any size. The factor 1/2 is the
standard deviation of a random bit of A; its mean only tells how many ones there are.

The theorem is about normal matrices. Those of zeros and ones behave alike; at n = 64 the laws are already met. The
share of one secret scatters a little more than independent bits would, up to 1.4 times.

Everything is in units of sqrt(n), per person; `ratio` is m/n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from jali.lab.attacks.attack_base import Prediction
from jali.lab.attacks.attack_result import find_limit_sense
from jali.lab.attacks.decoding.error_laws import ErrorLaw, find_density, find_square_within, find_tail
from jali.numbers.search import bisect, golden_section

_STEPS = 26
_HALVINGS = 44
# Spreads from certainty to nothing known, as logarithms.
_SPREADS = (-8.0, 50.0)
CERTAIN = math.exp(_SPREADS[0])
_FAR = 6.0
_ENDLESS = 1e30
_CLOSE = 1e-9


@dataclass(frozen=True)
class CutEstimate:
    """The secret + spread h, cut off at 0 and 1.

    Attributes:
        spread: The spread.
        length: The root of its mean squared distance from the secret.
        pull: The mean of h times that distance.
    """

    spread: float
    length: float
    pull: float

    @classmethod
    def at(cls, spread: float) -> CutEstimate:
        """Integrate over h."""
        edge = 1 / spread
        inside = find_square_within(edge)
        square = spread**2 * inside + find_tail(edge)
        return cls(spread, math.sqrt(square), spread * inside + find_density(edge))


def find_share(spread: float) -> float:
    """Return the share of right bits."""
    return NormalDist().cdf(0.5 / spread)


def predict_share(spread: float, people: int, questions: int) -> Prediction:
    """Return the share of right bits as what theory says."""
    sense = find_limit_sense(people, questions)
    if spread < 2 * CERTAIN:
        return Prediction(1.0, "no error, in the limit", sense)
    law = f"Phi(1 / (2 spread)), where the spread of a bit is {spread:.3g} in the limit"
    return Prediction(find_share(spread), law, sense)


def find_slab_spread(errors: ErrorLaw, ratio: float, width: float) -> float | None:
    """Return the spread where the squared violation of |A x - a| <= width is least; None if that is 0.

    The distance of e + |d| g / 2 from the slabs, less what w takes off it, is minimised: where the slope is 0 that
    distance, which answers outside of their slabs hold, is in place of h.d.
    """
    spread = _find_spread(
        lambda cut: (
            ratio * cut.spread * _find_share_outside(errors, cut, width)
            - _measure_distance(errors, ratio, cut, width)
        )
    )
    cut = CutEstimate.at(spread)
    return spread if _measure_distance(errors, ratio, cut, width) > cut.pull else None


def find_chebyshev_spread(errors: ErrorLaw, ratio: float) -> float | None:
    """Return the spread where the largest |A x - a| is least; None if that is 0 for more than one x.

    That least is the width at which the slabs begin to have a point in common, and answers outside of it hold.
    """
    if ratio == 0 or find_slab_spread(errors, ratio, 0.0) is None:
        return None

    def slope(cut: CutEstimate) -> float:
        width = _find_root(lambda tried: _measure_distance(errors, ratio, cut, tried) / cut.pull - 1)
        return ratio * cut.spread * _find_share_outside(errors, cut, width) - cut.pull

    return _find_spread(slope)


def find_feasible_spread(errors: ErrorLaw, ratio: float, bound: float) -> float:
    """Return the spread of the x with |A x - a| <= bound that is farthest in a random direction c.

    With d along c cos + h sin the slabs leave sin = 2 distance / pull, and pull cos is maximised; answers outside
    of their slabs hold.
    """
    return _find_spread(lambda cut: ratio * cut.spread * _find_share_outside(errors, cut, bound) - cut.pull)


def find_absolute_spread(errors: ErrorLaw, ratio: float) -> float | None:
    """Return the spread where the sum of |A x - a| is least; None if that is 0 for more than one x.

    The best w cuts e + |d| g / 2 off at a line, and what is beyond the line is minimised: answers within it hold.
    Large errors with density f at 0 thus leave the spread 1 / (f sqrt(ratio)), that of a median.
    """
    if ratio == 0 or find_slab_spread(errors, ratio, 0.0) is None:
        return None

    def slope(cut: CutEstimate) -> float:
        taken, spread = cut.pull / (2 * math.sqrt(ratio)), cut.length / 2
        line = _find_root(
            lambda tried: 1 - math.sqrt(errors.mean_capped_square(tried, spread=spread)) / taken, least=taken
        )
        return ratio * cut.spread * errors.within(line, spread=spread) - cut.pull

    return _find_spread(slope)


def survives(garbage: float, ratio: float) -> bool:
    """Return whether the least sum of |A x - a| gives all bits, if a share of the answers is far off, all one way.

    Garbage on both sides is easier to survive. Every small step d from the secret must cost more than it saves,
    per |d| / 2, whatever the shift of all answers: the number of ones is free to follow the garbage.
    """
    taken = 1 / (2 * ratio)

    def cost(shift: float) -> float:
        def missing(line: float) -> float:
            return taken - garbage * line**2 - (1 - garbage) * _mean_capped_square(shift, line)

        line = _find_root(missing)
        return (1 - garbage) * (_mean_excess(line - shift) + _mean_excess(line + shift)) - garbage * (shift + line)

    if garbage == 0:
        return True
    valley = golden_section(cost, 0.0, _FAR, steps=_STEPS)
    return cost((valley.low + valley.high) / 2) > 0


def _mean_excess(line: float) -> float:
    """Return E (g - line)_+ for a standard normal g."""
    return NormalDist().pdf(line) - line * NormalDist().cdf(-line)


def _mean_capped_square(shift: float, line: float) -> float:
    """Return E min(|g + shift|, line)^2."""
    normal, low, high = NormalDist(), -line - shift, line - shift
    inside = normal.cdf(high) - normal.cdf(low)
    first = normal.pdf(low) - normal.pdf(high)
    second = inside + low * normal.pdf(low) - high * normal.pdf(high)
    return second + 2 * shift * first + shift**2 * inside + line**2 * (1 - inside)


def _find_share_outside(errors: ErrorLaw, cut: CutEstimate, width: float) -> float:
    """Return the share of answers outside of their slabs."""
    return errors.beyond(width, 0, spread=cut.length / 2)


def _measure_distance(errors: ErrorLaw, ratio: float, cut: CutEstimate, width: float) -> float:
    """Return how far the answers are from slabs of a width, times two."""
    return 2 * math.sqrt(ratio * errors.beyond(width, 2, spread=cut.length / 2))


def _find_spread(slope: Callable[[CutEstimate], float]) -> float:
    """Return the spread at which a slope turns from falling to rising."""
    low, high = bisect(lambda log: slope(CutEstimate.at(math.exp(log))) > 0, *_SPREADS, steps=_HALVINGS)
    return math.exp((low + high) / 2)


def _find_root(function: Callable[[float], float], *, least: float = 0.0) -> float:
    """Return where a falling function crosses 0 beyond a place, by straight lines and by halves in turn."""
    low, at_low = least, function(least)
    high = 2 * least or 1.0
    if at_low <= 0:
        return low
    while (at_high := function(high)) > 0 and high < _ENDLESS:
        low, at_low, high = high, at_high, 2 * high
    middle = high
    for turn in range(2 * _HALVINGS if at_high < 0 else 0):
        part = 0.5 if turn % 2 else at_low / (at_low - at_high)
        middle = low + (high - low) * part
        at_middle = function(middle)
        if abs(at_middle) <= _CLOSE:
            break
        low, at_low, high, at_high = (
            (middle, at_middle, high, at_high) if at_middle > 0 else (low, at_low, middle, at_middle)
        )
    return middle
