"""Calibration: enough noise, and a billionth less is not enough, by formulas of another library at 40 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf  # type: ignore[import-untyped]
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.privacy.losses.randomized_response_loss import RandomizedResponseLoss
from jali.privacy.planning.calibrate import (
    discrete_gaussian_variance,
    discrete_laplace_scale,
    exponential_rate,
    gaussian_stddev,
    laplace_scale,
    truth_probability,
)
from jali.privacy.rationals import Number

epsilons = st.fractions(Fraction(1, 100), 30, max_denominator=1000)
deltas = st.builds(lambda digit, power: Fraction(digit, 10**power), st.integers(1, 9), st.integers(1, 15))


def exact(value: Number) -> mpf:
    number = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    return mpf(number.numerator) / number.denominator


def gaussian_delta(stddev: mpf, epsilon: mpf) -> mpf:
    """Theorem 8 of Balle and Wang, for sensitivity 1."""
    far = epsilon * stddev
    return mp.ncdf(1 / (2 * stddev) - far) - mp.exp(epsilon) * mp.ncdf(-1 / (2 * stddev) - far)


def hockey_stick(first: Callable[[int], mpf], second: Callable[[int], mpf], epsilon: mpf, reach: int) -> mpf:
    """Sum what one law of an integer has above e^epsilon times the other."""
    factor = mp.exp(epsilon)
    return mp.fsum(max(mpf(0), first(n) - factor * second(n)) for n in range(-reach, reach + 1))


def discrete_gaussian_delta(variance: mpf, epsilon: mpf, sensitivity: int = 1) -> mpf:
    reach = 14 * math.ceil(mp.sqrt(variance)) + 10
    total = mp.fsum(mp.exp(-(mpf(n) ** 2) / (2 * variance)) for n in range(-reach, reach + 1))

    def mass(n: int) -> mpf:
        return mp.exp(-(mpf(n) ** 2) / (2 * variance)) / total

    return hockey_stick(mass, lambda n: mass(n - sensitivity), epsilon, reach)


def discrete_laplace_delta(scale: mpf, epsilon: mpf, sensitivity: int) -> mpf:
    q = mp.exp(-1 / scale)

    def mass(n: int) -> mpf:
        return (1 - q) / (1 + q) * q ** abs(n)

    return hockey_stick(mass, lambda n: mass(n - sensitivity), epsilon, 60 * math.ceil(scale) + sensitivity)


@pytest.mark.parametrize(
    ("epsilon", "delta", "stddev", "digits"),
    [
        (0.1, 1e-5, 30.7495661, 7),
        (1, 1e-5, 3.7306316348, 10),
        (1, 1e-6, 4.2246788893, 10),
        (10, 1e-6, 0.5410868318, 10),
    ],
)
def test_gaussian_noise_has_the_numbers_of_the_theory(
    epsilon: float, delta: float, stddev: float, digits: int
) -> None:
    """THEORY section 2."""
    assert round(gaussian_stddev(epsilon, delta), digits) == stddev


def test_the_classical_gaussian_formula_is_not_private_at_epsilon_10() -> None:
    """THEORY section 2: sqrt(2 ln(1.25/delta)) / epsilon is proved for epsilon below 1 only."""
    classical = math.sqrt(2 * math.log(1.25e6)) / 10
    assert round(classical, 7) == 0.5298803
    assert gaussian_delta(mpf(classical), mpf(10)) > 1.5e-6
    assert gaussian_stddev(10, 1e-6) > classical
    assert gaussian_delta(mpf(gaussian_stddev(10, 1e-6)), mpf(10)) <= 1e-6


@settings(max_examples=60 * DEPTH, derandomize=True, deadline=None)
@given(epsilons, deltas)
def test_gaussian_noise_is_enough_and_a_billionth_less_is_not(epsilon: Fraction, delta: Fraction) -> None:
    with mp.workdps(40):
        stddev = mpf(gaussian_stddev(epsilon, delta))
        assert gaussian_delta(stddev, exact(epsilon)) <= exact(delta)
        assert gaussian_delta(stddev * (1 - mpf(10) ** -9), exact(epsilon)) > exact(delta)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "3", "10", "100"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "1e-3", "0.3"])
def test_gaussian_noise_is_within_1e_12_of_the_least(epsilon: str, delta: str) -> None:
    with mp.workdps(40):
        found = mpf(gaussian_stddev(epsilon, delta))
        goal = mp.log(exact(delta))
        least = mp.findroot(lambda s: mp.log(gaussian_delta(s, exact(epsilon))) - goal, (found * 0.999999, found))
        assert 0 <= found / least - 1 < 1e-12


def test_gaussian_noise_grows_with_the_root_of_the_queries() -> None:
    assert gaussian_stddev(1, 1e-6, queries=3) == pytest.approx(math.sqrt(3) * gaussian_stddev(1, 1e-6))
    assert gaussian_stddev(1, 1e-6, sensitivity="5/2") == pytest.approx(2.5 * gaussian_stddev(1, 1e-6))


def test_laplace_noise_is_exact_at_delta_0() -> None:
    assert laplace_scale("0.1") == 10
    assert laplace_scale("1/3", sensitivity="0.5") == Fraction(3, 2)


@settings(max_examples=60 * DEPTH, derandomize=True, deadline=None)
@given(epsilons, deltas)
def test_laplace_noise_at_a_delta_is_enough_and_a_billionth_less_is_not(
    epsilon: Fraction, delta: Fraction
) -> None:
    with mp.workdps(40):
        scale = exact(laplace_scale(epsilon, delta, sensitivity=2))
        assert 1 - mp.exp((exact(epsilon) - 2 / scale) / 2) <= exact(delta)
        less = scale * (1 - mpf(10) ** -9)
        assert 1 - mp.exp((exact(epsilon) - 2 / less) / 2) > exact(delta)


def test_laplace_profile_of_the_reference_is_that_of_its_densities() -> None:
    epsilon = mpf("0.3")

    def excess(x: mpf) -> mpf:
        return max(mpf(0), mp.exp(-abs(x)) / 2 - mp.exp(epsilon) * mp.exp(-abs(x - 1)) / 2)

    turn = (1 - epsilon) / 2
    assert mp.quad(excess, [-40, 0, turn]) == pytest.approx(float(1 - mp.exp((epsilon - 1) / 2)), rel=1e-10)


def test_discrete_laplace_noise_is_exact_at_delta_0() -> None:
    assert discrete_laplace_scale("0.1", sensitivity=3) == 30


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-6"), ("1", "1e-3"), ("3", "0.1")])
def test_discrete_laplace_noise_at_a_delta_is_enough_and_a_billionth_less_is_not(
    epsilon: str, delta: str, sensitivity: int
) -> None:
    with mp.workdps(40):
        scale = exact(discrete_laplace_scale(epsilon, delta, sensitivity=sensitivity))
        assert discrete_laplace_delta(scale, exact(epsilon), sensitivity) <= exact(delta)
        less = scale * (1 - mpf(10) ** -9)
        assert discrete_laplace_delta(less, exact(epsilon), sensitivity) > exact(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"),
    [
        ("0.5", "1e-6", 1),
        ("1", "1e-6", 1),
        ("1", "1e-6", 3),
        ("3", "1e-3", 2),
        ("10", "1e-6", 1),
        ("10", "0.01", 5),
    ],
)
def test_discrete_gaussian_noise_is_enough_and_a_billionth_less_is_not(
    epsilon: str, delta: str, sensitivity: int
) -> None:
    variance = discrete_gaussian_variance(epsilon, delta, sensitivity=sensitivity)
    assert isinstance(variance, Fraction)
    with mp.workdps(30):
        assert discrete_gaussian_delta(exact(variance), exact(epsilon), sensitivity) <= exact(delta)
        less = exact(variance) * (1 - mpf(10) ** -9)
        assert discrete_gaussian_delta(less, exact(epsilon), sensitivity) > exact(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"), [("5", "1e-3", 1), ("10", "1e-6", 1), ("10", "1e-4", 2)]
)
def test_no_smaller_variance_of_the_discrete_gaussian_is_enough(
    epsilon: str, delta: str, sensitivity: int
) -> None:
    found = discrete_gaussian_variance(epsilon, delta, sensitivity=sensitivity)
    smaller = [found * i / 200 for i in range(2, 200, 1 if DEPTH > 1 else 9)]
    assert all(discrete_gaussian_delta(exact(v), exact(epsilon), sensitivity) > exact(delta) for v in smaller)


def test_more_variance_of_the_discrete_gaussian_can_be_less_private() -> None:
    less, more = (discrete_gaussian_delta(mpf(v), mpf(10)) for v in ("0.15", "0.21"))
    assert 30 * less < more


def test_discrete_gaussian_noise_nears_the_gaussian_where_it_is_wide() -> None:
    wide = float(discrete_gaussian_variance("0.1", "1e-6"))
    assert wide == pytest.approx(gaussian_stddev("0.1", "1e-6") ** 2, rel=1e-4)


@settings(max_examples=60 * DEPTH, derandomize=True, deadline=None)
@given(epsilons, st.one_of(st.just(Fraction(0)), deltas), st.integers(2, 50))
def test_randomized_response_is_private_and_a_billionth_more_truth_is_not(
    epsilon: Fraction, delta: Fraction, categories: int
) -> None:
    truth = truth_probability(epsilon, delta, categories=categories)
    with mp.workdps(40):
        factor = mp.exp(exact(epsilon)) / (categories - 1)
        lie = exact(1 - truth)
        assert (1 - lie) - factor * lie <= exact(delta) + mpf(10) ** -30
        less = lie * (1 - mpf(10) ** -9)
        assert (1 - less) - factor * less > exact(delta)


def test_randomized_response_tells_the_truth_with_the_probability_of_the_theory() -> None:
    """THEORY section 3: p = e^epsilon / (e^epsilon + k - 1); p = 3/4 has epsilon ln 3."""
    assert float(truth_probability(math.log(3))) == pytest.approx(0.75, rel=1e-12)
    assert float(truth_probability(1, categories=8)) == pytest.approx(math.e / (math.e + 7), rel=1e-12)
    loss = RandomizedResponseLoss.from_truth(truth_probability(1, categories=8), categories=8)
    assert loss.epsilon(0) == pytest.approx(1, rel=1e-11)
    assert 0 < 1 - truth_probability(2000) < Fraction(1, 10**300)


def test_the_exponential_mechanism_is_exact_at_delta_0() -> None:
    assert exponential_rate("0.5", sensitivity=2) == Fraction(1, 8)
    assert exponential_rate("0.5", sensitivity=2, monotone=True) == Fraction(1, 4)


@settings(max_examples=40 * DEPTH, derandomize=True, deadline=None)
@given(epsilons, deltas)
def test_the_exponential_mechanism_at_a_delta_is_private_and_a_billionth_more_is_not(
    epsilon: Fraction, delta: Fraction
) -> None:
    def range_delta(length: mpf) -> mpf:
        """The worst two-outcome mechanism of a bounded range: losses t and t - length, over all t."""
        half = (mp.exp(length / 2) - mp.exp(exact(epsilon) / 2)) ** 2 / (mp.exp(length) - 1)
        return half if length > exact(epsilon) else mpf(0)

    with mp.workdps(40):
        length = 2 * exact(exponential_rate(epsilon, delta))
        assert range_delta(length) <= exact(delta)
        assert range_delta(length * (1 + mpf(10) ** -9)) > exact(delta)


CALIBRATIONS: list[Callable[..., object]] = [
    gaussian_stddev,
    laplace_scale,
    discrete_laplace_scale,
    discrete_gaussian_variance,
    truth_probability,
    exponential_rate,
]


@pytest.mark.parametrize("calibrate", CALIBRATIONS)
@pytest.mark.parametrize(
    ("epsilon", "delta", "name"),
    [(0, 1e-6, "epsilon"), (-1, 1e-6, "epsilon"), (1, 1, "delta"), (1, -0.1, "delta"), (math.nan, 0.1, "epsilon")],
)
def test_a_target_that_is_none_is_refused_by_name(
    calibrate: Callable[..., object], epsilon: float, delta: float, name: str
) -> None:
    with pytest.raises(CatalogError, match=f"^{name} "):
        calibrate(epsilon, delta)


@pytest.mark.parametrize("calibrate", [gaussian_stddev, discrete_gaussian_variance])
def test_gaussian_noise_without_a_delta_is_refused(calibrate: Callable[..., object]) -> None:
    with pytest.raises(CatalogError, match="delta must be above 0"):
        calibrate(1, 0)


def test_other_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(CatalogError, match="sensitivity"):
        gaussian_stddev(1, 1e-6, sensitivity=0)
    with pytest.raises(CatalogError, match="queries"):
        gaussian_stddev(1, 1e-6, queries=0)
    with pytest.raises(CatalogError, match="sensitivity"):
        discrete_laplace_scale(1, sensitivity=-1)
    with pytest.raises(CatalogError, match="categories"):
        truth_probability(1, categories=1)
