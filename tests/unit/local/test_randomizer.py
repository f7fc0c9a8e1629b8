"""Randomizers: exact odds, the numbers of the theory, exact laws, exact losses, and what they accept."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.local import (
    AlmostRandom,
    HadamardResponse,
    KaryResponse,
    Randomizer,
    SubsetSelection,
    UnaryEncoding,
    Warner,
)
from jali.local.randomizer import bound_odds, draw_with_odds
from jali.sampling.interval_bernoulli import draw_booleans
from jali.sampling.uniform import uniform_below

ODDS = [(Fraction(1), Fraction(1)), (Fraction(1, 3), Fraction(7)), (Fraction(5, 2), Fraction(3, 2))]
ODDS += [(Fraction(1, 10**6), Fraction(999)), (Fraction(60), Fraction(1, 7)), (Fraction(30), Fraction(10**12))]


@pytest.mark.parametrize(("epsilon", "against"), ODDS)
@pytest.mark.parametrize("precision", [1, 8, 64, 200])
def test_bounds_enclose_the_odds_and_are_close(epsilon: Fraction, against: Fraction, precision: int) -> None:
    low, high = bound_odds(epsilon, against, precision)
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        weight = mpmath.mpf(against.numerator) / against.denominator
        exact = mpmath.mpf(2) ** precision * power / (power + weight)
        assert low <= exact <= high
    assert high - low <= 2


@pytest.mark.parametrize(("epsilon", "against"), ODDS[:3])
def test_all_strings_of_bits_add_up_to_the_odds(epsilon: Fraction, against: Fraction) -> None:
    """Words of 2 bits, so that every coin is refined: the decided masses enclose the probability to 2^-20."""

    def toss(bits: ScriptedBits) -> bool:
        return bool(draw_booleans(lambda precision: bound_odds(epsilon, against, precision), 1, bits, 2)[0])

    masses, undecided = enumerate_masses(toss, 24)
    with mpmath.workdps(50):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        exact = power / (power + mpmath.mpf(against.numerator) / against.denominator)
        assert float(masses[True]) <= exact <= float(masses[True] + undecided)
    assert undecided < Fraction(1, 1 << 20)


def test_a_thousand_coins_are_tossed_at_once() -> None:
    coins = draw_with_odds(Fraction(1), Fraction(1), 100_000, bits=SeededBits(1))
    assert abs(coins.mean() - 0.7310585786) < 6 * 0.0015


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_whole_numbers_are_uniform_over_all_strings_of_bits(bound: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: int(uniform_below(bound, 1, bits=bits)[0]), 15)
    assert set(masses) == set(range(bound))
    assert len(set(masses.values())) == 1
    assert undecided <= Fraction(1, 2) ** 5


def test_rejected_whole_numbers_are_drawn_again_in_their_place() -> None:
    drawn = uniform_below(3, 30_000, bits=SeededBits(2))
    assert [abs((drawn == face).mean() - 1 / 3) < 0.02 for face in range(3)] == [True] * 3


SEVERAL = (KaryResponse, UnaryEncoding, SubsetSelection, HadamardResponse)
SMALL: tuple[Randomizer, ...] = (
    Warner(epsilon="1/2"),
    Warner(truth="2/3"),
    Warner(truth="1/10"),
    AlmostRandom(),
    *(kind(categories=k, epsilon=epsilon) for kind in SEVERAL for k, epsilon in ((2, 1), (5, "1/3"), (6, 3))),
)
randomizers = pytest.mark.parametrize("mechanism", SMALL, ids=repr)


def support(mechanism: Randomizer, output: Any) -> np.ndarray:
    return mechanism.supports([output])


def test_the_variances_of_the_theory() -> None:
    """THEORY section 3: people * variance at a frequency of 0, to the digits given."""
    assert AlmostRandom().variance() == 0.75
    assert round(Warner(epsilon=1).variance(), 10) == 0.9206735942
    found = [kind(categories=8, epsilon=1).variance() for kind in SEVERAL]
    assert [round(value, 7) for value in found] == [2.9528549, 3.6826944, 2.5681382, 4.6826944]
    assert SubsetSelection(categories=8, epsilon=1).size == 2


def test_the_variances_at_ln_3_are_rationals() -> None:
    """k=8, epsilon=ln 3: kRR 9/4, SS 33/16, OUE 3."""
    found = [kind(categories=8, epsilon=math.log(3)).variance() for kind in SEVERAL[:3]]
    assert found == pytest.approx([9 / 4, 3, 33 / 16], rel=1e-12)


def test_halving_epsilon_for_each_bit_would_be_worse() -> None:
    """RAPPOR's symmetric bits: e^(epsilon/2) odds for each of two bits, 3.9176981 at epsilon 1."""
    each = Warner(epsilon="1/2")
    assert round(each.variance(), 7) == 3.9176981
    assert each.variance() > UnaryEncoding(categories=8, epsilon=1).variance()


