"""The choice of a noise takes the least error; the lecture's constants, where they fail and as corrected."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import gamma as gamma_law
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible_noise import Price
from jali.mechanisms.smooth.choose_noise import (
    PURE,
    best_beta,
    best_noise,
    compare_noises,
    families_for,
    lecture_constants,
    sensitivity_of_even_data,
)
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal
from jali.mechanisms.smooth.noise_calibration import read_price
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT


def test_the_kinds_of_noise_follow_the_kind_of_price() -> None:
    assert families_for(read_price(1)) == PURE
    assert set(families_for(read_price(1, 1e-6))) == {*PURE, SmoothLaplace(), SmoothGaussian()}
    assert set(families_for(read_price(rho=1))) == {*PURE, LaplaceLogNormal()}


def test_the_noise_of_least_error_comes_first() -> None:
    table = compare_noises(beta="0.05", epsilon=1)
    errors = [noise.error for noise in table.noises]
    assert errors == sorted(errors)
    assert table.family == best_noise(beta="0.05", epsilon=1) == PolyPlace()
    assert len(table.noises) == len(PURE)


def test_families_without_a_noise_at_this_beta_are_left_out() -> None:
    families = {noise.family for noise in compare_noises(beta="0.6", epsilon=1).noises}
    assert families == {PolyPlace(), Cauchy()}


def test_cauchy_noise_is_best_for_a_large_epsilon() -> None:
    assert best_noise(beta="1/2", epsilon=10) == Cauchy()


def test_the_errors_are_quantiles_over_alpha() -> None:
    for found in compare_noises(beta="1/50", epsilon=1, delta="1e-6", confidence=0.9).noises:
        noise = found.family.noise(Fraction(1, 50), read_price(1, "1e-6"))
        alpha = float(noise.alpha)
        assert 2 * noise.survival(found.error * alpha) == pytest.approx(0.1, rel=1e-9)
        assert 2 * noise.survival(found.median * alpha) == pytest.approx(0.5, rel=1e-9)
        assert found.stddev == pytest.approx(math.sqrt(noise.variance) / alpha)


def test_the_table_is_printed_in_columns() -> None:
    lines = repr(compare_noises(beta="1/6", epsilon=1)).splitlines()
    assert lines[0].split() == ["noise,", "per", "unit", "of", "S", "median", "95", "%", "stddev"]
    assert lines[1].split()[0] == "PolyPlace()"
    assert len({len(line) for line in lines}) == 1


def test_no_beta_is_better_on_the_reference() -> None:
    price = read_price(1)
    choice = best_beta(price, people=100)
    smooth = sensitivity_of_even_data(100)
    for family in PURE:
        for i in range(1, 60):
            beta = family.largest_beta(price) * Fraction(i, 60)
            noise = family.noise(beta, price)
            error = noise.quantile(0.95) / float(noise.alpha) * smooth(float(beta))
            assert choice.error <= error * 1.002


def test_the_reference_is_the_largest_term_of_evenly_spread_numbers() -> None:
    for people in (1, 2, 7, 1000):
        for beta in (1e-5, 0.003, 0.1, 0.37, 1.0, 3.0):
            exact = max(math.exp(-beta * k) * min(1, (k + 1) / people) for k in range(2 * people))
            assert sensitivity_of_even_data(people)(beta) == pytest.approx(exact, rel=1e-13)


def test_beta_is_found_for_one_family_and_the_family_for_one_beta() -> None:
    price = read_price(1)
    alone = best_beta(price, families=(StudentT(3),), people=100)
    assert alone.family == StudentT(3)
    assert alone.beta < Fraction(1, 3)
    given = best_beta(price, beta=Fraction(1, 6))
    assert given.family == PolyPlace()
    assert given.beta == Fraction(1, 6)


@thinned(4)
@pytest.mark.parametrize(
    "price", [read_price(1), read_price("1/10", "1e-9"), read_price(rho="1/8"), read_price(20)], ids=repr
)
def test_what_is_chosen_is_admissible(price: Price) -> None:
    for families in (None, *((family,) for family in families_for(price))):
        choice = best_beta(price, families=families, people=50)
        assert choice.family.noise(choice.beta, price).alpha > 0
        assert 0 < choice.error < math.inf


def test_a_reference_of_ones_own_decides() -> None:
    flat = best_beta(read_price(1), reference=lambda beta: 1.0)
    steep = best_beta(read_price(1), reference=lambda beta: math.exp(-10 * beta))
    assert flat.beta < Fraction(1, 100) < Fraction(1, 2) < steep.beta


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(MechanismError, match="beta") as refusal:
        best_noise(beta=1, epsilon=1)
    assert refusal.value.remedy
    with pytest.raises(MechanismError, match="beta"):
        best_beta(read_price(1), beta=Fraction(2))
    with pytest.raises(MechanismError, match="confidence"):
        best_noise(beta="0.1", epsilon=1, confidence=1.0)
    for people in (0, 10**15 + 1, 10**400, 10**5000):
        with pytest.raises(MechanismError, match="people"):
            best_beta(read_price(1), people=people)
    with pytest.raises(MechanismError, match="epsilon or rho"):
        best_noise(beta="0.1")
    with pytest.raises(MechanismError, match="delta"):
        best_noise(beta="0.1", rho=1, delta="1e-6")


@pytest.mark.parametrize("families", [(), [], ["x"], "x", 5, (PolyPlace(), None)])
def test_families_that_are_none_are_refused(families: Any) -> None:
    for beta in (None, Fraction(1, 2)):
        with pytest.raises(MechanismError, match="families") as refusal:
            best_beta(read_price(1), families=families, beta=beta)
        assert refusal.value.remedy


@thinned(4)
@pytest.mark.parametrize(
    "given",
    [
        *({"epsilon": epsilon} for epsilon in ("1e-9", 50, 700)),
        *({"epsilon": "1e-9", "delta": delta} for delta in ("1e-300", "0.999999")),
        *({"epsilon": 700, "delta": delta} for delta in ("1e-300", "1e-6")),
        *({"rho": rho} for rho in ("5e-19", 1250, 5000, 245000)),
    ],
    ids=str,
)
def test_there_is_a_choice_at_every_price_that_is_accepted(given: Any) -> None:
    price = read_price(**given)
    choice = best_beta(price)
    assert choice.family.noise(choice.beta, price).alpha > 0
    assert 0 < choice.error < math.inf


@pytest.mark.parametrize("beta", ["1e-330", "1e-19", "2801", "1e300"])
def test_a_beta_beyond_the_limits_is_refused(beta: str) -> None:
    with pytest.raises(MechanismError, match="beta"):
        best_noise(beta=beta, epsilon=1)
    with pytest.raises(MechanismError, match="beta"):
        best_beta(read_price(1), beta=Fraction(beta))


_HALF = np.concatenate([np.linspace(0, 6, 1201), np.geomspace(6, 1e9, 400)])
PLACES = np.concatenate([-_HALF[::-1], _HALF])


def loss_of_one(gamma: float, shift: float, stretch: float) -> float:
    """Return sup |ln p/q| of one number with noise 1/(1 + |z|^gamma), on a grid."""
    moved = np.abs((PLACES - shift) * math.exp(-stretch))
    ratio = np.log1p(moved**gamma) - np.log1p(np.abs(PLACES) ** gamma) + stretch
    return float(np.abs(ratio).max())


def loss_of_product(gamma: float, alpha: float, beta: float, dimension: int) -> float:
    """Return the loss of independent noises, all of them stretched by beta and one shifted by alpha as well.

    Coordinates are free to take their worst places together, so that the suprema of one sign add up.
    """
    base = np.log1p(np.abs(PLACES) ** gamma)
    shifted, still = (
        np.log1p(np.abs((PLACES - shift) * math.exp(-beta)) ** gamma) + beta - base for shift in (alpha, 0.0)
    )
    sides = ((side * shifted).max() + (dimension - 1) * (side * still).max() for side in (1, -1))
    return float(max(sides))


def test_the_lectures_product_without_the_dimension_spends_more_than_epsilon() -> None:
    for dimension in (6, 10):
        alpha = beta = 1 / 6
        assert loss_of_product(2, alpha, beta, dimension) > 1 + 0.01
    # As printed, epsilon / (2 gamma + 1), it fails from five numbers on; for a single one it is only loose.
    assert loss_of_product(2, 1 / 5, 1 / 5, 5) > 1 + 0.01
    for gamma in (1.5, 2, 3, 4, 10):
        printed = 1 / (2 * gamma + 1)
        assert loss_of_one(gamma, printed, printed) < 1


@pytest.mark.parametrize("gamma", ["3/2", "2", "3", "6"])
@pytest.mark.parametrize("dimension", [1, 2, 6, 50])
def test_the_corrected_constants_of_the_polynomial_family_hold(gamma: str, dimension: int) -> None:
    alpha, beta = lecture_constants(Polynomial(gamma), 1, dimension=dimension)
    assert alpha == 1 / (2 * (Fraction(gamma) + 1))
    assert beta == alpha / dimension
    assert loss_of_product(float(Fraction(gamma)), float(alpha), float(beta), dimension) <= 1


def test_cauchy_is_the_case_of_gamma_two() -> None:
    for dimension in (1, 7):
        assert lecture_constants(Cauchy(), "1/2", dimension=dimension) == lecture_constants(
            Polynomial(2), "1/2", dimension=dimension
        )


@pytest.mark.parametrize("family", [SmoothLaplace(), SmoothGaussian()], ids=repr)
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-6"), ("1/2", "1e-9"), ("1/10", "1/100")])
def test_the_corrected_constants_of_one_number_are_below_the_exact_ones(
    family: SmoothLaplace | SmoothGaussian, epsilon: str, delta: str
) -> None:
    alpha, beta = lecture_constants(family, epsilon, delta)
    assert alpha < family.noise(beta, read_price(epsilon, delta)).alpha


def test_the_halves_are_calibrated_so_that_delta_is_the_final_one() -> None:
    half = 1e-6 / (1 + math.exp(0.5))
    alpha, beta = lecture_constants(SmoothLaplace(), 1, "1e-6")
    assert alpha == Fraction(1, 2)
    assert float(beta) == pytest.approx(1 / (2 * math.log(1 / half)), rel=1e-9)
    with mp.workdps(30):
        one, two = (float(mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(tail))) for tail in (half, half / 2))
    alpha, beta = lecture_constants(SmoothGaussian(), 1, "1e-6")
    assert float(alpha) == pytest.approx(1 / (5 * one), rel=1e-9)
    assert float(beta) == pytest.approx(1 / (2 * two**2), rel=1e-9)


@pytest.mark.parametrize("dimension", [2, 5, 20])
def test_stretching_many_numbers_keeps_its_half(dimension: int) -> None:
    """The norm decides: for Laplace noise it has a gamma law, for Gaussian noise its square a chi-square law."""
    half = 1e-6 / (1 + math.exp(0.5))
    _, beta = lecture_constants(SmoothLaplace(), 1, "1e-6", dimension)
    stretch = float(beta)
    # Where the wider law is e^(1/2) times as likely, in units of its own scale.
    edge = (0.5 + dimension * stretch) / math.expm1(stretch)
    assert gamma_law.sf(edge, dimension) <= half
    _, beta = lecture_constants(SmoothGaussian(), 1, "1e-6", dimension)
    stretch = float(beta)
    edge = 2 * (0.5 + dimension * stretch) / math.expm1(2 * stretch)
    assert chi2.sf(edge, dimension) <= half
    assert dimension * stretch <= 0.5


def test_the_simple_bound_of_the_gaussian_norm_is_not_one() -> None:
    """2 (d + ln(1/half)) does not bound the quantile of the squared norm; the bound that is used does."""
    half, dimension = 5e-10, 10
    logarithm = math.log(1 / half)
    assert chi2.isf(half, dimension) > 2 * (dimension + logarithm)
    for d in (2, 10, 100):
        assert chi2.isf(half, d) < d + 2 * math.sqrt(d * logarithm) + 2 * logarithm


def test_what_the_lecture_has_no_constants_for_is_refused() -> None:
    with pytest.raises(MechanismError, match="family"):
        lecture_constants(PolyPlace(), 1)
    with pytest.raises(MechanismError, match="delta"):
        lecture_constants(SmoothLaplace(), 1)
    with pytest.raises(MechanismError, match="epsilon"):
        lecture_constants(SmoothLaplace(), 2, "1e-6")
    with pytest.raises(MechanismError, match="dimension"):
        lecture_constants(Cauchy(), 1, dimension=0)


def test_the_tail_of_a_sum_of_laplace_sizes_is_bounded() -> None:
    for d in (2, 10, 100):
        for half in (1e-2, 1e-6, 1e-12):
            assert gamma_law.isf(half, d) <= 2 * (d + math.log(1 / half))
