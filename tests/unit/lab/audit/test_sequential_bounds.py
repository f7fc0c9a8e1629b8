"""Bounds at every look: false alarms counted exactly and by simulation, and the wealth against an integral."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats
from tests.depth import thinned

from jali.lab.audit.events.event_rates import estimate_runs
from jali.lab.audit.loss_bounds import EventCounts, bound_probability, log_mixture, prove_bound
from jali.privacy import Approximate, Concentrated, Loss, Pure


@pytest.mark.parametrize(("count", "total", "before"), [(3, 10, (0, 0)), (40, 50, (8, 10)), (2, 30, (50, 100))])
def test_the_mixture_is_the_integral_over_the_law_that_a_sample_teaches(
    count: int, total: int, before: tuple[int, int]
) -> None:
    law = stats.beta(before[0] + 0.5, before[1] - before[0] + 0.5)
    integral, _ = integrate.quad(lambda w: w**count * (1 - w) ** (total - count) * law.pdf(w), 0, 1)
    assert math.exp(log_mixture(count, total, before)) == pytest.approx(integral, rel=1e-5)


@pytest.mark.parametrize(("count", "total"), [(1, 1), (5, 5), (3, 10), (400, 1000), (999_000, 10**6), (7, 10**7)])
def test_at_the_bound_the_wealth_has_grown_by_one_over_the_level(count: int, total: int) -> None:
    level, before = 0.01, (count // 3, total // 3)
    x = bound_probability(count, total, level, before)
    assert 0 < x < count / total or total == count
    likelihood = count * math.log(x) + ((total - count) * math.log1p(-x) if total > count else 0.0)
    assert log_mixture(count, total, before) - likelihood == pytest.approx(math.log(1 / level), abs=1e-4)


@thinned(4)
@pytest.mark.parametrize("before", [(0, 0), (3, 10), (30, 40)])
@pytest.mark.parametrize("chance", [0.1, 0.5, 0.8])
def test_some_bound_is_above_the_truth_as_rarely_as_stated_whatever_the_looks(
    chance: float, before: tuple[int, int]
) -> None:
    """Exactly, for a look after each of 150 runs: paths that crossed are taken out, the rest goes on."""
    level, alive, crossed = 0.2, np.array([1.0]), 0.0
    for total in range(1, 151):
        alive = np.append(alive, 0.0) * (1 - chance) + np.append(0.0, alive) * chance
        above = np.array([bound_probability(count, total, level, before) > chance for count in range(total + 1)])
        crossed += float(alive[above].sum())
        alive[above] = 0
    assert 0 < crossed <= level


BOUNDARY: list[tuple[Loss, float, float]] = [
    (Pure(0.7), 0.2 * math.exp(0.7), 0.2),
    (Approximate(0.7, 0.1), 0.1 * math.exp(0.7) + 0.1, 0.1),
]


@thinned(2)
@pytest.mark.parametrize(("claim", "p", "q"), BOUNDARY, ids=["epsilon", "delta"])
def test_looking_forty_times_at_a_claim_that_holds_exactly_rarely_refutes_it(
    claim: Loss, p: float, q: float
) -> None:
    """At level 0.1 among 300 audits; were it exceeded by 30, that would happen once in 10^7 audits."""
    random, level, wrong = np.random.default_rng(5), 0.1, 0
    for _ in range(300):
        counts, before = (
            EventCounts((0, 0), (0, 0), shared=True),
            EventCounts((round(60 * p), round(60 * q)), (60, 60)),
        )
        for _ in range(40):
            first = int(random.binomial(100, 0.5))
            hits = int(random.binomial(first, p)), int(random.binomial(100 - first, q))
            counts += EventCounts(hits, (first, 100 - first), shared=True)
            if prove_bound(counts, claim, 1 - level, before=before).is_violated:
                wrong += 1
                break
    assert wrong <= 60


def test_looking_often_with_a_bound_for_one_look_would_refute_a_true_claim() -> None:
    """What the sequential bound is for: the same paths with Clopper and Pearson's bound at each look."""
    random, wrong = np.random.default_rng(5), 0
    share = math.exp(0.7) / (1 + math.exp(0.7))
    for _ in range(200):
        total = np.arange(50, 4001, 50)
        first = np.cumsum(random.binomial(50, share, len(total)))
        wrong += bool((stats.beta.ppf(0.1, first, total - first + 1) > share).any())
    assert wrong > 60


def test_a_sample_that_taught_the_truth_makes_the_bound_sharper() -> None:
    assert (
        bound_probability(6000, 10_000, 0.01, (600, 1000))
        > bound_probability(6000, 10_000, 0.01)
        > bound_probability(6000, 10_000, 0.01, (100, 1000))
    )


@thinned(4)
@pytest.mark.parametrize("claim", [Pure(0.1), Approximate(0.1, 0.001), Concentrated(0.01)])
@pytest.mark.parametrize("steps", [1, 3])
def test_as_many_runs_as_are_needed_prove_the_violation_and_a_third_of_them_do_not(
    claim: Loss, steps: int
) -> None:
    if isinstance(claim, Approximate) and steps > 1:
        return
    p, q = (0.52, 0.42) if steps == 1 else (0.8, 0.35)
    enough = estimate_runs(EventCounts((round(1000 * p), round(1000 * q)), (1000, 1000), steps=steps), claim, 0.99)
    assert enough is not None
    for runs, proved in ((enough // 2, True), (enough // 6, False)):
        counts = EventCounts((round(runs * p), round(runs * q)), (runs, runs), shared=True, steps=steps)
        assert prove_bound(counts, claim, 0.99).is_violated is proved


def test_rates_within_the_claim_need_no_number_of_runs() -> None:
    assert estimate_runs(EventCounts((500, 480), (1000, 1000)), Pure(0.1), 0.99) is None
    assert estimate_runs(EventCounts((0, 0), (0, 0)), Pure(0.1), 0.99) is None
