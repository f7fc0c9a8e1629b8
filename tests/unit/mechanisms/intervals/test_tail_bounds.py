"""Linear forms in coordinates of one cube: integrals, draws, points."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats
from tests.depth import thinned

from jali.mechanisms.additive.cube_laws import CoordinateLaw, CubeLaw
from jali.mechanisms.intervals.linear_forms import NoiseBlocks, bound_linear_quantile, compute_linear_stddev
from jali.mechanisms.intervals.tail_bounds import bound_cube_tail, find_coordinate_threshold

DRAWS = 100_000


def tail(dimension: int, sizes: list[float], t: float) -> float:
    return float(bound_cube_tail(dimension, [np.array([c]) for c in sizes], np.array([t]))[0])


def beyond(sizes: list[float], v: float) -> float:
    """Pr[|c_1 U_1 + c_2 U_2| >= v] by the area of the square cut off; one size is a length."""
    big, small = max(sizes), min(sizes) if len(sizes) == 2 else 0.0
    if v >= big + small:
        return 0.0
    if v <= big - small:
        return 1 - v / big
    return (big + small - v) ** 2 / (4 * big * small)


@thinned(4)
@pytest.mark.parametrize("dimension", [1, 2, 5, 30])
@pytest.mark.parametrize("sizes", [[1.0], [1.0, 1.0], [2.0, 0.5], [0.1, 1.0]])
def test_tails_are_integrals_over_the_radius(dimension: int, sizes: list[float]) -> None:
    if len(sizes) > dimension:
        return
    radius = stats.gamma(dimension + 1)
    for t in (0.3, 2.0, 0.7 * dimension, 2.0 * dimension, dimension + 12.0):
        wanted, _ = integrate.quad(
            lambda r, t=t: radius.pdf(r) * beyond(sizes, t / r), t / sum(sizes), 120, limit=200, epsabs=1e-13
        )
        assert tail(dimension, sizes, t) == pytest.approx(wanted, rel=1e-5, abs=1e-10)


@pytest.mark.parametrize(
    ("dimension", "sizes"),
    [(3, [1, 1, 1]), (6, [1, 1, 1, 1, 1, 1]), (8, [3, 1, 2, 1, 1, 1, 0.5, 1]), (7, [1, 0.1, 0.05, 0.2, 1.0])],
)
def test_tails_of_many_coordinates_are_those_of_draws(dimension: int, sizes: list[float]) -> None:
    """100,000 draws: six standard deviations of a frequency are below 0.0096."""
    rng = np.random.default_rng(5)
    radius = rng.gamma(dimension + 1.0, size=DRAWS)
    total = np.abs(sum(c * radius * rng.uniform(-1, 1, DRAWS) for c in sizes))
    for level in (0.1, 0.5, 0.9, 0.99):
        t = float(np.quantile(total, level))
        assert tail(dimension, sizes, t) == pytest.approx(
            1 - level, abs=6 * math.sqrt(level * (1 - level) / DRAWS)
        )


@pytest.mark.parametrize("dimension", [4, 9, 12])
def test_a_tail_starts_at_one_falls_and_grows_with_every_coefficient(dimension: int) -> None:
    sizes = [1.0, 0.5, 0.2, 0.9, 1.0, 1.0, 0.4, 1.0, 1.0][:dimension]
    assert tail(dimension, sizes, 0.0) == pytest.approx(1.0, abs=1e-6)
    found = [tail(dimension, sizes, t) for t in np.linspace(0.0, 60.0, 40)]
    assert found == sorted(found, reverse=True)
    for place in range(len(sizes)):
        more = [c * (1.3 if i == place else 1.0) for i, c in enumerate(sizes)]
        assert tail(dimension, more, 12.0) > tail(dimension, sizes, 12.0)


def test_small_coefficients_lose_no_digits() -> None:
    """Seven coefficients of a billionth are those of a few percent: little more than one coordinate alone."""
    for t in (3.0, 20.0, 60.0):
        alone, many = tail(8, [1.0], t), tail(8, [1.0, *[1e-9] * 7], t)
        assert alone <= many <= 1.25 * alone + 1e-12


def test_beyond_eight_coordinates_a_bound_is_left() -> None:
    """True tails of ten coordinates, by draws, are below; the bound is less than 1.7 times as wide."""
    rng = np.random.default_rng(6)
    total = np.abs(rng.gamma(13.0, size=DRAWS) * rng.uniform(-1, 1, (10, DRAWS)).sum(axis=0))
    for level in (0.9, 0.99, 0.999):
        t = float(np.quantile(total, level))
        assert tail(12, [1.0] * 10, t) >= 1 - level
        assert tail(12, [1.0] * 10, 1.7 * t) <= 1 - level


def test_noise_of_no_size_exceeds_nothing() -> None:
    sizes = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0])]
    found = bound_cube_tail(2, sizes, np.array([0.0, 1.0, 1.0]))
    assert found[0] == 1.0
    assert found[1] == 0.0
    assert 0.3 < found[2] < 1.0
    assert bound_cube_tail(2, [np.zeros(2)], np.array([0.0, 3.0])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("dimension", "allowed"), [(1, 0.05), (3, 0.05), (40, 1e-6), (800, 0.01)])
def test_the_reach_of_a_coordinate_is_where_its_tail_is_what_is_allowed(dimension: int, allowed: float) -> None:
    found = find_coordinate_threshold(dimension, allowed)
    assert tail(dimension, [1.0], found) == pytest.approx(allowed, rel=1e-6)
    radius = stats.gamma(dimension + 1)
    wanted, _ = integrate.quad(lambda r: radius.pdf(r) * (1 - found / r), found, found + 400, limit=400)
    assert wanted == pytest.approx(allowed, rel=1e-4)


@thinned(4)
@pytest.mark.parametrize(
    ("dimension", "rate", "reach"), [(2, "1", 40), (2, "3", 14), (3, "3/2", 17), (1, "1/5", 190)]
)
def test_the_tail_of_integers_is_never_below_that_of_all_points(dimension: int, rate: str, reach: int) -> None:
    cube = CubeLaw(dimension, Fraction(rate))
    points = np.array(list(itertools.product(range(-reach, reach + 1), repeat=dimension)))
    masses = np.exp(-float(cube.rate) * np.abs(points).max(axis=1))
    masses /= masses.sum()
    coefficients = [1.0, -0.5, 2.0][:dimension]
    form = np.abs(points @ np.array(coefficients))
    noises = NoiseBlocks.of([CoordinateLaw(cube, place) for place in range(dimension)])
    columns = [np.array([c]) for c in coefficients]
    for t in np.arange(0.0, reach / 2, 0.5):
        exact = float(masses[form >= t].sum())
        bound = float(noises.tail(columns, np.array([t]))[0])
        assert bound >= exact - 1e-6
    wanted = float(masses @ form**2)
    laws = [CoordinateLaw(cube, place) for place in range(dimension)]
    assert compute_linear_stddev(coefficients, laws) ** 2 == pytest.approx(wanted, rel=1e-4)


def test_the_quantile_of_a_wide_form_is_tight() -> None:
    """For R Gamma(3) and two coordinates the 95 % point of the difference: solved from the integral above."""
    cube = CubeLaw(2, Fraction(1, 2**32))
    found = bound_linear_quantile([1.0, -1.0], [CoordinateLaw(cube, 0), CoordinateLaw(cube, 1)], 0.95) / 2**32
    radius = stats.gamma(3)
    wanted, _ = integrate.quad(lambda r: radius.pdf(r) * beyond([1.0, 1.0], found / r), found / 2, 80, limit=200)
    assert wanted == pytest.approx(0.05, rel=1e-5)


def test_hardly_any_noise_is_read_as_a_little_more() -> None:
    cube = CubeLaw(2, Fraction(10**5))
    laws = [CoordinateLaw(cube, 0), CoordinateLaw(cube, 1)]
    assert 0 <= bound_linear_quantile([1.0, 1.0], laws, 0.95) <= 2
