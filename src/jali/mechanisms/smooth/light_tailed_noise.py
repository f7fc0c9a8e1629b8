"""Laplace and Gaussian noise for smooth sensitivity: their tails are too light for stretching without a delta."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.noise_calibration import (
    admit_beta,
    exp,
    expm1,
    extend_precision,
    read_approximate_loss,
    refuse_beta,
    round_down_to_rational,
)
from jali.numbers.rounding import float_above, float_below, to_decimal
from jali.numbers.search import bisect
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.sampling.reals.laplace_log_normal import gaussian_law, laplace_law
from jali.sampling.reals.real import Law

_LAPLACE_HALVINGS = 60
# Far more than the roundings of sixty digits can have raised a logarithm.
_LAPLACE_SLACK = Decimal("1e-30")


class LightTailed(Family):
    """Noise whose density falls exponentially or faster: stretching costs a delta."""

    @abstractmethod
    def _find_largest_beta(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Return the largest beta of a noise without a shift, or 0."""

    def largest_beta(self, price: Price) -> Fraction:
        """Return the largest beta at which noise without a shift keeps delta, by bisection, from below."""
        largest = self._find_largest_beta(*read_approximate_loss(price, repr(self)))
        if not largest:
            raise MechanismError("smooth-price-too-small", family=type(self).__name__)
        return largest


@dataclass(frozen=True)
class SmoothLaplace(LightTailed):
    """Laplace noise: density exp(-|z|) / 2.

    Guarantee:
        With u = exp(beta) - 1, the noise is (epsilon, delta)-DP if alpha <= epsilon,
        alpha <= exp(beta) (epsilon - beta) and
        (1 - exp(-beta)) exp(-(epsilon + beta)/u) cosh(alpha/u) <= delta;
        the last is its delta exactly, given the first two.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 5.

    Example:
        >>> price = Price(epsilon=Fraction(1), delta=Fraction(1, 10**6))
        >>> round(float(SmoothLaplace().noise(Fraction("0.03446"), price).alpha), 4)
        0.6931
    """

    def _find_largest_beta(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        return _largest_laplace_beta(epsilon, delta)

    def noise(self, beta: Fraction, price: Price) -> SmoothLaplaceNoise:
        """Return the noise for a beta below the largest."""
        epsilon, delta = read_approximate_loss(price, repr(self))
        read = admit_beta(beta, epsilon, repr(self))
        if _log_room(read, epsilon, delta) <= 0:
            raise refuse_beta(self.largest_beta(price), read, repr(self))
        return SmoothLaplaceNoise(laplace_alpha(read, epsilon, delta))


@lru_cache(maxsize=256)
def _largest_laplace_beta(epsilon: Fraction, delta: Fraction) -> Fraction:
    return bisect(
        lambda beta: _log_room(beta, epsilon, delta) <= 0, Fraction(0), epsilon, steps=_LAPLACE_HALVINGS
    )[0]


def laplace_alpha(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest alpha that the guarantee allows, rounded down; `_log_room` must be above 0."""
    with extend_precision(beta, epsilon - beta):
        room = _log_room(beta, epsilon, delta)
        spread = expm1(beta) * (room + (1 + (1 - (-2 * room).exp()).sqrt()).ln())
        return round_down_to_rational(min(to_decimal(epsilon), exp(beta) * to_decimal(epsilon - beta), spread))


def _log_room(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Decimal:
    """Return, from below, the logarithm of delta over its value without a shift: of what cosh(alpha/u) may be."""
    with extend_precision(beta):
        growth = exp(beta)
        value = to_decimal(delta).ln() + to_decimal(epsilon + beta) / (growth - 1) - (1 - 1 / growth).ln()
        return value - _LAPLACE_SLACK


@dataclass(frozen=True)
class SmoothLaplaceNoise(AdmissibleNoise):
    """The Laplace law of scale 1, and its factor alpha."""

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return laplace_law()

    def survival(self, z: float) -> float:
        """Return exp(-z) / 2."""
        return math.exp(-z) / 2

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        return -abs(z) - math.log(2)

    @property
    def variance(self) -> float:
        """2."""
        return 2.0


_ROOT = math.sqrt(2)
_GAUSSIAN_HALVINGS = 50
# The loss may need a shift of a millionth of the largest one that is tried: bisection goes on until it is close.
_MOST_HALVINGS, _CLOSE = 90, 1 + 1e-13
_GAUSSIAN_SLACK = 1e-12
# Tails below the first have lost digits, or all of them, where doubles end: they count as the second.
_VANISHING, _REST = 1e-307, 2e-307
_FAR = 1e-290


@dataclass(frozen=True)
class SmoothGaussian(LightTailed):
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

    def _find_largest_beta(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        return _largest_gaussian_beta(epsilon, delta)

    def noise(self, beta: Fraction, price: Price) -> SmoothGaussianNoise:
        """Return the noise for a beta below the largest."""
        epsilon, delta = read_approximate_loss(price, repr(self))
        read = admit_beta(beta, epsilon, repr(self))
        alpha = gaussian_alpha(read, epsilon, delta)
        if not alpha:
            raise refuse_beta(self.largest_beta(price), read, repr(self))
        return SmoothGaussianNoise(alpha)


@lru_cache(maxsize=256)
def _largest_gaussian_beta(epsilon: Fraction, delta: Fraction) -> Fraction:
    return bisect(
        lambda beta: not _keeps(0.0, beta, epsilon, delta), Fraction(0), epsilon, steps=_GAUSSIAN_HALVINGS
    )[0]


def gaussian_alpha(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest alpha that was found to keep the loss, by bisection; 0 if there is none."""
    found, _ = bisect(
        lambda alpha: not _keeps(alpha, beta, epsilon, delta),
        0.0,
        math.sqrt(2 * float(epsilon)),
        steps=_MOST_HALVINGS,
        close=lambda low, high: high <= low * _CLOSE,
    )
    return Fraction(found)


def _keeps(shift: float, beta: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the loss is proven for this shift: the conditions of Theorem 6, rounded to the safe side."""
    loss, stretch, allowed = float_below(epsilon), float_above(beta), float_below(delta)
    if shift**2 / 2 > loss * (1 - _GAUSSIAN_SLACK) or _centre(shift, stretch) > loss * (1 - _GAUSSIAN_SLACK):
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
class SmoothGaussianNoise(AdmissibleNoise):
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

    @property
    def variance(self) -> float:
        """1."""
        return 1.0
