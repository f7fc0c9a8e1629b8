"""compose: what it accepts, what it returns, and how it says which theorem was used."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.privacy import (
    Adjacency,
    Approximate,
    BoundedRange,
    Budget,
    Concentrated,
    Event,
    Filter,
    Loss,
    Pure,
    RandomizedResponseLoss,
    Renyi,
)
from jali.privacy.composition.compose import THEOREMS, Composition, compose
from jali.privacy.composition.theorem_table import Bound, Inapplicable
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.losses.laplace_loss import LaplaceLoss
from jali.privacy.losses.subsampled_loss import SubsampledLoss
from jali.privacy.pld.privacy_loss_distribution import PrivacyLossDistribution

DELTA = 1e-6
LOSSES = [Pure(0.1), Pure(0.25), Approximate(0.2, "1e-9"), Concentrated(0.01), BoundedRange(0.3), GaussianLoss(8)]
SOME = st.lists(st.tuples(st.sampled_from(LOSSES), st.integers(1, 9)), min_size=1, max_size=5)


def test_equal_losses_are_counted_together_and_order_never_matters() -> None:
    first = compose(Pure(0.1), Concentrated(0.5), (Pure("1/10"), 3), Pure(0.2))
    second = compose(Pure(0.2), (Pure(0.1), 2), Concentrated("1/2"), (Pure(0.1), 2))
    assert first == second
    assert hash(first) == hash(second)
    assert first.parts == ((Concentrated(0.5), 1), (Pure(0.1), 4), (Pure(0.2), 1))
    assert first.epsilon(DELTA) == second.epsilon(DELTA)


def test_compositions_are_taken_apart() -> None:
    inner = compose((Pure(0.1), 2), Pure(0.2))
    assert compose((inner, 3), Pure(0.1)) == compose((Pure(0.1), 7), (Pure(0.2), 3))
    assert compose(PrivacyLossDistribution([(Pure(0.1), 4)]), Pure(0.1)) == compose((Pure(0.1), 5))


def test_a_composition_of_an_adaptive_one_is_adaptive() -> None:
    inner = compose(Pure(0.1), parameters="adaptive")
    assert compose(inner, Pure(0.1)) == compose((Pure(0.1), 2), parameters="adaptive")
    assert compose((inner, 2), Pure(0.1)).parameters == "adaptive"
    assert inner.group(2).event == compose(Pure(0.2), parameters="adaptive").event


def test_the_event_is_the_exact_sum_of_the_events() -> None:
    total = compose((Pure(0.1), 30), (Approximate("1/3", "1e-9"), 3))
    assert total.event == Event(Fraction(4), Fraction(30, 200) + Fraction(3, 18), Fraction(3, 10**9))
    assert compose(Pure(1), GaussianLoss(2)).event == Event(None, Fraction(5, 8))
    with pytest.raises(CatalogError, match="Rényi"):
        compose(Pure(1), Renyi({2: 1})).event  # noqa: B018 - the access is the test


def test_a_filter_counts_the_parts_not_the_distribution() -> None:
    """A hundred releases at 0.1 are 4.78 when declared together, but a filter goes on and must count 5.23."""
    batch, rule = compose((Pure(0.1), 100)), Filter(Budget("4.9", 1e-6, delta_events=0))
    assert batch.epsilon(DELTA) < 4.9
    assert not rule.admits(Event(Fraction(0), Fraction(0)), batch.event)
    assert Filter(Budget("5.23", 1e-6, delta_events=0)).admits(Event(Fraction(0), Fraction(0)), batch.event)


def test_a_batch_can_be_charged_as_one_point_fixed_in_advance() -> None:
    point = compose((Pure(0.1), 100)).at(DELTA)
    assert isinstance(point, Approximate)
    assert float(point.bound) == pytest.approx(4.774567588, abs=1e-9)
    assert point.event.delta == Fraction(1, 10**6)


def test_best_names_the_theorem() -> None:
    assert str(compose((LaplaceLoss(10), 100)).best(DELTA)) == (
        "epsilon 4.69267 at delta 1e-06, by the privacy-loss distribution (numerical)"
    )
    assert str(compose(GaussianLoss(1)).best(DELTA)) == (
        "epsilon 4.88656 at delta 1e-06, by the profile of the one release"
    )
    assert str(compose(Pure(0.2), Pure(0.5)).best(0)) == "epsilon 0.7 at delta 0, by basic composition"


def test_the_table_has_every_theorem_with_its_epsilon_or_its_reason() -> None:
    table = compose((Pure(0.1), 100)).table(DELTA)
    assert [row.theorem for row in table] == list(THEOREMS)
    assert str(table).splitlines() == [
        "epsilon    at delta 1e-06, by (* is the tightest)",
        "      -   the profile of the one release: there are 100 releases",
        "     10   basic composition",
        "      -   basic composition with shares of delta: no loss needs a share",
        "6.30824   advanced composition (Dwork, Rothblum and Vadhan)",
        "5.75611   advanced composition (tanh form)",
        "5.75653   zCDP with the simple conversion",
        "5.22154   zCDP with the tight conversion",
        "5.07311   Rényi divergences with the tight conversion",
        "      -   sums of squares for Gaussian noise (exact): not all noise is Gaussian",
        "4.77457 * optimal composition of equal losses (Kairouz, Oh and Viswanath)",
        "4.77457   the privacy-loss distribution (numerical)",
    ]
    assert len(table) == len(THEOREMS)
    assert repr(table) == "<11 theorems at delta 1e-06>"


def test_the_table_of_a_mix_says_what_each_theorem_lacks() -> None:
    rows = {row.theorem.name: row for row in compose(Pure(1), Concentrated(0.1)).table(DELTA)}
    lacking = rows["the privacy-loss distribution (numerical)"]
    assert isinstance(lacking, Inapplicable)
    assert lacking.reason == "Concentrated determines no privacy-loss distribution"
    assert str(lacking).startswith("no epsilon by the privacy-loss distribution (numerical): Concentrated")
    assert repr(lacking) == f"<{lacking}>"
    bound = rows["Rényi divergences with the tight conversion"]
    assert isinstance(bound, Bound)
    assert repr(bound) == f"<{bound}>"
    assert isinstance(rows["basic composition"], Inapplicable)


def test_a_delta_that_no_theorem_reaches_is_said_in_the_table_and_refused_by_best() -> None:
    batch = compose((Approximate(1, "1e-3"), 4))
    assert batch.epsilon(1e-6) == math.inf
    assert batch.table(1e-6).best is None
    assert "basic composition: delta is too small" in str(batch.table(1e-6))
    with pytest.raises(CatalogError, match="delta"):
        batch.best(1e-6)


def test_adaptive_parameters_leave_basic_composition_and_zcdp() -> None:
    batch = compose((Pure(0.1), 100), parameters="adaptive")
    assert {row.theorem.name for row in batch.table(DELTA) if isinstance(row, Bound)} == {
        "basic composition",
        "zCDP with the simple conversion",
        "zCDP with the tight conversion",
    }
    assert batch.epsilon(DELTA) == pytest.approx(5.2215344445, abs=1e-9)
    assert batch.delta(batch.epsilon(DELTA)) == pytest.approx(1e-6, rel=1e-9)
    with pytest.raises(CatalogError, match="declared in advance"):
        batch.bounds(DELTA)


def test_the_bounds_of_the_distribution_enclose_the_exact_value() -> None:
    low, high = compose((Pure(0.1), 100)).bounds(DELTA)
    assert low <= 4.7745675882 <= high + 1e-10
    assert high - low < 1e-3 * high
    few, many = compose((Pure(0.1), 100)).delta_bounds(4)
    assert 0 < few <= many < 1.01 * few
    with pytest.raises(CatalogError, match="Concentrated determines no"):
        compose(Concentrated(1)).bounds(DELTA)


def test_a_composition_is_shown_in_one_short_line() -> None:
    assert repr(compose(Pure(0.1))) == "compose(Pure(0.1))"
    assert repr(compose((Pure(0.1), 2), parameters="adaptive")) == "compose((Pure(0.1), 2), parameters='adaptive')"
    many = compose(*(Pure(i) for i in range(1, 8)))
    assert repr(many) == "compose(Pure(1), Pure(2), Pure(3), Pure(4), and 3 more)"
    assert repr(compose(Renyi({a: a for a in range(2, 60)}))) == "compose(Renyi(...))"


def test_a_composition_is_a_loss_like_any_other() -> None:
    batch = compose(Pure(0.5), Concentrated(0.02))
    assert batch.spreads() == ()
    assert batch.renyi(3.0) == pytest.approx(Pure(0.5).renyi(3.0) + 0.06, rel=1e-12)
    profile = batch.profile([0.0, 0.5, 1.0, 2.0])
    assert profile.deltas == tuple(batch.delta(e) for e in profile.epsilons)
    assert list(profile.deltas) == sorted(profile.deltas, reverse=True)
    assert 0 < batch.fnr(0.1) < 0.9
    assert batch.posterior(0.5, delta=DELTA) < 1


def test_one_release_keeps_its_own_trade_off() -> None:
    assert compose(GaussianLoss(1)).fnr(0.1) == GaussianLoss(1).fnr(0.1)
    assert compose(Pure(1)).fnr(0.1) == Pure(1).fnr(0.1)


def test_the_profile_of_a_batch_is_never_above_any_theorem() -> None:
    batch = compose((LaplaceLoss(10), 60))
    points = (0.5, 1.5, 3.0, 6.0)
    for point, delta in zip(points, batch.profile(points).deltas, strict=True):
        by_theorem = [t.delta(batch.parts, Fraction(point)) for t in THEOREMS[:-1]]
        assert delta <= min(d for d in by_theorem if d is not None)


def test_losses_of_two_adjacencies_do_not_compose() -> None:
    poisson = SubsampledLoss(Pure(1), 0.01, sampling="poisson", adjacency="add-remove")
    drawn = SubsampledLoss(Pure(1), 0.01, sampling="without-replacement", adjacency="replace-one")
    assert compose(poisson, Pure(1)).adjacency is Adjacency.ADD_REMOVE
    with pytest.raises(CatalogError, match="adjacency"):
        compose(poisson, drawn)


def test_nothing_cannot_be_composed() -> None:
    with pytest.raises(CatalogError, match="losses is empty"):
        compose()


@pytest.mark.parametrize("count", [0, -1, 1.5, math.nan, "x", None])
def test_a_count_is_a_whole_number_above_zero(count: Any) -> None:
    with pytest.raises(CatalogError, match="count"):
        compose((Pure(0.1), count))


@pytest.mark.parametrize("loss", [0.1, "Pure", None, (0.1, 2), (Pure(1),), (Pure(1), 1, 1), Pure])
def test_what_is_no_loss_is_refused(loss: Any) -> None:
    with pytest.raises(CatalogError, match="losses must be"):
        compose(loss)


@pytest.mark.parametrize("parameters", ["fixed", "", None])
def test_parameters_are_declared_or_adaptive(parameters: Any) -> None:
    with pytest.raises(CatalogError, match="parameters must be 'declared' or 'adaptive'"):
        compose(Pure(1), parameters=parameters)


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan, "x"])
def test_a_delta_outside_of_zero_to_one_is_refused(delta: Any) -> None:
    for reading in (
        compose(Pure(1)).epsilon,
        compose(Pure(1)).best,
        compose(Pure(1)).table,
        compose(Pure(1)).bounds,
    ):
        with pytest.raises(CatalogError, match="delta"):
            reading(delta)
    with pytest.raises(CatalogError, match="epsilon"):
        compose(Pure(1)).delta(-1)


@settings(max_examples=10 * DEPTH, derandomize=True, deadline=None)
@given(SOME, SOME)
def test_more_releases_never_lose_less(some: list[tuple[Loss, int]], more: list[tuple[Loss, int]]) -> None:
    """Adaptive parameters leave exact and closed forms, so that the order is exact up to rounding."""
    less = compose(*some, parameters="adaptive")
    whole = compose(*some, *more, parameters="adaptive")
    assert less.epsilon(DELTA) <= whole.epsilon(DELTA) * (1 + 1e-9)
    assert less.delta(1) <= whole.delta(1) * (1 + 1e-9)


@settings(max_examples=10 * DEPTH, derandomize=True, deadline=None)
@given(SOME)
def test_the_tightest_bound_is_the_least_of_the_table(some: list[tuple[Loss, int]]) -> None:
    batch = compose(*some)
    bounds = [row.epsilon for row in batch.table(DELTA) if isinstance(row, Bound)]
    assert batch.epsilon(DELTA) == min(bounds) == batch.best(DELTA).epsilon


def test_a_composition_is_made_of_parts() -> None:
    assert isinstance(compose(Pure(1)), Composition)


def test_gaussian_losses_add_up_exactly_however_many_they_are() -> None:
    for count in (1, 7, 10**4, 10**9):
        batch = compose((GaussianLoss(1000, sensitivity=2), count), GaussianLoss(3000))
        best = batch.best(DELTA)
        with localcontext(prec=40):
            shift = (Decimal(4 * count) + Decimal(1) / 9).sqrt()
        truth = GaussianLoss(1000, sensitivity=shift)
        assert best.theorem.name.startswith("sums of squares")
        assert best.epsilon == pytest.approx(truth.epsilon(DELTA), rel=1e-12)


def test_a_group_under_samples_is_a_chain_of_the_whole_and_not_of_every_step() -> None:
    step = SubsampledLoss(GaussianLoss("1.1"), "0.005", sampling="poisson", adjacency="add-remove")
    training = compose((step, 500))
    household = training.group(4)
    fixed = training.at("1e-10").group(4)
    assert isinstance(fixed, Approximate)
    # One look at the curve says what a search for epsilon at `fixed.failure` would.
    assert household.delta(fixed.bound) <= float(fixed.failure) * (1 + 1e-6)
    if DEPTH > 1:  # twelve looks
        assert household.delta(household.epsilon(DELTA)) == pytest.approx(1e-6, rel=1e-6)


def test_with_adaptive_parameters_groups_and_divergences_know_the_sums_alone() -> None:
    """Two ways to fill the same limits: a filter does not tell them apart."""
    one = compose(Approximate("0.01", "1e-6"), Pure(5), parameters="adaptive")
    other = compose(Approximate(5, "1e-6"), Pure("0.01"), parameters="adaptive")
    assert one.group(2).event.delta == other.group(2).event.delta
    assert one.group(2).delta("10.02") == other.group(2).delta("10.02") >= 1.49e-4
    assert compose((RandomizedResponseLoss(1), 10), parameters="adaptive").group(2).event.rho == 20
    assert one.group(1).event == one.event
    # p = e^-45.2 against q = e^-55.19 alone is within epsilon 10 and rho 1/2, and diverges by 7.611 at order 20.
    assert compose((Pure("0.1"), 100), parameters="adaptive").renyi(20) >= 7.611
