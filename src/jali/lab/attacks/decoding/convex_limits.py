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
standard deviation of a random bit of A; its mean only says how many ones there are.

The theorem is about normal matrices. Those of zeros and ones behave alike; at n = 64 the laws are already met. The
share of one secret scatters a little more than independent bits would, up to 1.4 times.

Everything is in units of sqrt(n), per person; `ratio` is m/n. How far, and how often, the errors of answers
exceed a line is computed first. The normal law is exact to the last digits of its tails. Expectations under the
sum of a normal error and another one are taken by the trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Prediction
from jali.lab.attacks.attack_result import find_limit_sense
from jali.lab.attacks.noise_models import Noise
from jali.numbers.search import bisect, golden_section

_ROOT_OF_TWO = math.sqrt(2)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_TERMS = 12


def find_density(x: float) -> float:
    """Return the standard normal density."""
    return _DENSITY * math.exp(-x * x / 2)


def find_tail(x: float) -> float:
    """Return Pr[g > x] for a standard normal g."""
    return math.erfc(x / _ROOT_OF_TWO) / 2


def find_square_within(x: float) -> float:
    """Return E g^2 over 0 < g < x: Phi(x) - 1/2 - x phi(x), and for small x its series, in which nothing cancels.

    Example:
        >>> round(find_square_within(1e-5) / 1e-15, 6), round(find_square_within(50.0), 6)  # x^3 / (3 sqrt(2 pi))
        (0.132981, 0.5)
    """
    if x > 1:
        return 0.5 - find_tail(x) - x * find_density(x)
    term, total = x**3, 0.0
    for k in range(_TERMS):
        total += term / (2 * k + 3)
        term *= -x * x / (2 * (k + 1))
    return _DENSITY * total


@dataclass(frozen=True)
class NormalErrors:
    """Normal errors.

    Attributes:
        stddev: Their standard deviation, above 0.
    """

    stddev: float

    def beyond(self, line: float, power: int) -> float:
        """Return E (|e| - line)_+^power."""
        z = line / self.stddev
        tails = (
            find_tail(z),
            find_density(z) - z * find_tail(z),
            (1 + z * z) * find_tail(z) - z * find_density(z),
        )
        return 2 * self.stddev**power * max(0.0, tails[power])

    def within(self, line: float) -> float:
        """Return Pr[|e| < line]."""
        return math.erf(line / self.stddev / _ROOT_OF_TWO)

    def mean_capped_square(self, line: float) -> float:
        """Return E min(|e|, line)^2."""
        z = line / self.stddev
        return 2 * (self.stddev**2 * find_square_within(z) + line**2 * find_tail(z))


# The trapezoidal rule for expectations under the normal law; functions with a kink need the many nodes.
_NORMAL_NODES = np.linspace(-6, 6, 577)
_WEIGHTS = np.exp(-(_NORMAL_NODES**2) / 2) / np.exp(-(_NORMAL_NODES**2) / 2).sum()
# Beside a normal part that is so much larger, any part is as good as normal: the fourth power is left.
_SMALL_PART = 0.05


class ErrorPart(Protocol):
    """A law that is symmetric about 0. No difference of large numbers is taken, however large its errors are."""

    @property
    def stddev(self) -> float:
        """Its standard deviation."""

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y, and k = 0, 1 or 2."""

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y."""

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""


@dataclass(frozen=True)
class ErrorLaw:
    """The law of an error e that is as likely as -e.

    Attributes:
        part: A part of e that is not normal, if there is one.
        stddev: Of a normal part.
    """

    part: ErrorPart | None = None
    stddev: float = 0.0

    def beyond(self, line: float, power: int, *, spread: float) -> float:
        """Return E (|e + spread g| - line)_+^power for a standard normal g."""
        return self._mean(
            spread,
            lambda bell: bell.beyond(line, power),
            lambda part, shift: 2 * part.tail(line - shift, power),
        )

    def within(self, line: float, *, spread: float) -> float:
        """Return Pr[|e + spread g| < line]."""
        return self._mean(spread, lambda bell: bell.within(line), lambda part, shift: part.within(shift, line))

    def mean_capped_square(self, line: float, *, spread: float) -> float:
        """Return E min(|e + spread g|, line)^2."""
        return self._mean(
            spread,
            lambda bell: bell.mean_capped_square(line),
            lambda part, shift: part.mean_capped_square(shift, line),
        )

    def _mean(
        self,
        spread: float,
        normal: Callable[[NormalErrors], float],
        shifted: Callable[[ErrorPart, Doubles], Doubles],
    ) -> float:
        """Return a mean over all of the error, by that of its part at each place of the normal part."""
        around = math.hypot(spread, self.stddev)
        if self.part is None or self.part.stddev < _SMALL_PART * around:
            return normal(NormalErrors(math.hypot(around, 0.0 if self.part is None else self.part.stddev)))
        return float(_WEIGHTS @ shifted(self.part, around * _NORMAL_NODES))


