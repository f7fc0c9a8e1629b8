"""The either-or filter: exact sums, the examples of the theory, and the largest loss that is still admitted."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.privacy import NOTHING, Approximate, Budget, Concentrated, Event, Filter, Loss, Pure

NEXT = 1 + Fraction(1, 10**9)


def admitted(budget: Budget, loss: Loss, spent: Event = NOTHING) -> int:
    """Count how many events of one kind fit, one after the other."""
    rule, count = Filter(budget), 0
    while rule.admits(spent, loss.event):
        spent, count = spent + loss.event, count + 1
    return count


def test_ten_questions_at_a_tenth_fit_in_one_exactly_and_the_eleventh_is_refused() -> None:
    assert admitted(Budget(1), Pure(0.1)) == 10
    ten = Event(Fraction(1), Fraction(1, 20))
    assert not Filter(Budget(1)).admits(ten, Pure("1e-300").event)


def test_thirds_add_up_to_one_exactly() -> None:
    assert admitted(Budget(1), Pure("1/3")) == 3


def test_many_small_questions_are_added_by_the_square_root() -> None:
    """At (3, 1e-6) plain addition grants 30 questions at 0.1; half of delta set aside, the either-or rule 35."""
    assert admitted(Budget(3), Pure(0.1)) == 30
    assert admitted(Budget(3, 1e-6), Pure(0.1)) == 35
    assert admitted(Budget(3, 1e-6, delta_events=0), Pure(0.1)) == 37


def test_a_few_large_questions_are_added_plainly() -> None:
    """One question of the whole epsilon has rho 4.5, far beyond what zCDP affords: plain addition admits it."""
    rule = Filter(Budget(3, 1e-6))
    assert Pure(3).event.rho > rule.rho
    assert rule.admits(NOTHING, Pure(3).event)
    assert not rule.admits(NOTHING, Pure("3.000001").event)


def test_a_gaussian_question_needs_a_delta() -> None:
    assert not Filter(Budget(1000)).admits(NOTHING, Concentrated("1e-12").event)
    assert Filter(Budget(1, 1e-6)).admits(NOTHING, Concentrated("0.01").event)


def test_after_a_gaussian_question_only_the_sum_of_rho_counts() -> None:
    rule = Filter(Budget(3, 1e-6))
    spent = Concentrated(rule.rho / 2).event
    assert rule.admits(spent, Pure(0.1).event)
    assert not rule.admits(spent, Pure(2).event)  # 2 < 3, but plain addition has nothing to say any more
    assert rule.admits(NOTHING, Pure(2).event)
    assert admitted(rule.budget, Pure(0.1), spent) == (rule.rho - spent.rho) // Fraction(1, 200)


def test_pure_and_gaussian_questions_share_the_rho() -> None:
    rule = Filter(Budget(3, 1e-6))
    pure = Pure(0.1).event
    rest = Concentrated(rule.rho - pure.rho).event
    assert rule.admits(pure, rest)
    assert not rule.admits(pure, Concentrated((rule.rho - pure.rho) * NEXT).event)


def test_deltas_of_events_are_paid_from_the_part_set_aside() -> None:
    budget = Budget(3, 1e-6)
    assert admitted(budget, Approximate(0.01, "1e-7")) == 5
    spent = Event(Fraction(1, 100), Fraction(1, 20000), budget.delta_events)
    assert Filter(budget).admits(spent, Pure(1).event)
    assert not Filter(budget).admits(spent, Approximate(1, "1e-30").event)


def test_without_a_part_set_aside_events_with_a_delta_are_refused() -> None:
    rule = Filter(Budget(3, 1e-6, delta_events=0))
    assert not rule.admits(NOTHING, Approximate(0.1, "1e-30").event)
    assert rule.admits(NOTHING, Approximate(0.1, 0).event)


def test_all_of_delta_for_events_leaves_plain_addition() -> None:
    budget = Budget(3, 1e-6, delta_events=1e-6)
    assert Filter(budget).rho == 0
    assert admitted(budget, Pure(0.1)) == 30


def test_the_split_of_delta_does_not_move_with_what_was_spent() -> None:
    rule = Filter(Budget(3, 1e-6))
    before = rule.rho
    rule.admits(Approximate(1, "4e-7").event, Pure(1).event)
    assert rule.rho == before == Filter(Budget(3, "0.5e-6", delta_events=0)).rho


amounts = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
losses = st.one_of(
    amounts.map(Pure), amounts.map(lambda a: Concentrated(a / 100)), amounts.map(lambda a: Approximate(a, "1e-8"))
)
budgets = st.builds(
    Budget,
    st.sampled_from([1, 3, "1/7"]),
    st.sampled_from([0, 1e-6, 1e-9]),
)


@settings(deadline=None)
@given(budgets, st.lists(losses, max_size=6))
def test_the_largest_loss_is_admitted_and_anything_larger_is_not(budget: Budget, wanted: list[Loss]) -> None:
    rule, spent = Filter(budget), NOTHING
    for loss in wanted:
        if rule.admits(spent, loss.event):
            spent = spent + loss.event
    epsilon, rho = rule.largest_epsilon(spent), rule.largest_rho(spent)
    if epsilon > 0:
        assert rule.admits(spent, Pure(epsilon).event)
    # The root is rounded down to 15 decimals: the next billionth is beyond it.
    assert not rule.admits(spent, Pure(epsilon * NEXT + Fraction(1, 10**9)).event)
    if rho > 0:
        assert rule.admits(spent, Concentrated(rho).event)
    assert not rule.admits(spent, Concentrated(rho * NEXT + Fraction(1, 10**30)).event)
    assert rule.largest(spent, Pure(1).event) == epsilon
    assert rule.largest(spent, Concentrated(1).event) == rho


@settings(deadline=None)
@given(budgets, st.lists(losses, max_size=8))
def test_an_account_that_followed_the_filter_keeps_the_rule_at_every_step(
    budget: Budget, wanted: list[Loss]
) -> None:
    rule, spent = Filter(budget), NOTHING
    for loss in wanted:
        if rule.admits(spent, loss.event):
            spent = spent + loss.event
        plain = spent.epsilon is not None and spent.epsilon <= budget.epsilon
        assert plain or spent.rho <= rule.rho
        assert spent.delta <= budget.delta_events


def test_nothing_is_left_after_the_deltas_are_overspent() -> None:
    over = Event(Fraction(0), Fraction(0), Fraction(1, 2))
    rule = Filter(Budget(1, 1e-6))
    assert rule.largest_epsilon(over) == rule.largest_rho(over) == 0


@pytest.mark.parametrize("first", [Pure(1), Concentrated("0.001")])
def test_refusing_is_monotone_a_larger_event_is_never_admitted_where_a_smaller_is_refused(first: Loss) -> None:
    rule = Filter(Budget(1, 1e-6))
    verdicts = [rule.admits(first.event, Pure(Fraction(k, 100)).event) for k in range(1, 200)]
    assert verdicts == sorted(verdicts, reverse=True)
