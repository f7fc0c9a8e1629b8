"""Propose-test-release: privacy over all small tables, chances, errors, and what a second attempt costs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.divergences import hockey_stick
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.smooth.order_statistics import Median
from jali.mechanisms.smooth.statistic import SmoothBound, Statistic
from jali.mechanisms.stability.acceptance import DECLINED
from jali.mechanisms.stability.propose_test_release import Proposal, ProposeTestRelease
from jali.privacy.adjacency import Adjacency

TOP, SIZE = 5, 3


@dataclass(frozen=True)
class SmallMedian(Statistic):
    """The median of three numbers among 0, ..., 5, whose sensitivities are found by going through all tables."""

    adjacency: Adjacency = Adjacency.REPLACE_ONE
    step: Fraction = Fraction(1)

    def read(self, table: Any) -> tuple[int, ...]:
        return tuple(sorted(table))

    def value(self, column: Any) -> Fraction:
        return Fraction(column[SIZE // 2])

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(TOP)

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        return Fraction(TOP)

    def at_distance(self, column: Any, changes: int) -> Fraction:
        return Fraction(_at_distance(column, min(changes, SIZE)))

    def _smooth(self, column: Any, beta: Fraction) -> SmoothBound:
        return SmoothBound(beta, tuple((k, self.at_distance(column, k)) for k in range(SIZE + 1)))


TABLES = list(itertools.combinations_with_replacement(range(TOP + 1), SIZE))


@cache
def neighbours() -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    """Return the neighbours of each table, itself among them."""
    return {
        table: {
            tuple(sorted((*table[:place], new, *table[place + 1 :])))
            for place in range(SIZE)
            for new in range(TOP + 1)
        }
        for table in TABLES
    }


@cache
def _at_distance(table: tuple[int, ...], changes: int) -> int:
    if changes:
        return max(_at_distance(near, changes - 1) for near in neighbours()[table])
    return max(abs(table[1] - near[1]) for near in neighbours()[table])


@pytest.mark.parametrize("bound", [1, 2, 4])
@pytest.mark.parametrize(("epsilon", "share"), [("1", "1/2"), ("3", "1/4"), ("2", "9/10")])
def test_all_small_tables_are_as_close_as_claimed(bound: int, epsilon: str, share: str) -> None:
    mechanism = ProposeTestRelease(
        statistic=SmallMedian(), bound=bound, epsilon=epsilon, delta="1/5", test_share=share
    )
    laws = {table: mechanism.log_masses(table) for table in TABLES}
    for table, near in neighbours().items():
        for other in near:
            assert hockey_stick(laws[table], laws[other], float(Fraction(epsilon))) <= 0.2 + 1e-12


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_median_of_small_tables_is_as_private_as_claimed(adjacency: Adjacency) -> None:
    median = Median(low=0, high=3, step=1, adjacency=adjacency)
    mechanism = ProposeTestRelease(statistic=median, bound=1, epsilon=1, delta="1/10")
    sizes = range(6) if adjacency is Adjacency.ADD_REMOVE else range(5, 6)
    every = [t for size in sizes for t in itertools.combinations_with_replacement(range(4), size)]
    laws = {table: mechanism.log_masses(table) for table in every}
    for one, other in itertools.product(every, repeat=2):
        apart = sum((Counter(one) - Counter(other)).values()), sum((Counter(other) - Counter(one)).values())
        if apart in ({(1, 1)} if adjacency is Adjacency.REPLACE_ONE else {(0, 1), (1, 0)}):
            assert hockey_stick(laws[one], laws[other], 1) <= 0.1 + 1e-12


def test_the_distance_of_a_table_is_the_least_at_which_the_bound_is_exceeded() -> None:
    mechanism = ProposeTestRelease(statistic=SmallMedian(), bound=2, epsilon=2, delta="1/50")
    for table in TABLES:
        exceeded = (k for k in range(mechanism.chances.sure) if _at_distance(table, min(k, SIZE)) > 2)
        _, distance = mechanism._read(table)
        assert distance == next(exceeded, mechanism.chances.sure)


@pytest.mark.parametrize("share", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("delta", ["1e-6", "1/10"])
def test_no_table_is_answered_less_often_than_by_the_laplace_test(share: str, delta: str) -> None:
    """Section 6: answer iff gamma + Lap(1/epsilon_1) > ln(1/(2 delta))/epsilon_1."""
    mechanism = _whole(epsilon=2, delta=delta, test_share=share)
    test = float(2 * Fraction(share))
    threshold = math.log(1 / (2 * float(Fraction(delta)))) / test
    for distance in range(2 * math.ceil(threshold) + 4):
        beyond = math.exp(-abs(distance - threshold) * test) / 2
        classical = 1 - beyond if distance >= threshold else beyond
        assert mechanism.chance(distance) >= classical * (1 - 1e-12)


def _whole(**given: Any) -> ProposeTestRelease:
    return ProposeTestRelease(
        **{"bound": 1, "epsilon": 2, "delta": "1/50", "low": 0, "high": 9, "step": 1, **given}
    )


def test_two_tables_that_the_bound_does_not_hold_for_differ_by_delta_at_most() -> None:
    mechanism = _whole()
    one, other = mechanism.log_masses(Proposal(0, 0)), mechanism.log_masses(Proposal(9, 0))
    assert hockey_stick(one, other, 0) <= 0.02
    assert math.exp(one[DECLINED]) == pytest.approx(0.98)


def test_releases_decline_and_answer_with_the_right_probability() -> None:
    """20,000 draws, within six standard deviations: false alarms below 1e-8 each."""
    mechanism = _whole()
    for distance in (0, 2, 4):
        drawn = Counter(mechanism.sample(Proposal(4, distance), 20_000, bits=SeededBits(distance)))
        for output, mass in mechanism.log_masses(Proposal(4, distance)).items():
            chance = math.exp(mass)
            assert abs(drawn[output] / 20_000 - chance) <= 6 * math.sqrt(chance * (1 - chance) / 20_000) + 1e-4


def test_answers_follow_discrete_laplace_noise_of_scale_bound_over_epsilon() -> None:
    """The mass of an answer k steps off is proportional to exp(-k epsilon_2/ceil(bound/step)) inside the range."""
    mechanism = ProposeTestRelease(bound="1/3", epsilon=2, delta="1/50", low=0, high=2, step="1/4")
    masses = mechanism.log_masses(Proposal(1, 10**6))
    assert DECLINED not in masses
    assert mechanism.scale == 2  # 1/3 is two steps of 1/4, at epsilon 1
    for k in range(4):
        assert masses[1 + k / 4] - masses[1.0] == pytest.approx(-k / 2)
    q = math.exp(-1 / 2)
    assert masses[2.0] == pytest.approx(math.log(q**4 / (1 + q)))


def test_declining_and_answering_lose_the_same() -> None:
    mechanism = _whole()
    before = mechanism.loss
    assert mechanism.release(Proposal(4, 10**6)) is not DECLINED
    assert mechanism.loss == before
    assert (before.event.epsilon, before.event.delta) == (Fraction(2), Fraction(1, 50))


def test_a_second_attempt_spends_the_loss_again() -> None:
    """Two attempts are within twice the loss, and a free one after declining is beyond the loss of one."""
    mechanism = _whole()
    one, other = (mechanism.log_masses(Proposal(value, 0)) for value in (0, 9))
    twice = [_both(law) for law in (one, other)]
    assert hockey_stick(twice[0], twice[1], 4) <= 0.04
    until_two = [_again_if_declined(law) for law in (one, other)]
    assert hockey_stick(until_two[0], until_two[1], 2) > 0.03


def _both(law: Any) -> dict[Any, float]:
    return {(a, b): p + q for a, p in law.items() for b, q in law.items()}


def _again_if_declined(law: Any) -> dict[Any, float]:
    again = math.exp(law[DECLINED])
    answers = {output: mass + math.log1p(again) for output, mass in law.items() if output is not DECLINED}
    return {**answers, DECLINED: 2 * law[DECLINED]}


def test_the_error_is_infinite_where_a_table_may_well_be_declined() -> None:
    mechanism = _whole()
    assert mechanism.error(0.9) == math.inf
    enough = mechanism.least_distance(0.9)
    assert mechanism.chance(enough) >= 0.9 > mechanism.chance(enough - 1)
    assert mechanism.error(0.9, distance=enough - 1) == math.inf
    assert mechanism.error(0.9, distance=enough) <= 9


def test_the_error_on_a_wide_range_is_the_exact_quantile() -> None:
    """Far from the ends Pr[declined or |noise| > t] = 1 - p + p 2 q^(t+1)/(1+q)."""
    mechanism = _whole(high=10**6, bound=7)
    q, scale = math.exp(-1 / 7), 7
    assert mechanism.scale == scale
    for distance in (4, 5, 6, 100):
        p = mechanism.chance(distance)
        found = mechanism.error(0.7, distance=distance)
        if p < 0.7:
            assert found == math.inf
            continue
        missed = [1 - p + p * 2 * q ** (t + 1) / (1 + q) for t in (found - 1, found)]
        assert missed[0] > 0.3 >= missed[1] - 1e-12


def test_tables_far_from_a_larger_sensitivity_are_declined_with_probability_delta_at_most() -> None:
    """The lecture's accuracy: from twice the threshold of the Laplace test on, 2 ln(1/(2 delta))/epsilon_1."""
    mechanism = _whole(delta="1e-6")
    far = math.ceil(2 * math.log(1 / 2e-6))
    assert 1 - mechanism.chance(far) <= 1e-6


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 10**400, -1, Fraction(1, 3), Decimal("1e999999"), Decimal("nan")]
)
@pytest.mark.parametrize("distance", [-5, 0, 10**50, np.int64(3)])
def test_nothing_is_refused_for_its_value(value: Any, distance: Any) -> None:
    released = _whole().release(Proposal(value, distance))
    assert released is DECLINED or 0 <= released <= 9


