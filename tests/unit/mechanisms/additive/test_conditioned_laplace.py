"""Conditioned Laplace noise: laws against enumeration, variances, compositions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.mechanisms.additive.conditioned_laplace import (
    ConditionedLaplace,
    ConditionedLaplaceLaw,
    compute_log_normaliser,
)
from jali.sampling.sum_zero_vectors import _compositions, sum_zero_noise


def enumerated(cells: int, q: float, reach: int) -> dict[tuple[int, ...], float]:
    """Return the weights of all z with sum 0 and coordinates up to a reach."""
    weights = {}
    for first in itertools.product(range(-reach, reach + 1), repeat=cells - 1):
        z = (*first, -sum(first))
        if abs(z[-1]) <= reach:
            weights[z] = q ** sum(map(abs, z))
    return weights


@pytest.mark.parametrize(("cells", "scale", "reach"), [(2, 3.0, 70), (3, 1.0, 30), (4, 0.5, 12)])
def test_laws_are_those_of_all_vectors_with_sum_zero(cells: int, scale: float, reach: int) -> None:
    weights = enumerated(cells, math.exp(-1 / scale), reach)
    total = math.fsum(weights.values())
    assert compute_log_normaliser(cells, Fraction(scale)) == pytest.approx(math.log(total), rel=1e-10)
    for coordinates in range(1, cells + 1):
        law = ConditionedLaplaceLaw(cells, Fraction(scale), coordinates)
        sizes = [(max(map(abs, z[:coordinates])), w / total) for z, w in weights.items()]
        for t in range(10):
            assert law.tail(t) == pytest.approx(math.fsum(w for s, w in sizes if s > t), rel=1e-7, abs=1e-13)
        assert law.mean_magnitude == pytest.approx(math.fsum(s * w for s, w in sizes), rel=1e-9)
        assert law.stddev**2 == pytest.approx(math.fsum(s * s * w for s, w in sizes), rel=1e-9)


def variance_by_totals(cells: int, epsilon: float) -> float:
    """2(d-1)/(d^2 (d+1)) E[N(N+d)], N the common total of the two compositions: another road to the variance."""
    d = cells
    logs = [
        2 * (math.lgamma(n + d) - math.lgamma(n + 1)) - epsilon * n for n in range(int(60 * d / epsilon) + 200)
    ]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    mean = math.fsum(n * (n + d) * w for n, w in enumerate(weights)) / math.fsum(weights)
    return 2 * (d - 1) / (d * d * (d + 1)) * mean


@pytest.mark.parametrize(
    ("cells", "limit", "at_one"), [(2, 2, 1.841347), (4, 4.2, 4.029194), (8, 35 / 6, 5.662538)]
)
def test_variances_of_a_cell(cells: int, limit: float, at_one: float) -> None:
    """Continuous: 2, 4.2, 35/6 at epsilon 1 (independent noise: 8); on integers a little less."""
    fine = ConditionedLaplace(epsilon=Fraction(1, 2**20), dimension=cells)
    assert (fine.stddev / 2**20) ** 2 == pytest.approx(limit, rel=1e-5)
    unit = ConditionedLaplace(epsilon=1, dimension=cells)
    assert unit.stddev**2 == pytest.approx(at_one, abs=1e-6)
    assert unit.stddev**2 == pytest.approx(variance_by_totals(cells, 1.0), rel=1e-9)


@pytest.mark.parametrize(("cells", "epsilon"), [(3, 0.25), (20, 0.5), (200, 1.0), (2000, 2.0)])
def test_variances_agree_with_those_of_the_two_compositions(cells: int, epsilon: float) -> None:
    found = ConditionedLaplace(epsilon=epsilon, dimension=cells).stddev ** 2
    assert found == pytest.approx(variance_by_totals(cells, epsilon), rel=1e-8)


@pytest.mark.parametrize("cells", [4, 5, 50])
def test_wide_and_narrow_laws_meet(cells: int) -> None:
    narrow, wide = (ConditionedLaplace(epsilon=Fraction(1, n), dimension=cells) for n in (2**6, 2**16))
    for confidence in (0.5, 0.95):
        assert wide.error(confidence) / 2**16 == pytest.approx(narrow.error(confidence) / 2**6, rel=0.01)
        assert wide.worst_error(confidence) / 2**16 == pytest.approx(
            narrow.worst_error(confidence) / 2**6, rel=0.01
        )
    assert wide.stddev / 2**16 == pytest.approx(narrow.stddev / 2**6, rel=2e-4)


def test_the_histogram_of_example_three_gets_less_noise_than_any_other_way() -> None:
    """Eight cells at epsilon 1: 35/6 a cell against 8; prefix sums of seven counts: 70, against 84 and 224."""
    cell = (ConditionedLaplace(epsilon=Fraction(1, 2**20), dimension=8).stddev / 2**20) ** 2
    covariance = -cell / 7
    prefixes = math.fsum(k * cell + k * (k - 1) * covariance for k in range(1, 8))
    assert prefixes == pytest.approx(70, rel=1e-5)
    assert math.fsum(8.0 * k for k in range(1, 8)) == 224
    assert math.fsum(8 * k - 8 * k * k / 8 for k in range(1, 8)) == 84


@pytest.mark.parametrize(("total", "cells"), [(0, 3), (1, 2), (2, 3), (3, 2), (1, 4)])
def test_compositions_are_uniform_over_every_bit_string(total: int, cells: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: tuple(_compositions(total, cells, 1, bits)[0].tolist()), 16)
    number = math.comb(total + cells - 1, cells - 1)
    assert len(masses) == number
    assert all(sum(parts) == total and min(parts) >= 0 for parts in masses)
    for mass in masses.values():
        assert Fraction(1, number) - undecided <= mass <= Fraction(1, number)
    assert undecided < Fraction(1, 10)


@pytest.mark.parametrize(("cells", "rows"), [(6, 20_000), (300, 400), (10_000, 3)])
def test_noise_sums_to_zero_and_has_its_variance(cells: int, rows: int) -> None:
    """Within six standard errors, cells counted as independent after the factor 2: a false alarm below 1e-8."""
    noise = sum_zero_noise(cells, Fraction(1), rows, bits=SeededBits(21))
    assert (noise.sum(axis=1) == 0).all()
    wanted = ConditionedLaplace(epsilon=1, dimension=cells).stddev ** 2
    squares = (noise.astype(float) ** 2).mean(axis=1)
    fourth = (noise.astype(float) ** 4).mean() - wanted**2
    assert abs(squares.mean() - wanted) < 6 * math.sqrt(2 * fourth / (cells * rows))
    tails = np.abs(noise) > 3
    expected = ConditionedLaplace(epsilon=1, dimension=cells).tail(3)
    assert abs(tails.mean() - expected) < 6 * math.sqrt(2 * expected / (cells * rows))


def test_other_shapes_and_parameters_are_refused() -> None:
    with pytest.raises(JaliError, match="dimension"):
        ConditionedLaplace(epsilon=1, dimension=1)
    with pytest.raises(JaliError, match="scale"):
        ConditionedLaplace(epsilon=Fraction(1, 2**50), dimension=3)
    mechanism = ConditionedLaplace(epsilon=1, dimension=3)
    with pytest.raises(JaliError, match="dimension"):
        mechanism.release([1, 2])
    with pytest.raises(JaliError, match="coordinates"):
        mechanism.expected_worst(4)
    with pytest.raises(JaliError, match="takes integers"):
        mechanism.release([1.0, 2.0, 3.0])
