"""Exact audit of delta: hockey-stick divergences of all small neighbouring tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.depth import thinned
from tests.laws.divergences import hockey_stick

from jali.lab.audit import Registration, Verdict, audit_exactly
from jali.mechanisms.base import LogMasses
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities
from jali.privacy.adjacency import Adjacency

Table = dict[str, int]
ADD, MOVE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
KEYS = "ab"


def persons(max_keys: int) -> list[frozenset[str]]:
    return [frozenset(c) for size in range(max_keys + 1) for c in itertools.combinations(KEYS, size)]


def with_person(table: Table, person: frozenset[str]) -> Table:
    counts = {key: table.get(key, 0) + (key in person) for key in KEYS}
    return {key: count for key, count in counts.items() if count}


def neighbours(max_keys: int, adjacency: Adjacency, most: int) -> Iterator[tuple[Table, Table]]:
    for counts in itertools.product(range(most + 1), repeat=len(KEYS)):
        others = dict(zip(KEYS, counts, strict=True))
        for one, other in itertools.product(persons(max_keys), repeat=2):
            if adjacency is MOVE or not other:
                yield with_person(others, one), with_person(others, other)


def worst_delta(mechanism: Any, epsilon: float, most: int) -> float:
    laws: dict[tuple[tuple[str, int], ...], LogMasses] = {}

    def law(table: Table) -> LogMasses:
        key = tuple(table.items())
        if key not in laws:
            laws[key] = mechanism.log_masses(table)
        return laws[key]

    pairs = list(neighbours(mechanism.max_keys, mechanism.adjacency, most))
    return max(max(hockey_stick(law(a), law(b), epsilon), hockey_stick(law(b), law(a), epsilon)) for a, b in pairs)


@thinned(4)
@pytest.mark.parametrize("least_people", [1, 3])
@pytest.mark.parametrize("adjacency", [ADD, MOVE])
@pytest.mark.parametrize("max_keys", [1, 2])
def test_laplace_thresholds_with_their_coins_spend_delta_exactly(
    max_keys: int, adjacency: Adjacency, least_people: int
) -> None:
    mechanism = LaplaceThreshold(
        epsilon=8, delta="1/1000", max_keys=max_keys, adjacency=adjacency, least_people=least_people
    )
    found = worst_delta(mechanism, 8.0, least_people + 2)
    assert 0 < mechanism.coin < 1
    # Own keys alone, all of one person, make it: the same under both adjacencies.
    assert found == pytest.approx(1e-3, rel=1e-12)


@thinned(4)
@pytest.mark.parametrize("least_people", [1, 3])
@pytest.mark.parametrize("adjacency", [ADD, MOVE])
@pytest.mark.parametrize("max_keys", [1, 2])
def test_gaussian_thresholds_stay_below_their_profile(
    max_keys: int, adjacency: Adjacency, least_people: int
) -> None:
    mechanism = GaussianThreshold(
        rho=2, delta="1/100", max_keys=max_keys, adjacency=adjacency, least_people=least_people
    )
    for epsilon in (1.0, 4.0, 8.0, 20.0):
        assert worst_delta(mechanism, epsilon, least_people + 1) <= mechanism.loss.delta(epsilon) + 1e-12
    # Far out only the own keys are left, and the counts' own tails.
    far = max(10.0, 20.0 * max_keys)
    assert worst_delta(mechanism, far, least_people + 1) == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("least_people", [1, 3])
@pytest.mark.parametrize("adjacency", [ADD, MOVE])
@pytest.mark.parametrize("max_keys", [1, 2])
def test_optimal_keys_spend_delta_exactly(max_keys: int, adjacency: Adjacency, least_people: int) -> None:
    mechanism = OptimalKeys(
        epsilon=4, delta="1/10", max_keys=max_keys, adjacency=adjacency, least_people=least_people
    )
    found = worst_delta(mechanism, 4.0, mechanism.chances.sure + least_people - 1)
    assert found <= 0.1 * (1 + 1e-12)
    if adjacency is ADD:
        assert found == pytest.approx(0.1, rel=1e-9)


class _OneLower(LaplaceThreshold):
    @property
    def threshold(self) -> int:
        return super().threshold - 1


class _OneLowerGaussian(GaussianThreshold):
    @property
    def threshold(self) -> int:
        return super().threshold - 1


@pytest.mark.parametrize("delta", ["1/100", "1/1000", "1e-6"])
@pytest.mark.parametrize("max_keys", [1, 2])
def test_a_threshold_one_too_low_is_caught(delta: str, max_keys: int) -> None:
    twin = _OneLower(epsilon=4, delta=delta, max_keys=max_keys, adjacency=ADD)
    assert worst_delta(twin, 4.0, 0) > float(Fraction(delta))
    normal = _OneLowerGaussian(rho=1, delta=delta, max_keys=max_keys, adjacency=ADD)
    assert worst_delta(normal, 60.0, 0) > float(Fraction(delta))


class _Generous(LaplaceThreshold):
    @property
    def coin(self) -> Fraction:
        return super().coin + Fraction(1, 1000)


class _GenerousGaussian(GaussianThreshold):
    @property
    def coin(self) -> Fraction:
        return super().coin + Fraction(1, 1000)


@pytest.mark.parametrize("max_keys", [1, 2])
def test_a_coin_that_is_a_thousandth_too_kind_is_caught(max_keys: int) -> None:
    twin = _Generous(epsilon=4, delta="1/100", max_keys=max_keys, adjacency=ADD)
    assert worst_delta(twin, 4.0, 0) > 0.01 * (1 + 1e-4)
    normal = _GenerousGaussian(rho=1, delta="1/100", max_keys=max_keys, adjacency=ADD)
    assert worst_delta(normal, 60.0, 0) > 0.01 * (1 + 1e-4)


class _Undoubled(LaplaceThreshold):
    @property
    def changed(self) -> int:
        return self.max_keys


class _UndoubledGaussian(GaussianThreshold):
    @property
    def changed(self) -> int:
        return self.max_keys


@thinned(2)
@pytest.mark.parametrize("twin", [_Undoubled, _UndoubledGaussian])
def test_noise_that_is_not_doubled_for_replacements_is_caught_on_the_specimens(twin: Any) -> None:
    case = twin.specimens()[2]
    assert case.mechanism.adjacency is MOVE
    found = audit_exactly(Registration.of(case))
    honest = audit_exactly(Registration.of(twin.__base__.specimens()[2]))
    assert (found.verdict is Verdict.VIOLATION, honest.verdict is Verdict.VIOLATION) == (True, False)


class _OldThreshold(LaplaceThreshold):
    """Keys of fewer people are dropped, and the others meet the threshold for keys of one."""

    @property
    def threshold(self) -> int:
        return super().threshold - self.least_people + 1


class _OldThresholdGaussian(GaussianThreshold):
    @property
    def threshold(self) -> int:
        return super().threshold - self.least_people + 1


class _OldChances(OptimalKeys):
    def _count_above_minimum(self, people: int) -> int:
        return people if people >= self.least_people else 0


@pytest.mark.parametrize("max_keys", [1, 2])
@pytest.mark.parametrize(
    ("twin", "loss", "epsilon"),
    [
        (_OldThreshold, {"epsilon": 1}, 1.0),
        (_OldThresholdGaussian, {"rho": "1/8"}, 40.0),
        (_OldChances, {"epsilon": 1}, 1.0),
    ],
)
def test_dropping_small_keys_by_their_exact_counts_alone_is_caught(
    twin: Any, loss: dict[str, Any], epsilon: float, max_keys: int
) -> None:
    """The rule tells of the person who makes a key large enough: delta has to pay for it."""
    one, other = {"a": 4, "b": 4}, {"a": 3, "b": 4 if max_keys == 1 else 3}
    found = []
    for kind in (twin, twin.__base__):
        case = kind(**loss, delta="1/100", max_keys=max_keys, adjacency=ADD, least_people=4)
        found.append(hockey_stick(case.log_masses(one), case.log_masses(other), epsilon))
    assert found[1] <= 0.01 * (1 + 1e-9)
    assert found[0] > 0.0105


def test_noise_for_one_key_is_caught_where_people_have_two() -> None:
    one = LaplaceThreshold(epsilon=2, delta="1/10", adjacency=ADD)
    assert worst_delta(one, 2.0, 4) <= 0.1 * (1 + 1e-12)
    p, q = one.log_masses({"a": 6, "b": 6}), one.log_masses({"a": 7, "b": 7})
    assert max(hockey_stick(p, q, 2.0), hockey_stick(q, p, 2.0)) > 0.3


def test_optimal_keys_calibrated_for_one_key_fail_when_a_person_moves() -> None:
    """Leaving a key of one and joining a key that becomes sure spends delta twice, in one direction."""
    one = OptimalKeys(epsilon=1, delta="1/10", adjacency=ADD)
    halved = replace(one, epsilon=Fraction(1, 2))
    sure = halved.chances.sure
    p, q = halved.log_masses({"a": 1, "b": sure - 1}), halved.log_masses({"b": sure})
    lost = 1 - halved.chance(sure - 1)
    assert hockey_stick(p, q, 1.0) == pytest.approx(1 - (1 - 0.1) * (1 - lost), rel=1e-9)
    assert hockey_stick(p, q, 1.0) > 0.1
    moved = OptimalKeys(epsilon=1, delta="1/10", adjacency=MOVE)
    assert worst_delta(moved, 1.0, moved.chances.sure) <= 0.1


def test_keys_absent_from_both_tables_never_appear() -> None:
    for mechanism in (
        LaplaceThreshold(epsilon=1, delta="1/2", adjacency=ADD),
        GaussianThreshold(rho=1, delta="1/2", adjacency=ADD),
        OptimalKeys(epsilon=1, delta="1/2", adjacency=ADD),
    ):
        assert set(mechanism.log_masses({})) == {()}
        assert set(mechanism.log_masses({"a": 0, "b": -5})) == {()}


def test_a_chance_is_the_whole_law_of_a_coin() -> None:
    chances = ReleaseProbabilities(Fraction(4), Fraction(1, 10))
    masses = OptimalKeys(epsilon=4, delta="1/10", adjacency=ADD).log_masses({"a": 2})
    assert math.exp(masses[("a",)]) == pytest.approx(chances.near(2), rel=1e-14)
