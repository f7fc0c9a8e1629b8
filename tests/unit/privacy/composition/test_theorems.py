"""Every theorem: never below the exact loss of enumerated games, and its two directions are inverse."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp  # type: ignore[import-untyped]
from tests.depth import DEPTH, thinned
from tests.unit.privacy.composition.composition_games import Game, hockey_stick, response, then, together

from jali.privacy.composition.advanced_composition import ADVANCED, ADVANCED_TANH, classic_drift, mean_drift
from jali.privacy.composition.basic_composition import BASIC, SHARED, SINGLE
from jali.privacy.composition.compose import THEOREMS
from jali.privacy.composition.compound import Parts, merge_parts
from jali.privacy.composition.numerical_composition import GAUSSIAN, NUMERICAL
from jali.privacy.composition.optimal_composition import OPTIMAL
from jali.privacy.composition.renyi_composition import CONCENTRATED, CONCENTRATED_SIMPLE, RENYI
from jali.privacy.composition.theorem import Theorem
from jali.privacy.conversions import renyi_epsilon
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.losses.renyi_loss import Renyi

MILLIONTH = Fraction(1, 10**6)
MIXED: Parts = ((Pure("1/10"), 20), (Pure("1/5"), 5), (Approximate("3/10", "1e-8"), 3))
QUICK = [theorem for theorem in THEOREMS if theorem is not NUMERICAL]
COIN = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3)])
FAILURE = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 1000), Fraction(1, 20)])


@settings(max_examples=30 * DEPTH, derandomize=True, deadline=None)
@given(st.lists(st.tuples(COIN, FAILURE), min_size=1, max_size=5), st.fractions(0, 6, max_denominator=40))
def test_no_theorem_claims_less_than_the_exact_loss(coins: list[tuple[Fraction, Fraction]], at: Fraction) -> None:
    """Randomized responses with failures have exactly the loss Approximate(e, d): nothing may undercut them."""
    parts = merge_parts((Approximate(e, d) if d else Pure(e), 1) for e, d in coins)
    with mp.workdps(40):
        game = together(*(response(e, d) for e, d in coins))
        truth = hockey_stick(game, at)
        for theorem in QUICK:
            delta = theorem.delta(parts, at)
            assert delta is None or delta >= truth
            if truth > 0:
                epsilon = theorem.epsilon(parts, Fraction(str(mp.nstr(truth, 30))) * (1 - Fraction(1, 10**12)))
                assert epsilon is None or epsilon >= at * (1 - Fraction(1, 10**12))


@thinned(4)
@pytest.mark.parametrize("theorem", [t for t in QUICK if t is not BASIC], ids=str)
@pytest.mark.parametrize("power", [1, 3, 6, 12, 60])
def test_the_two_directions_are_inverse(theorem: Theorem, power: int) -> None:
    delta = Fraction(1, 10**power) + 3 * Fraction(1, 10**8)
    parts: dict[Theorem, Parts] = {
        SINGLE: ((Pure(1), 1),),
        SHARED: ((Pure("1/10"), 2), (GaussianLoss(2), 3)),
        OPTIMAL: ((Pure("1/10"), 50),),
        GAUSSIAN: ((GaussianLoss(3), 50), (GaussianLoss(2, sensitivity=3), 2)),
    }
    chosen = parts.get(theorem, MIXED)
    epsilon = theorem.epsilon(chosen, delta)
    assert epsilon is not None
    if epsilon > 0:
        assert theorem.delta(chosen, Fraction(epsilon)) == pytest.approx(float(delta), rel=1e-6)


def test_basic_composition_adds_epsilons_and_deltas_exactly() -> None:
    assert BASIC.epsilon(MIXED, MILLIONTH) == pytest.approx(3.9, abs=1e-15)
    assert BASIC.epsilon(MIXED, Fraction(3, 10**8)) == BASIC.epsilon(MIXED, MILLIONTH)
    assert BASIC.epsilon(MIXED, Fraction(29, 10**9)) == math.inf
    assert BASIC.delta(MIXED, Fraction(39, 10)) == pytest.approx(3e-8, rel=1e-15)
    assert BASIC.delta(MIXED, Fraction(38, 10)) == 1.0


def test_losses_without_an_epsilon_join_at_equal_shares_of_delta() -> None:
    parts: Parts = ((Approximate(1, "1e-7"), 1), (GaussianLoss(4), 3))
    share = (MILLIONTH - Fraction(1, 10**7)) / 3
    assert SHARED.epsilon(parts, MILLIONTH) == pytest.approx(1 + 3 * GaussianLoss(4).epsilon(share), rel=1e-14)
    assert SHARED.epsilon(parts, Fraction(1, 10**8)) == math.inf
    assert SHARED.epsilon(parts, Fraction(1, 10**7)) == math.inf
    assert SHARED.epsilon(((Pure(1), 2),), MILLIONTH) is None


def test_a_loss_without_an_event_joins_too() -> None:
    curve = Renyi({order: order * 0.1 for order in range(2, 40)})
    parts: Parts = ((Pure(1), 1), (curve, 1))
    assert SHARED.epsilon(parts, MILLIONTH) == pytest.approx(1 + curve.epsilon(MILLIONTH), rel=1e-14)
    for theorem in (BASIC, ADVANCED, ADVANCED_TANH, OPTIMAL, CONCENTRATED, CONCENTRATED_SIMPLE, NUMERICAL):
        assert theorem.epsilon(parts, MILLIONTH) is None
        assert theorem.delta(parts, Fraction(1)) is None
        assert "Renyi" in (theorem.obstacle(parts) or "")


def test_advanced_composition_of_different_losses() -> None:
    squares = 20 * 0.01 + 5 * 0.04 + 3 * 0.09
    root = math.sqrt(2 * squares * math.log(1 / (1e-6 - 3e-8)))
    for theorem, drift in ((ADVANCED, math.expm1), (ADVANCED_TANH, lambda e: math.tanh(e / 2))):
        mean = 20 * 0.1 * drift(0.1) + 5 * 0.2 * drift(0.2) + 3 * 0.3 * drift(0.3)
        assert theorem.epsilon(MIXED, MILLIONTH) == pytest.approx(root + mean, rel=1e-12)
        assert theorem.delta(MIXED, Fraction(mean / 2)) == 1.0
        assert theorem.epsilon(MIXED, Fraction(3, 10**8)) == math.inf


def test_the_drift_is_the_mean_loss_of_randomized_response() -> None:
    for epsilon in (0.01, 0.5, 2.0, 9.0):
        with mp.workdps(30):
            (p, q), _ = response(epsilon)
            mean = p * mp.log(p / q) + q * mp.log(q / p)
            assert mean_drift(epsilon) == pytest.approx(mean, rel=1e-13)
            assert mean_drift(epsilon) <= classic_drift(epsilon)
    assert classic_drift(1000.0) == math.inf


def test_rhos_add_and_event_deltas_are_set_aside() -> None:
    rho = 20 * 0.005 + 5 * 0.02 + 3 * 0.045
    rest = 1e-6 - 3e-8
    assert CONCENTRATED_SIMPLE.epsilon(MIXED, MILLIONTH) == pytest.approx(
        rho + 2 * math.sqrt(rho * math.log(1 / rest)), rel=1e-12
    )
    grid = [1 + i / 1000 for i in range(1, 40_000)]
    tight = min(rho * a + (math.log(1 / rest) - math.log(a - 1) + a * math.log1p(-1 / a)) / (a - 1) for a in grid)
    assert CONCENTRATED.epsilon(MIXED, MILLIONTH) == pytest.approx(tight, rel=1e-6)


def test_renyi_curves_add_order_by_order() -> None:
    parts: Parts = ((Pure(1), 2), (GaussianLoss(2), 3))
    expected = renyi_epsilon(lambda a: 2 * Pure(1).renyi(a) + 3 * a / 8, 1e-6)
    assert RENYI.epsilon(parts, MILLIONTH) == pytest.approx(expected, rel=1e-12)


def test_renyi_composition_looks_at_the_orders_that_a_curve_lists() -> None:
    parts: Parts = ((Renyi({2.345: 0.25, 5.678: 1.25}), 1),)
    assert RENYI.epsilon(parts, MILLIONTH) == pytest.approx(
        Renyi({2.345: 0.25, 5.678: 1.25}).epsilon(1e-6), rel=1e-12
    )


def test_a_loss_with_a_delta_enters_the_renyi_sum_by_its_main_part() -> None:
    parts: Parts = ((Approximate(5, "1e-7"), 1), (Concentrated("1/100"), 1))
    expected = renyi_epsilon(lambda a: Pure(5).renyi(a) + a / 100, 9e-7)
    assert RENYI.epsilon(parts, MILLIONTH) == pytest.approx(expected, rel=1e-12)


def test_losses_without_a_divergence_do_not_compose_by_renyi() -> None:
    group = Renyi({2: 1}).group(2)
    assert RENYI.obstacle(((group, 1),)) == "ProfileGroup has no bounded Rényi divergence"
    assert RENYI.epsilon(((group, 1), (Pure(1), 1)), MILLIONTH) is None


def test_one_release_alone_has_its_own_profile() -> None:
    assert SINGLE.epsilon(((GaussianLoss(1), 1),), MILLIONTH) == GaussianLoss(1).epsilon(MILLIONTH)
    assert SINGLE.delta(((GaussianLoss(1), 1),), Fraction(1)) == GaussianLoss(1).delta(1)
    assert SINGLE.obstacle(((GaussianLoss(1), 2),)) == "there are 2 releases"


def test_every_theorem_has_a_name_and_a_citation_of_its_own() -> None:
    assert len({theorem.name for theorem in THEOREMS}) == len(THEOREMS)
    assert all(theorem.citation and str(theorem) == theorem.name for theorem in THEOREMS)
    assert {t for t in THEOREMS if t.adaptive_parameters} == {BASIC, CONCENTRATED, CONCENTRATED_SIMPLE}
    assert all(theorem.concurrent for theorem in THEOREMS)


# Adaptivity.


def test_epsilons_add_when_the_second_question_depends_on_the_first_answer() -> None:
    """The lecture's adaptive composition: at e1+e2 nothing is left, and no smaller epsilon would do."""
    with mp.workdps(40):
        first, second = Fraction(1, 2), Fraction(3, 4)
        # After one answer the same coin is asked; after the other the opposite coin, which is as private.
        flipped = [(q, p) for p, q in response(second)]
        game = then(response(first), lambda seen: response(second) if seen == 0 else flipped)
        assert hockey_stick(game, first + second) < mp.mpf("1e-35")
        assert hockey_stick(game, first + second - Fraction(1, 1000)) > 1e-4


