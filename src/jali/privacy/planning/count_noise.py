"""Noise on k counting queries that are answered together: Laplace, Gaussian, or the l_inf noise of a cube."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from jali.errors import CatalogError
from jali.numbers import poisson
from jali.numbers.rounding import float_above, float_below, rational_above, round_up
from jali.privacy.budget import Budget
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.planning.calibrate import gaussian_stddev
from jali.privacy.rationals import Number, rational

_EULER = 0.5772156649015329
_SUMMED = 256
_PANELS = 2000
_ROOT_2 = math.sqrt(2)


def confident(value: Number) -> Fraction:
    """Return a confidence strictly between 0 and 1, exactly."""
    number = rational(value, "confidence")
    if not 0 < number < 1:
        raise CatalogError("confidence-out-of-range", confidence=value, name="confidence")
    return number


def failure_probability(confidence: Fraction) -> float:
    """Return 1 - confidence, rounded down."""
    return float_below(1 - confidence)


def each_of(count: int, confidence: Fraction) -> float:
    """Return what each of k independent noises may miss with if all hold with a confidence: 1 - c^(1/k).

    Example:
        >>> round(each_of(2, Fraction("0.81")), 12)
        0.1
    """
    return -math.expm1(math.log1p(-failure_probability(confidence)) / count)


def any_of(count: int, probability: float) -> float:
    """Return the probability that some of k independent events happens: 1 - (1 - p)^k.

    Example:
        >>> any_of(2, 0.5)
        0.75
    """
    return -math.expm1(count * math.log1p(-probability)) if probability < 1 else 1.0


_STEPS = 200


def upper_quantile(
    tail: Callable[[float], float], density: Callable[[float], float], allowed: float, start: float
) -> float:
    """Return the least t with tail(t) <= allowed, rounded up.

    The logarithm of the tail is concave, so a tangent lies above it: each step of Newton's method after the
    first ends at or right of the quantile, and the steps go down to it.

    Example:
        >>> round(upper_quantile(lambda t: math.exp(-t), lambda t: math.exp(-t), 0.05, 1.0), 6)
        2.995732
    """
    at = start
    for turn in range(_STEPS):
        reached = tail(at)
        step = math.log(reached / allowed) * reached / density(at)
        # A step up that is not the first is the rounding of the tail.
        if abs(step) <= 1e-15 * at or (turn and step > 0):
            break
        at += step
    return round_up(at)


# How far an epsilon is raised beyond the one that just meets an accuracy: the way back rounds up as well.
MARGIN = 1e-11


@dataclass(frozen=True)
class CountNoise(ABC):
    """The noise on each of k counts, and on the worst of them.

    Attributes:
        queries: How many counts get noise together: k.
        scale: The scale of the noise, rounded up. Every error below is proportional to it.

    Guarantee:
        Errors round up. The laws are those of the real-valued noises; see each noise for how the integer noise
        that is released compares.
    """

    queries: int
    scale: float

    name: ClassVar[str]
    needs_delta: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return the least noise of this kind for k counts within a budget."""

    @classmethod
    @abstractmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:
        """Return the least epsilon, rounded up, for which the noise `within` it has at most this scale."""

    @property
    @abstractmethod
    def law(self) -> str:
        """The law of the noise on one count, in words."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """The standard deviation of the noise on one count."""

    @property
    @abstractmethod
    def mean_worst(self) -> float:
        """The expected error of the worst count."""

    @abstractmethod
    def tail(self, error: float) -> float:
        """Return the probability that one count errs by more than `error`."""

    @abstractmethod
    def worst_tail(self, error: float) -> float:
        """Return the probability that some count errs by more than `error`."""

    @abstractmethod
    def error(self, confidence: Fraction) -> float:
        """Return what the error of one count stays within, with a confidence."""

    @abstractmethod
    def worst(self, confidence: Fraction) -> float:
        """Return what the errors of all counts stay within at once, with a confidence."""


def root(variance: Fraction) -> float:
    """Return the standard deviation of a variance, the same double for the same variance.

    Example:
        >>> root(Fraction(9, 4))
        1.5
    """
    return math.sqrt(float_above(variance))


@dataclass(frozen=True)
class IndependentCountNoise(CountNoise):
    """Independent noise of one law on each of k counts, known by the law at scale 1."""

    @staticmethod
    @abstractmethod
    def _unit_tail(error: float) -> float:
        """Return the probability that noise of scale 1 exceeds this in size."""

    @staticmethod
    @abstractmethod
    def _unit_quantile(allowed: float) -> float:
        """Return what noise of scale 1 exceeds in size with this probability."""

    @staticmethod
    @abstractmethod
    def _unit_mean_worst(queries: int) -> float:
        """Return the mean of the largest size of k noises of scale 1."""

    @property
    def mean_worst(self) -> float:
        """The expected error of the worst count."""
        return round_up(self.scale * self._unit_mean_worst(self.queries))

    def tail(self, error: float) -> float:
        """Return the probability that one count errs by more than `error`."""
        return self._unit_tail(error / self.scale)

    def worst_tail(self, error: float) -> float:
        """Return 1 - (1 - tail)^k."""
        return any_of(self.queries, self.tail(error))

    def error(self, confidence: Fraction) -> float:
        """Return what the error of one count stays within, with a confidence."""
        return round_up(self.scale * self._unit_quantile(failure_probability(confidence)))

    def worst(self, confidence: Fraction) -> float:
        """Return the same for the errors of all counts: each may miss with 1 - c^(1/k)."""
        return round_up(self.scale * self._unit_quantile(each_of(self.queries, confidence)))


@dataclass(frozen=True)
class LaplaceNoise(IndependentCountNoise):
    """Independent Laplace noise of scale b = k s / epsilon on each of k counts.

    Guarantee:
        epsilon-DP: the counts move by at most k s in L1 norm.

    Error:
        Standard deviation sqrt(2) b; Pr[|z| > t] = e^(-t/b) for one count, 1 - (1 - e^(-t/b))^k for the worst,
        whose mean is b H_k. The discrete Laplace noise of the same scale, which is added to integers, has a
        smaller tail at every integer, and a variance that is smaller by at most 1/6.

    Example:
        >>> noise = LaplaceNoise.within(Budget(1), 3, Fraction(1))
        >>> round(noise.stddev**2, 9), round(noise.mean_worst, 9)
        (18.0, 5.5)
    """

    name: ClassVar[str] = "Laplace"

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of scale k s / epsilon."""
        return cls(queries, float_above(queries * sensitivity / budget.epsilon))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:  # noqa: ARG003 - pure noise has no use for a delta
        """Return k s / scale."""
        return rational_above(float(queries * sensitivity) / scale * (1 + MARGIN))

    @property
    def law(self) -> str:
        """Laplace."""
        return f"Laplace of scale {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The square root of 2 b^2."""
        return root(2 * Fraction(self.scale) ** 2)

    @staticmethod
    def _unit_tail(error: float) -> float:
        return math.exp(-error)

    @staticmethod
    def _unit_quantile(allowed: float) -> float:
        return -math.log(allowed)

    @staticmethod
    def _unit_mean_worst(queries: int) -> float:
        return harmonic(queries)


