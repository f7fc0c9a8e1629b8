"""Sparse vector as corrected and as wrongly published: losses by quadrature, to the digits of the theorem book."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from jali.mechanisms.sparse_vector.law import pattern_masses

Floats = NDArray[np.float64]


def tail(x: Floats, scale: float) -> Floats:
    """Pr[Laplace >= x]."""
    half = np.exp(-np.abs(x) / scale) / 2
    return np.where(x > 0, half, 1 - half)


def probability(values: Sequence[int], pattern: Sequence[bool], threshold: float, query: float) -> float:
    """Pr[pattern] with continuous Laplace noise: Gauss-Legendre between the kinks, exact to a dozen digits."""
    kinks = sorted({0.0, *map(float, values)})
    ends = [kinks[0] - 60 * threshold, *kinks, kinks[-1] + 60 * threshold]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = 0.0
    for a, b in itertools.pairwise(ends):
        pieces = np.linspace(a, b, 1 + math.ceil(2 * (b - a) / threshold))
        half = np.diff(pieces)[:, None] / 2
        z = pieces[:-1, None] + half * (1 + nodes)
        density = np.exp(-np.abs(z) / threshold) / (2 * threshold)
        for value, above in zip(values, pattern, strict=True):
            density = density * (tail(z - value, query) if above else tail(value - z, query))
        total += float((density * half * weights).sum())
    return total


def loss(
    one: Sequence[int], other: Sequence[int], pattern: Sequence[bool], threshold: float, query: float
) -> float:
    return math.log(probability(one, pattern, threshold, query) / probability(other, pattern, threshold, query))


def below_then_above(below: int, above: int) -> tuple[list[int], list[int], list[bool]]:
    return [0] * below + [1] * above, [1] * below + [0] * above, [False] * below + [True] * above


def test_the_corrected_variant_loses_epsilon_in_the_limit_and_never_more() -> None:
    found = [loss(*below_then_above(m, 1), 2, 4) for m in (5, 10, 20, 50)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1, abs=1e-10)
    assert found[-1] <= 1


@pytest.mark.parametrize(("cutoff", "shown"), [(1, "1.7498"), (5, "7.69")])
def test_lee_and_clifton_lose_nearly_one_and_six_cutoffs_over_four(cutoff: int, shown: str) -> None:
    found = loss(*below_then_above(20, cutoff), 4, 4 / 3)
    assert f"{found:.{len(shown) - 2}f}" == shown
    assert loss(*below_then_above(80, cutoff), 4, 4 / 3) == pytest.approx((1 + 6 * cutoff) / 4, abs=1e-6)


@pytest.mark.parametrize(("m", "shown"), [(5, "4.486"), (20, "19.03")])
def test_chen_without_cut_off_loses_without_bound(m: int, shown: str) -> None:
    found = loss([0] * 2 * m, [1] * m + [-1] * m, [False] * m + [True] * m, 2, 2)
    assert f"{found:.{len(shown.split('.')[1])}f}" == shown


def test_stoddard_without_noise_on_values_loses_everything() -> None:
    def chance(values: tuple[int, int]) -> float:
        """Pr[first below, second at or above] = Pr[first < Z <= second], at scale 2."""
        return max(0.0, float(tail(np.array(values[0]), 2) - tail(np.array(values[1]), 2)))

    assert chance((0, 1)) > 0.1
    assert chance((1, 0)) == 0


def told_loss(m: int) -> float:
    """Roth 2011 tells the value that it tested: m zeros (or ones) below, then 0 is told for a 0 (or a 1)."""
    z = np.arange(-400, 1, dtype=np.float64)  # the threshold's noise is at most what was told
    weights = np.exp(-np.abs(z) / 2)
    halves = [np.exp((z - 1 - value) / 2) / (1 + math.exp(-0.5)) for value in (0, 1)]
    zeros, ones = ((weights * half**m).sum() for half in halves)
    return math.log(zeros / ones) + 0.5


def test_roth_2011_who_tells_the_tested_value_loses_without_bound() -> None:
    for m in (2, 20, 200):
        assert told_loss(m) == pytest.approx((m + 1) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("threshold", "query", "least"), [(Fraction(4), Fraction(4, 3), 1.74), (Fraction(1), Fraction(2), 1.9)]
)
def test_wrong_noise_on_integers_is_caught_by_the_exact_law(
    threshold: Fraction, query: Fraction, least: float
) -> None:
    one, other, pattern = below_then_above(12, 1)
    masses = [pattern_masses(values, 1, threshold, query) for values in (one, other)]
    assert abs(masses[0][tuple(pattern)] - masses[1][tuple(pattern)]) > least


def test_without_cut_off_the_exact_law_on_integers_shows_the_same_growth() -> None:
    found = []
    for m in (2, 4):
        one, other = [0] * 2 * m, [1] * m + [-1] * m
        masses = [pattern_masses(values, None, Fraction(2), Fraction(2)) for values in (one, other)]
        pattern = (False,) * m + (True,) * m
        found.append(masses[0][pattern] - masses[1][pattern])
    assert found[0] > 1.5
    assert found[1] > found[0] + 1.7