def find_error_law(noise: Noise, people: int) -> ErrorLaw | None:
    """Return the law of an error of this noise, in units of sqrt(n); None if it has none that is independent."""
    size = noise.size / math.sqrt(people)
    if noise.kind not in ("none", "uniform", "gaussian", "laplace", "geometric"):
        return None
    if noise.kind in ("none", "gaussian") or size == 0:
        return ErrorLaw(stddev=size)
    return ErrorLaw(UniformErrors(size) if noise.kind == "uniform" else LaplaceErrors(size))


@dataclass(frozen=True)
class UniformErrors:
    """Errors within a size, each as likely as any other."""

    size: float

    @property
    def stddev(self) -> float:
        """Its standard deviation."""
        return self.size / math.sqrt(3)

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y."""
        above, below = np.maximum(self.size - line, 0.0), np.maximum(-self.size - line, 0.0)
        return np.asarray((above ** (power + 1) - below ** (power + 1)) / ((power + 1) * 2 * self.size))

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y."""
        high, low = (np.clip(end - shift, -self.size, self.size) for end in (line, -line))
        return np.asarray((high - low) / (2 * self.size))

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y."""
        high, low = (_integrate_capped_square(shift + end, line) for end in (self.size, -self.size))
        return np.asarray((high - low) / (2 * self.size))


def _integrate_capped_square(x: Doubles, line: float) -> Doubles:
    """Return the integral of min(|t|, line)^2 from 0 to x."""
    inside = np.clip(x, -line, line)
    return np.asarray(inside**3 / 3 + line**2 * (x - inside))


@dataclass(frozen=True)
class LaplaceErrors:
    """Errors with density exp(-|e| / scale) / (2 scale)."""

    scale: float

    @property
    def stddev(self) -> float:
        """Its standard deviation."""
        return math.sqrt(2) * self.scale

    def tail(self, line: Doubles, power: int) -> Doubles:
        """Return E (e - y)_+^k for each y."""
        outside = math.factorial(power) * self.scale**power / 2 * np.exp(-np.abs(line) / self.scale)
        inside = (1 - outside, outside - line, 2 * self.scale**2 + line**2 - outside)[power]
        return np.where(line >= 0, outside, inside)

    def within(self, shift: Doubles, line: float) -> Doubles:
        """Return Pr[|e + y| < line] for each y: two halves of the line, or two tails' difference."""
        near, far = np.abs(shift) / self.scale, line / self.scale
        both = -(np.expm1(-np.maximum(far - near, 0.0)) + np.expm1(-(far + near))) / 2
        one = np.exp(-np.maximum(near - far, 0.0)) * -math.expm1(-2 * far) / 2
        return np.where(near < far, both, one)

    def mean_capped_square(self, shift: Doubles, line: float) -> Doubles:
        """Return E min(|e + y|, line)^2 for each y.

        It is the solution G of G - scale^2 G'' = min(|y|, line)^2 that stays bounded, in units of the scale.
        """
        near, far = np.abs(shift) / self.scale, line / self.scale
        place, fade = np.minimum(near, far), math.exp(-far)
        rise = (np.exp((place - far) / 2) - np.exp((-place - far) / 2)) ** 2
        inside = -2 * (math.expm1(-far) + far * fade) + place**2 - (1 + far) * rise
        lost = 2 * far + (1 + far) * math.expm1(-2 * far)
        outside = far**2 - lost * np.exp(-np.maximum(near - far, 0.0))
        return np.asarray(self.scale**2 * np.where(near < far, inside, outside))


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