def test_the_count_of_randomized_response_has_the_variance_of_the_lecture() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        power = math.exp(epsilon)
        assert Warner(epsilon=epsilon).variance() == pytest.approx(power / (power - 1) ** 2, rel=1e-12)
    for truth in (Fraction(3, 4), Fraction(2, 3), Fraction(1, 10)):
        exact = truth * (1 - truth) / (2 * truth - 1) ** 2
        assert Warner(truth=truth).variance() == pytest.approx(float(exact), rel=1e-12)


def test_two_coins_tell_the_truth_three_times_in_four() -> None:
    """All strings of two bits, exactly: the program of the lecture."""
    for value in (0, 1):
        masses, undecided = enumerate_masses(lambda bits, v=value: int(AlmostRandom().release(v, bits=bits)), 2)  # type: ignore[misc]
        assert [masses[value], masses[1 - value], undecided] == [Fraction(3, 4), Fraction(1, 4), Fraction(0)]
    assert AlmostRandom().loss.epsilon(0) == pytest.approx(math.log(3), abs=1e-12)
    assert AlmostRandom().loss.event.epsilon >= Fraction(math.log(3))  # type: ignore[operator]


def test_two_coins_estimate_twice_the_share_less_a_half() -> None:
    for yes in (0, 13, 77, 100):
        share = yes / 100
        estimate = AlmostRandom().estimate([1] * yes + [0] * (100 - yes))
        assert estimate.frequencies[1] == pytest.approx(2 * share - 1 / 2)


@randomizers
def test_the_exact_loss_over_all_pairs_is_the_loss_claimed(mechanism: Randomizer) -> None:
    laws = [mechanism.log_masses(value) for value in range(mechanism.answers)]
    assert all(law.keys() == laws[0].keys() for law in laws)
    found = max(abs(p[o] - q[o]) for p, q in permutations(laws, 2) for o in p)
    claimed = float(mechanism.loss.event.epsilon or 0)
    assert found == pytest.approx(claimed, abs=1e-9)


@randomizers
def test_reports_support_their_own_and_other_categories_as_stated(mechanism: Randomizer) -> None:
    """Chances from the closed-form law of the reports, against the formulas the estimator uses."""
    chances = mechanism.chances
    for value in range(mechanism.answers):
        masses = mechanism.log_masses(value).items()
        seen = sum(math.exp(mass) * support(mechanism, output) for output, mass in masses)
        wanted = np.full(mechanism.answers, chances.other)
        wanted[value] = chances.own
        np.testing.assert_allclose(seen, wanted, rtol=1e-12)
    assert chances.gap == pytest.approx(chances.own - chances.other, rel=1e-12)


