"""One coordinate of a cube: the closed form against listed radii, points and moments."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from jali.errors import JaliError
from jali.mechanisms.additive.cube_laws import CoordinateLaw, CubeLaw, FineCoordinateLaw
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 60])
def test_the_closed_form_is_the_sum_over_all_radii(dimension: int) -> None:
    rate = Fraction(1, 64)
    fine, listed = FineCoordinateLaw(dimension, rate), CubeLaw(dimension, rate).largest(1)
    assert fine.stddev == pytest.approx(listed.stddev, rel=1e-11)
    assert fine.mean_magnitude == pytest.approx(listed.mean_magnitude, rel=1e-11)
    for t in (0, 1, 40, 64 * dimension, 64 * (dimension + 15)):
        assert fine.tail(t) == pytest.approx(listed.tail(t), rel=1e-10)
        assert fine.log_mass(-t) == pytest.approx(listed.log_mass(t), abs=1e-10)
    assert fine.tail(-1) == 1.0
    for confidence in (0.5, 0.95, 0.999999):
        assert fine.quantile(confidence) == listed.quantile(confidence)


def test_the_closed_form_is_the_sum_over_all_points() -> None:
    """The form holds at any rate: two dimensions at rate 1/2, every point within 60."""
    masses = [0.0] * 61
    for x, y in itertools.product(range(-60, 61), repeat=2):
        masses[abs(x)] += math.exp(-max(abs(x), abs(y)) / 2)
    total, law = math.fsum(masses), FineCoordinateLaw(2, Fraction(1, 2))
    for t in range(6):
        assert law.tail(t) == pytest.approx(math.fsum(masses[t + 1 :]) / total, rel=1e-9)
        assert math.exp(law.log_mass(t)) * (2 if t else 1) == pytest.approx(masses[t] / total, rel=1e-9)


def test_in_one_dimension_it_is_laplace_noise() -> None:
    law, plain = CoordinateLaw(CubeLaw(1, Fraction(1, 2**32)), 0), DiscreteLaplaceLaw(Fraction(2**32))
    assert law.quantile(0.95) == pytest.approx(plain.quantile(0.95), rel=1e-12)
    assert law.stddev == pytest.approx(plain.stddev, rel=1e-12)
    assert law.mean_magnitude == pytest.approx(plain.mean_magnitude, rel=1e-12)


@pytest.mark.parametrize("rate", ["1", "1/64", "1/100000"])
def test_tails_are_sums_of_masses_and_ends_are_where_they_say(rate: str) -> None:
    law = CoordinateLaw(CubeLaw(4, Fraction(rate)), 3)
    t = law.quantile(0.5)
    for size in (t, t + 1):
        step = law.tail(size - 1) - law.tail(size)
        assert step == pytest.approx(2 * math.exp(law.log_mass(size)), rel=1e-6)
    assert law.tail(law.bound_tail(1e-6)) <= 1e-6 < law.tail(law.bound_tail(1e-6) - 1)
    assert law.tail(law.far) < 1e-33


def test_a_coordinate_is_known_by_its_cube_and_place() -> None:
    cube = LInfinity(sensitivity=3, epsilon=1, dimension=2).cube
    first, second = CoordinateLaw(cube, 0), CoordinateLaw(cube, 1)
    assert first != second
    assert {first, second, CoordinateLaw(CubeLaw(2, Fraction(1, 3)), 0)} == {first, second}
    assert first.stddev == second.stddev
    assert LInfinity(sensitivity=3, epsilon=1, dimension=2).law == first
    for place in (-1, 2):
        with pytest.raises(JaliError, match="place"):
            CoordinateLaw(cube, place)
