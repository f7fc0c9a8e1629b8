"""The lecture's constants: what it printed fails where it must, and the corrected ones hold."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import gamma as gamma_law

from jali.errors import MechanismError
from jali.mechanisms.smooth.families.cauchy import Cauchy
from jali.mechanisms.smooth.families.gaussian import SmoothGaussian
from jali.mechanisms.smooth.families.laplace import SmoothLaplace
from jali.mechanisms.smooth.families.lecture import lecture_constants
from jali.mechanisms.smooth.families.poly_place import PolyPlace
from jali.mechanisms.smooth.families.polynomial import Polynomial
from jali.mechanisms.smooth.families.price import price_of

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
    assert alpha < family.noise(beta, price_of(epsilon, delta)).alpha


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
