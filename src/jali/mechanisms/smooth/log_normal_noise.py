"""Laplace noise of a random, log-normal scale, for smooth sensitivity in zCDP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from jali.mechanisms.additive.noise_laws import Floats
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.noise_calibration import (
    admit_beta,
    exp,
    extend_precision,
    read_concentrated_loss,
    round_down_to_rational,
)
from jali.numbers.quadrature import build_quadrature
from jali.numbers.rounding import to_decimal
from jali.numbers.search import bisect
from jali.sampling.reals.laplace_log_normal import laplace_log_normal_law
from jali.sampling.reals.real import Law

# A larger beta would need a scale that varies by e^6 or more: such noise is of no use.
_LARGEST = 4
# sigma is above beta/epsilon by this part of it at least: that costs next to nothing, and leaves room for a shift.
_LEAST_ABOVE = 1e-6
# Beyond so many standard deviations of its log-concave peak an integrand is below e^-50 of it.
_QUADRATURE_RANGE, _PANELS = 10.0, 40


@dataclass(frozen=True)
class LaplaceLogNormal(Family):
    """Noise X e^(sigma Y) with X of the Laplace law and Y normal: every moment is finite.

    Guarantee:
        The noise is rho-zCDP with rho = epsilon^2/2 if
        alpha exp(1.5 sigma^2) <= min(epsilon, exp(beta) (epsilon - beta/sigma)).
        sigma is the one with the least variance.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 7, after Bun and Steinke 2019 (arXiv 1906.02830).

    Example:
        >>> noise = LaplaceLogNormal().noise(Fraction(1, 6), Price(rho=Fraction(1, 2)))
        >>> noise.sigma, round(float(noise.alpha), 4)
        (Fraction(3881, 10000), 0.5377)
    """

    def largest_beta(self, price: Price) -> Fraction:
        """Return four times the root of 2 rho: there is noise beyond it, but none of use."""
        return _LARGEST * read_concentrated_loss(price, repr(self))

    def noise(self, beta: Fraction, price: Price) -> LogNormalNoise:
        """Return the noise with the least variance."""
        epsilon = read_concentrated_loss(price, repr(self))
        read = admit_beta(beta, self.largest_beta(price), repr(self))
        sigma = best_sigma(read, epsilon)
        with extend_precision(read, epsilon - read / sigma):
            room = min(to_decimal(epsilon), exp(read) * to_decimal(epsilon - read / sigma))
            return LogNormalNoise(round_down_to_rational(room * exp(-3 * sigma**2 / 2)), sigma)


def best_sigma(beta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the sigma of least variance, rounded up to four digits: any sigma above beta/epsilon keeps the loss.

    The variance 2 exp(5 sigma^2) / min(epsilon, exp(beta) (epsilon - beta/sigma))^2 is least at the root of
    5 (epsilon/beta) sigma^3 - 5 sigma^2 - 1, or where the two terms of the minimum meet, if that is earlier.
    With sigma = (1 + y) beta/epsilon these are y (1 + y)^2 = (epsilon/beta)^2 / 5, and y = 1/(exp(beta) - 1).
    """
    stretch = float(beta)
    meeting = math.exp(-stretch) / -math.expm1(-stretch)
    above = max(_LEAST_ABOVE, min(meeting, _root(float(epsilon / beta) ** 2 / 5)))
    return _four_digits(beta / epsilon * (1 + Fraction(above)))


def _root(size: float) -> float:
    """Return the y with y (1 + y)^2 = size, by bisection."""
    return bisect(
        lambda y: y * (1 + y) ** 2 > size,
        0.0,
        min(size, math.cbrt(size)),
        close=lambda low, high: high <= low * (1 + 1e-12),
    )[1]


def _four_digits(value: Fraction) -> Fraction:
    """Round up to four digits, so that sigma stays above beta/epsilon."""
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 3)
    return math.ceil(value / unit) * unit


@dataclass(frozen=True)
class LogNormalNoise(AdmissibleNoise):
    """The law of X e^(sigma Y), and its factor alpha."""

    sigma: Fraction

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return laplace_log_normal_law(self.sigma)

    def survival(self, z: float) -> float:
        """Return half the expectation of exp(-z e^(-sigma Y))."""
        return math.exp(self._log_mean(z, 0.0)) / 2

    def log_density(self, z: float) -> float:
        """Return the logarithm of half the expectation of e^(-sigma Y) exp(-|z| e^(-sigma Y))."""
        sigma = float(self.sigma)
        # e^(-sigma y) times the normal density is e^(sigma^2/2) times the one that is moved to -sigma.
        return self._log_mean(abs(z), sigma) + sigma**2 / 2 - math.log(2)

    def _log_mean(self, z: float, moved: float) -> float:
        """Return ln E exp(-z e^(-sigma (Y - moved))), Y normal: by quadrature around the peak of the integrand."""
        sigma = float(self.sigma)
        peak = _peak(sigma, z * math.exp(sigma * moved))
        width = 1 / math.sqrt(1 + sigma * peak)
        # The logarithm bends down by 1 everywhere and by 1/width^2 at the peak: nodes are dense there.
        end = math.asinh(_QUADRATURE_RANGE / width)
        steps, weights = _nodes()
        y = width * np.sinh(end * steps)
        # ln of the integrand at peak + y, less its value at the peak, in terms that do not cancel.
        logs = -y * y / 2 - peak / sigma * (np.expm1(-sigma * y) + sigma * y)
        total = float((weights * np.cosh(end * steps)) @ np.exp(logs))
        return math.log(total * width * end / math.sqrt(2 * math.pi)) - peak * peak / 2 - peak / sigma

    @property
    def variance(self) -> float:
        """2 exp(2 sigma^2)."""
        return 2 * math.exp(2 * float(self.sigma) ** 2)


def _peak(sigma: float, size: float) -> float:
    """Return the root y >= 0 of y = sigma size e^(-sigma y), by Newton's method on a convex function."""
    if size < 1e-290:
        return 0.0
    goal = math.log(sigma * size)
    y = math.log1p(sigma * sigma * size) / sigma / 2 or 1e-300
    for _ in range(60):
        move = (math.log(y) + sigma * y - goal) / (1 / y + sigma)
        y = max(y - move, y / 8)
        if abs(move) <= 1e-12 * y:
            break
    return y


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return places and weights on [-1, 1]."""
    places, weights = build_quadrature(2.0, panels=_PANELS)
    return places - 1, weights
