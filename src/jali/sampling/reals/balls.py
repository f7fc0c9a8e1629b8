"""Arrays of doubles with error radii: what they decide is proven, the rest is settled exactly.

Only additions, subtractions, multiplications, divisions and comparisons of IEEE 754 are relied on. The logarithm
of the C library serves as a guess, which `exp_doubles` proves or rejects. An infinite radius, or one that is not a
number, means that nothing is known; then nothing is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from jali.sampling.bits import Words
from jali.sampling.exp_bounds import LARGEST, Doubles, exp_doubles
from jali.sampling.interval_bernoulli import Booleans

WIDTH = 52
"""How many bits of a uniform number a ball starts from: the middle of its cell is a double."""

_ROUNDING = 2.0**-52
_TINY = 2.0**-1000
_INFLATE = 1 + 2.0**-40  # covers the rounding of the radius itself
_CLOSE = 2.0**-46
_LOG_ERROR = 2.0**-45
_BEYOND = 2.0**-62
_DIVISOR = 2.0**-70  # what underflows in a numerator stays far below _TINY after a division by more than this

Number: TypeAlias = "Ball | Fraction | int"


@dataclass(frozen=True, eq=False)
class Ball:
    """Real numbers x with |x - centre| <= radius, place by place.

    Proof:
        docs/proofs/reals.md, Lemma 2.
    """

    centre: Doubles
    radius: Doubles

    def __neg__(self) -> Ball:
        return Ball(-self.centre, self.radius)

    def __add__(self, other: Number) -> Ball:
        other = _ball(other)
        return _widen_for_rounding(self.centre + other.centre, self.radius + other.radius)

    def __sub__(self, other: Number) -> Ball:
        return self + -_ball(other)

    def __mul__(self, other: Number) -> Ball:
        other = _ball(other)
        spread = abs(self.centre) * other.radius + (abs(other.centre) + other.radius) * self.radius
        return _widen_for_rounding(self.centre * other.centre, spread)

    def __truediv__(self, other: Number) -> Ball:
        other = _ball(other)
        quotient = self.centre / other.centre
        least = abs(other.centre) - other.radius
        spread = (self.radius + abs(quotient) * other.radius) / least
        return _widen_for_rounding(quotient, np.where(least > _DIVISOR, spread, np.inf))

    def fall(self) -> Ball:
        """Return -ln x; nothing is known unless exp(-45) <= x <= 1."""
        guess = -np.log(self.centre)
        guess = np.where((guess >= 0) & (guess <= LARGEST), guess, 0.0)
        back = exp_doubles(guess)
        least = self.centre - self.radius
        sure = (abs(back - self.centre) <= _CLOSE * back) & (least > 0)
        return _widen_for_rounding(guess, np.where(sure, _LOG_ERROR + self.radius / least, np.inf))

    def decay(self) -> Ball:
        """Return exp(-x), for numbers x that are known to be at least 0."""
        clipped = np.where(self.centre >= 0, np.minimum(self.centre, LARGEST), 0.0)
        value = exp_doubles(clipped)
        spread = value * (2 * self.radius + 2.0**-50) + np.where(self.centre > LARGEST, _BEYOND, 0.0)
        return _widen_for_rounding(value, np.where(self.radius <= 1, spread, np.inf))

    def above(self) -> Booleans:
        """Return where x > 0 is certain."""
        return self.centre > self.radius

    def below(self) -> Booleans:
        """Return where x < 0 is certain."""
        return -self.centre > self.radius


def of_words(words: Words) -> Ball:
    """Return uniform numbers of which the first 52 bits are known."""
    centre: Doubles = (2 * words.astype(np.int64) + 1).astype(np.float64) * 2.0**-53
    return Ball(centre, np.full_like(centre, 2.0**-53))


def where(mask: Booleans, yes: Ball, no: Ball) -> Ball:
    """Take one ball or the other, place by place."""
    return Ball(np.where(mask, yes.centre, no.centre), np.where(mask, yes.radius, no.radius))


def constant(number: Fraction, spread: Fraction = Fraction(0)) -> Ball:
    """Return a ball around a rational, and around all numbers as near to it as `spread`."""
    centre, radius = _double(number), _double(spread)
    return _widen_for_rounding(np.asarray(centre), np.asarray(radius))


def _ball(number: Number) -> Ball:
    return number if isinstance(number, Ball) else constant(Fraction(number))


def _double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf


def _widen_for_rounding(centre: Doubles, radius: Doubles) -> Ball:
    """Add to a radius what one rounding of the centre, and the rounding of the radius itself, may cost."""
    return Ball(centre, (radius + abs(centre) * _ROUNDING + _TINY) * _INFLATE)
