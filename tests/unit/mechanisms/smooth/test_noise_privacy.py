"""The exact loss of every admissible noise: the largest log-ratio, or hockey-stick, over all neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from tests.depth import thinned

from jali.mechanisms.smooth.admissible_noise import Family, Price
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal, best_sigma
from jali.mechanisms.smooth.noise_calibration import read_price
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT, student_alpha

Floats = NDArray[np.float64]
Depth = Callable[[Floats], Floats]
NEAR = 1e-9
_HALF = np.concatenate([np.linspace(0, 4, 801), np.geomspace(4, 1e13, 400)])
PLACES = np.concatenate([-_HALF[:0:-1], _HALF])


def student(degrees: int) -> Depth:
    return lambda z: (degrees + 1) / 2 * np.log(degrees + z * z)


def power(gamma: float) -> Depth:
    return lambda z: np.log1p(np.abs(z) ** gamma)


def place(a: float) -> Depth:
    """The density as it is printed: (1-|z|)^(a-1) within 1/a, K (1+|z|)^(-a-1) beyond."""
    log_k = (a - 1) * math.log(1 - 1 / a) + (a + 1) * math.log(1 + 1 / a)

    def depth(z: Floats) -> Floats:
        size = np.abs(z)
        inner = -(a - 1) * np.log1p(-np.minimum(size, 1 / a))
        return np.asarray(np.where(size <= 1 / a, inner, (a + 1) * np.log1p(size) - log_k))

    return depth


def loss(depth: Depth, shift: float, stretch: float) -> float:
    """Return sup |ln p/q| for p of scale 1 at 0 and q of scale e^stretch at the shift: a grid, then refined."""

    def ratio(z: Floats) -> Floats:
        return np.abs(stretch + depth((z - shift) * math.exp(-stretch)) - depth(z))

    values = ratio(PLACES)
    best = int(values.argmax())
    low, high = PLACES[max(0, best - 1)], PLACES[min(len(PLACES) - 1, best + 1)]
    refined = minimize_scalar(
        lambda z: -float(ratio(np.array([z]))[0]), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    )
    return max(float(values[best]), float(-refined.fun))


def worst(depth: Depth, alpha: float, beta: float) -> float:
    """Return the largest loss over all shifts up to alpha and all stretches up to beta."""
    shifts = alpha * np.linspace(-1, 1, 9)
    return max(loss(depth, s, t) for s in shifts.tolist() for t in np.linspace(0, beta, 9).tolist())


CASES: list[tuple[Family, Callable[[float, float], Depth], tuple[tuple[str, str], ...]]] = [
    (Cauchy(), lambda _e, _b: student(1), (("1/2", "1/10"), ("1", "7/10"), ("1", "9/10"), ("2", "1"))),
    (StudentT(2), lambda _e, _b: student(2), (("1", "1/10"), ("1", "2/5"))),
    (StudentT(3), lambda _e, _b: student(3), (("1", "1/20"), ("1", "1/6"), ("2", "3/5"))),
    (StudentT(8), lambda _e, _b: student(8), (("1/2", "1/20"), ("5", "3/10"))),
    (Polynomial("3/2"), lambda _e, _b: power(1.5), (("1", "1/5"), ("1", "4/5"))),
    (Polynomial(3), lambda _e, _b: power(3), (("1", "1/20"), ("1", "2/5"), ("4", "1"))),
    (Polynomial(6), lambda _e, _b: power(6), (("1", "1/20"), ("2", "3/10"))),
    (PolyPlace(), lambda e, b: place(e / b), (("1", "1/20"), ("1", "1/6"), ("1", "3/5"), ("1", "19/20"))),
    (PolyPlace(), lambda e, b: place(e / b), (("3", "1/2"), ("6", "4"), ("1/4", "1/10"))),
]
EXACT = [(family, depth, epsilon, beta) for family, depth, pairs in CASES for epsilon, beta in pairs]
TITLES = [f"{family}, epsilon {epsilon}, beta {beta}" for family, _, epsilon, beta in EXACT]


@thinned(4)
@pytest.mark.parametrize(("family", "depth_of", "epsilon", "beta"), EXACT, ids=TITLES)
def test_a_pure_noise_spends_epsilon_and_no_more(
    family: Family, depth_of: Callable[[float, float], Depth], epsilon: str, beta: str
) -> None:
    price = Price(epsilon=Fraction(epsilon))
    noise = family.noise(Fraction(beta), price)
    limit, stretch = float(Fraction(epsilon)), float(Fraction(beta))
    depth = depth_of(limit, stretch)
    assert limit - NEAR <= worst(depth, float(noise.alpha), stretch) <= limit + NEAR
    # The noise itself has the density that was tried.
    for z in (0.0, 0.1, 0.3, 1.0, 4.0, 50.0):
        drop = noise.log_density(0.0) - noise.log_density(z)
        assert drop == pytest.approx(float(depth(np.array([z]))[0] - depth(np.array([0.0]))[0]), abs=1e-11)


@thinned(4)
@pytest.mark.parametrize(("family", "depth_of", "epsilon", "beta"), EXACT, ids=TITLES)
def test_a_larger_alpha_spends_more(
    family: Family, depth_of: Callable[[float, float], Depth], epsilon: str, beta: str
) -> None:
    noise = family.noise(Fraction(beta), Price(epsilon=Fraction(epsilon)))
    limit, stretch = float(Fraction(epsilon)), float(Fraction(beta))
    assert worst(depth_of(limit, stretch), float(noise.alpha) * 1.001, stretch) > limit + 1e-6


def test_cauchy_keeps_the_rule_of_the_hyperbolic_half_plane() -> None:
    for epsilon, beta in ((0.5, 0.2), (1.0, 0.7353), (1.0, 0.9), (2.0, 1.9)):
        rule = math.sqrt(2 * min(math.cosh(epsilon) - 1, math.exp(beta) * (math.cosh(epsilon) - math.cosh(beta))))
        price = Price(epsilon=Fraction(str(epsilon)))
        alpha = Cauchy().noise(Fraction(str(beta)), price).alpha
        assert float(alpha) == pytest.approx(rule, rel=1e-13)
        assert float(Polynomial(2).noise(Fraction(str(beta)), price).alpha) == pytest.approx(rule, rel=1e-13)
        assert float(StudentT(1).noise(Fraction(str(beta)), price).alpha) == pytest.approx(rule, rel=1e-13)
    assert round(float(Cauchy().noise(Fraction("0.735"), Price(epsilon=Fraction(1))).alpha), 5) == 1.04219
    assert Cauchy().noise(Fraction("0.736"), Price(epsilon=Fraction(1))).alpha < Fraction("1.042")


def test_alpha_is_below_the_closed_form_by_less_than_a_part_in_ten_to_the_14() -> None:
    with mp.workdps(60):
        for epsilon, beta in (
            (Fraction(1), Fraction(1, 6)),
            (Fraction(1, 1000), Fraction(1, 5000)),
            (Fraction(9), Fraction(2)),
        ):
            e, b = (mp.mpf(x.numerator) / x.denominator for x in (epsilon, beta))
            rule = mp.sqrt(2 * min(mp.cosh(e) - 1, mp.exp(b) * (mp.cosh(e) - mp.cosh(b))))
            alpha = Cauchy().noise(beta, Price(epsilon=epsilon)).alpha
            below = 1 - mp.mpf(alpha.numerator) / alpha.denominator / rule
            assert 0 < below < 1e-14


def test_the_constants_of_nissim_raskhodnikova_and_smith_spend_a_quarter_of_their_price() -> None:
    spent = worst(student(1), 1 / 6, 1 / 6)
    assert round(spent, 4) == 0.2261
    assert (
        student_alpha(1, Fraction(1, 6), Fraction("0.2262"))
        > Fraction(1, 6)
        > student_alpha(1, Fraction(1, 6), Fraction("0.2260"))
    )


def test_separate_suprema_are_valid_for_student_noise_and_not_tight() -> None:
    for degrees, beta in ((3, 0.05), (3, 0.2), (5, 0.1)):
        simple = (1 - degrees * beta) * 2 * math.sqrt(degrees) / (degrees + 1)
        alpha = float(student_alpha(degrees, Fraction(str(beta)), Fraction(1)))
        assert worst(student(degrees), simple, beta) < 1 - 0.01
        assert simple < alpha


def hockey_stick(law: str, epsilon: float, shift: float, stretch: float) -> float:
    """Return the larger delta of the two directions, from the roots of the loss and the two CDFs, in 60 digits."""
    scale = math.exp(stretch)

    def depth(z: float) -> float:
        return abs(z) if law == "laplace" else z * z / 2

    def first(x: float) -> float:
        return stretch + depth((x - shift) / scale) - depth(x)

    return max(
        _positive_part(law, lambda x: first(x) - epsilon, epsilon, (0.0, 1.0), (shift, scale)),
        _positive_part(law, lambda x: -first(x) - epsilon, epsilon, (shift, scale), (0.0, 1.0)),
    )


def _positive_part(
    law: str, excess: Callable[[float], float], epsilon: float, p: tuple[float, float], q: tuple[float, float]
) -> float:
    grid = np.concatenate([-np.geomspace(1e4, 1e-3, 700), [0.0], np.geomspace(1e-3, 1e4, 700)])
    grid = np.unique(np.concatenate([grid, grid + p[0] + q[0]]))
    signs = [excess(x) for x in grid.tolist()]
    steps = zip(pairwise(grid.tolist()), pairwise(signs), strict=True)
    cuts = [brentq(excess, *ends, xtol=1e-14) for ends, values in steps if values[0] * values[1] < 0]
    with mp.workdps(60):
        total = mp.mpf(0)
        for low, high in pairwise([-mp.inf, *map(mp.mpf, cuts), mp.inf]):
            if excess(float(_between(low, high))) > 0:
                total += _mass(law, p, low, high) - mp.exp(epsilon) * _mass(law, q, low, high)
        return float(total)


def _between(low: mp.mpf, high: mp.mpf) -> mp.mpf:
    if low == -mp.inf:
        return high - 1 if high < mp.inf else mp.mpf(0)
    return low + 1 if high == mp.inf else (low + high) / 2


def _mass(law: str, where: tuple[float, float], low: mp.mpf, high: mp.mpf) -> mp.mpf:
    ends = [(mp.mpf(x) - where[0]) / where[1] for x in (low, high)]
    if ends[0] > 0:  # by the smaller tails
        ends = [-ends[1], -ends[0]]
    cdf = mp.ncdf if law == "gaussian" else (lambda z: mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2)
    return cdf(ends[1]) - cdf(ends[0])


def largest_delta(law: str, epsilon: float, alpha: float, beta: float) -> float:
    """Return the largest delta over shifts up to alpha and stretches up to beta."""
    pairs = [(shift, stretch) for shift in (alpha, alpha / 2) for stretch in np.linspace(0, beta, 6).tolist()]
    return max(hockey_stick(law, epsilon, *pair) for pair in pairs)


@thinned(4)
@pytest.mark.parametrize(
    ("epsilon", "delta", "beta"),
    [(1, "1e-6", "0.0345"), (1, "1e-6", "0.01"), (0.5, "1e-9", "0.008"), (2, "1e-3", "0.1"), (1, "0.01", "0.05")],
)
def test_laplace_noise_fails_with_delta_and_no_more(epsilon: float, delta: str, beta: str) -> None:
    stretch, allowed = float(beta), float(delta)
    alpha = float(SmoothLaplace().noise(Fraction(beta), read_price(epsilon, delta)).alpha)
    found = largest_delta("laplace", epsilon, alpha, stretch)
    assert found <= allowed * (1 + 1e-9)
    bound_by_loss = alpha > min(epsilon, math.exp(stretch) * (epsilon - stretch)) * (1 - 1e-9)
    assert bound_by_loss or found >= allowed * (1 - 1e-9)
    assert largest_delta("laplace", epsilon, alpha * 1.05, stretch) > allowed * (1 + 1e-3)


@thinned(4)
@pytest.mark.parametrize(
    ("epsilon", "delta", "beta"),
    [(1, "1e-6", "0.0198"), (1, "1e-6", "0.001"), (0.5, "1e-9", "0.004"), (2, "1e-3", "0.05"), (4, "1e-5", "0.1")],
)
def test_gaussian_noise_fails_with_delta_and_no_more(epsilon: float, delta: str, beta: str) -> None:
    allowed = float(delta)
    alpha = float(SmoothGaussian().noise(Fraction(beta), read_price(epsilon, delta)).alpha)
    assert allowed * (1 - 1e-8) <= largest_delta("gaussian", epsilon, alpha, float(beta)) <= allowed * (1 + 1e-9)


def test_the_lectures_laplace_and_gaussian_constants_fail_far_less_than_they_may() -> None:
    price = Price(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    beta = Fraction(1 / (2 * math.log(2e6)))
    assert round(float(SmoothLaplace().noise(beta, price).alpha), 4) == 0.6930
    assert f"{hockey_stick('laplace', 1, 0.5, float(beta)):.1e}" == "4.1e-09"
    with mp.workdps(30):
        one, two = (float(mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(tail))) for tail in ("5e-7", "2.5e-7"))
    shift, beta = 1 / (5 * one), Fraction(1 / (2 * two**2))
    assert round(shift, 4) == 0.0409
    assert round(float(SmoothGaussian().noise(beta, price).alpha), 4) == 0.1539
    assert f"{hockey_stick('gaussian', 1, shift, float(beta)):.1e}" == "1.7e-11"


def _log_normal_density(z: Floats, sigma: float) -> Floats:
    """The density of X e^(sigma Y) by the trapezoidal rule in Y, which loses nothing on a Gaussian integrand."""
    y = np.linspace(-13, 13, 261)
    weights = np.exp(-(y**2) / 2 - sigma * y) * (y[1] - y[0]) / math.sqrt(2 * math.pi) / 2
    return np.asarray(np.exp(-np.abs(z)[:, None] * np.exp(-sigma * y)) @ weights)


@thinned(4)
@pytest.mark.parametrize(("rho", "beta"), [("1/2", "1/6"), ("1/2", "1/50"), ("1/50", "1/20"), ("2", "1")])
def test_laplace_log_normal_noise_keeps_rho_at_every_order(rho: str, beta: str) -> None:
    noise = LaplaceLogNormal().noise(Fraction(beta), Price(rho=Fraction(rho)))
    sigma, alpha, stretch = float(noise.sigma), float(noise.alpha), float(Fraction(beta))
    half = np.concatenate([np.linspace(0, 3, 751), np.sinh(np.linspace(math.asinh(3), 9, 700))[1:]])
    base = np.concatenate([-half[:0:-1], half])
    for shift, t in ((alpha, stretch), (alpha, stretch / 2), (alpha, 0.0), (0.0, stretch)):
        z = np.unique(np.concatenate([base, base + shift]))  # both kinks are nodes
        logs = np.log(_log_normal_density(z, sigma) + 1e-300)
        other = np.log(_log_normal_density((z - shift) * math.exp(-t), sigma) + 1e-300) - t
        for order in (1.01, 1.5, 2.0, 4.0, 16.0, 64.0):
            for p, q in ((logs, other), (other, logs)):
                divergence = math.log(np.trapezoid(np.exp(order * p - (order - 1) * q), z)) / (order - 1)
                assert divergence <= float(Fraction(rho)) * order + 1e-4


def test_the_sigma_of_least_variance_is_the_root_of_a_cubic() -> None:
    for beta, epsilon in (
        (Fraction(1, 6), Fraction(1)),
        (Fraction(1, 20), Fraction(1)),
        (Fraction(1, 50), Fraction(1, 5)),
    ):
        ratio = float(epsilon / beta)
        root = max(np.roots([5 * ratio, -5, 0, -1]).real)
        assert float(best_sigma(beta, epsilon)) == pytest.approx(root, rel=1e-3)


def test_the_score_of_laplace_log_normal_noise_is_largest_at_its_centre() -> None:
    for sigma in (0.2, 0.5, 1.0):
        logs = np.log(_log_normal_density(np.linspace(0, 20, 4001), sigma))
        slopes = -np.diff(logs) / 0.005
        assert (np.diff(slopes) <= 1e-9).all()
        assert slopes[0] <= math.exp(1.5 * sigma**2) <= slopes[0] * (1 + 0.05)
