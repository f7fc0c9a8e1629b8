"""Ratios of columns of one stream: the quantile for every direction, and the interval, against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.workload import Floats
from jali.streams import EveryItem, Participation
from jali.streams.noise_quantiles import NoiseTerms
from jali.streams.stream_ratios import RatioLengths, noise_error_bound, noises, ratio_between

# Masses beyond are below 1e-12 for all laws here.
_END = 90


def _laplace(scale: float) -> Floats:
    k = np.arange(-_END, _END + 1)
    mass = np.exp(-np.abs(k) / scale)
    return np.asarray(mass / mass.sum())


def _gaussian(variance: float) -> Floats:
    k = np.arange(-_END, _END + 1)
    mass = np.exp(-(k**2) / (2 * variance))
    return np.asarray(mass / mass.sum())


def _two_of(mass: Floats) -> Floats:
    return np.convolve(mass, mass)


# The terms of one column's noise, and its exact masses around 0.
_COLUMNS: list[tuple[NoiseTerms, Floats]] = [
    ([(np.array([1.0]), DiscreteLaplaceLaw(Fraction(2)))], _laplace(2.0)),
    ([(np.array([1.0, -1.0, 0.0]), DiscreteLaplaceLaw(Fraction(2)))], _two_of(_laplace(2.0))),
    ([(np.array([1.0, 1.0]), DiscreteGaussianLaw(Fraction(5)))], _two_of(_gaussian(5.0))),
    (
        [(np.array([1.0]), DiscreteLaplaceLaw(Fraction(1))), (np.array([1.0]), DiscreteLaplaceLaw(Fraction(3)))],
        np.convolve(_laplace(1.0), _laplace(3.0)),
    ),
]


def _points(mass: Floats) -> Floats:
    return np.arange(len(mass), dtype=np.float64) - (len(mass) - 1) / 2


@pytest.mark.parametrize("case", range(len(_COLUMNS)))
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_no_direction_exceeds_the_reach_more_often_than_allowed(case: int, confidence: float) -> None:
    terms, mass = _COLUMNS[case]
    q, x, both = noise_error_bound(terms, 2, confidence), _points(mass), np.outer(mass, mass)
    for angle in np.linspace(0, math.pi / 2, 13):
        combined = np.add.outer(math.cos(angle) * x, math.sin(angle) * x)
        assert both[np.abs(combined) > q].sum() <= 1 - confidence
    # A bound that holds by far would be of no use: less than half of it fails.
    assert mass[np.abs(x) > 0.45 * q].sum() > 1 - confidence or confidence == 0.5


def test_a_column_without_noise_has_no_reach() -> None:
    assert noise_error_bound([(np.zeros(3), DiscreteLaplaceLaw(Fraction(2)))], 2, 0.95) == 0.0


def test_the_noises_of_a_counter_are_those_of_its_value() -> None:
    counter = EveryItem(horizon=9, epsilon=1, person=Participation(adjacency="add-remove"))
    ((row, law),) = noises(counter, 4)
    assert row.tolist() == [1.0] * 4
    assert law == counter.law


@pytest.mark.parametrize(
    ("above", "below", "squares", "q"),
    [
        (30.0, 100.0, RatioLengths(1, 0, 1), 9.0),
        (-30.0, 100.0, RatioLengths(1, 0, 1), 9.0),
        (30.0, -100.0, RatioLengths(1, 0, 1), 9.0),
        (70.0, 100.0, RatioLengths(3, 3, 5), 9.0),
        (99.0, 100.0, RatioLengths(4, 4, 5), 20.0),
    ],
)
def test_the_interval_is_where_the_test_does_not_reject(
    above: float, below: float, squares: RatioLengths, q: float
) -> None:
    low, high = ratio_between(above, below, squares, q, (-9.0, 9.0))
    grid = np.linspace(-9, 9, 360_001)
    a, b, c = squares
    kept = grid[(above - grid * below) ** 2 <= q**2 * (a - 2 * b * grid + c * grid**2)]
    assert low == pytest.approx(kept.min(), abs=1e-4)
    assert high == pytest.approx(kept.max(), abs=1e-4)


def test_a_denominator_that_may_be_0_says_nothing() -> None:
    assert ratio_between(3.0, 5.0, RatioLengths(1, 0, 1), 5.0, (0.0, 1.0)) == (0.0, 1.0)
    assert ratio_between(3.0, 5.0, RatioLengths(1, 0, 1), 4.9, (-99.0, 99.0)) != (-99.0, 99.0)


def test_an_interval_outside_the_bounds_ends_at_the_nearer_one() -> None:
    assert ratio_between(300.0, 100.0, RatioLengths(1, 0, 1), 1.0, (0.0, 1.0)) == (1.0, 1.0)
    assert ratio_between(-300.0, 100.0, RatioLengths(1, 0, 1), 1.0, (0.0, 1.0)) == (0.0, 0.0)


@pytest.mark.parametrize("truth", [(4, 30), (-25, 30), (29, 30)])
def test_the_interval_holds_the_ratio_as_often_as_it_says_over_all_noises(truth: tuple[int, int]) -> None:
    mass = _laplace(2.0)[_END - 40 : _END + 41]
    terms: NoiseTerms = [(np.array([1.0]), DiscreteLaplaceLaw(Fraction(2)))]
    q, covered = noise_error_bound(terms, 2, 0.9), 0.0
    for i, p in enumerate(mass.tolist()):
        for j, r in enumerate(mass.tolist()):
            low, high = ratio_between(
                truth[0] + i - 40, truth[1] + j - 40, RatioLengths(1, 0, 1), q, (-math.inf, math.inf)
            )
            covered += p * r * (low <= truth[0] / truth[1] <= high)
    assert covered >= 0.9
