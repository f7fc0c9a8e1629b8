"""The laws of the admissible noises: tails, quantiles, variances and draws, against independent formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits

from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Price
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussianNoise, SmoothLaplaceNoise
from jali.mechanisms.smooth.log_normal_noise import LogNormalNoise
from jali.mechanisms.smooth.poly_place_noise import PolyPlace, PolyPlaceNoise
from jali.mechanisms.smooth.polynomial_noise import PolynomialNoise
from jali.mechanisms.smooth.student_t_noise import Cauchy, CauchyNoise, StudentNoise, StudentT

ONE = Fraction(1)
PLACES = (0.0, 1e-200, 1e-9, 0.01, 0.1, 0.3, 0.7, 0.999, 1.0, 1.5, 1.7320508, 1.74, 3.0, 8.0, 30.0)
FAR = (36.0, 100.0, 650.0, 1e4, 1e8, 1e20, 1e60, 1e100, 1e200, 1e290)
# Eleven digits are claimed down to this.
LEAST = 1e-290
EXACT_PRICE = Price(epsilon=ONE)


def _student(degrees: int) -> Callable[[mp.mpf], mp.mpf]:
    return lambda z: (
        mp.betainc(mp.mpf(degrees) / 2, mp.mpf(1) / 2, 0, degrees / (degrees + z * z), regularized=True) / 2
    )


def _power(gamma: Fraction) -> Callable[[mp.mpf], mp.mpf]:
    def survival(z: mp.mpf) -> mp.mpf:
        g = mp.mpf(gamma.numerator) / gamma.denominator
        total = 2 * mp.pi / g / mp.sin(mp.pi / g)
        if z < 1:
            return mp.mpf(1) / 2 - z * mp.hyp2f1(1, 1 / g, 1 + 1 / g, -(z**g)) / total
        return z ** (1 - g) / (g - 1) * mp.hyp2f1(1, 1 - 1 / g, 2 - 1 / g, -(z**-g)) / total

    return survival


def _place(ratio: Fraction) -> Callable[[mp.mpf], mp.mpf]:
    def survival(z: mp.mpf) -> mp.mpf:
        a = mp.mpf(ratio.numerator) / ratio.denominator
        k = (1 - 1 / a) ** (a - 1) * (1 + 1 / a) ** (a + 1)
        inner = 2 / a * (1 - (1 - 1 / a) ** a)
        outer = 2 * k / a * (1 + 1 / a) ** -a
        if z >= 1 / a:
            return k / a * (1 + z) ** -a / (inner + outer)
        return (outer / 2 + ((1 - z) ** a - (1 - 1 / a) ** a) / a) / (inner + outer)

    return survival


def _log_normal(sigma: Fraction) -> Callable[[mp.mpf], mp.mpf]:
    def survival(z: mp.mpf) -> mp.mpf:
        s = mp.mpf(sigma.numerator) / sigma.denominator
        peak = mp.re(mp.lambertw(s * s * z)) / s
        height = -(peak**2) / 2 - z * mp.exp(-s * peak)
        edges = [peak + step for step in (-14, -8, -4, -2, -1, -0.5, 0, 0.5, 1, 2, 4, 8, 14)]
        scaled = mp.quad(lambda y: mp.exp(-y * y / 2 - z * mp.exp(-s * y) - height), edges)
        return scaled * mp.exp(height) / mp.sqrt(2 * mp.pi) / 2

    return survival


LAWS: list[tuple[AdmissibleNoise, Callable[[mp.mpf], mp.mpf]]] = [
    (CauchyNoise(ONE), lambda z: mp.atan2(1, z) / mp.pi),
    *((StudentNoise(ONE, d), _student(d)) for d in (1, 2, 3, 5, 8, 30, 200, 1000)),
    *((PolynomialNoise(ONE, g), _power(g)) for g in map(Fraction, ("11/10", "3/2", "2", "3", "4", "12", "1000"))),
    *(
        (PolyPlaceNoise(ONE, a), _place(a))
        for a in map(Fraction, ("1.000000000001", "1.001", "3/2", "2", "6", "20", "10000", "7e20"))
    ),
    (SmoothLaplaceNoise(ONE), lambda z: mp.exp(-z) / 2),
    (SmoothGaussianNoise(ONE), lambda z: mp.erfc(z / mp.sqrt(2)) / 2 if z < 1000 else mp.mpf(0)),
    *((LogNormalNoise(ONE, s), _log_normal(s)) for s in map(Fraction, ("6.6e-8", "1/50", "1/2", "3", "4.05"))),
]


@thinned(4)
@pytest.mark.parametrize(("noise", "survival"), LAWS, ids=[repr(noise) for noise, _ in LAWS])
def test_the_survival_function_is_exact_far_into_the_tail(
    noise: AdmissibleNoise, survival: Callable[[mp.mpf], mp.mpf]
) -> None:
    with mp.workdps(60 if isinstance(noise, PolyPlaceNoise) else 30):
        for z in PLACES + FAR:
            exact = survival(mp.mpf(z))
            if exact > LEAST:
                assert noise.survival(z) == pytest.approx(float(exact), rel=1e-11, abs=0)


@pytest.mark.parametrize("noise", [noise for noise, _ in LAWS], ids=repr)
def test_the_density_is_the_slope_of_the_survival_function(noise: AdmissibleNoise) -> None:
    for z in (0.02, 0.2, 0.8, 2.5, 20.0):
        step = 1e-5 * z
        slope = (noise.survival(z - step) - noise.survival(z + step)) / (2 * step)
        if slope > 1e-9:
            assert math.exp(noise.log_density(z)) == pytest.approx(slope, rel=1e-4)
            assert noise.log_density(-z) == noise.log_density(z)


@pytest.mark.parametrize("noise", [noise for noise, _ in LAWS], ids=repr)
def test_quantiles_invert_the_survival_function_from_above(noise: AdmissibleNoise) -> None:
    for confidence in (0.001, 0.5, 0.95, 0.999999):
        reached = noise.quantile(confidence)
        assert 2 * noise.survival(reached) <= 1 - confidence
        assert 2 * noise.survival(reached * (1 - 1e-12)) >= (1 - confidence) * (1 - 1e-9)


def test_variances_are_those_of_the_closed_forms() -> None:
    assert StudentNoise(ONE, 3).variance == 3
    assert StudentNoise(ONE, 2).variance == math.inf
    assert CauchyNoise(ONE).variance == math.inf
    assert PolynomialNoise(ONE, Fraction(3)).variance == math.inf
    assert PolyPlaceNoise(ONE, Fraction(2)).variance == math.inf
    for gamma in (4, 6):
        with mp.workdps(25):
            second = mp.quad(lambda z: z * z / (1 + z**gamma), [0, 1, mp.inf])  # noqa: B023 - used at once
            total = mp.quad(lambda z: 1 / (1 + z**gamma), [0, 1, mp.inf])  # noqa: B023 - used at once
        assert PolynomialNoise(ONE, Fraction(gamma)).variance == pytest.approx(float(second / total), rel=1e-10)
    for a in (Fraction(5, 2), Fraction(6), Fraction(20), Fraction(10000)):
        survival = _place(a)
        with mp.workdps(30):
            edge = 1 / mp.mpf(float(a))
            second = 4 * mp.quad(lambda z: z * survival(z), [0, edge, 4 * edge, 40 * edge, 1, mp.inf])  # noqa: B023
        assert PolyPlaceNoise(ONE, a).variance == pytest.approx(float(second), rel=1e-7)
    assert LogNormalNoise(ONE, Fraction(1, 2)).variance == pytest.approx(2 * math.exp(0.5), rel=1e-14)


# Noise over S at epsilon 1: median, 95 % and variance, as they were computed before this code was written.
TABLE = [
    (Cauchy(), "0.05", (0.960, 12.19, math.inf)),
    (Cauchy(), "1/6", (0.960, 12.19, math.inf)),
    (Cauchy(), "0.6", (0.960, 12.19, math.inf)),
    (StudentT(3), "0.05", (0.903, 3.76, 4.18)),
    (StudentT(3), "1/6", (1.055, 4.39, 5.71)),
    (StudentT(3), "0.3", (2.09, 8.70, 22.4)),
]


@pytest.mark.parametrize(("family", "beta", "row"), TABLE)
def test_the_table_of_noises_at_epsilon_one(family: Cauchy | StudentT, beta: str, row: tuple[float, ...]) -> None:
    noise = family.noise(Fraction(beta), EXACT_PRICE)
    alpha = float(noise.alpha)
    found = (noise.quantile(0.5) / alpha, noise.quantile(0.95) / alpha, noise.variance / alpha**2)
    assert all(_agrees(value, said) for value, said in zip(found, row, strict=True))


@pytest.mark.parametrize(
    ("beta", "row"),
    [
        ("0.05", (0.718, 3.25, 2.369)),
        ("1/6", (0.781, 3.95, 3.750)),
        ("0.3", (0.861, 5.04, 7.676)),
        ("0.6", (1.08, 9.28, math.inf)),
    ],
)
def test_poly_place_has_the_widths_of_its_authors_and_a_larger_alpha(beta: str, row: tuple[float, ...]) -> None:
    noise = PolyPlace().noise(Fraction(beta), EXACT_PRICE)
    scale = float(Fraction(beta))
    found = (noise.quantile(0.5) / scale, noise.quantile(0.95) / scale, noise.variance / scale**2)
    assert all(_agrees(value, said) for value, said in zip(found, row, strict=True))
    assert float(noise.alpha) == pytest.approx(2 * math.expm1(scale / 2), rel=1e-13)


def test_poly_place_becomes_laplace_noise_as_beta_vanishes() -> None:
    noise = PolyPlace().noise(Fraction(1, 10**6), EXACT_PRICE)
    scale = float(noise.alpha)
    assert noise.quantile(0.95) / scale == pytest.approx(-math.log(0.05), rel=1e-4)
    assert noise.variance / scale**2 == pytest.approx(2, rel=1e-4)


def _agrees(value: float, said: float) -> bool:
    """Tell whether a number rounds to what is said, in the digits that are said."""
    if math.isinf(said):
        return math.isinf(value)
    digits = len(str(said).split(".")[1])
    return abs(value - said) <= 0.5001 * 0.1**digits


@pytest.mark.parametrize(
    "noise",
    [
        CauchyNoise(ONE),
        StudentNoise(ONE, 3),
        PolynomialNoise(ONE, Fraction(4)),
        PolyPlaceNoise(ONE, Fraction(6)),
        SmoothLaplaceNoise(ONE),
        SmoothGaussianNoise(ONE),
        LogNormalNoise(ONE, Fraction(1, 2)),
    ],
    ids=repr,
)
def test_draws_have_the_law_of_the_survival_function(noise: AdmissibleNoise) -> None:
    size, bits = 20_000, SeededBits(7)
    drawn = noise.law.draws(size, bits).balls.centre
    for confidence in (0.2, 0.5, 0.8, 0.95):
        inside = (np.abs(drawn) <= noise.quantile(confidence)).mean()
        # Six standard deviations: a false alarm in 10^8.
        assert abs(inside - confidence) <= 6 * math.sqrt(confidence * (1 - confidence) / size)
    assert abs((drawn > 0).mean() - 0.5) <= 3 / math.sqrt(size)
    low, high = noise.draw(bits).bounds(20)
    assert low <= high