@pytest.mark.parametrize("categories", [2, 3, 7, 20])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_subset_selection_has_the_chances_of_the_theory_in_many_digits(categories: int, epsilon: str) -> None:
    mechanism = SubsetSelection(categories=categories, epsilon=epsilon)
    k, w = categories, mechanism.size
    with mpmath.workdps(50):
        power = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        own = w * power / (w * power + k - w)
        other = (w * (w - 1) * power + (k - w) * w) / ((k - 1) * (w * power + k - w))
        assert mechanism.chances.own == pytest.approx(float(own), rel=1e-13)
        assert mechanism.chances.other == pytest.approx(float(other), rel=1e-13)
        assert mechanism.chances.gap == pytest.approx(float(own - other), rel=1e-12)


@randomizers
def test_many_people_at_once_follow_the_law_of_each_value(mechanism: Randomizer) -> None:
    """Values in turn, 60,000 people: every output within 6 standard deviations (false alarms below 1e-6)."""
    k, each = mechanism.answers, 60_000 // mechanism.answers
    reports = mechanism.randomize(np.arange(each * k) % k, bits=SeededBits(5)).tolist()
    for value in range(k):
        seen = Counter(tuple(r) if isinstance(r, list) else r for r in reports[value::k])
        law = mechanism.log_masses(value)
        assert seen.keys() <= law.keys()
        for output, mass in law.items():
            p = math.exp(mass)
            assert abs(seen[output] - each * p) <= 6 * math.sqrt(each * p * (1 - p)) + 3


def test_a_report_of_subset_selection_is_uniform_among_sets_of_its_kind() -> None:
    """All strings of bits, exactly: given the coin, sets with and without the value are equally likely."""
    mechanism = SubsetSelection(categories=4, epsilon="1/4")
    assert mechanism.size == 2

    def run(bits: Any) -> tuple[int, ...]:
        return tuple(mechanism.release(1, bits=_SureCoins(bits)).tolist())

    masses, undecided = enumerate_masses(run, 12)
    holding = {masses[bits] for bits in masses if bits[1]}
    assert len(holding) == 1
    assert len([bits for bits in masses if bits[1]]) == 3
    assert undecided < Fraction(1, 16)


class _SureCoins:
    """Scripted bits, but for coins of 32 bits, which show True."""

    def __init__(self, bits: Any) -> None:
        self._bits = bits

    def words(self, count: int) -> Any:
        return self._bits.words(count)

    def integers(self, count: int, width: int) -> Any:
        return np.zeros(count, np.uint64) if width == 32 else self._bits.integers(count, width)


@randomizers
def test_values_outside_the_categories_count_as_the_nearest(mechanism: Randomizer) -> None:
    inside = mechanism.randomize([0, mechanism.answers - 1] * 50, bits=SeededBits(3))
    outside = mechanism.randomize([-5, 2**70] * 50, bits=SeededBits(3))
    np.testing.assert_array_equal(inside, outside)


@randomizers
@pytest.mark.parametrize(
    "outside",
    [
        [2**63, -1],
        (2**64, -(2**64)),
        [np.uint64(2**63), np.int64(-1)],
        np.array([2**70, -1], dtype=object),
    ],
)
def test_no_mixture_of_integers_is_refused(mechanism: Randomizer, outside: Any) -> None:
    """Numpy would make doubles of 2**63 and -1 together: whether a person was refused would tell the value."""
    inside = mechanism.randomize([mechanism.answers - 1, 0], bits=SeededBits(3))
    np.testing.assert_array_equal(inside, mechanism.randomize(outside, bits=SeededBits(3)))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64])
def test_categories_beyond_a_narrow_type_are_no_trouble(kind: Any) -> None:
    mechanism = KaryResponse(categories=100_000, epsilon=60)
    largest = np.iinfo(kind).max
    reports = mechanism.randomize(np.array([0, 5, largest], kind), bits=SeededBits(3))
    assert reports.tolist() == [0, 5, min(int(largest), 99_999)]


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("categories", [2**32 + 1, 2**62, 2**63 - 1, 10**400])
def test_more_categories_than_sums_can_hold_are_refused_by_name(kind: Any, categories: int) -> None:
    with pytest.raises(JaliError, match="categories must be at most"):
        kind(categories=categories, epsilon=1)