def test_values_far_below_a_range_far_from_0_are_clamped() -> None:
    low = 1_700_000_000_000
    mechanism = ProposeTestRelease(bound=1, epsilon=1, delta=1e-6, low=low, high=low + 100)
    assert mechanism._read(Proposal(math.nan, 9)) == mechanism._read(Proposal(low, 9)) == (0, 9)


WRONG: Any = 1.5
SPAN: Any = np.timedelta64(5, "s")


@pytest.mark.parametrize(
    "value", [Proposal("x", 1), Proposal(1, WRONG), Proposal(1, True), (1, 2), 5, None, Proposal(1, SPAN)]
)
def test_values_are_refused_for_their_types(value: Any) -> None:
    with pytest.raises(MechanismError):
        _whole().release(value)


def test_a_statistic_takes_tables_and_proposals_alike() -> None:
    mechanism = ProposeTestRelease(statistic=SmallMedian(), bound=2, epsilon=2, delta="1/50")
    table = (2, 2, 2)
    _, distance = mechanism._read(table)
    assert mechanism.log_masses(table) == mechanism.log_masses(Proposal(2, distance))
    assert mechanism.release(table) in {DECLINED, *range(TOP + 1)}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"bound": 0}, "bound"),
        ({"bound": "x"}, "bound"),
        ({"test_share": 1}, "test_share"),
        ({"test_share": 0}, "test_share"),
        ({"epsilon": "1e-20"}, "epsilon"),
        ({"test_share": "1e-13"}, "test_share"),
        ({"delta": 1}, "delta"),
        ({"low": 9}, "low"),
        ({"low": None}, "low"),
        ({"high": None}, "high"),
        ({"step": -1}, "step"),
        ({"statistic": "median"}, "statistic"),
        ({"statistic": SmallMedian()}, "low"),
    ],
)
def test_bad_parameters_are_refused_by_name(given: dict[str, Any], name: str) -> None:
    with pytest.raises(MechanismError, match=rf"\b{name}\b"):
        _whole(**given)


def test_a_bound_beyond_the_range_counts_as_the_range() -> None:
    assert _whole(bound=10**9).scale == 9
