"""The law of filters: whatever an adversary chooses after seeing answers, the promise is kept.

Checked by exact enumeration: all transcripts of small games, and the best of all strategies over a menu. The same
check catches filters that are wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.unit.privacy.adaptive_games import (
    Law,
    Mechanism,
    Sums,
    damage,
    exp_below,
    hockey_stick,
    leak,
    optimum,
    pair,
    played,
    response,
    worst_damage,
)

from jali.privacy import NOTHING, Budget, Concentrated, Event, Filter, largest_rho
from jali.privacy.filters import ApproximateFilter, ConcentratedFilter, PureFilter, Rule
from jali.privacy.losses.finite_mechanism import Finite

F = Fraction
ROUNDS = 5
games = settings(max_examples=30 * DEPTH, deadline=None)


def laws(size: int, least: int) -> st.SearchStrategy[Law]:
    """Laws with weights between `least` and 9: the larger `least`, the smaller the loss between two of them."""
    weights = st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: tuple(F(x, sum(w)) for x in w))


def reachable(mechanism: tuple[Finite, Fraction]) -> bool:
    return not math.isinf(mechanism[0].epsilon(mechanism[1]))


def at_a_delta(mechanism: tuple[Finite, Fraction]) -> Mechanism:
    loss, delta = mechanism
    p, q = loss.rows
    return Mechanism(p, q, loss.at(delta))


# Losses small enough that several fit, and sum to more than epsilon where the root or a delta pays for it.
least_weights = st.sampled_from([2, 4, 6])
pure = least_weights.flatmap(lambda least: st.builds(pair, laws(2, least), laws(2, least)))
approximate = (
    st.tuples(st.builds(Finite.from_pair, laws(3, 0), laws(3, 2)), st.sampled_from([F(1, 50), F(1, 10), F(1, 6)]))
    .filter(reachable)
    .map(at_a_delta)
)
leaks = st.sampled_from([F(1, 40), F(1, 10), F(1, 4)]).map(leak)
mechanisms = st.one_of(pure, pure, approximate, leaks)
menus = st.lists(mechanisms, min_size=2, max_size=3)
pure_menus = st.lists(pure, min_size=1, max_size=3)
epsilons = st.sampled_from([F(1, 5), F(1, 2), F(1), F(2)])
deltas = st.sampled_from([F(1, 20), F(1, 5), F(1, 2)])


@st.composite
def approximate_rules(draw: st.DrawFn) -> tuple[Rule, Fraction, Fraction]:
    """Return a filter with the (epsilon, delta) that it promises."""
    epsilon, delta, part = draw(epsilons), draw(deltas), draw(st.sampled_from([F(1, 4), F(1, 2), F(1)]))
    either_or = Filter(Budget(epsilon, delta, delta_events=delta * (1 - part)))
    by_root = ApproximateFilter(epsilon, delta, slack=delta * part)
    rules: list[Rule] = [either_or, by_root]
    return draw(st.sampled_from(rules)), epsilon, delta


@games
@given(menus, epsilons)
def test_under_plain_addition_no_strategy_ever_exceeds_epsilon(menu: list[Mechanism], epsilon: Fraction) -> None:
    assert worst_damage(Sums(PureFilter(epsilon)), menu, exp_below(epsilon), ROUNDS) == 0


@games
@given(menus, approximate_rules())
def test_no_strategy_ever_exceeds_epsilon_and_delta(
    menu: list[Mechanism], promise: tuple[Rule, Fraction, Fraction]
) -> None:
    rule, epsilon, delta = promise
    assert worst_damage(Sums(rule), menu, exp_below(epsilon), ROUNDS) <= delta


@games
@given(menus, st.sampled_from([F(1, 10), F(1, 2), F(2)]), st.sampled_from([F(0), F(1, 10)]), epsilons)
def test_under_addition_of_rho_every_point_of_the_zcdp_profile_is_kept(
    menu: list[Mechanism], rho: Fraction, part: Fraction, epsilon: Fraction
) -> None:
    rule = ConcentratedFilter(rho, delta_events=part)
    allowed = F(Concentrated(rho).delta(epsilon)) + part
    assert worst_damage(Sums(rule), menu, exp_below(epsilon), ROUNDS) <= allowed


@games
@given(pure_menus, st.sampled_from([F(1, 10), F(1, 2), F(2)]), st.sampled_from([2, 3, 8]))
def test_under_addition_of_rho_every_renyi_divergence_is_kept(
    menu: list[Mechanism], rho: Fraction, order: int
) -> None:
    """E[(P/Q)^(a-1)] <= exp(a (a-1) rho), for the strategy that makes it largest."""
    gate = Sums(ConcentratedFilter(rho))
    largest = optimum(gate, menu, lambda ratio: ratio ** (1 - order), ROUNDS)
    assert largest <= exp_below(order * (order - 1) * rho)


@games
@given(menus, approximate_rules(), st.lists(st.integers(0, 5), min_size=121, max_size=121))
def test_a_random_strategy_keeps_the_promise_on_the_sum_of_all_its_transcripts(
    menu: list[Mechanism], promise: tuple[Rule, Fraction, Fraction], choices: list[int]
) -> None:
    rule, epsilon, delta = promise

    def strategy(seen: tuple[int, ...]) -> Mechanism:
        place = sum(int((answer + 1) * 4**i) for i, answer in enumerate(seen))
        return menu[choices[place % len(choices)] % len(menu)]

    ends = list(played(Sums(rule), strategy, ROUNDS))
    assert sum(p for p, _ in ends) == sum(q for _, q in ends) == 1
    odds = exp_below(epsilon)
    assert max(hockey_stick(ends, odds), hockey_stick(((q, p) for p, q in ends), odds)) <= delta


# Adversaries by name.

STEP = response(F(3, 2))
TEN = 10 * (STEP.event.epsilon or F(0))
HUNDREDTH = F(1, 100)


@pytest.mark.parametrize("part", [F(1, 4), F(1, 2), F(3, 4)])
def test_an_adversary_who_switches_late_to_leaking_gains_nothing(part: Fraction) -> None:
    """Ten questions fit by plain addition; then the lucky go on by the root, the others take the deltas."""
    budget = Budget(TEN, HUNDREDTH, delta_events=part * HUNDREDTH)
    menu = [STEP, leak(budget.delta_events)]
    for rule in (Filter(budget), ApproximateFilter(TEN, HUNDREDTH, slack=HUNDREDTH - budget.delta_events)):
        assert damage(Sums(rule), menu, exp_below(TEN), 16) <= HUNDREDTH


def test_an_adversary_who_goes_on_only_when_lucky_gains_nothing() -> None:
    def strategy(seen: tuple[int, ...]) -> Mechanism:
        lucky = 2 * seen.count(0) > len(seen)
        return large if lucky else small

    large, small = response(F(5, 4)), response(F(101, 100))
    epsilon, delta = F(2), F(1, 20)
    rules: list[Rule] = [Filter(Budget(epsilon, delta)), ApproximateFilter(epsilon, delta), PureFilter(epsilon)]
    for rule in rules:
        ends = list(played(Sums(rule), strategy, 10))
        assert hockey_stick(ends, exp_below(epsilon)) <= (0 if isinstance(rule, PureFilter) else delta)


# Filters that are wrong, caught by the same check.


@dataclass(frozen=True)
class Reevaluated:
    """Wrong: after every answer, the exact composition of all mechanisms used, as if declared in advance.

    No accountant for declared batches is sharper: neither a privacy-loss distribution nor, for randomized
    response, the optimal composition theorem (Kairouz, Oh and Viswanath 2015).
    """

    odds: Fraction
    delta: Fraction
    start: tuple[Mechanism, ...] = ()

    def admits(self, spent: tuple[Mechanism, ...], mechanism: Mechanism) -> bool:
        return _declared(self.add(spent, mechanism), self.odds) <= self.delta

    def add(self, spent: tuple[Mechanism, ...], mechanism: Mechanism) -> tuple[Mechanism, ...]:
        return tuple(sorted((*spent, mechanism), key=lambda used: used.p))


@cache
def _declared(used: tuple[Mechanism, ...], odds: Fraction) -> Fraction:
    """Return delta at e^epsilon = odds of mechanisms that are declared together."""
    ends = [(F(1), F(1))]
    for mechanism in used:
        ends = [(p * a, q * b) for p, q in ends for a, b in zip(mechanism.p, mechanism.q, strict=True)]
    return max(hockey_stick(ends, odds), hockey_stick(((q, p) for p, q in ends), odds))


def test_the_exact_distribution_of_what_was_used_is_not_a_filter() -> None:
    """AlmostRandom first; the lucky ask odds 5 once, the others AlmostRandom twice more: 113/192, not 104/192."""
    coins, five = response(3), response(5)
    odds, delta = F(2), F(13, 24)
    assert _declared((coins, five), odds) == delta
    assert _declared((coins, coins, coins), odds) == F(17, 32) < delta

    def strategy(seen: tuple[int, ...]) -> Mechanism:
        return five if seen[:1] == (0,) else coins

    ends = list(played(Reevaluated(odds, delta), strategy, 3))
    assert hockey_stick(ends, odds) == F(113, 192) > delta


def test_the_best_adversary_finds_that_the_exact_distribution_is_not_a_filter() -> None:
    gate = Reevaluated(F(2), F(13, 24))
    assert damage(gate, [response(3), response(5)], gate.odds, 3) == F(113, 192) > gate.delta


def test_leaking_when_unlucky_takes_two_fifths_more_than_the_distribution_allows() -> None:
    """Odds 3/2 first; the lucky ask odds 4, the others a leak: 0.16 + 2/5 * 0.16 at epsilon ln 4."""
    first, lucky, unlucky = response(F(3, 2)), response(4), leak(F(4, 25))
    gate = Reevaluated(F(4), F(4, 25))
    assert gate.admits((first,), lucky)
    assert gate.admits((first,), unlucky)
    assert damage(gate, [first, lucky, unlucky], gate.odds, 2) == F(4, 25) * F(7, 5)


@dataclass(frozen=True)
class RecomputedSplit:
    """Wrong: the either-or rule, but the root is paid with whatever part of delta no event has used yet."""

    epsilon: Fraction
    delta: Fraction
    start: Event = NOTHING

    def admits(self, spent: Event, mechanism: Mechanism) -> bool:
        total = spent + mechanism.event
        if total.delta > self.delta:
            return False
        plain = total.epsilon is not None and total.epsilon <= self.epsilon
        return plain or total.rho <= largest_rho(self.epsilon, self.delta - total.delta)

    def add(self, spent: Event, mechanism: Mechanism) -> Event:
        return spent + mechanism.event


def test_a_split_of_delta_that_follows_what_was_spent_is_caught() -> None:
    found = damage(RecomputedSplit(TEN, HUNDREDTH), [STEP, leak(HUNDREDTH)], exp_below(TEN), 16)
    assert HUNDREDTH * F(11, 10) < found < HUNDREDTH * F(3, 2)


@dataclass(frozen=True)
class Forgetful:
    """Wrong: every question is compared with the whole budget."""

    epsilon: Fraction
    start: Event = NOTHING

    def admits(self, spent: Event, mechanism: Mechanism) -> bool:
        return PureFilter(self.epsilon).admits(NOTHING, mechanism.event)

    def add(self, spent: Event, mechanism: Mechanism) -> Event:
        return spent


def test_a_filter_that_forgets_is_caught() -> None:
    assert damage(Forgetful(F(1)), [response(2)], exp_below(F(1)), 2) > 0
