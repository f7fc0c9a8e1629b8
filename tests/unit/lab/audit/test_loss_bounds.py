"""From counts to losses: against scipy's quantiles, against all outcomes, for every kind of claim."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats
from tests.depth import DEPTH, thinned

from jali.errors import CatalogError
from jali.lab.audit.loss_bounds import EventCounts, estimate_bound, is_refuted, list_readings, prove_bound
from jali.privacy import Approximate, Concentrated, GaussianLoss, LaplaceLoss, Loss, Pure

Rates = tuple[float, float]


def binary_renyi(p: float, q: float, order: float) -> float:
    """The divergence of two coins, from its definition."""
    return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def binary_rho(p: float, q: float) -> float:
    """The largest slope over all orders, by a search that is not ours."""
    return max(_largest_slope(p, q), _largest_slope(q, p))


def _largest_slope(p: float, q: float) -> float:
    def fall(log: float) -> float:
        order = 1 + math.exp(log)
        return -binary_renyi(p, q, order) / order

    return float(-optimize.minimize_scalar(fall, bounds=(-9, 5), method="bounded").fun)


def shared_by_coins(runs: int, p: float, q: float) -> list[tuple[float, EventCounts]]:
    """All counts that so many runs can give, with their probabilities."""
    law = stats.multinomial(runs, [p / 2, (1 - p) / 2, q / 2, (1 - q) / 2])
    return [
        (law.pmf([a, m - a, b, runs - m - b]), EventCounts((a, b), (m, runs - m), shared=True))
        for m in range(runs + 1)
        for a in range(m + 1)
        for b in range(runs - m + 1)
    ]


def with_fixed_runs(runs: int, p: float, q: float) -> list[tuple[float, EventCounts]]:
    one, other = stats.binom(runs, p), stats.binom(runs, q)
    return [
        (one.pmf(a) * other.pmf(b), EventCounts((a, b), (runs, runs)))
        for a in range(runs + 1)
        for b in range(runs + 1)
    ]


def test_shared_runs_bound_the_ratio_by_the_beta_law() -> None:
    bound = prove_bound(EventCounts((700, 300), (900, 1100), shared=True), Pure(0.1), 0.99)
    share = stats.beta.ppf(0.01, 700, 301)
    assert bound.found == pytest.approx(math.log(share / (1 - share)), rel=1e-9)
    assert bound.is_violated


def test_runs_of_fixed_number_bound_both_rates() -> None:
    bound = prove_bound(EventCounts((700, 300), (1000, 1000)), Pure(0.1), 0.99)
    low, high = stats.beta.ppf(0.005, 700, 301), stats.beta.ppf(0.995, 301, 700)
    assert bound.found == pytest.approx(math.log(low / high), rel=1e-9)


def test_a_delta_is_taken_off_the_first_rate() -> None:
    bound = prove_bound(EventCounts((700, 300), (1000, 1000)), Approximate(0.1, 0.05), 0.99)
    low, high = stats.beta.ppf(0.005, 700, 301), stats.beta.ppf(0.995, 301, 700)
    assert bound.found == pytest.approx(math.log((low - 0.05) / high), rel=1e-9)


CLAIMS: list[tuple[Loss, Callable[[float, float], float]]] = [
    (Pure(1), lambda p, q: math.log(p / q)),
    (Approximate(1, 0.1), lambda p, q: math.log((p - 0.1) / q)),
    (Concentrated(1), binary_rho),
]


@thinned(6)
@pytest.mark.parametrize("design", [shared_by_coins, with_fixed_runs])
@pytest.mark.parametrize("rates", [(0.5, 0.2), (0.3, 0.25), (0.9, 0.6)])
@pytest.mark.parametrize(("claim", "truth"), CLAIMS, ids=["epsilon", "delta", "rho"])
def test_bounds_are_above_the_truth_as_rarely_as_they_say(
    claim: Loss,
    truth: Callable[[float, float], float],
    rates: Rates,
    design: Callable[[int, float, float], list[tuple[float, EventCounts]]],
) -> None:
    """Every outcome is tried; at confidence 0.8, so that many are above."""
    true = max(0.0, truth(*rates)) * (1 + 1e-6)
    outcomes = design(12 if DEPTH > 1 else 7, *rates)
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    assert sum(chance for chance, counts in outcomes if prove_bound(counts, claim, 0.8).found > true) <= 0.2


@pytest.mark.parametrize("rates", [(0.5, 0.2), (0.01, 0.001), (0.99, 0.9), (0.6, 1e-4)])
def test_a_rho_is_the_largest_slope_of_the_divergence_of_two_coins(rates: Rates) -> None:
    (reading,) = list_readings(Concentrated(1))
    assert float(reading.measure(*rates)) == pytest.approx(binary_rho(*rates), rel=2e-3)
    assert float(reading.measure(*rates)) <= binary_rho(*rates) * (1 + 1e-9)


def test_rates_in_the_wrong_order_show_no_loss() -> None:
    for claim in (Pure(1), Approximate(1, 0.01), Concentrated(1), GaussianLoss(1)):
        assert prove_bound(EventCounts((10, 900), (1000, 1000), shared=True), claim, 0.99).found == 0


@pytest.mark.parametrize("stddev", [1.0, 2.5])
def test_no_event_of_gaussian_noise_exceeds_its_own_profile_and_some_exceed_a_smaller_one(stddev: float) -> None:
    marks = np.linspace(-3 * stddev, 1 + 3 * stddev, 15 if DEPTH == 1 else 60)
    p, q = stats.norm.sf((marks - 1) / stddev), stats.norm.sf(marks / stddev)
    runs = 10**9
    counts = [EventCounts((round(a * runs), round(b * runs)), (runs, runs)) for a, b in zip(p, q, strict=True)]
    assert max(estimate_bound(one, GaussianLoss(stddev)).margin for one in counts) <= 1e-6
    assert max(estimate_bound(one, GaussianLoss(1.1 * stddev)).margin for one in counts) > 0.02
    assert any(is_refuted(one, GaussianLoss(1.1 * stddev), 0.99) for one in counts)


def test_the_loss_of_laplace_noise_is_read_at_delta_0_too() -> None:
    """ln(p/q) is 1 from the larger value on."""
    half = EventCounts((500_000, round(500_000 / math.e)), (10**6, 10**6), shared=True)
    assert estimate_bound(half, LaplaceLoss(1)).margin == pytest.approx(0, abs=1e-5)
    assert prove_bound(half, LaplaceLoss("1.1"), 0.99).is_violated
    assert not prove_bound(half, LaplaceLoss(1), 0.99).is_violated


@pytest.mark.parametrize(("claim", "growth"), [(Pure(1), 5), (Concentrated(1), 25)])
def test_five_neighbours_apart_inputs_may_lose_five_times_epsilon_or_25_times_rho(
    claim: Loss, growth: int
) -> None:
    near = prove_bound(EventCounts((700, 300), (1000, 1000), shared=True), claim, 0.99)
    far = prove_bound(EventCounts((700, 300), (1000, 1000), shared=True, steps=5), claim, 0.99)
    assert far.found == pytest.approx(near.found / growth)


def test_other_losses_of_distant_inputs_are_refused() -> None:
    with pytest.raises(CatalogError, match="Inputs at distance 3 cannot test a claim"):
        prove_bound(EventCounts((7, 3), (10, 10), steps=3), Approximate(1, 0.01), 0.99)


def test_counts_add_up_and_are_shared_only_if_both_are() -> None:
    both = EventCounts((1, 2), (10, 20), shared=True) + EventCounts((3, 4), (30, 40), shared=True)
    assert both == EventCounts((4, 6), (40, 60), shared=True)
    assert not (both + EventCounts((0, 0), (1, 1))).shared


@pytest.mark.parametrize(
    "counts", [EventCounts((0, 0), (0, 0), shared=True), EventCounts((0, 0), (9, 9)), EventCounts((0, 5), (0, 9))]
)
def test_without_hits_nothing_is_proved(counts: EventCounts) -> None:
    for claim in (Pure(1), Approximate(1, 0.01), Concentrated(1)):
        assert prove_bound(counts, claim, 0.99).found == 0


def test_hits_of_one_input_alone_prove_a_large_loss() -> None:
    bound = prove_bound(EventCounts((5000, 0), (5000, 5000), shared=True), Pure(1), 0.99)
    assert bound.found == pytest.approx(math.log(0.01 ** (1 / 5000) / (1 - 0.01 ** (1 / 5000))), rel=1e-6)
