"""The l-infinity mechanism: joint law, marginals, maxima, limits, and its place among other noises."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.depth import deep
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.additive.cube_laws import CubeLaw
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.laplace_mechanism import Laplace

WIDE = Fraction(1, 2**40)


def enumerated(dimension: int, rate: float, reach: int, coordinates: int) -> list[float]:
    """Return Pr[the largest of some |z_i| = r] by listing all points."""
    masses = [0.0] * (reach + 1)
    for point in itertools.product(range(-reach, reach + 1), repeat=dimension):
        masses[max(map(abs, point[:coordinates]))] += math.exp(-rate * max(map(abs, point)))
    total = math.fsum(masses)
    return [m / total for m in masses]


@pytest.mark.parametrize(("dimension", "rate", "reach"), [(1, 0.5, 80), (2, 1.0, 45), (3, 2.0, 18)])
def test_laws_of_coordinates_and_maxima_are_those_of_all_points(dimension: int, rate: float, reach: int) -> None:
    law = CubeLaw(dimension, Fraction(rate))
    for coordinates in range(1, dimension + 1):
        wanted = enumerated(dimension, rate, reach, coordinates)
        found = law.largest(coordinates)
        for r in range(8):
            assert found.tail(r) == pytest.approx(math.fsum(wanted[r + 1 :]), rel=1e-9)
        assert found.mean_magnitude == pytest.approx(math.fsum(r * m for r, m in enumerate(wanted)), rel=1e-9)
        assert found.stddev**2 == pytest.approx(math.fsum(r * r * m for r, m in enumerate(wanted)), rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 3, 50])
def test_a_fine_lattice_has_the_moments_of_the_continuous_mechanism(dimension: int) -> None:
    """Variance (d+1)(d+2)/(3 eps^2) and E max = d/eps; for d = 3 these are 20/3 and 3."""
    mechanism = LInfinity(sensitivity=1, epsilon=WIDE, dimension=dimension)
    d, e = dimension, float(WIDE)
    assert (mechanism.stddev * e) ** 2 == pytest.approx((d + 1) * (d + 2) / 3, rel=1e-8)
    assert mechanism.expected_worst() * e == pytest.approx(d, rel=1e-8)
    if d == 3:
        assert (mechanism.stddev * e) ** 2 == pytest.approx(20 / 3, rel=1e-8)


@deep
def test_wide_and_listed_laws_meet() -> None:
    """Just below and just above the longest list: the quantiles scale with the noise."""
    for dimension in (1, 30):
        listed = LInfinity(sensitivity=1, epsilon=Fraction(dimension, 2**17), dimension=dimension)
        wide = LInfinity(sensitivity=2**13, epsilon=Fraction(dimension, 2**17), dimension=dimension)
        for confidence in (0.5, 0.95, 0.9999):
            assert wide.error(confidence) == pytest.approx(2**13 * listed.error(confidence), rel=3e-5)
            assert wide.worst_error(confidence) == pytest.approx(2**13 * listed.worst_error(confidence), rel=3e-5)


def test_up_to_fifty_counts_it_beats_the_gaussian_at_one_in_a_million() -> None:
    """(k+1)(k+2)/(3 eps^2) against 17.848 k: k <= 50, and 38 at 1e-5; Laplace loses from 9 on."""
    cube = [(k + 1) * (k + 2) / 3 for k in range(1, 61)]
    assert sum(c < 4.2246788893**2 * k for k, c in enumerate(cube, 1)) == 50
    assert sum(c < 3.7306316348**2 * k for k, c in enumerate(cube, 1)) == 38
    assert next(k for k in range(1, 60) if 2 * k * k > 4.2246788893**2 * k) == 9
    for k in (3, 50):
        found = LInfinity(sensitivity=1, epsilon=WIDE, dimension=k).stddev ** 2 * float(WIDE) ** 2
        assert found == pytest.approx(cube[k - 1], rel=1e-8)


def test_in_one_dimension_it_is_laplace_noise() -> None:
    cube, plain = LInfinity(sensitivity=3, epsilon=1, dimension=1), Laplace(sensitivity=3, epsilon=1)
    for t in (0, 1, 5, 20):
        assert cube.tail(t) == pytest.approx(plain.tail(t), rel=1e-10)


@pytest.mark.parametrize("dimension", [2, 40, 3000])
def test_samples_have_the_expected_maximum_and_variance(dimension: int) -> None:
    """Means over 3000 releases within six standard errors: a false alarm below 1e-8."""
    mechanism = LInfinity(sensitivity=2, epsilon=1, dimension=dimension)
    noise = mechanism.noise(3000, dimension, bits=SeededBits(12))
    largest = np.abs(noise).max(axis=1)
    assert abs(largest.mean() - mechanism.expected_worst()) < 6 * largest.std() / math.sqrt(3000)
    first = noise[:, 0].astype(float)
    assert abs((first**2).mean() - mechanism.stddev**2) < 6 * (first**2).std() / math.sqrt(3000)


def test_wide_noise_does_not_wrap() -> None:
    mechanism = LInfinity(sensitivity=2**50, epsilon=Fraction(1, 2**10), dimension=2000)
    noise = mechanism.noise(1, 2000, bits=SeededBits(13))
    assert 2**68 < max(abs(int(z)) for z in noise.ravel().tolist()) < 2**73


def test_other_shapes_than_the_one_declared_are_refused() -> None:
    mechanism = LInfinity(sensitivity=1, epsilon=1, dimension=3)
    for value in ([1, 2], [1, 2, 3, 4], 5, [[1, 2, 3]]):
        with pytest.raises(JaliError, match="dimension"):
            mechanism.release(value)
        with pytest.raises(JaliError, match="dimension"):
            mechanism.release_integers(np.array(value))
    with pytest.raises(JaliError, match="coordinates"):
        mechanism.worst_error(0.9, 4)
    with pytest.raises(JaliError, match="scale"):
        LInfinity(sensitivity=2**61, epsilon=1, dimension=3)
