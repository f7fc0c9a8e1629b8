"""The three filters: exact limits, what they count, what they refuse."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.privacy.adaptive_games import Sums, damage, exp_below, response

from jali.errors import CatalogError
from jali.privacy import NOTHING, Approximate, BoundedRange, Budget, Concentrated, Event, Filter, Loss, Pure
from jali.privacy.filters import ApproximateFilter, ConcentratedFilter, PureFilter, Rule, largest_simple_rho

F = Fraction
BARELY = 1 + F(1, 10**9)
RULES: list[Rule] = [
    PureFilter(1),
    ConcentratedFilter("1/10"),
    ConcentratedFilter("1/10", delta_events="1e-7"),
    ApproximateFilter(1, 1e-6),
    Filter(Budget(1, 1e-6)),
]


def admitted(rule: Rule, loss: Loss) -> int:
    spent, count = NOTHING, 0
    while rule.admits(spent, loss.event):
        spent, count = spent + loss.event, count + 1
    return count


def test_plain_addition_is_exact() -> None:
    assert admitted(PureFilter(1), Pure(0.1)) == 10
    assert admitted(PureFilter(1), Pure("1/3")) == 3
    assert not PureFilter(1).admits(Pure(1).event, Pure("1e-300").event)


def test_plain_addition_is_tight() -> None:
    """Two questions that fill the budget lose all of it: at any smaller epsilon a delta is needed."""
    question = response(2)
    total = 2 * (question.event.epsilon or F(0))
    gate = Sums(PureFilter(total))
    assert damage(gate, [question], exp_below(total), 5) == 0
    assert damage(gate, [question], exp_below(total - F(1, 10**9)), 5) > 0


def test_plain_addition_refuses_what_is_not_pure() -> None:
    assert not PureFilter(10).admits(NOTHING, Concentrated("1e-9").event)
    assert not PureFilter(10).admits(NOTHING, Approximate(1, "1e-30").event)
    assert not PureFilter(10).admits(Concentrated(1).event, Pure(1).event)


def test_rho_adds_up_exactly_and_pure_losses_count_half_their_square() -> None:
    assert admitted(ConcentratedFilter(1), Concentrated("1/7")) == 7
    assert admitted(ConcentratedFilter("1/2"), Pure(0.1)) == 100
    assert admitted(ConcentratedFilter("1/8"), BoundedRange(0.1)) == 100


def test_deltas_are_counted_apart() -> None:
    assert admitted(ConcentratedFilter(1, delta_events=1e-6), Approximate(0.001, "1e-7")) == 10
    assert admitted(ConcentratedFilter(1), Approximate(0.001, "1e-7")) == 0
    assert admitted(ApproximateFilter(1, 1e-6), Approximate(0.001, "1e-7")) == 5
    assert admitted(ApproximateFilter(1, 1e-6, slack=1e-6), Approximate(0.001, "1e-7")) == 0


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3, 20])
@pytest.mark.parametrize("slack", ["1e-12", "1e-6", "1/2", "0.999"])
def test_the_limit_of_the_root_rule_solves_its_equation_from_below(epsilon: Any, slack: Any) -> None:
    limit = ApproximateFilter(epsilon, slack, slack=slack).rho

    def left_side(rho: Fraction) -> mpmath.mpf:
        squares = 2 * mpmath.mpf(rho.numerator) / rho.denominator  # the sum of squared epsilons
        log = -mpmath.log(mpmath.mpf(F(slack).numerator) / F(slack).denominator)
        return mpmath.sqrt(2 * log * squares) + squares / 2

    with mpmath.workdps(60):
        wanted = mpmath.mpf(F(epsilon).numerator) / F(epsilon).denominator
        assert left_side(limit) <= wanted < left_side(limit * BARELY)


def test_the_root_rule_admits_many_small_questions() -> None:
    """sqrt(2 ln(1e6) k) / 10 + k / 200 <= 3: 29.9 at delta 1e-6, spent wholly on the root."""
    count = admitted(ApproximateFilter(3, 1e-6, slack=1e-6), Pure(0.1))
    bound = [math.sqrt(2 * math.log(1e6) * k) / 10 + k / 200 for k in (count, count + 1)]
    assert bound[0] <= 3 < bound[1]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1, 1e-6), (3, 1e-6), (10, 1e-3), (1, 0.4)])
def test_the_either_or_filter_with_the_same_split_is_never_stricter(epsilon: float, delta: float) -> None:
    rule = ApproximateFilter(epsilon, delta)
    ledger = Filter(Budget(epsilon, delta))
    assert rule.delta_events == ledger.delta_events
    assert rule.rho <= ledger.rho


def test_a_limit_beyond_what_doubles_hold_is_still_found() -> None:
    assert 0 < largest_simple_rho(F(1, 10**200), F(1, 10**500)) < F(1, 10**400)
    nearly_one = largest_simple_rho(F(1), 1 - F(1, 10**60))
    assert nearly_one < 1


def test_promises_are_losses() -> None:
    assert PureFilter(2).promise == Pure(2)
    assert ConcentratedFilter(2).promise == Concentrated(2)
    assert ApproximateFilter(2, 1e-6).promise == Approximate(2, 1e-6)


amounts = st.fractions(min_value=F(1, 1000), max_value=1, max_denominator=1000)
losses = st.one_of(
    amounts.map(Pure), amounts.map(lambda a: Concentrated(a / 100)), amounts.map(lambda a: Approximate(a, "1e-8"))
)


@settings(deadline=None)
@given(st.sampled_from(RULES), st.lists(losses, max_size=6))
def test_the_largest_loss_is_admitted_and_anything_larger_is_not(rule: Rule, wanted: list[Loss]) -> None:
    spent = NOTHING
    for loss in wanted:
        if rule.admits(spent, loss.event):
            spent = spent + loss.event
    epsilon, rho = rule.largest(spent, Pure(1).event), rule.largest(spent, Concentrated(1).event)
    assert epsilon == 0 or rule.admits(spent, Pure(epsilon).event)
    assert not rule.admits(spent, Pure(epsilon * BARELY + F(1, 10**9)).event)
    assert rho == 0 or rule.admits(spent, Concentrated(rho).event)
    assert not rule.admits(spent, Concentrated(rho * BARELY + F(1, 10**30)).event)


@pytest.mark.parametrize("rule", RULES[:4])
def test_nothing_is_left_after_an_overspent_delta(rule: Rule) -> None:
    over = Event(F(0), F(0), F(1, 2))
    assert rule.largest(over, Pure(1).event) == rule.largest(over, Concentrated(1).event) == 0
    assert not rule.admits(over, Pure("1e-9").event)


@pytest.mark.parametrize("amount", [0, -1, math.nan, math.inf, "x", None, True])
def test_bad_limits_are_refused_by_name(amount: Any) -> None:
    with pytest.raises(CatalogError, match="epsilon"):
        PureFilter(amount)
    with pytest.raises(CatalogError, match="rho"):
        ConcentratedFilter(amount)
    with pytest.raises(CatalogError, match="epsilon"):
        ApproximateFilter(amount, 1e-6)


@pytest.mark.parametrize(("delta", "slack"), [(0, None), (0.1, 0), (0.1, 0.2)])
def test_the_slack_lies_between_zero_and_delta(delta: Any, slack: Any) -> None:
    with pytest.raises(CatalogError, match="slack must be above 0"):
        ApproximateFilter(1, delta, slack)


@pytest.mark.parametrize("delta", [-0.1, 1, math.nan])
def test_a_delta_outside_of_zero_to_one_is_refused(delta: Any) -> None:
    with pytest.raises(CatalogError, match="delta"):
        ApproximateFilter(1, delta)
    with pytest.raises(CatalogError, match="delta_events"):
        ConcentratedFilter(1, delta_events=delta)


@pytest.mark.parametrize("rule", RULES)
def test_a_filter_cannot_be_changed(rule: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.epsilon = F(100)
