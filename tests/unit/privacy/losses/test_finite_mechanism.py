"""Exact finite mechanisms: against enumeration in rationals, and against mpmath."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.privacy import Approximate, Event, Loss, Pure
from jali.privacy.losses.finite_mechanism import Finite, privacy_loss
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.pld.privacy_loss_distribution import PrivacyLossDistribution

F = Fraction
Law = tuple[Fraction, ...]
EPSILONS = [0.0, 1e-9, 0.1, 0.5, math.log(2), 1.0, 1.5, 3.0, 800.0]


def laws(size: int, least: int = 0) -> st.SearchStrategy[Law]:
    weights = st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: tuple(F(x, sum(w)) for x in w))


pairs = st.integers(2, 4).flatmap(lambda n: st.tuples(laws(n), laws(n)))
inner_pairs = st.integers(2, 4).flatmap(lambda n: st.tuples(laws(n, 1), laws(n, 1)))
channels = st.tuples(st.integers(2, 4), st.integers(2, 4)).flatmap(
    lambda shape: st.lists(laws(shape[1]), min_size=shape[0], max_size=shape[0])
)
deep = settings(max_examples=60 * DEPTH, deadline=None)


def by_subsets(p: Law, q: Law, epsilon: float) -> mpmath.mpf:
    """Return max over all events S of P(S) - exp(epsilon) Q(S), in both orders: the definition itself."""
    odds = mpmath.exp(mpmath.mpf(epsilon))
    places = range(len(p))
    subsets = [s for k in range(len(p) + 1) for s in combinations(places, k)]
    sums = [(sum((p[i] for i in s), F(0)), sum((q[i] for i in s), F(0))) for s in subsets]
    exact = [(mpmath.mpf(a.numerator) / a.denominator, mpmath.mpf(b.numerator) / b.denominator) for a, b in sums]
    return max(max(a - odds * b, b - odds * a) for a, b in exact)


def at_or_just_above(found: float, truth: Any, relative: float = 1e-12) -> bool:
    # The truth has forty digits or more, and its own last ones.
    return bool(truth - mpmath.mpf("1e-35") <= found <= truth * (1 + relative) + 1e-16)


# The lecture: the two coins, and the loss of each outcome.


def test_almost_random_loses_ln_3() -> None:
    with mpmath.workdps(40):
        assert at_or_just_above(Finite.almost_random().epsilon(0), mpmath.log(3), 4e-16)


def test_the_privacy_loss_is_told_outcome_by_outcome() -> None:
    losses = privacy_loss({"yes": 0.75, "no": 0.25}, {"no": 0.75, "yes": 0.25})
    assert losses == {"yes": math.log(3), "no": -math.log(3)}
    assert privacy_loss([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]) == (math.log(3), -math.log(3))


def test_an_outcome_of_one_side_only_loses_everything() -> None:
    assert privacy_loss({"a": 1}, {"b": 1}) == {"a": math.inf, "b": -math.inf}


def test_an_outcome_of_neither_side_is_left_out_of_a_dictionary_and_keeps_its_place_in_a_sequence() -> None:
    assert privacy_loss({"a": 1, "b": 0}, {"a": 1}) == {"a": 0.0}
    first, second = privacy_loss([1, 0], [1, 0])
    assert first == 0.0
    assert math.isnan(second)


def test_the_largest_privacy_loss_is_the_epsilon() -> None:
    p, q = [0.2, 0.3, 0.5], [0.1, 0.6, 0.3]
    largest = max(abs(loss) for loss in privacy_loss(p, q))
    assert Finite.from_pair(p, q).epsilon(0) == pytest.approx(largest, rel=1e-15)


@pytest.mark.parametrize("truth", [F(1, 2), F(3, 4), F(9, 10), F(999, 1000)])
def test_randomized_response_has_the_profile_of_pure_loss(truth: Fraction) -> None:
    mechanism = Finite.randomized_response(truth)
    odds = truth / (1 - truth)
    for epsilon in EPSILONS:
        with mpmath.workdps(40):
            top = mpmath.mpf(odds.numerator) / odds.denominator
            exact = max(mpmath.mpf(0), (top - mpmath.exp(epsilon)) / (1 + top))
            assert at_or_just_above(mechanism.delta(epsilon), exact)
        if odds > 1:
            assert mechanism.delta(epsilon) <= Pure(F(math.log(odds)) * (1 + F(1, 10**15))).delta(epsilon)


def test_randomized_response_with_many_answers_loses_the_odds_of_truth_to_one_lie() -> None:
    mechanism = Finite.randomized_response(F(2, 3), answers=5)
    assert mechanism.epsilon(0) == pytest.approx(math.log(8), rel=1e-15)
    assert len(mechanism.rows) == 5


# Profile, inverse, trade-off.


@deep
@given(pairs, st.sampled_from(EPSILONS))
def test_delta_is_the_largest_excess_over_all_events(pair: tuple[Law, Law], epsilon: float) -> None:
    with mpmath.workdps(60):
        assert at_or_just_above(Finite.from_pair(*pair).delta(epsilon), max(0, by_subsets(*pair, epsilon)))


@deep
@given(pairs, st.fractions(0, F(59, 60), max_denominator=60))
def test_epsilon_is_the_exact_inverse_of_delta(pair: tuple[Law, Law], delta: Fraction) -> None:
    epsilon = Finite.from_pair(*pair).epsilon(delta)
    with mpmath.workdps(60):
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        if math.isinf(epsilon):
            assert by_subsets(*pair, 1000) > bound
            return
        assert by_subsets(*pair, epsilon) <= bound + mpmath.mpf("1e-50")
        if epsilon > 0:
            assert by_subsets(*pair, epsilon * (1 - 4e-16)) > bound


def test_epsilon_at_a_breakpoint_of_the_profile_is_the_loss_of_an_outcome() -> None:
    """Ratios 8, 2, 1/2, 1/8: at e^epsilon = 2 only the first outcome counts, with 8/15 - 2 * 1/15."""
    law = tuple(F(weight, 15) for weight in (8, 4, 2, 1))
    mechanism = Finite.from_pair(law, law[::-1])
    assert mechanism.epsilon(F(6, 15)) == pytest.approx(math.log(2), rel=1e-15)
    assert mechanism.epsilon(F(3, 15)) == pytest.approx(math.log(5), rel=1e-15)
    assert mechanism.epsilon(0) == pytest.approx(math.log(8), rel=1e-15)
    assert mechanism.epsilon(F(9, 15)) == 0.0


def test_a_delta_equal_to_the_chance_of_an_impossible_outcome_has_an_epsilon() -> None:
    mechanism = Finite.from_pair([0.9, 0.1, 0], [0.9, 0, 0.1])
    assert mechanism.epsilon(0.1) == 0.0
    assert math.isinf(mechanism.epsilon(0.0999))
    assert mechanism.delta(50) == 0.1


@deep
@given(channels, st.fractions(0, 1, max_denominator=40))
def test_the_false_negative_rate_is_the_best_of_all_randomized_tests(rows: list[Law], fpr: Fraction) -> None:
    """Mixing two tests gives every point of the line between their rates."""
    mechanism = Finite.from_channel(rows)
    ordered = [(p, q) for p, q in product(rows, rows) if p != q] or [(rows[0], rows[1])]
    tests = {
        (sum((q[i] for i in s), F(0)), sum((p[i] for i in s), F(0)))
        for p, q in ordered
        for k in range(len(p) + 1)
        for s in combinations(range(len(p)), k)
    }
    best = max(
        t1 + (t2 - t1) * (fpr - f1) / (f2 - f1) if f1 != f2 else max(t1, t2)
        for (f1, t1), (f2, t2) in product(tests, tests)
        if f1 <= fpr <= f2
    )
    exact = float(1 - best)
    assert exact - 1e-15 <= mechanism.fnr(fpr) <= exact
    assert mechanism.tpr(fpr) >= fpr


def test_the_profile_is_drawn_from_zero_to_the_largest_loss() -> None:
    profile = Finite.almost_random().profile()
    assert (profile.epsilons[0], profile.deltas[0]) == (0.0, 0.5)
    assert profile.epsilons[-1] == pytest.approx(math.log(3))
    assert profile.deltas[-1] < 1e-11
    assert list(profile.deltas) == sorted(profile.deltas, reverse=True)


def test_a_small_mechanism_is_shown_and_a_large_one_is_counted() -> None:
    assert repr(Finite.almost_random()) == "Finite([0.75, 0.25], [0.25, 0.75])"
    assert repr(Finite.randomized_response(0.5, answers=6)) == "Finite(6 inputs, 6 outcomes)"


# How much loss? THEORY, section 10.


@pytest.mark.parametrize(
    ("epsilon", "posterior"), [(0.1, 0.525), (1.0, 0.731), (math.log(3), 0.75), (10.0, 0.99995)]
)
def test_from_an_even_prior_the_posterior_is_at_most_odds_e_to_the_epsilon(
    epsilon: float, posterior: float
) -> None:
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    kinds: list[tuple[Loss, float]] = [
        (Pure(epsilon), 0),
        (Approximate(epsilon, 2**-20), 2**-20),
        (Finite.randomized_response(truth), 0),
    ]
    for loss, delta in kinds:
        found = loss.posterior(0.5, delta)
        assert found == pytest.approx(posterior, abs=5e-4 if epsilon < 10 else 5e-6)
        assert truth * (1 - 1e-12) <= found


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.log(3), 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.125])
def test_the_power_of_a_test_is_bounded_by_both_lines(epsilon: float, delta: float) -> None:
    truth = F(math.exp(epsilon) / (1 + math.exp(epsilon)))
    rest = F(delta)
    law = ((1 - rest) * truth, (1 - rest) * (1 - truth), rest, F(0))
    kinds: list[Loss] = [
        Approximate(epsilon, delta) if delta else Pure(epsilon),
        Finite.from_pair(law, (law[1], law[0], F(0), rest)),
    ]
    for fpr in (0.0, 0.01, 0.1, 0.4, 0.75, 1.0):
        wanted = min(1, math.exp(epsilon) * fpr + delta, 1 - math.exp(-epsilon) * (1 - delta - fpr))
        for loss in kinds:
            assert loss.tpr(fpr) == pytest.approx(wanted, abs=1e-9)
            assert loss.tpr(fpr) >= wanted - 1e-12


# Errata of the lecture on (epsilon, delta): THEORY, section 1.


def test_the_tight_negative_direction_has_delta_over_e_to_the_epsilon() -> None:
    """At epsilon ln 2 the least delta is 1/4; P1(S) + delta/2 reaches half of P2(S), P1(S) + delta is more."""
    mechanism = Finite.almost_random()
    assert mechanism.delta(math.log(2)) == pytest.approx(0.25)
    (_, lie), (_, truth) = mechanism.rows
    delta = F(1, 4)
    assert (lie + delta / 2) / truth == F(1, 2)
    assert (lie + delta) / truth > F(1, 2)


def test_a_small_chance_of_a_large_loss_is_sufficient_for_delta_but_not_necessary() -> None:
    """Two coins at epsilon ln 2: the loss exceeds epsilon with probability 3/4, yet delta is 1/4."""
    mechanism = Finite.almost_random()
    p, q = mechanism.rows
    exceeding = sum((a for a, loss in zip(p, privacy_loss(p, q), strict=True) if loss > math.log(2)), F(0))
    assert exceeding == F(3, 4)
    assert mechanism.delta(math.log(2)) == pytest.approx(0.25)


@deep
@given(pairs, st.sampled_from(EPSILONS))
def test_the_chance_of_a_loss_of_epsilon_or_more_is_never_below_delta(
    pair: tuple[Law, Law], epsilon: float
) -> None:
    both = (pair, pair[::-1])
    chances = [
        sum((a for a, loss in zip(p, privacy_loss(p, q), strict=True) if loss >= epsilon), F(0)) for p, q in both
    ]
    assert Finite.from_pair(*pair).delta(epsilon) <= max(chances) * (1 + 1e-15)


def test_checking_outcome_by_outcome_suffices_for_delta_zero_only() -> None:
    """Ten outcomes here, ten others there: each is within delta 1/10, together they tell everything."""
    here = tuple(F(1, 10) if i < 10 else F(0) for i in range(20))
    there = here[::-1]
    delta = F(1, 10)
    assert all(a <= b + delta and b <= a + delta for a, b in zip(here, there, strict=True))
    assert Finite.from_pair(here, there).delta(0) == Finite.from_pair(here, there).delta(100) == 1.0


# Rényi divergence, rho, events.


def exact_renyi(p: Law, q: Law, order: float) -> mpmath.mpf:
    a = mpmath.mpf(order)
    terms = [
        (mpmath.mpf(x.numerator) / x.denominator) ** a * (mpmath.mpf(y.numerator) / y.denominator) ** (1 - a)
        for x, y in zip(p, q, strict=True)
    ]
    return mpmath.log(mpmath.fsum(terms)) / (a - 1)


@deep
@given(inner_pairs, st.sampled_from([1.0001, 1.1, 2.0, 3.5, 20.0, 1000.0]))
def test_renyi_divergences_agree_with_mpmath(pair: tuple[Law, Law], order: float) -> None:
    with mpmath.workdps(50):
        exact = max(exact_renyi(*pair, order), exact_renyi(*pair[::-1], order))
        found = Finite.from_pair(*pair).renyi(order)
        assert exact - mpmath.mpf("1e-40") <= found <= exact * (1 + mpmath.mpf("1e-9")) + mpmath.mpf("1e-13")


@settings(max_examples=6 * DEPTH, deadline=None)
@given(inner_pairs)
def test_rho_bounds_the_divergence_per_order_and_is_nearly_reached(pair: tuple[Law, Law]) -> None:
    event = Finite.from_pair(*pair).event
    with mpmath.workdps(40):
        orders = [1 + mpmath.mpf(10) ** (mpmath.mpf(i) / 40) for i in range(-200, 120)]
        reached = max(max(exact_renyi(*pair, a), exact_renyi(*pair[::-1], a)) / a for a in orders)
    reached -= mpmath.mpf("1e-14")  # the rounding of doubles here
    assert reached <= event.rho
    assert event.rho <= reached * (1 + mpmath.mpf("0.003")) + mpmath.mpf("1e-12")
    assert event.epsilon is not None
    assert event.rho <= event.epsilon**2 / 2


def test_rho_of_randomized_response_is_epsilon_times_tanh_of_its_half() -> None:
    """The divergence per order is largest as the order goes to 1: the Kullback-Leibler divergence."""
    for odds in (2, 3, 20, 1000):
        event = Finite.randomized_response(F(odds, odds + 1)).event
        epsilon = math.log(odds)
        assert event.epsilon == pytest.approx(epsilon, rel=1e-11)
        assert event.epsilon is not None
        assert float(event.epsilon) >= epsilon
        assert epsilon * math.tanh(epsilon / 2) <= event.rho <= epsilon * math.tanh(epsilon / 2) * 1.003


def test_a_mechanism_that_ignores_its_input_costs_nothing() -> None:
    constant = Finite.from_channel([[0.5, 0.5], [0.5, 0.5]])
    assert constant.event == Event(F(0), F(0))
    assert constant.epsilon(0) == constant.delta(0) == constant.renyi(2) == 0


def test_an_infinite_epsilon_cannot_be_charged_and_the_remedy_can() -> None:
    mechanism = Finite.from_pair(["1/2", "1/2", 0], ["1/2", "3/8", "1/8"])
    with pytest.raises(CatalogError, match=r"\.at\(delta\), with delta at least 0\.125"):
        _ = mechanism.event
    assert math.isinf(mechanism.renyi(2))
    assert mechanism.at("1/8").event.delta == F(1, 8)


# Groups.


def test_groups_of_a_channel_are_the_inputs_that_many_steps_apart() -> None:
    rows = [[F(8, 10), F(2, 10)], [F(6, 10), F(4, 10)], [F(4, 10), F(6, 10)], [F(1, 10), F(9, 10)]]
    path = Finite.from_channel(rows, neighbours=[(1, 0), (1, 2), (3, 2)])
    assert path.group(1) is path
    assert path.group(2).neighbours == ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))  # type: ignore[union-attr]
    assert path.group(3) == path.group(9) == Finite.from_channel(rows)
    assert path.group(2).epsilon(0) == pytest.approx(math.log(6), rel=1e-15)
    assert path.group(3).epsilon(0) == pytest.approx(math.log(8), rel=1e-15)


def test_unconnected_inputs_never_meet_in_a_group() -> None:
    blocks = Finite.from_channel([[1, 0], [1, 0], [0, 1], [0, 1]], neighbours=[(0, 1), (2, 3)])
    assert blocks.group(5).epsilon(0) == 0.0


def test_two_people_under_the_two_coins_lose_at_most_twice_ln_3() -> None:
    """The chain 3/4 -> 1/4 -> 1/12 of one answer is possible: f = 1/12 reaches t = 3/4."""
    pair = Finite.from_pair([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]).group(2)
    assert pair.epsilon(0) == pytest.approx(2 * math.log(3), rel=1e-15)
    assert pair.tpr(F(1, 12)) == pytest.approx(3 / 4)


@settings(max_examples=12 * DEPTH, deadline=None)
@given(st.integers(2, 3).flatmap(lambda m: st.lists(laws(m), min_size=3, max_size=4)))
def test_the_group_of_a_bare_pair_covers_every_chain_of_such_pairs(rows: list[Law]) -> None:
    path = Finite.from_channel(rows, neighbours=[(i, i + 1) for i in range(len(rows) - 1)])
    alone = path.dominating_pair()
    for size in (2, 3):
        for epsilon in EPSILONS:
            assert path.group(size).delta(epsilon) <= alone.group(size).delta(epsilon)


@settings(max_examples=30 * DEPTH, deadline=None)
@given(inner_pairs, st.integers(2, 4))
def test_the_group_of_a_bare_pair_is_never_worse_than_both_general_forms(pair: tuple[Law, Law], size: int) -> None:
    single = Finite.from_pair(*pair)
    group = single.group(size)
    assert group.epsilon(0) <= size * single.epsilon(0) * (1 + 1e-15)
    assert group.group(1) is group
    for epsilon in EPSILONS:
        assert group.delta(epsilon) <= min(1, ProfileGroup(single, size).delta(epsilon)) * (1 + 1e-15)


# Post-processing.


@deep
@given(
    st.tuples(st.integers(2, 3), st.integers(2, 4), st.integers(1, 3)).flatmap(
        lambda n: st.tuples(
            st.lists(laws(n[1]), min_size=n[0], max_size=n[0]), st.lists(laws(n[2]), min_size=n[1], max_size=n[1])
        )
    )
)
def test_no_function_of_the_answer_costs_anything_not_even_a_randomized_one(
    game: tuple[list[Law], list[Law]],
) -> None:
    rows, kernel = game
    before, later = Finite.from_channel(rows), Finite.from_channel(rows).after(kernel)
    for epsilon in EPSILONS:
        assert later.delta(epsilon) <= before.delta(epsilon)
    for delta in (0, F(1, 10), F(1, 3)):
        assert later.epsilon(delta) <= before.epsilon(delta)
    assert later.renyi(2.0) <= before.renyi(2.0) * (1 + 1e-9) + 1e-12


def test_a_randomized_function_of_the_two_coins_loses_less() -> None:
    """Flip the answer once more with probability 1/4: the truth is told with 5/8, odds 5/3."""
    flipped = Finite.almost_random().after([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    assert flipped.rows[0] == (F(5, 8), F(3, 8))
    assert flipped.epsilon(0) == pytest.approx(math.log(5 / 3), rel=1e-15)


# The law of the loss.


def spread_delta(losses: Any, masses: Any, infinite: float, epsilon: float) -> float:
    return float(np.sum(masses * -np.expm1(np.minimum(epsilon - losses, 0)))) + infinite


@deep
@given(channels, st.sampled_from(EPSILONS))
def test_the_spread_of_a_channel_has_the_largest_profile_of_all_neighbours(
    rows: list[Law], epsilon: float
) -> None:
    mechanism = Finite.from_channel(rows)
    found = max(spread_delta(s.losses, s.masses, s.infinite, epsilon) for s in mechanism.spreads())
    with mpmath.workdps(60):
        exact = max(by_subsets(p, q, epsilon) for p, q in combinations(rows, 2))
    assert found == pytest.approx(float(max(0, exact)), abs=1e-14)
    assert mechanism.dominating_pair().delta(epsilon) == mechanism.delta(epsilon)


def test_a_pair_attains_a_law_in_each_order_unless_they_are_the_same() -> None:
    assert len(Finite.almost_random().attained()) == 1
    first, second = Finite.from_pair(["1/2", "1/2", 0], ["1/4", "1/2", "1/4"]).attained()
    assert first.losses == pytest.approx([math.log(2), 0])
    assert (first.infinite, second.infinite) == (0, 0.25)
    assert second.losses == pytest.approx([0, -math.log(2)])
    assert second.masses == pytest.approx([0.5, 0.25])


def test_releases_compose_soundly_though_each_may_use_the_pair_in_another_order() -> None:
    """One release takes the person from p to q, the next from q to p: neither order alone covers both of them."""
    p, q = (F(1, 10), F(9, 10)), (F(4, 10), F(6, 10))
    crossed = Finite.from_pair([a * b for a, b in product(p, q)], [a * b for a, b in product(q, p)])
    straight = Finite.from_pair([a * b for a, b in product(p, p)], [a * b for a, b in product(q, q)])
    points = [i / 10 for i in range(20)]
    assert any(straight.delta(e) < crossed.delta(e) for e in points)
    for loss in (Finite.from_pair(p, q), Finite.from_channel([p, q])):
        batch = PrivacyLossDistribution([(loss, 2)])
        assert all(batch.delta(e) >= max(crossed.delta(e), straight.delta(e)) for e in points)


# What is refused, and how numbers are read.


def test_exact_numbers_must_sum_to_one_exactly_and_floats_to_their_last_digits() -> None:
    third = 1 / 3
    assert Finite.from_pair([third] * 3, ["1/3", "1/3", "1/3"]).epsilon(0) == 0.0
    assert Finite.from_pair([0.1, 0.9], [0.9, 0.1]).rows[0] == (F(1, 10), F(9, 10))
    assert Finite.from_pair(np.array([0.5, 0.5]), np.array([0.25, 0.75])).epsilon(0) == pytest.approx(math.log(2))  # type: ignore[arg-type]
    with pytest.raises(CatalogError, match=r"q must sum to 1, not 0.999"):
        Finite.from_pair([0.5, 0.5], ["0.999", 0])
    with pytest.raises(CatalogError, match="p must sum to 1"):
        Finite.from_pair([F(1, 2), F(1, 2) - F(1, 10**12)], [1, 0])
    with pytest.raises(CatalogError, match="p must sum to 1"):
        Finite.from_pair([0.5, 0.500001], [1, 0])


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, "x", None, True])
def test_a_probability_that_is_none_is_refused_by_its_place(bad: Any) -> None:
    with pytest.raises(CatalogError, match=r"q\[1\]"):
        Finite.from_pair([0.5, 0.5], [0.5, bad])
    with pytest.raises(CatalogError, match=r"matrix\[1\]\[0\]"):
        Finite.from_channel([[1, 0], [bad, 0]])


@pytest.mark.parametrize("neighbours", [[], [(0, 0)], [(0, 2)], [(-1, 0)]])
def test_neighbours_are_pairs_of_different_rows(neighbours: list[tuple[int, int]]) -> None:
    with pytest.raises(CatalogError, match="neighbours must be pairs of two different rows, numbered 0 to 1"):
        Finite.from_channel([[1, 0], [0, 1]], neighbours=neighbours)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CatalogError, match="p and q must list the same outcomes, not 2 and 3"):
        Finite.from_pair([1, 0], [1, 0, 0])
    for matrix in ([[1, 0]], [[1, 0], [1]], []):
        with pytest.raises(CatalogError, match="matrix must have at least two rows"):
            Finite.from_channel(matrix)
    with pytest.raises(CatalogError, match="kernel must have one row per outcome, 2 in total"):
        Finite.almost_random().after([[1]])
    with pytest.raises(CatalogError, match="both be dictionaries"):
        privacy_loss({"a": 1}, [1])  # type: ignore[call-overload]
    with pytest.raises(CatalogError, match="answers"):
        Finite.randomized_response(0.5, answers=1)
    with pytest.raises(CatalogError, match="truth"):
        Finite.randomized_response(1.5)
    with pytest.raises(CatalogError, match="order must be above 1"):
        Finite.almost_random().renyi(1)
    with pytest.raises(CatalogError, match="size"):
        Finite.almost_random().group(0)
