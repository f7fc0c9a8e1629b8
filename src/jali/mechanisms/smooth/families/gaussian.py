"""Gaussian noise on a smooth bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.families.price import admitted, approximate_loss, below
from jali.mechanisms.smooth.families.reach import reach
from jali.noise.reals.gaussian import gaussian_law
from jali.noise.reals.law import Law
from jali.numbers.search import bisect
from jali.privacy.losses.gaussian import GaussianLoss
from jali.privacy.rounding import float_above, float_below

_ROOT = math.sqrt(2)
_HALVINGS = 50
# The price may need a shift of a millionth of the largest one that is tried: bisection goes on until it is close.
_MOST_HALVINGS, _CLOSE = 90, 1 + 1e-13
_SLACK = 1e-12
# Tails below the first have lost digits, or all of them, where doubles end: they count as the second.
_VANISHING, _REST = 1e-307, 2e-307
_FAR = 1e-290


@dataclass(frozen=True)
class SmoothGaussian(Family):
    """Gaussian noise: density proportional to exp(-z^2/2).

    Guarantee:
        The noise is (epsilon, delta)-DP: alpha is the largest, to twelve digits, for which a shift by alpha alone
        and the wider law against the narrower one both keep delta, and two conditions hold under which nothing
        in between is worse.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 6.

    Example:
        >>> price = Price(epsilon=Fraction(1), delta=Fraction(1, 10**6))
        >>> round(float(SmoothGaussian().noise(Fraction("0.0198"), price).alpha), 3)
        0.154
    """

    def largest_beta(self, price: Price) -> Fraction:
        """Return the largest beta at which noise without a shift keeps delta, by bisection, from below."""
        epsilon, delta = approximate_loss(price, repr(self))
        largest = _largest(epsilon, delta)
        if not largest:
            raise MechanismError("smooth-price-too-small", family="SmoothGaussian")
        return largest

    def noise(self, beta: Fraction, price: Price) -> GaussianNoise:
        """Return the noise for a beta below the largest."""
        epsilon, delta = approximate_loss(price, repr(self))
        read = admitted(beta, epsilon, repr(self))
        alpha = gaussian_alpha(read, epsilon, delta)
        if not alpha:
            raise below(self.largest_beta(price), read, repr(self))
        return GaussianNoise(alpha)


@lru_cache(maxsize=256)
def _largest(epsilon: Fraction, delta: Fraction) -> Fraction:
    return bisect(lambda beta: not _keeps(0.0, beta, epsilon, delta), Fraction(0), epsilon, steps=_HALVINGS)[0]


def gaussian_alpha(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest alpha that was found to keep the price, by bisection; 0 if there is none."""
    found, _ = bisect(
        lambda alpha: not _keeps(alpha, beta, epsilon, delta),
        0.0,
        math.sqrt(2 * float(epsilon)),
        steps=_MOST_HALVINGS,
        close=lambda low, high: high <= low * _CLOSE,
    )
    return Fraction(found)


def _keeps(shift: float, beta: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell whether the price is proven for this shift: the conditions of Theorem 6, rounded to the safe side."""
    loss, stretch, allowed = float_below(epsilon), float_above(beta), float_below(delta)
    if shift**2 / 2 > loss * (1 - _SLACK) or _centre(shift, stretch) > loss * (1 - _SLACK):
        return False
    alone = shift == 0 or GaussianLoss(1, Fraction(shift)).delta(epsilon) <= allowed
    return alone and _outside(shift, stretch, loss) <= allowed


def _centre(shift: float, stretch: float) -> float:
    """Return the largest loss of the narrower law at stretch beta, where the wider density is the lower one."""
    shrunk = -math.expm1(-2 * stretch)
    edge = math.sqrt(2 * stretch / shrunk)
    if shift > edge * shrunk:
        return shift * edge - shift**2 / 2
    return stretch + shift**2 * math.exp(-2 * stretch) / (2 * shrunk)


def _outside(shift: float, stretch: float, loss: float) -> float:
    """Return delta of the wider law N(s, e^2beta) against N(0, 1), rounded up: both tails."""
    shrunk = -math.expm1(-2 * stretch)
    inverse = math.exp(-stretch)
    root = math.sqrt((shift * inverse) ** 2 + 2 * shrunk * (loss + stretch))
    right = 2 * ((shift * inverse) ** 2 / 2 + loss + stretch) / (shift * inverse**2 + root)
    left = (shift * inverse**2 + root) / shrunk
    return _tail((right - shift) * inverse, right, loss) + _tail((left + shift) * inverse, left, loss)


def _tail(wide: float, narrow: float, loss: float) -> float:
    """Return Phi(-wide) - e^loss Phi(-narrow), rounded up."""
    slack = 1e-14 * (narrow**2 + 20)
    head, rest = (math.erfc(end / _ROOT) / 2 for end in (wide, narrow))
    if head < _VANISHING:
        return _REST
    # e^loss could raise what doubles have lost of a smaller tail: nothing of it is taken off.
    other = math.exp(min(loss + math.log(rest), 0.0)) if rest >= _FAR else 0.0
    return head * (1 + slack) - other * max(0.0, 1 - slack)


@dataclass(frozen=True)
class GaussianNoise(AdmissibleNoise):
    """The normal law of variance 1, and its factor alpha."""

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return gaussian_law()

    def survival(self, z: float) -> float:
        """Return half the complementary error function at z over the root of 2."""
        return math.erfc(z / _ROOT) / 2

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        return -z * z / 2 - math.log(2 * math.pi) / 2

    def quantile(self, confidence: float) -> float:
        """Return the t with Pr[|Z| <= t] = confidence, from above."""
        return _quantile(confidence)

    @property
    def variance(self) -> float:
        """1."""
        return 1.0


@lru_cache(maxsize=256)
def _quantile(confidence: float) -> float:
    """Return a quantile; it does not depend on alpha, and a search over beta asks for it many times."""
    return reach(GaussianNoise(Fraction(1)).survival, confidence)
