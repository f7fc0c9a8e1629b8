"""Odometers: the loss stays below all readings at once, checked by exact enumeration of adaptive games."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, deep, thinned
from tests.unit.privacy.adaptive_games import Law, Mechanism, crossing, damage, exp_below, pair, response

from jali.errors import BudgetExceeded, CatalogError
from jali.privacy import NOTHING, Approximate, Concentrated, Pure, Renyi
from jali.privacy.conversions import simple_epsilon
from jali.privacy.filters import largest_simple_rho
from jali.privacy.losses.finite_mechanism import Finite
from jali.privacy.odometers import ApproximateOdometer, ConcentratedOdometer, PureOdometer, mixture_bound

F = Fraction
Odometer = PureOdometer | ConcentratedOdometer | ApproximateOdometer


@dataclass(frozen=True)
class Reading:
    """The meter of an odometer."""

    start: Odometer

    def add(self, spent: Odometer, mechanism: Mechanism) -> Odometer:
        return spent.charge(mechanism.loss)

    def reading(self, spent: Odometer) -> float:
        return spent.epsilon


def laws(least: int) -> st.SearchStrategy[Law]:
    weights = st.lists(st.integers(least, 9), min_size=2, max_size=2)
    return weights.map(lambda w: tuple(F(x, sum(w)) for x in w))


menus = st.lists(
    st.sampled_from([1, 4, 6]).flatmap(lambda n: st.builds(pair, laws(n), laws(n))), min_size=1, max_size=2
)
small_games = settings(max_examples=25 * DEPTH, deadline=None)


@small_games
@given(menus)
def test_no_strategy_ever_loses_more_than_the_sum(menu: list[Mechanism]) -> None:
    assert crossing(Reading(PureOdometer()), menu, 5) == 0


@deep
@small_games
@given(menus, st.sampled_from([F(1, 20), F(1, 4), F(1, 2)]), st.sampled_from([F(1, 100), F(1, 5), F(3)]))
def test_no_strategy_exceeds_some_reading_with_more_than_delta(
    menu: list[Mechanism], delta: Fraction, expected: Fraction
) -> None:
    assert crossing(Reading(ConcentratedOdometer(delta, expected)), menu, 6) <= delta
    assert crossing(Reading(ApproximateOdometer(2 * delta / 3, expected)), menu, 6) <= delta / 3


@deep
def test_over_many_rounds_the_readings_hold_and_are_not_idle() -> None:
    """Two hundred questions at odds 3/2: some reading is exceeded with 3 % at delta 10 %, and never without."""
    question, delta = response(F(3, 2)), F(1, 10)
    meter = Reading(ConcentratedOdometer(delta, 10 * question.event.rho))
    found = crossing(meter, [question], 200)
    assert delta / 5 < found <= delta


@dataclass(frozen=True)
class Watch:
    """A gate that stops before the reading would exceed a limit."""

    limit: float
    start: ConcentratedOdometer

    def admits(self, spent: ConcentratedOdometer, mechanism: Mechanism) -> bool:
        return spent.charge(mechanism.loss).epsilon <= self.limit

    def add(self, spent: ConcentratedOdometer, mechanism: Mechanism) -> ConcentratedOdometer:
        return spent.charge(mechanism.loss)


def test_stopping_when_the_reading_would_be_too_high_is_a_filter() -> None:
    gate = Watch(2.0, ConcentratedOdometer("1/2", "1/4"))
    assert 0 < damage(gate, [response(F(6, 5))], exp_below(2), 30) <= F(1, 2)


# What is not an odometer.


@dataclass(frozen=True)
class Repeated:
    """Wrong: a bound for t questions of one kind, evaluated again after every answer."""

    question: Mechanism
    delta: Fraction
    bound: str
    start: int = 0

    def add(self, spent: int, mechanism: Mechanism) -> int:
        return spent + 1

    def reading(self, spent: int) -> float:
        if not spent:
            return 0.0
        if self.bound == "advanced":
            return simple_epsilon(float(spent * self.question.event.rho), float(self.delta))
        p, q = binomial(self.question, spent)
        return (
            Finite.from_pair(p, q).epsilon(self.delta) if self.bound == "optimal" else quantile(p, q, self.delta)
        )


@cache
def binomial(question: Mechanism, times: int) -> tuple[Law, Law]:
    truth = question.p[0]
    p = tuple(math.comb(times, j) * truth**j * (1 - truth) ** (times - j) for j in range(times + 1))
    return p, p[::-1]


def quantile(p: Law, q: Law, delta: Fraction) -> float:
    """Return the least loss that is exceeded with at most delta: the sharpest bound at this time alone."""
    tail = F(0)
    for a, b in sorted(zip(p, q, strict=True), key=lambda atom: atom[0] / atom[1], reverse=True):
        tail += a
        if tail > delta:
            return math.log(a / b) + 1e-9
    raise AssertionError


@pytest.mark.parametrize(
    ("bound", "rounds", "factor"), [("quantile", 20, 1.8), ("optimal", 20, 7.5), ("advanced", 200, 1.1)]
)
def test_a_bound_for_one_time_evaluated_after_every_answer_is_not_an_odometer(
    bound: str, rounds: int, factor: float
) -> None:
    question, delta = response(F(3, 2)), F(1, 10)
    found = crossing(Repeated(question, delta, bound), [question], rounds)
    assert found > F(factor) * delta


def test_each_of_these_bounds_does_hold_at_one_time_alone() -> None:
    question, delta = response(F(3, 2)), F(1, 10)
    for times in (5, 20, 60):
        p, q = binomial(question, times)
        for bound in ("quantile", "advanced"):
            reading = Repeated(question, delta, bound).reading(times)
            assert sum(a for a, b in zip(p, q, strict=True) if a > exp_below(reading) * b) <= delta


# The bound itself.


@thinned(4)
@pytest.mark.parametrize("rho", ["1/1000", "1/2", 7])
@pytest.mark.parametrize("delta", ["1e-9", "1e-3", "1/3", "0.9"])
@pytest.mark.parametrize("expected", ["1/100", 5])
def test_the_reading_solves_the_mixture_equation_from_above(rho: Any, delta: Any, expected: Any) -> None:
    """Integrate exp(l X - l^2 V / 2) against the half normal law numerically: it is 1/delta at the bound."""
    found = mixture_bound(F(rho), F(delta), F(expected))
    with mpmath.workdps(30):
        s, d, guess = (mpmath.mpf(F(x).numerator) / F(x).denominator for x in (rho, delta, expected))
        twice = 2 * mpmath.log(1 / d)
        v = 2 * guess / (twice + mpmath.log1p(twice))
        x, spread = found - s, 1 / mpmath.sqrt(v + 2 * s)
        top = max(x * spread**2, 0)

        def integrand(at: mpmath.mpf) -> mpmath.mpf:
            density = mpmath.sqrt(2 * v / mpmath.pi) * mpmath.exp(-v * at * at / 2)
            return density * mpmath.exp(at * x - at * at * s)

        mass = mpmath.quad(integrand, [max(0, top - 12 * spread), top, top + 12 * spread])
        assert 1 <= mass * d < 1 + mpmath.mpf("1e-9")
        closed = s + mpmath.sqrt((2 * s + v) * (mpmath.log((2 * s + v) / v) + twice))
        assert found <= closed * (1 + mpmath.mpf("1e-12"))


def test_the_reading_is_sharpest_near_the_expected_loss() -> None:
    rho, delta = F(1, 2), F(1, 10**6)
    at_guess = mixture_bound(rho, delta, rho)
    assert at_guess == pytest.approx(6.038, abs=1e-3)
    assert at_guess < min(mixture_bound(rho, delta, rho * k) for k in (F(1, 20), F(1, 4), 4, 20))
    assert Concentrated(rho).epsilon(delta) < at_guess


def test_the_reading_starts_at_zero_and_never_falls() -> None:
    odometer = ConcentratedOdometer(1e-6, 0.1)
    readings = [odometer.epsilon]
    for _ in range(300):
        odometer = odometer.charge(Pure(0.05))
        readings.append(odometer.epsilon)
    assert readings[0] == 0
    assert readings == sorted(readings)
    assert readings[1] == pytest.approx(0.05)  # one question: the sum of epsilons
    assert readings[-1] < 0.4 * 300 * 0.05


def test_gaussian_noise_has_a_reading_without_a_sum_of_epsilons() -> None:
    odometer = ApproximateOdometer(1e-6, 1).charge(Pure(0.1)).charge(Concentrated(0.01))
    half = F(1, 2 * 10**6)
    assert odometer.spent.epsilon is None
    assert odometer.epsilon == mixture_bound(odometer.spent.rho, half, largest_simple_rho(F(1), half))


# What is refused.


def test_events_with_a_delta_use_the_part_set_aside_and_no_more() -> None:
    odometer = ApproximateOdometer(1e-6, 1, delta_events="3e-7")
    for _ in range(3):
        odometer = odometer.charge(Approximate(0.1, "1e-7"))
    assert odometer.epsilon == pytest.approx(0.3)
    with pytest.raises(BudgetExceeded) as refused:
        odometer.charge(Approximate(0.1, "1e-7"))
    assert (refused.value.kind, refused.value.remaining) == ("delta", F(0))
    assert odometer.charge(Pure(0.1)).delta == F(1, 10**6)


def test_an_odometer_refuses_what_it_cannot_read() -> None:
    for loss in (Concentrated(1), Approximate(1, 0.1)):
        with pytest.raises(CatalogError, match="not pure"):
            PureOdometer().charge(loss)
    with pytest.raises(CatalogError, match="has its own delta"):
        ConcentratedOdometer(1e-6, 1).charge(Approximate(1, 0.1))
    for odometer in (PureOdometer(), ConcentratedOdometer(1e-6, 1), ApproximateOdometer(1e-6, 1)):
        with pytest.raises(CatalogError, match=r"\.at\(delta\)"):
            odometer.charge(Renyi({2: 0.01}))


@pytest.mark.parametrize("delta", [0, -1, 1, math.nan, "x"])
def test_a_reading_needs_a_delta(delta: Any) -> None:
    with pytest.raises(CatalogError, match="delta"):
        ConcentratedOdometer(delta, 1)
    with pytest.raises(CatalogError, match="delta"):
        ApproximateOdometer(delta, 1)


def test_the_guess_is_positive_and_a_part_of_delta_is_left() -> None:
    with pytest.raises(CatalogError, match="expected_rho"):
        ConcentratedOdometer(0.1, 0)
    with pytest.raises(CatalogError, match="expected_epsilon"):
        ApproximateOdometer(0.1, 0)
    with pytest.raises(CatalogError, match="delta_events must be below delta"):
        ApproximateOdometer(0.1, 1, delta_events=0.1)


def test_a_tiny_delta_has_a_finite_reading() -> None:
    assert mixture_bound(F(1), F(1, 10**500), F(1)) == pytest.approx(
        1 + math.sqrt(4 * 500 * math.log(10)), rel=0.1
    )
    assert PureOdometer().delta == 0
    assert ConcentratedOdometer(0.5, 1).spent == NOTHING
