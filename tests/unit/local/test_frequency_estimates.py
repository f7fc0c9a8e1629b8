"""Estimates: unbiased, of the stated variance, and inside their intervals as often as promised."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.local import (
    AlmostRandom,
    Chances,
    Estimate,
    HadamardResponse,
    KaryResponse,
    Randomizer,
    SubsetSelection,
    UnaryEncoding,
    Warner,
)
from jali.local.frequency_estimates import project_onto_simplex

SEVERAL = (KaryResponse, UnaryEncoding, SubsetSelection, HadamardResponse)
CASES: tuple[Randomizer, ...] = (
    Warner(truth="1/5"),
    AlmostRandom(),
    *(kind(categories=3, epsilon="3/2") for kind in SEVERAL),
)
cases = pytest.mark.parametrize("mechanism", CASES, ids=repr)


@cases
def test_the_estimate_is_unbiased_and_has_the_stated_variance_exactly(mechanism: Randomizer) -> None:
    """Three people, all outputs: mean and variance of each frequency from the closed-form law of the reports."""
    people = (0, 1, 1)
    laws = [mechanism.log_masses(value).items() for value in people]
    outcomes = [
        (math.exp(sum(mass for _, mass in reports)), mechanism.estimate([output for output, _ in reports]))
        for reports in product(*laws)
    ]
    for category in range(mechanism.answers):
        share = people.count(category) / len(people)
        mean = math.fsum(p * made.frequencies[category] for p, made in outcomes)
        square = math.fsum(p * (made.frequencies[category] - share) ** 2 for p, made in outcomes)
        stated = math.fsum(p * made.variances[category] for p, made in outcomes)
        assert mean == pytest.approx(share, abs=1e-12)
        assert square == pytest.approx(mechanism.variance(share, people=3), rel=1e-11)
        assert stated == pytest.approx(square, rel=1e-11)
        assert all(made.variances[category] > 0 for _, made in outcomes)


@cases
def test_batches_add_up(mechanism: Randomizer) -> None:
    reports = mechanism.randomize(np.arange(400) % mechanism.answers, bits=SeededBits(1))
    parts = mechanism.supports(reports[:150]) + mechanism.supports(reports[150:])
    assert mechanism.estimate_supports(parts, 400) == mechanism.estimate(reports)


@cases
def test_supports_of_hadamard_and_all_others_are_sums_over_single_reports(mechanism: Randomizer) -> None:
    reports = mechanism.randomize(np.arange(60) % mechanism.answers, bits=SeededBits(9))
    np.testing.assert_array_equal(mechanism.supports(reports), sum(mechanism.supports([r]) for r in reports))


@thinned(4)
@pytest.mark.parametrize("people", [1, 5, 40])
@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.99])
@cases
def test_the_error_holds_at_every_share(mechanism: Randomizer, people: int, confidence: float) -> None:
    """The exact law of the support of one category, for every number of people in it."""
    chances, allowed = mechanism.chances, mechanism.error(confidence, people=people)
    for own in range(people + 1):
        law = np.convolve(
            stats.binom.pmf(np.arange(own + 1), own, chances.own),
            stats.binom.pmf(np.arange(people - own + 1), people - own, chances.other),
        )
        estimates = (np.arange(people + 1) / people - chances.other) / chances.gap
        assert law[np.abs(estimates - own / people) <= allowed * (1 + 1e-12)].sum() >= confidence


@pytest.mark.parametrize("people", [200, 3000])
@pytest.mark.parametrize("confidence", [0.9, 0.99])
@cases
def test_the_error_is_near_the_quantile_at_the_worst_share(
    mechanism: Randomizer, people: int, confidence: float
) -> None:
    """The exact law of the support of one category at its worst share: the bound is at most a fifth more."""
    chances, counts = mechanism.chances, np.arange(people + 1)
    estimates, worst = (counts / people - chances.other) / chances.gap, 0.0
    for share in np.linspace(0, 1, 21).tolist():
        off = np.abs(estimates - share)
        order = np.argsort(off)
        law = stats.binom.pmf(counts, people, chances.other + chances.gap * share)[order]
        worst = max(worst, float(off[order][np.searchsorted(law.cumsum(), confidence)]))
    assert worst <= mechanism.error(confidence, people=people) <= 1.2 * worst


def test_a_confidence_next_to_one_is_no_trouble() -> None:
    nearly = 1 - 1e-16
    few, many = (Warner(epsilon=1).error(nearly, people=n) for n in (2000, 3000))
    assert 0.15 < many < few < 0.25
    estimate = KaryResponse(categories=3, epsilon=1).estimate([0, 1, 2] * 100)
    for (low, high), (first, last) in zip(
        estimate.interval(nearly), estimate.interval(nearly, simultaneous=True), strict=True
    ):
        assert first < low < high < last


@thinned(4)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
@cases
def test_intervals_cover_the_share_of_the_population_and_of_those_asked(
    mechanism: Randomizer, share: float, confidence: float
) -> None:
    """Exact coverage over all counts, without simulation: people drawn at random, and people given."""
    people, chances = 60, mechanism.chances
    spans = Estimate(people, tuple(range(people + 1)), chances).interval(confidence)
    held = np.array([low - 1e-12 <= share <= high + 1e-12 for low, high in spans])
    drawn = stats.binom.pmf(np.arange(people + 1), people, chances.other + chances.gap * share)
    own = round(share * people)
    given = np.convolve(
        stats.binom.pmf(np.arange(own + 1), own, chances.own),
        stats.binom.pmf(np.arange(people - own + 1), people - own, chances.other),
    )
    held_given = np.array([low - 1e-12 <= own / people <= high + 1e-12 for low, high in spans])
    assert drawn[held].sum() >= confidence
    assert given[held_given].sum() >= confidence


@cases
def test_intervals_cover_in_a_simulated_survey(mechanism: Randomizer) -> None:
    """400 surveys of 300 people at 90 %: fewer than 320 covered would be a chance below 1e-7."""
    surveys, people, k = 400 * DEPTH, 300, mechanism.answers
    values = np.random.default_rng(8).integers(0, k, surveys * people)
    reports = mechanism.randomize(values, bits=SeededBits(6)).reshape(surveys, people, -1)
    batches = reports if reports.shape[2] > 1 else reports[:, :, 0]
    supports = tuple(int(mechanism.supports(batch)[0]) for batch in batches)
    spans = Estimate(people, supports, mechanism.chances).interval(0.9)
    assert sum(low <= 1 / k <= high for low, high in spans) >= 0.8 * surveys


def test_frequencies_are_not_clipped_and_average_to_the_truth() -> None:
    """Clipping small surveys before averaging is biased (bug 12 of the battery); the estimate itself is not."""
    mechanism = AlmostRandom()
    values = np.zeros(200_000, int)
    reports = mechanism.randomize(values, bits=SeededBits(11)).reshape(20_000, 10)
    made = [mechanism.estimate(batch) for batch in reports]
    raw = np.mean([estimate.frequencies[1] for estimate in made])
    clipped = np.mean([estimate.clipped()[1] for estimate in made])
    spread = math.sqrt(0.75 / 200_000)
    assert abs(raw) < 6 * spread
    assert clipped > 20 * spread
    assert min(estimate.frequencies[1] for estimate in made) < 0


def test_simultaneous_intervals_are_wider() -> None:
    estimate = KaryResponse(categories=5, epsilon=1).estimate([0, 1, 2, 3, 4] * 30)
    one, all_ = estimate.interval(0.9), estimate.interval(0.9, simultaneous=True)
    assert all(a[0] < o[0] and o[1] < a[1] for o, a in zip(one, all_, strict=True))
    np.testing.assert_allclose(all_, estimate.interval(0.98))


def test_a_coin_that_mostly_lies_estimates_as_well_as_one_that_mostly_tells_the_truth() -> None:
    lying, honest = Warner(truth="1/4"), Warner(truth="3/4")
    assert lying.variance() == honest.variance()
    low, high = lying.estimate([1] * 30 + [0] * 70).interval()[1]
    assert low < 0.9 < high
    assert lying.loss == honest.loss


@pytest.mark.parametrize("seed", range(20))
def test_the_projection_is_the_nearest_point_of_the_simplex(seed: int) -> None:
    """Optimality: point - nearest is constant where the nearest is above 0, and less elsewhere."""
    point = np.random.default_rng(seed).normal(0.2, 0.5, 6)
    nearest = project_onto_simplex(point)
    assert nearest.sum() == pytest.approx(1)
    assert nearest.min() >= 0
    moved = point - nearest
    level = moved[nearest > 0].max()
    np.testing.assert_allclose(moved[nearest > 0], level, atol=1e-12)
    assert (moved[nearest == 0] <= level + 1e-12).all()


def test_projected_shares_sum_to_one() -> None:
    estimate = UnaryEncoding(categories=3, epsilon=1).estimate([[1, 0, 0]] * 8 + [[0, 1, 0]])
    assert sum(estimate.projected()) == pytest.approx(1)
    assert min(estimate.projected()) >= 0
    assert all(0 <= share <= 1 for share in estimate.clipped())


def test_wrong_supports_are_refused() -> None:
    chances = Chances(0.75, 0.25, 0.5)
    for people, supports in ((0, (0,)), (5, (6,)), (5, (-1,)), (5, ())):
        with pytest.raises(JaliError, match=r"people|supports"):
            Estimate(people, supports, chances)
    with pytest.raises(JaliError, match="confidence"):
        Estimate(5, (3,), chances).interval(1)
    with pytest.raises(JaliError, match="frequency"):
        AlmostRandom().variance(1.5)
    with pytest.raises(JaliError, match="people"):
        AlmostRandom().error(0.9, people=0)
    for people in (10**16, 10**400):
        with pytest.raises(JaliError, match="people must be at most"):
            AlmostRandom().error(0.9, people=people)