def harmonic(count: int) -> float:
    """Return the harmonic number H_k, by its asymptotic series where k is large.

    Example:
        >>> round(harmonic(8), 7), round(harmonic(100), 7)
        (2.7178571, 5.1873775)
    """
    if count <= _SUMMED:
        return math.fsum(1 / j for j in range(1, count + 1))
    square = 1 / (count * count)
    return math.log(count) + _EULER + 1 / (2 * count) - square / 12 + square * square / 120


@dataclass(frozen=True)
class LInfNoise(CountNoise):
    """Noise z on k counts together, with density proportional to exp(-epsilon ||z||_inf / s).

    Guarantee:
        epsilon-DP: the counts move by at most s in L_inf norm, and the norm obeys the triangle inequality
        (Hardt and Talwar 2010, the K-norm mechanism of the cube).

    Error:
        z = R U with R ~ Gamma(k+1) of scale b = s / epsilon and U uniform on the cube [-1, 1]^k, so that the
        variance of one count is (k+1)(k+2) b^2 / 3. Its tail is E[(1 - t/R)_+], which is E[(1 - N/k)_+] for N
        Poisson of mean t/b. The worst error ||z||_inf ~ Gamma(k): it exceeds t with probability Pr[N < k], and
        its mean is k b.

    Example:
        >>> noise = LInfNoise.within(Budget(1), 3, Fraction(1))
        >>> round(noise.stddev**2, 9), round(noise.mean_worst, 9)
        (6.666666667, 3.0)
    """

    name: ClassVar[str] = "l_inf"

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of scale s / epsilon."""
        return cls(queries, float_above(sensitivity / budget.epsilon))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:  # noqa: ARG003 - neither a delta nor k changes the scale
        """Return s / scale."""
        return rational_above(float(sensitivity) / scale * (1 + MARGIN))

    @property
    def law(self) -> str:
        """A cube of random size."""
        return f"uniform in a cube of half-side Gamma({self.queries + 1}) of scale {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The square root of (k+1)(k+2) b^2 / 3."""
        k = self.queries
        return root(Fraction((k + 1) * (k + 2), 3) * Fraction(self.scale) ** 2)

    @property
    def mean_worst(self) -> float:
        """K b."""
        return round_up(self.scale * self.queries)

    def tail(self, error: float) -> float:
        """Return E[(1 - N/k)_+] for N Poisson of mean t/b."""
        return poisson.shortfall(self.queries, error / self.scale)

    def worst_tail(self, error: float) -> float:
        """Return Pr[N < k] for N Poisson of mean t/b."""
        return poisson.below(self.queries, error / self.scale)

    def error(self, confidence: Fraction) -> float:
        """Return the quantile of one count, searched from c k b: the tail is at least 1 - t/(k b)."""
        k, allowed = self.queries, failure_probability(confidence)
        unit = upper_quantile(
            lambda t: poisson.shortfall(k, t), lambda t: poisson.below(k, t) / k, allowed, k * float(confidence)
        )
        return round_up(self.scale * unit)

    def worst(self, confidence: Fraction) -> float:
        """Return the quantile of Gamma(k), searched from k + sqrt(2 k L) + L with L = ln(1 / (1-c))."""
        k, allowed = self.queries, failure_probability(confidence)
        far = -math.log(allowed)
        unit = upper_quantile(
            lambda t: poisson.below(k, t),
            lambda t: poisson.mass(k - 1, t),
            allowed,
            k + math.sqrt(2 * k * far) + far,
        )
        return round_up(self.scale * unit)


