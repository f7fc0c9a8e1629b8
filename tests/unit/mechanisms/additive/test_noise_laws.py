"""Error laws of additive noise: exact sums, the lectures' theorems, and the largest of many."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, compute_expected_worst

WIDE = Fraction(2**60)


def harmonic(count: int) -> float:
    return math.fsum(1 / k for k in range(1, count + 1))


def laplace(scale: Any) -> Laplace:
    return Laplace(sensitivity=scale, epsilon=1)


def test_the_numbers_of_discrete_laplace_noise() -> None:
    one = laplace(1)
    assert one.stddev**2 == pytest.approx(1.8413471884, abs=1e-10)
    assert one.expected_error() == pytest.approx(0.8509181282, abs=1e-10)
    assert math.exp(one.law.log_mass(0)) == pytest.approx(0.4621171573, abs=1e-10)
    at_ln3 = DiscreteLaplaceLaw(Fraction(1 / math.log(3)))
    assert at_ln3.stddev**2 == pytest.approx(1.5, rel=1e-12)
    assert at_ln3.mean_magnitude == pytest.approx(0.75, rel=1e-12)
    assert math.exp(at_ln3.log_mass(0)) == pytest.approx(0.5, rel=1e-12)


def test_the_numbers_of_discrete_gaussian_noise() -> None:
    assert Gaussian(sensitivity=1, rho="1/2").stddev ** 2 == pytest.approx(0.9999997888, abs=1e-10)


def masses(kind: str, scale: Fraction, end: int) -> list[Any]:
    """Return Pr[X = 0], Pr[X = 1], ... from the definition, in the working precision of mpmath."""
    b = mpmath.mpf(scale.numerator) / scale.denominator
    weights = [mpmath.exp(-x / b if kind == "laplace" else -x * x / (2 * b * b)) for x in range(end)]
    total = 2 * mpmath.fsum(weights) - 1
    return [weight / total for weight in weights]


def law_of(kind: str, scale: Fraction) -> Any:
    return DiscreteLaplaceLaw(scale) if kind == "laplace" else DiscreteGaussianLaw(scale**2)


@thinned(4)
@pytest.mark.parametrize("scale", ["1/3", "1", "7", "63", "65", "500"])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_moments_and_tails_are_those_of_the_mass_function(scale: str, kind: str) -> None:
    law, b = law_of(kind, Fraction(scale)), float(Fraction(scale))
    with mpmath.workdps(30):
        exact = masses(kind, Fraction(scale), int((45 if kind == "laplace" else 13) * b) + 5)
        for threshold in (0, 1, int(2 * b), int(5 * b)):
            assert law.tail(threshold) == pytest.approx(float(2 * mpmath.fsum(exact[threshold + 1 :])), rel=1e-9)
        expected = 2 * mpmath.fsum(x * mass for x, mass in enumerate(exact))
    assert law.mean_magnitude == pytest.approx(float(expected), rel=1e-9)


@thinned(4)
@pytest.mark.parametrize("scale", [1, 5, 40, 100])
@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_largest_of_many_has_the_expectation_that_its_masses_give(scale: int, count: int, kind: str) -> None:
    """Summed here over the differences of the distribution function, in thirty digits."""
    law = law_of(kind, Fraction(scale))
    with mpmath.workdps(30):
        inside = value = below = mpmath.mpf(0)
        for x, mass in enumerate(masses(kind, Fraction(scale), (60 if kind == "laplace" else 14) * scale)):
            inside += (2 if x else 1) * mass
            value += x * (inside**count - below)
            below = inside**count
    assert compute_expected_worst(law, count) == pytest.approx(float(value), rel=1e-8)


@pytest.mark.parametrize("count", [1, 2, 8, 100, 10**6])
def test_the_expected_largest_of_d_wide_laplace_noises_is_the_harmonic_number(count: int) -> None:
    """E[max] = b H_d; H_8 = 2.7178571, H_100 = 5.1873775."""
    assert laplace(WIDE).expected_worst(count) / 2**60 == pytest.approx(harmonic(count), rel=1e-9)
    assert harmonic(8) == pytest.approx(2.7178571, abs=1e-7)
    assert harmonic(100) == pytest.approx(5.1873775, abs=1e-7)


@pytest.mark.parametrize("t", [0.01, 0.5, 1, 5, 30])
def test_a_wide_laplace_tail_is_exactly_exponential(t: float) -> None:
    """Pr[|Z| > t b] = e^-t in the limit; for discrete noise 2 q^(floor(tb)+1) / (1+q)."""
    assert laplace(WIDE).tail(Fraction(t) * 2**60) == pytest.approx(math.exp(-t), rel=1e-12)
    q = math.exp(-1 / 10)
    assert laplace(10).tail(10 * t) == pytest.approx(2 * q ** (math.floor(10 * t) + 1) / (1 + q), rel=1e-12)


@pytest.mark.parametrize("count", [2, 30, 10**6])
@pytest.mark.parametrize("t", [0.5, 2, 6])
def test_the_largest_error_exceeds_the_lectures_bound_no_more_often_than_stated(count: int, t: float) -> None:
    """Pr[max > b ln d + b t] = 1 - (1 - e^-t/d)^d <= e^-t, and the quantile turns that round."""
    exact = -math.expm1(count * math.log1p(-math.exp(-t) / count))
    assert exact <= math.exp(-t)
    level = laplace(WIDE).worst_error(1 - exact, count)
    assert level / 2**60 == pytest.approx(math.log(count) + t, rel=1e-7)


def test_measured_errors_keep_the_accuracy_theorems() -> None:
    """Frequencies within six standard deviations of the exact law, hence a false alarm below 1e-8 in all."""
    scale, count, rows = 20, 50, 2000 * DEPTH
    mechanism = laplace(scale)
    noise = np.abs(mechanism.noise(rows, count, bits=SeededBits(20_261_116))).reshape(rows, count)
    for t in (0.5, 1, 2, 3):
        exact = mechanism.tail(t * scale)
        assert abs((noise > t * scale).mean() - exact) < 6 * math.sqrt(exact / noise.size)
        assert exact <= math.exp(-t) * (1 + 1e-12)
        bound = scale * (math.log(count) + t)
        measured = (noise.max(axis=1) > bound).mean()
        allowed = -math.expm1(count * math.log1p(-mechanism.tail(bound)))
        assert allowed <= math.exp(-t)
        assert abs(measured - allowed) < 6 * math.sqrt(allowed / rows)
    mean = noise.max(axis=1).mean()
    assert abs(mean - mechanism.expected_worst(count)) < 6 * 1.3 * scale / math.sqrt(rows)


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
@pytest.mark.parametrize("count", [1, 3, 1000])
def test_the_worst_error_is_the_least_that_keeps_its_confidence(kind: Any, count: int) -> None:
    mechanism = kind(**{"sensitivity": 7, kind.loss_name: "1/3"})
    for confidence in (0.5, 0.95, 0.999999):
        level = mechanism.worst_error(confidence, count)
        assert (1 - mechanism.tail(level)) ** count >= confidence * (1 - 1e-12)
        assert (1 - mechanism.tail(level - 1)) ** count < confidence


def test_errors_on_a_lattice_are_in_units_of_the_value() -> None:
    fine = Laplace(sensitivity=1, epsilon="1/2", step="1/4")
    whole = Laplace(sensitivity=4, epsilon="1/2")
    assert fine.error(0.9) == whole.error(0.9) / 4
    assert fine.expected_error() == whole.expected_error() / 4
    assert fine.stddev == whole.stddev / 4
    assert fine.worst_error(0.9, 5) == whole.worst_error(0.9, 5) / 4
    assert fine.expected_worst(5) == pytest.approx(whole.expected_worst(5) / 4)
    assert fine.tail("0.6") == whole.tail(2)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "x"])
def test_a_bad_number_of_coordinates_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(JaliError, match="coordinates"):
        laplace(1).worst_error(0.9, bad)
    with pytest.raises(JaliError, match="coordinates"):
        laplace(1).expected_worst(bad)
