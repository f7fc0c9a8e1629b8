"""Laws of losses, for every kind: profiles, conversions, readings, groups and compositions never gain privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, deep, thinned
from tests.laws.losses import ATTAINED, KINDS

from jali.errors import CatalogError
from jali.privacy import Concentrated, Loss, PrivacyLossDistribution, Pure, compose
from jali.privacy.conversions import renyi_delta

POINTS = (0.0, 0.05, 0.4, 1.0, 2.5)
LEVELS = ("1e-9", "1e-4", "0.02", "0.3")
# Searches and sums in doubles: what two ways to the same number may differ by.
SLACK = 1e-5
# The same losses every time, so that a run tells of the change at hand; the deep run looks for new ones.
REPEATABLE = settings(deadline=None, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck))


def law(kinds: dict[str, st.SearchStrategy[Loss]], examples: int = 6) -> Callable[[Callable[[Loss], None]], Any]:
    """Run a test for losses of each kind; so many in deep runs, times the depth, and half of them else."""
    drawn_of_each = math.ceil(examples / 2) if DEPTH == 1 else examples * DEPTH

    def decorate(check: Callable[[Loss], None]) -> Any:
        @pytest.mark.parametrize("kind", list(kinds))
        def test(kind: str) -> None:
            @settings(REPEATABLE, max_examples=drawn_of_each)
            @given(kinds[kind])
            def drawn(loss: Loss) -> None:
                check(loss)

            drawn()

        return test

    return decorate


@thinned(4)
@law(KINDS)
def test_delta_falls_as_epsilon_grows(loss: Loss) -> None:
    deltas = [loss.delta(point) for point in POINTS]
    assert all(0 <= delta <= 1 for delta in deltas)
    assert all(before >= after * (1 - SLACK) for before, after in pairwise(deltas))


@thinned(4)
@law(KINDS)
def test_a_conversion_there_and_back_never_gains_privacy(loss: Loss) -> None:
    for level in LEVELS:
        epsilon = loss.epsilon(level)
        if math.isfinite(epsilon):
            assert loss.delta(epsilon) <= float(level) * (1 + SLACK)
    for point in POINTS:
        delta = loss.delta(point)
        if 1e-12 < delta < 1:
            # Not less epsilon than the profile shows at a slightly larger delta.
            assert loss.epsilon(min(delta * 1.0001, 0.999999999)) <= point + 1e-4
            assert loss.epsilon(delta * 0.99) >= min(point, loss.epsilon(delta * 0.98)) - SLACK


@law(KINDS)
def test_a_fixed_point_is_charged_no_less_than_it_costs(loss: Loss) -> None:
    if math.isfinite(loss.epsilon("1e-4")):
        event = loss.at("1e-4").event
        assert event.delta == Fraction(1, 10_000)
        assert event.epsilon is not None
        assert event.epsilon >= loss.epsilon("1e-4")


@thinned(4)
@law(KINDS, examples=3)
def test_the_trade_off_curve_is_a_curve_and_respects_every_point_of_the_profile(loss: Loss) -> None:
    rates = (0.0, 0.05, 0.3, 0.7, 1.0)
    fnrs = [loss.fnr(rate) for rate in rates]
    assert all(before >= after - 1e-12 for before, after in pairwise(fnrs))
    profile = [(point, loss.delta(point)) for point in POINTS]
    for rate, fnr in zip(rates, fnrs, strict=True):
        assert 0 <= fnr <= 1 - rate
        assert loss.tpr(rate) == pytest.approx(1 - fnr, abs=1e-15)
        for point, delta in profile:
            assert fnr >= 1 - delta - math.exp(point) * rate - 2e-3


@thinned(4)
@law(KINDS)
def test_the_posterior_is_never_below_the_prior_and_has_the_odds_of_the_loss(loss: Loss) -> None:
    posteriors = [loss.posterior(prior, delta="0.001") for prior in (0, 0.1, 0.5, 0.9, 1)]
    assert posteriors == sorted(posteriors)
    assert (posteriors[0], posteriors[-1]) == (0, 1)
    epsilon = loss.epsilon("0.001")
    if epsilon < 15:
        assert posteriors[2] / (1 - posteriors[2]) == pytest.approx(math.exp(epsilon), rel=1e-6)


@law(KINDS)
def test_a_group_of_one_is_the_person(loss: Loss) -> None:
    one = loss.group(1)
    for point in POINTS:
        assert one.delta(point) == pytest.approx(loss.delta(point), rel=1e-9, abs=1e-300)


@thinned(4)
@law(KINDS, examples=4)
def test_a_larger_group_loses_more(loss: Loss) -> None:
    try:
        two, three = loss.group(2), loss.group(3)
    except CatalogError as refused:
        assert "no (epsilon, delta) guarantee" in str(refused)  # noqa: PT017
        return
    for point in POINTS:
        of_two = two.delta(point)
        assert loss.delta(point) <= of_two * (1 + 1e-6) + 1e-15
        assert of_two <= three.delta(point) * (1 + 1e-6) + 1e-15


@thinned(4)
@law(ATTAINED)
def test_no_other_reading_is_below_what_a_mechanism_attains(loss: Loss) -> None:
    attained = PrivacyLossDistribution([loss])
    for point in POINTS:
        low, high = attained.delta_bounds(point)
        assert low <= high * (1 + SLACK) + 1e-300
        assert low <= loss.delta(point) * (1 + SLACK) + 1e-300
        assert low <= renyi_delta(loss.renyi, point) * (1 + SLACK) + 1e-300
        event = loss.event
        rest = Concentrated(event.rho).delta(point) if event.rho else 0.0
        assert low <= (rest + float(event.delta)) * (1 + SLACK)
        if event.epsilon:
            assert low <= (Pure(event.epsilon).delta(point) + float(event.delta)) * (1 + SLACK) + 1e-300


def _pairs(kinds: dict[str, st.SearchStrategy[Loss]]) -> st.SearchStrategy[tuple[Loss, Loss]]:
    # The two kinds of sampling hold for different neighbours and do not compose with each other.
    fitting = [strategy for name, strategy in kinds.items() if name != "Poisson sample"]
    return st.tuples(st.one_of(fitting), st.one_of(fitting))


@settings(REPEATABLE, max_examples=4 * DEPTH)
@given(_pairs(KINDS), st.integers(1, 4))
def test_composition_is_monotone_and_has_no_order(pair: tuple[Loss, Loss], count: int) -> None:
    one, two = pair
    both, turned = compose((one, count), two), compose(two, (one, count))
    alone, more = compose((one, count)), compose((one, count + 1))
    for level in LEVELS:
        assert both.epsilon(level) == turned.epsilon(level)
        assert both.epsilon(level) >= alone.epsilon(level) * (1 - 1e-4) - 1e-9
        assert more.epsilon(level) >= alone.epsilon(level) * (1 - 1e-4) - 1e-9


@deep
@settings(REPEATABLE, max_examples=4 * DEPTH)
@given(_pairs(ATTAINED), st.integers(1, 5 if DEPTH == 1 else 20))
def test_composition_is_never_below_the_optimistic_distribution_nor_above_basic(
    pair: tuple[Loss, Loss], count: int
) -> None:
    one, two = pair
    both = compose((one, count), two)
    event, known = both.event, PrivacyLossDistribution([(one, count), two])
    for level in LEVELS:
        optimistic, _ = known.bounds(level)
        assert optimistic <= both.epsilon(level) * (1 + SLACK) + 1e-12
        if event.epsilon is not None and event.delta <= Fraction(level):
            assert both.epsilon(level) <= float(event.epsilon) * (1 + 1e-12)