@dataclass(frozen=True)
class GaussianNoise(IndependentCountNoise):
    """Independent normal noise of standard deviation sqrt(k) s sigma_1 on each of k counts.

    Guarantee:
        (epsilon, delta)-DP: the counts move by at most sqrt(k) s in L2 norm, and sigma_1 is the least standard
        deviation for a single count of sensitivity 1 (Balle and Wang 2018, Theorem 8).

    Error:
        Pr[|z| > t] = erfc(t / (sigma sqrt(2))) for one count; the worst stays within t with probability
        erf(t / (sigma sqrt(2)))^k.

    Example:
        >>> noise = GaussianNoise.within(Budget(1, 1e-6), 3, Fraction(1))
        >>> round(noise.stddev**2, 1)
        53.5
    """

    name: ClassVar[str] = "Gaussian"
    needs_delta: ClassVar[bool] = True

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of standard deviation sqrt(k) s sigma_1."""
        single = gaussian_stddev(budget.epsilon, budget.delta)
        return cls(queries, round_up(math.sqrt(queries) * float_above(sensitivity) * single))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:
        """Return the epsilon of noise of this standard deviation, from its exact profile."""
        single = scale / (math.sqrt(queries) * float_above(sensitivity)) * (1 - MARGIN)
        # An infinite epsilon is one beyond 1e9; an epsilon of 0 is one that delta alone covers.
        return rational_above(min(max(GaussianLoss(single).epsilon(delta), 1e-12), 1e10))

    @property
    def law(self) -> str:
        """Normal."""
        return f"normal of standard deviation {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The scale itself."""
        return self.scale

    @staticmethod
    def _unit_tail(error: float) -> float:
        return _normal_tail(error)

    @staticmethod
    def _unit_quantile(allowed: float) -> float:
        return normal_quantile(allowed)

    @staticmethod
    def _unit_mean_worst(queries: int) -> float:
        return mean_largest(queries)


def normal_quantile(allowed: float) -> float:
    """Return the t that a standard normal exceeds in size with a given probability, rounded up.

    The search begins at sqrt(2 ln(1/p)), which is too far: the tail is at most e^(-t^2/2).

    Example:
        >>> round(normal_quantile(0.05), 9)
        1.959963985
    """
    return upper_quantile(_normal_tail, _normal_density, allowed, math.sqrt(-2 * math.log(allowed)))


@lru_cache(maxsize=256)
def mean_largest(count: int) -> float:
    """Return the mean of the largest size of k standard normals, by Simpson's rule.

    Example:
        >>> round(mean_largest(1), 9) == round(math.sqrt(2 / math.pi), 9)
        True
    """
    width = normal_quantile(1e-18 / count) / _PANELS
    values = [any_of(count, _normal_tail(i * width)) for i in range(_PANELS + 1)]
    return width / 3 * (values[0] + 4 * math.fsum(values[1::2]) + 2 * math.fsum(values[2:-1:2]) + values[-1])


def _normal_tail(value: float) -> float:
    return math.erfc(value / _ROOT_2)


def _normal_density(value: float) -> float:
    return math.sqrt(2 / math.pi) * math.exp(-value * value / 2)
