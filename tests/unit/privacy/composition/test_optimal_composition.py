"""Optimal composition against randomized response itself, enumerated at 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]
from tests.depth import deep, thinned
from tests.unit.privacy.composition.composition_games import exact, hockey_stick, response, together

from jali.privacy.composition.optimal_composition import OPTIMAL, response_delta
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure


def binomial_delta(epsilon: float, count: int, target: float) -> Any:
    """The hockey-stick of the number of lies, summed term by term."""
    odds, bound = mp.exp(mpf(epsilon)), mp.exp(mpf(target))
    mass, whole = odds**count, (1 + odds) ** count
    total = mpf(0)
    for lies in range(count // 2 + 1):
        total += max(mass - bound * mass / odds ** (count - 2 * lies), 0)
        mass *= mpf(count - lies) / (lies + 1) / odds
    return total / whole


def corner(epsilon: float, count: int, i: int) -> Any:
    """Delta at (count - 2i) epsilon as Kairouz, Oh and Viswanath write it."""
    e, k = mpf(epsilon), count
    terms = [mp.binomial(k, j) * (mp.exp((k - j) * e) - mp.exp((k - 2 * i + j) * e)) for j in range(i)]
    return mp.fsum(terms) / (1 + mp.exp(e)) ** k


@thinned(4)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0, 6.5])
@pytest.mark.parametrize("share", [0.0, 0.13, 0.5, 0.81, 0.999])
def test_it_is_the_hockey_stick_of_all_transcripts(count: int, epsilon: float, share: float) -> None:
    target = share * count * epsilon
    with mp.workdps(60):
        truth = hockey_stick(together(*[response(epsilon)] * count), target)
        assert truth <= response_delta(epsilon, count, target) <= truth * (1 + mpf("1e-11"))


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 10), (0.1, 100), (0.01, 999), (1.5, 60), (30.0, 7)])
def test_it_passes_through_the_corners_of_the_paper(epsilon: float, count: int) -> None:
    with mp.workdps(60):
        for i in {1, 2, count // 3, count // 2}:
            target = (count - 2 * i) * epsilon
            truth = binomial_delta(epsilon, count, target)
            assert truth <= response_delta(epsilon, count, target) <= truth * (1 + mpf("1e-9")) + mpf("1e-279")
            assert corner(epsilon, count, i) == pytest.approx(truth, rel=1e-12)


@deep
@thinned(3)
@pytest.mark.parametrize(("epsilon", "target"), [(0.1, 648.7), (0.001, 1.3), (0.01, 20.0)])
def test_a_hundred_thousand_releases_are_bounded_to_nine_digits(epsilon: float, target: float) -> None:
    with mp.workdps(60):
        truth = binomial_delta(epsilon, 100_000, target)
        assert truth <= response_delta(epsilon, 100_000, target) <= truth * (1 + mpf("1e-9"))


def test_deltas_multiply_as_failures_do() -> None:
    """Kairouz, Oh and Viswanath: 1 - (1-d)^k (1-d_i), here at any epsilon and with two different deltas."""
    parts = ((Approximate(0.5, "1e-3"), 2), (Approximate(0.5, "1e-2"), 1))
    game = together(
        response(0.5, Fraction(1, 1000)), response(0.5, Fraction(1, 1000)), response(0.5, Fraction(1, 100))
    )
    with mp.workdps(40):
        for target in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3, 2)):
            found, truth = OPTIMAL.delta(parts, target), hockey_stick(game, target)
            assert found is not None
            assert truth <= found <= truth * (1 + mpf("1e-11"))


def test_the_epsilon_is_the_least_with_that_delta() -> None:
    parts = ((Approximate(0.25, "1e-8"), 40),)
    epsilon = OPTIMAL.epsilon(parts, Fraction(1, 10**6))
    assert epsilon is not None
    assert (OPTIMAL.delta(parts, Fraction(epsilon)) or 1) <= 1e-6 * (1 + 1e-12)
    assert (OPTIMAL.delta(parts, Fraction(epsilon) * (1 - Fraction(1, 10**9))) or 0) > 1e-6


def test_delta_falls_with_epsilon_and_is_nothing_from_the_sum_on() -> None:
    parts = ((Pure(0.1), 30),)
    points = [Fraction(i, 70) for i in range(211)]
    deltas = [OPTIMAL.delta(parts, point) for point in points]
    assert all(a is not None and b is not None and a >= b for a, b in pairwise(deltas))
    assert deltas[-1] == 0
    assert OPTIMAL.epsilon(parts, Fraction(0)) == 3.0


@pytest.mark.parametrize(("epsilon", "count"), [("1e-12", 1000), (600, 3), (5000, 10), (40, 100_000), (0.001, 1)])
def test_extreme_losses_stay_between_nothing_and_basic(epsilon: str | float, count: int) -> None:
    parts = ((Pure(epsilon), count),)
    for power in (1, 6, 100, 250, 300):
        found = OPTIMAL.epsilon(parts, Fraction(1, 10**power))
        assert found is not None
        assert 0 <= found <= float(count * Fraction(epsilon)) * (1 + 1e-15)


def test_tails_too_small_for_a_double_are_rounded_up() -> None:
    target = 0.999 * 100_000 * 0.1
    assert 0 < response_delta(0.1, 100_000, target) < 1e-250


def test_it_says_where_it_does_not_apply() -> None:
    assert OPTIMAL.epsilon(((Pure(1), 1), (Pure(2), 1)), Fraction(1, 2)) is None
    assert OPTIMAL.obstacle(((Pure(1), 1), (Pure(2), 1))) == "the losses differ in epsilon"
    assert OPTIMAL.delta(((Concentrated(1), 1),), Fraction(1)) is None
    assert OPTIMAL.obstacle(((Concentrated(1), 1),)) == "Concentrated has no pure epsilon"
    assert "1,000,000" in str(OPTIMAL.obstacle(((Pure(1), 1_000_001),)))
    assert OPTIMAL.obstacle(((Pure(1), 5), (BoundedRange(1), 5))) is None


def test_a_delta_below_the_failures_has_no_epsilon() -> None:
    parts = ((Approximate(1, "1e-6"), 3),)
    assert OPTIMAL.epsilon(parts, Fraction(1, 10**6)) == math.inf
    assert OPTIMAL.epsilon(parts, Fraction(3, 10**6)) == pytest.approx(3, abs=1e-10)


def test_the_reference_reads_numbers_exactly() -> None:
    with mp.workdps(40):
        assert exact(Fraction(1, 3)) * 3 == 1
