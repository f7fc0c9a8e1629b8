"""The laws of the three noises, against integrals of their densities."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf  # type: ignore[import-untyped]
from scipy import stats
from tests.depth import thinned

from jali.errors import CatalogError
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.privacy.budget import Budget
from jali.privacy.planning.count_noise import (
    CountNoise,
    GaussianNoise,
    LaplaceNoise,
    LInfNoise,
    confident,
    harmonic,
    mean_largest,
    normal_quantile,
)

KINDS: list[type[CountNoise]] = [LaplaceNoise, LInfNoise, GaussianNoise]
BUDGET = Budget(1, "1e-6")
ONE = Fraction(1)
confidences = st.fractions(Fraction(1, 1000), 1 - Fraction(1, 10**9), max_denominator=10**9)


def l_inf_marginal(k: int, x: mpf) -> mpf:
    """Return the density of one coordinate under exp(-||z||_inf) / (2^k k!), by integrating out the others.

    Where the others stay below |x| in size, the norm is |x|; else it is theirs, whose shells have the surface
    (k-1) 2^(k-1) r^(k-2).
    """
    inside = (2 * x) ** (k - 1) * mp.exp(-x)
    outside = (k - 1) * 2 ** (k - 1) * mp.gammainc(k - 1, x) if k > 1 else 0
    return (inside + outside) / (2**k * mp.factorial(k))


@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("place", [0.2, 1.0, 1.7])
def test_the_tail_of_one_count_under_l_inf_noise_is_that_of_its_density(k: int, place: float) -> None:
    start = mpf(k * place)
    exact = 2 * mp.quad(lambda x: l_inf_marginal(k, x), [start, start + k, start + 4 * k, start + 60 + 10 * k])
    assert LInfNoise(k, 1.0).tail(float(start)) == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_the_variance_of_one_count_under_l_inf_noise_is_that_of_its_density(k: int) -> None:
    exact = 2 * mp.quad(lambda x: x * x * l_inf_marginal(k, x), [0, k, 3 * k, 60 + 10 * k])
    assert LInfNoise(k, 1.0).stddev ** 2 == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 50, 1000])
def test_the_worst_count_under_l_inf_noise_is_gamma(k: int) -> None:
    """The volume of the shell of radius r is proportional to r^(k-1), and its density to e^-r."""
    for confidence in (Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**9)):
        exact = stats.gamma(k).isf(float(1 - confidence))
        assert LInfNoise(k, 3.0).worst(confidence) == pytest.approx(3 * exact, rel=1e-9)
    assert LInfNoise(k, 3.0).worst_tail(3.0 * k) == pytest.approx(stats.gamma(k).sf(k), rel=1e-10)
    assert LInfNoise(k, 3.0).mean_worst == pytest.approx(3 * k)


@pytest.mark.parametrize("k", [1, 2, 7, 100, 10_000])
def test_quantiles_of_laplace_and_gaussian_noise_are_the_textbook_ones(k: int) -> None:
    c = 0.95
    each = c ** (1 / k)
    laplace, gaussian = LaplaceNoise(k, 2.0), GaussianNoise(k, 2.0)
    confidence = Fraction("0.95")
    assert laplace.error(confidence) == pytest.approx(stats.laplace(scale=2).isf(0.025), rel=1e-12)
    assert laplace.worst(confidence) == pytest.approx(-2 * math.log1p(-each), rel=1e-10)
    assert gaussian.error(confidence) == pytest.approx(2 * stats.norm.isf(0.025), rel=1e-12)
    assert gaussian.worst(confidence) == pytest.approx(2 * stats.norm.ppf((1 + each) / 2), rel=1e-10)


@pytest.mark.parametrize("k", [1, 2, 10, 1000, 10**6])
def test_the_mean_of_the_worst_normal_is_its_integral(k: int) -> None:
    with mp.workdps(25):
        exact = mp.quad(lambda t: 1 - mp.erf(t / mp.sqrt(2)) ** k, [0, 1, 2, 3, 4, 5, 6, 7, 9, 14])
    assert mean_largest(k) == pytest.approx(float(exact), rel=1e-11)


def test_the_harmonic_numbers_of_the_theory() -> None:
    """THEORY section 2: H_8 = 2.7178571 and H_100 = 5.1873775."""
    assert harmonic(8) == pytest.approx(float(sum(Fraction(1, j) for j in range(1, 9))), rel=1e-15)
    assert round(harmonic(8), 7) == 2.7178571
    assert round(harmonic(100), 7) == 5.1873775
    for k in (256, 257, 10_000):
        assert harmonic(k) == pytest.approx(math.fsum(1 / j for j in range(1, k + 1)), rel=1e-14)


def test_the_mean_of_the_worst_laplace_is_its_integral() -> None:
    exact = mp.quad(lambda t: 1 - (1 - mp.exp(-t)) ** 8, [0, 1, 2, 4, 8, 16, 60])
    assert LaplaceNoise(8, 1.0).mean_worst == pytest.approx(float(exact), rel=1e-11)


def test_l_inf_noise_on_three_counts_has_the_numbers_of_the_theory() -> None:
    """THEORY section 2: d = 3 has variance 20/3 and expected maximum 3."""
    noise = LInfNoise.within(Budget(1), 3, ONE)
    assert noise.stddev**2 == pytest.approx(20 / 3)
    assert noise.mean_worst == pytest.approx(3)


def test_example_two_of_the_lecture() -> None:
    """THEORY section 10: three counts at epsilon 1 get variance 18, 20/3, or 53.5 at delta 1e-6."""
    laplace, l_inf, gaussian = (kind.within(BUDGET, 3, ONE) for kind in KINDS)
    assert laplace.stddev**2 == pytest.approx(18)
    assert l_inf.stddev**2 == pytest.approx(20 / 3)
    assert round(gaussian.stddev**2, 1) == 53.5


def test_many_queries_have_the_errors_of_the_theory() -> None:
    """THEORY section 10, n queries: n H_n / eps, n / eps, about sqrt(n) sigma_1 sqrt(2 ln n)."""
    n = 10_000
    laplace, l_inf, gaussian = (kind.within(BUDGET, n, ONE) for kind in KINDS)
    assert laplace.mean_worst == pytest.approx(n * harmonic(n))
    assert l_inf.mean_worst == pytest.approx(n)
    assert gaussian.stddev == pytest.approx(math.sqrt(n) * 4.2246788893, rel=1e-9)
    assert 0.9 < gaussian.mean_worst / (gaussian.stddev * math.sqrt(2 * math.log(n))) < 1


@thinned(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 5, 40, 700])
@settings(max_examples=15, derandomize=True, deadline=None)
@given(confidence=confidences)
def test_an_error_is_missed_as_often_as_the_confidence_says(
    kind: type[CountNoise], k: int, confidence: Fraction
) -> None:
    noise, allowed = kind(k, 2.5), float(1 - confidence)
    error, worst = noise.error(confidence), noise.worst(confidence)
    assert noise.tail(error) <= allowed * (1 + 1e-11)
    assert noise.tail(error * (1 - 1e-9)) >= allowed * (1 - 1e-11)
    assert noise.worst_tail(worst) <= allowed * (1 + 1e-11)
    assert noise.worst_tail(worst * (1 - 1e-9)) >= allowed * (1 - 1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_of_one_count_is_that_count(kind: type[CountNoise]) -> None:
    noise = kind.within(BUDGET, 1, ONE)
    confidence = Fraction("0.9")
    assert noise.worst(confidence) == pytest.approx(noise.error(confidence), rel=1e-12)
    assert noise.worst_tail(2.0) == pytest.approx(noise.tail(2.0), rel=1e-12)
    assert noise.worst_tail(0.0) == noise.tail(0.0) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_proportional_to_the_sensitivity(kind: type[CountNoise]) -> None:
    one, three = (kind.within(BUDGET, 7, Fraction(s)) for s in (1, 3))
    assert three.stddev == pytest.approx(3 * one.stddev)
    assert three.error(Fraction("0.95")) == pytest.approx(3 * one.error(Fraction("0.95")))
    assert three.law.startswith(one.law.split()[0])


def test_l_inf_noise_on_one_count_is_laplace_noise() -> None:
    for error in (0.1, 1.0, 10.0):
        assert LInfNoise(1, 2.0).tail(error) == pytest.approx(LaplaceNoise(1, 2.0).tail(error), rel=1e-13)


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(50), Fraction(10_001, 7)])
def test_the_discrete_laplace_noise_that_is_released_errs_no_more(scale: Fraction) -> None:
    """Its tail is e^(-(t+1/2)/b) / cosh(1/(2b)) < e^(-t/b); its variance is smaller by at most 1/6."""
    real, released = LaplaceNoise(1, float(scale)), DiscreteLaplaceLaw(scale)
    assert all(released.tail(t) < real.tail(t) for t in range(0, math.ceil(20 * scale), max(1, int(scale))))
    assert 0 < real.stddev**2 - released.stddev**2 <= 1 / 6 + 1e-6
    for confidence in (0.5, 0.95, 0.999999):
        assert released.quantile(confidence) <= math.ceil(real.error(confident(confidence)))


def test_the_normal_quantile_reaches_far() -> None:
    assert normal_quantile(1e-300) == pytest.approx(stats.norm.isf(0.5e-300), rel=1e-10)
    assert normal_quantile(0.999) == pytest.approx(stats.norm.isf(0.4995), rel=1e-9)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, "often", float("nan")])
def test_a_confidence_that_is_none_is_refused_by_name(confidence: float) -> None:
    with pytest.raises(CatalogError, match="confidence"):
        confident(confidence)