def adaptive_game(delta: Fraction) -> tuple[Game, Parts, Parts, Fraction]:
    """A game whose second loss depends on the first answer, with the losses of both branches.

    Where the first answer already favours one table, a second coin just strong enough to pass the limit in that
    branch alone; elsewhere a release that fails with probability delta.
    """
    first, limit, tiny = Fraction(1), Fraction(3, 2), Fraction(1, 10**6)
    coins = (Fraction(i, 1000) for i in range(501, 1000))
    second = max(coin for coin in coins if _declared_delta(((Pure(first), 1), (Pure(coin), 1)), limit) <= delta)
    strong: Parts = ((Pure(first), 1), (Pure(second), 1))
    failing: Parts = ((Pure(first), 1), (Approximate(tiny, delta), 1))
    game = then(response(first), lambda seen: response(second) if seen == 0 else response(tiny, delta))
    return game, strong, failing, limit


def _declared_delta(parts: Parts, epsilon: Fraction) -> Fraction:
    games = [response(event.epsilon or 0, event.delta) for event in (loss.event for loss, _ in parts)]
    return Fraction(mp.nstr(hockey_stick(together(*games), epsilon), 30))


def test_the_exact_loss_of_declared_parameters_does_not_bound_adaptive_ones() -> None:
    """Each branch alone is (3/2, delta)-DP to the last digit; the game that chooses between them is not."""
    delta = Fraction(1, 100)
    with mp.workdps(40):
        game, strong, failing, limit = adaptive_game(delta)
        assert _declared_delta(strong, limit) <= delta
        assert _declared_delta(failing, limit) <= delta
        forth = sum((max(p - mp.exp(mp.mpf(3) / 2) * q, 0) for p, q in game), mp.mpf(0))
        assert forth > 1.2 * float(delta)


def test_sums_of_events_do_bound_adaptive_parameters() -> None:
    delta = Fraction(1, 100)
    with mp.workdps(40):
        game, strong, failing, _ = adaptive_game(delta)
        epsilon = max(sum((loss.event.epsilon or 0) * n for loss, n in parts) for parts in (strong, failing))
        assert hockey_stick(game, epsilon) <= delta
