"""Keys of fewer people than a rule asks for are never told; all others as if they had so many fewer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.group_selection import GroupSizes, group_sizes
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.release_probabilities import draw_by_kind

SHARED: dict[str, Any] = {"delta": "1e-4", "max_keys": 2, "adjacency": "replace-one", "least_people": 7}
BEST = OptimalKeys(epsilon=3, **SHARED)
NOISY: tuple[Any, ...] = (LaplaceThreshold(epsilon=3, **SHARED), GaussianThreshold(rho=1, **SHARED))
MECHANISMS = (BEST, *NOISY)
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
noisy_ones = pytest.mark.parametrize("mechanism", NOISY, ids=lambda m: type(m).__name__)


def chances(epsilon: Fraction, delta: Fraction, least_people: int, people: int) -> list[mpmath.mpf]:
    """p(0), ..., p(people) by the recursion that starts below the rule."""
    y = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    d = mpmath.mpf(delta.numerator) / delta.denominator
    found = [mpmath.mpf(0)] * least_people
    while len(found) <= people:
        p = found[-1]
        found.append(min(y * p + d, 1 - (1 - p - d) / y, mpmath.mpf(1)))
    return found


def released(mechanism: Any, people: int) -> float:
    """The probability that a key of so many people is released, by sums of masses and by the recursion."""
    if mechanism is BEST:
        with mpmath.workdps(40):
            return float(chances(BEST.chances.epsilon, BEST.chances.delta, 7, people)[people])
    if people < 7:
        return 0.0
    least = mechanism.threshold - people
    by_coin = float(mechanism.coin) * math.exp(mechanism.law.log_mass(least - 1))
    return math.fsum((by_coin, *(math.exp(mechanism.law.log_mass(x)) for x in range(least, 400))))


def test_chances_start_at_the_rule_and_go_on_as_without_it() -> None:
    plain = OptimalKeys(epsilon=3, **{**SHARED, "least_people": 1})
    assert [BEST.chance(n) for n in range(7)] == [0] * 7
    for people in range(7, 60):
        assert BEST.chance(people) == plain.chance(people - 6) == pytest.approx(released(BEST, people), rel=1e-14)


@noisy_ones
def test_the_threshold_is_the_least_that_a_key_of_the_least_number_of_people_seldom_reaches(
    mechanism: Any,
) -> None:
    each = float(mechanism.delta_each)
    assert each == pytest.approx(1 - math.sqrt(1 - 1e-4), rel=1e-12)
    assert released(mechanism, 7) == pytest.approx(each, rel=1e-12)
    lower = math.fsum(math.exp(mechanism.law.log_mass(x)) for x in range(mechanism.threshold - 1 - 7, 400))
    assert lower > each


@mechanisms
@pytest.mark.parametrize("confidence", [1e-9, 0.05, 0.5, 0.95, 0.9999])
@pytest.mark.parametrize("keys", [1, 20])
def test_error_is_the_least_number_of_people_that_is_released_so_often(
    mechanism: Any, confidence: float, keys: int
) -> None:
    people = mechanism.error(confidence, keys=keys)
    assert people >= 7
    assert released(mechanism, people) ** keys >= confidence * (1 - 1e-12)
    assert released(mechanism, people - 1) ** keys < confidence


@mechanisms
def test_three_sizes_say_which_groups_appear(mechanism: Any) -> None:
    sizes = group_sizes(mechanism, confidence=0.9)
    assert (sizes.least, sizes.confidence) == (7, 0.9)
    assert released(mechanism, sizes.likely) >= 0.9 > released(mechanism, sizes.likely - 1)
    assert released(mechanism, sizes.even) >= 0.5 > released(mechanism, sizes.even - 1)


def test_sizes_are_said_in_one_sentence() -> None:
    assert (
        str(GroupSizes(25, 23, 10, 0.95))
        == "a group of 25 people appears with 95 %, one of 23 with 50 %, one of fewer than 10 never"
    )
    assert (
        str(GroupSizes(1, 1, 1, 0.999))
        == "a group of 1 person appears with 99.9 %, one of 1 with 50 %, an empty one never"
    )


@mechanisms
def test_small_keys_are_never_told_even_where_delta_is_large(mechanism: Any) -> None:
    bold = type(mechanism)(**_parameters(mechanism, delta="1/2"))
    table = {"small": 6, "none": 0, "less": -9, "enough": 10**6}
    assert all(list(bold.release(table)) == ["enough"] for _ in range(50))
    assert not any(bold.sample({"small": 6}, 200))
    assert set(bold.log_masses({"small": 6})) == {()}
    assert bold.log_masses({"enough": 7}).keys() > {()}


def _parameters(mechanism: Any, **changes: Any) -> dict[str, Any]:
    names = ("rho" if isinstance(mechanism, GaussianThreshold) else "epsilon", *SHARED)
    return {name: getattr(mechanism, name) for name in names} | changes


@mechanisms
def test_plans_from_before_the_rule_ask_for_one_person(mechanism: Any) -> None:
    stored = _parameters(mechanism)
    del stored["least_people"]
    assert type(mechanism).restored(**stored) == type(mechanism)(**stored)
    assert type(mechanism)(**stored).least_people == 1


@mechanisms
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "3", None])
def test_a_rule_that_is_no_number_of_people_is_refused(mechanism: Any, bad: Any) -> None:
    with pytest.raises(MechanismError, match="least_people"):
        type(mechanism)(**_parameters(mechanism, least_people=bad))


def test_chosen_counts_stand_in_the_order_given() -> None:
    sure = BEST.chances.sure + 6
    counts = np.array([sure, 6, sure + 1, 0, -5, 10**9, 6])
    for kind in (np.int64, np.int32, object):
        assert BEST.choose(counts.astype(kind)).tolist() == [True, False, True, False, False, True, False]
    assert BEST.choose(np.array([6, sure], np.uint64)).tolist() == [False, True]
    assert BEST.choose(np.array([], np.int64)).tolist() == []


def test_counts_are_chosen_as_often_as_the_recursion_says() -> None:
    """Six standard deviations at most, for some 20 numbers of people: a false alarm is less likely than 1e-7."""
    counts = np.arange(90_000) % (BEST.chances.sure + 10)
    chosen = BEST.choose(counts, bits=SeededBits(11))
    for people in range(BEST.chances.sure + 10):
        p, shown = released(BEST, people), chosen[counts == people]
        assert abs(shown.mean() - p) <= 6 * (p * (1 - p) / len(shown)) ** 0.5 + 1e-12


def test_of_many_kinds_each_coin_compares_its_word_with_its_own_chance() -> None:
    """Of some 3,000 kinds only some have bounds at first: every coin against p(n) in high precision."""
    mechanism = OptimalKeys(epsilon="1/200", delta="1e-6", adjacency="add-remove")
    most = mechanism.chances.sure - 1
    kinds = np.arange(2 * most, dtype=np.intp) % most
    coins = draw_by_kind(kinds, lambda kind, n: mechanism.chances.bounds(kind + 1, n), SeededBits(5))
    words = SeededBits(5).integers(len(kinds), 64).tolist()
    assert most > 2 * 1024
    with mpmath.workdps(60):
        exact = chances(Fraction(1, 200), Fraction(1, 10**6), 1, most)
        scaled = [p * 2**64 for p in exact]
        assert coins.tolist() == [
            word < scaled[kind + 1] for word, kind in zip(words, kinds.tolist(), strict=True)
        ]


@noisy_ones
def test_told_counts_are_those_of_all_people_with_noise(mechanism: Any) -> None:
    counts = np.arange(3000) % 60
    noise = mechanism.sampler.sample(len(counts), bits=SeededBits(6))
    told, noisy = mechanism.tell(counts, bits=SeededBits(6))
    enough, beyond = counts >= 7, counts + noise - mechanism.threshold
    assert told[beyond != -1].tolist() == (enough & (beyond >= 0))[beyond != -1].tolist()
    assert not told[~enough].any()
    assert noisy.tolist() == (counts + noise)[told].tolist()
    assert 500 < told.sum() < 2700


@noisy_ones
def test_one_below_the_threshold_a_coin_tells_and_looks_at_nothing_else(mechanism: Any) -> None:
    """Six standard deviations, for three numbers of people and two mechanisms: a false alarm below 1e-7."""
    for people in (8, mechanism.threshold - 1, mechanism.threshold + 2):
        counts = np.full(200_000, people)
        noise = mechanism.sampler.sample(len(counts), bits=SeededBits(8))
        told, _ = mechanism.tell(counts, bits=SeededBits(8))
        tossed = told[counts + noise == mechanism.threshold - 1]
        coin = float(mechanism.coin)
        assert abs(tossed.sum() - coin * len(tossed)) <= 6 * (coin * (1 - coin) * len(tossed)) ** 0.5 + 6
        assert people < mechanism.threshold - 1 or 1000 < len(tossed) < 150_000


@noisy_ones
def test_the_type_of_told_counts_does_not_tell_of_the_others(mechanism: Any) -> None:
    counts = np.array([10**6, -(1 << 70)], dtype=object)
    told, noisy = mechanism.tell(counts)
    assert (told.tolist(), noisy.dtype) == ([True, False], np.int64)


@pytest.mark.parametrize("max_keys", [1, 3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_keys_with_their_counts_are_better_bought_at_once_than_in_turn(max_keys: int, adjacency: str) -> None:
    """However epsilon is split: either more people are needed to appear, or the counts are nine times as noisy."""
    shared: Any = {"delta": "1e-6", "max_keys": max_keys, "adjacency": adjacency, "least_people": 10}
    both = LaplaceThreshold(epsilon=1, **shared)
    for share in (Fraction(n, 20) for n in range(1, 20)):
        keys = OptimalKeys(epsilon=share, **shared)
        counts = Laplace(sensitivity=both.changed, epsilon=1 - share)
        assert keys.error(0.95) > both.error(0.95) or counts.error(0.95) >= 9 * both.law.quantile(0.95)
    halves = OptimalKeys(epsilon="1/2", **shared)
    assert halves.error(0.95) - 9 > 1.7 * (both.error(0.95) - 9)


@pytest.mark.parametrize("bad", [[1.5], ["a"], [[1, 2]], 3, np.array([True]), np.array([1.0]), [None]])
def test_counts_of_a_wrong_type_are_refused(bad: Any) -> None:
    for choose in (BEST.choose, NOISY[0].tell, NOISY[1].tell):
        with pytest.raises(MechanismError):
            choose(bad)


@mechanisms
def test_a_rule_beyond_64_bits_is_no_trouble(mechanism: Any) -> None:
    strict = type(mechanism)(**_parameters(mechanism, least_people=1 << 70))
    assert list(strict.release({"a": 5, "b": 1 << 62, "c": 1 << 71})) == ["c"]
    assert strict.error(0.95) > 1 << 70
