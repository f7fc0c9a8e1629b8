"""The chances of the test before a release, against the recursion in many digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest

from jali.errors import MechanismError
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities
from jali.mechanisms.stability.acceptance import (
    Acceptance,
    compute_acceptance_by_recursion,
    find_least_distance,
    refuse_extremes,
    steps_of_distance,
)

CASES = [
    (Fraction(1), Fraction(1, 10**5), Fraction(2)),
    (Fraction(1, 2), Fraction(1, 10**6), Fraction(3, 5)),
    (Fraction(1, 10), Fraction(1, 100), Fraction(5)),
    (Fraction(3), Fraction(1, 10**9), Fraction(4)),
    (Fraction(7, 10), Fraction(9, 10), Fraction(1)),
    (Fraction(2), Fraction(1, 10**30), Fraction(2)),
]
cases = pytest.mark.parametrize(("epsilon", "delta", "whole"), CASES)


def recursion(epsilon: Fraction, delta: Fraction, whole: Fraction, count: int) -> list[mpmath.mpf]:
    """Return p(0), ..., p(count) by their definition, in 80 digits."""
    with mpmath.workdps(80):
        y, z, failure = mpmath.exp(_real(epsilon)), mpmath.exp(_real(whole)), _real(delta)
        chances = [mpmath.mpf(0)]
        for _ in range(count):
            p = chances[-1]
            chances.append(min(y * p + failure, 1 - (1 - p - failure) / z, mpmath.mpf(1)))
        return chances


def _real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@cases
def test_bounds_enclose_the_recursion_at_any_precision(
    epsilon: Fraction, delta: Fraction, whole: Fraction
) -> None:
    test = Acceptance(epsilon, delta, whole)
    for n, chance in enumerate(recursion(epsilon, delta, whole, test.sure + 2)):
        for precision in (8, 64, 150):
            low, high = test.bounds(n, precision)
            with mpmath.workdps(80):
                assert low <= chance * 2**precision <= high
            assert high - low <= 2


@cases
def test_where_the_rules_agree_is_enclosed_at_low_precision_too(
    epsilon: Fraction, delta: Fraction, whole: Fraction
) -> None:
    with mpmath.workdps(80):
        y, z = mpmath.exp(_real(epsilon)), mpmath.exp(_real(whole))
        even = (1 - _real(delta)) * (1 - 1 / z) / (y - 1 / z)
        assert y * even + _real(delta) == pytest.approx(1 - (1 - even - _real(delta)) / z, rel=1e-60)
        for work in range(6, 40):
            low, high = Acceptance(epsilon, delta, whole)._bound_even(work)
            assert low <= even * 2**work <= high


@cases
def test_the_sure_number_is_the_first_with_chance_one(epsilon: Fraction, delta: Fraction, whole: Fraction) -> None:
    test = Acceptance(epsilon, delta, whole)
    chances = recursion(epsilon, delta, whole, test.sure)
    assert chances[test.sure] == 1
    assert chances[test.sure - 1] < 1


@cases
def test_the_recursion_in_doubles_is_close(epsilon: Fraction, delta: Fraction, whole: Fraction) -> None:
    for distance, chance in enumerate(recursion(epsilon, delta, whole, 30)[1:]):
        told, lost = compute_acceptance_by_recursion(float(epsilon), float(delta), float(whole), distance)
        assert told == pytest.approx(float(chance), rel=1e-12)
        assert lost == pytest.approx(float(1 - chance), rel=1e-9, abs=1e-14)


def test_with_nothing_to_spare_they_are_the_chances_of_keys() -> None:
    test, keys = Acceptance(*CASES[0][:2], CASES[0][0]), ReleaseProbabilities(*CASES[0][:2])
    assert [test.bounds(n, 90) for n in range(30)] == [keys.bounds(n, 90) for n in range(30)]
    assert (test.turn, test.sure) == (keys.turn, keys.sure)


def test_declining_at_the_whole_loss_answers_sooner() -> None:
    test, keys = Acceptance(*CASES[0]), ReleaseProbabilities(*CASES[0][:2])
    assert all(test.near(n) >= keys.near(n) for n in range(30))
    assert (test.sure, keys.sure) == (18, 23)


def test_the_least_distance_is_the_first_that_is_declined_rarely_enough() -> None:
    test = Acceptance(*CASES[1])
    lost = [float(1 - chance) for chance in recursion(*CASES[1], test.sure)]
    for missed in (0.5, 0.05, 1e-3):
        found = find_least_distance(test, missed)
        assert lost[found + 1] <= missed < lost[found]
    assert find_least_distance(Acceptance(Fraction(1), Fraction(99, 100), Fraction(1)), 0.05) == 0


def test_a_distance_counts_from_one_and_no_further_than_a_sure_answer() -> None:
    test = Acceptance(*CASES[0])
    assert [steps_of_distance(test, d) for d in (-5, 0, 1, 10**30)] == [1, 1, 2, test.sure]


@pytest.mark.parametrize(("epsilon", "delta"), [(2**-20, Fraction(1, 10**300)), (2**9, Fraction(1, 10**300))])
def test_extreme_parameters_are_settled_quickly(epsilon: float, delta: Fraction) -> None:
    loss = Fraction(epsilon)
    test = Acceptance(loss, delta, loss * 2)
    assert test.near(test.sure) == 1
    assert test.near(1) == pytest.approx(1e-300, rel=1e-12)
    assert test.turn == pytest.approx(math.log(1e300 * min(1, epsilon)) / epsilon, rel=0.01, abs=2)


@pytest.mark.parametrize("bad", [Fraction(1, 2**41), Fraction(513)])
def test_losses_that_take_too_long_are_refused(bad: Fraction) -> None:
    with pytest.raises(MechanismError, match="epsilon"):
        refuse_extremes(bad)