def test_the_most_categories_are_told_apart() -> None:
    mechanism = KaryResponse(categories=2**32, epsilon="1/2")
    reports = mechanism.randomize(np.full(1000, 2**32 - 1), bits=SeededBits(6))
    assert reports.min() >= 0
    assert reports.max() < 2**32
    assert abs(float(reports.mean()) / 2**31 - 1) < 6 / math.sqrt(3000)


@randomizers
@pytest.mark.parametrize("values", [[0.5, 1.0], [[0, 1]], ["yes"], 1, [None, 1]])
def test_values_that_are_not_whole_numbers_are_refused_by_type(mechanism: Randomizer, values: Any) -> None:
    with pytest.raises(JaliError, match="values"):
        mechanism.randomize(values)


@randomizers
def test_nobody_and_booleans_are_values_too(mechanism: Randomizer) -> None:
    assert len(mechanism.randomize([])) == 0
    assert len(mechanism.randomize([True, False])) == 2
    assert mechanism.deviation(True, mechanism.outcome(mechanism.release(True))) >= 0


@randomizers
def test_reports_of_another_shape_are_refused(mechanism: Randomizer) -> None:
    with pytest.raises(JaliError, match="reports"):
        mechanism.supports(np.zeros((2, 2, 2), int))
    with pytest.raises(JaliError, match="people"):
        mechanism.estimate(mechanism.randomize([]))


@pytest.mark.parametrize("truth", [0, 1, -1, "1/2", 0.5, "x", True, math.nan, 2])
def test_a_coin_that_hides_nothing_or_says_nothing_is_refused_by_name(truth: Any) -> None:
    with pytest.raises(JaliError, match="truth"):
        Warner(truth=truth)


def test_truth_and_epsilon_do_not_go_together() -> None:
    with pytest.raises(JaliError, match="truth or epsilon"):
        Warner()
    with pytest.raises(JaliError, match="truth or epsilon"):
        Warner(truth="3/4", epsilon=1)


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("categories", [1, 0, 2.5, True, "3"])
def test_fewer_than_two_categories_are_refused(kind: Any, categories: Any) -> None:
    with pytest.raises(JaliError, match="categories"):
        kind(categories=categories, epsilon=1)


@pytest.mark.parametrize("epsilon", ["1e-12", "30", "800"])
@pytest.mark.parametrize("kind", SEVERAL)
def test_extreme_losses_are_finite_and_ordered(kind: Any, epsilon: str) -> None:
    mechanism = kind(categories=5, epsilon=epsilon)
    chances = mechanism.chances
    assert 0 <= chances.other < chances.own <= 1 or epsilon == "1e-12"
    assert chances.gap > 0
    assert math.isfinite(mechanism.variance())
    assert mechanism.randomize([1, 2, 3], bits=SeededBits(1)).shape[0] == 3


def test_a_large_truth_is_told_nearly_always() -> None:
    reports = KaryResponse(categories=1000, epsilon=40).randomize(np.arange(1000), bits=SeededBits(4))
    np.testing.assert_array_equal(reports, np.arange(1000))


@pytest.mark.parametrize(
    ("mechanism", "reports"),
    [
        (Warner(epsilon=1), [0, 1, 2]),
        (AlmostRandom(), [0.5, 1]),
        (KaryResponse(categories=3, epsilon=1), [0, 3]),
        (KaryResponse(categories=3, epsilon=1), [0, -1]),
        (UnaryEncoding(categories=2, epsilon=1), [[0, 2]]),
        (HadamardResponse(categories=3, epsilon=1), [[4, 0]]),
    ],
)
def test_reports_that_no_randomizer_makes_are_refused(mechanism: Randomizer, reports: Any) -> None:
    with pytest.raises(JaliError, match="reports must be whole numbers from 0 to"):
        mechanism.estimate(reports)


def test_what_is_under_a_mask_is_not_told() -> None:
    with pytest.raises(JaliError, match="whole numbers"):
        Warner(epsilon=1).randomize(np.ma.masked_array([1, 0], [True, False]))
