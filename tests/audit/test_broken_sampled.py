"""The sampled mechanisms have the laws that they should have; the broken ones are caught and the honest ones pass.

Laws are compared with closed forms and quadrature. Generators are seeded, so that a test passes always or never; a
deviation of five standard errors would be wrong once in a million.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats
from tests.depth import DEPTH, deep, thinned

from jali.lab.audit.broken import (
    BROKEN,
    HONEST,
    PUBLISHED,
    broken_additive,
    broken_data_dependent,
    broken_selection,
    broken_sparse_vector,
    broken_sums,
    published_bounds,
)
from jali.lab.audit.broken.broken_data_dependent import honest
from jali.lab.audit.broken.definition import CLAIM
from jali.lab.audit.subject import Effort, Outputs, Subject, Verdict
from jali.lab.audit.testers.pairwise import Pairwise
from jali.privacy import Approximate

SAMPLES = 200_000 * DEPTH
# At epsilon 10 the rarer probability of an event must be shown to be below exp(-10).
MORE: dict[Callable[..., Subject], int] = {broken_additive.classical_gaussian: 16_000_000}
EVERY: tuple[Callable[[], Subject], ...] = (*BROKEN, *HONEST, *(maker for maker, _ in PUBLISHED.values()))
EPSILON = float(CLAIM)


def drawn(subject: Subject, value: Any, count: int, seed: int = 5) -> Outputs:
    return subject.draw(value, count, np.random.default_rng(seed))


def assert_rate(hits: NDArray[np.bool_], probability: float) -> None:
    deviation = math.sqrt(probability * (1 - probability) / len(hits))
    assert abs(hits.mean() - probability) < 5 * deviation


def assert_law(values: NDArray[np.float64], law: Any, wrong: Any) -> None:
    """Check that a sample fits a law, and does not fit one whose scale is wrong by 30 %."""
    assert stats.kstest(values, law.cdf).pvalue > 1e-4
    assert stats.kstest(values, wrong.cdf).pvalue < 1e-6


def named(maker: Any) -> str:
    return str(maker.__name__)


@pytest.mark.parametrize("maker", EVERY, ids=named)
def test_a_sampled_mechanism_draws_rows_of_numbers_that_its_seed_decides(maker: Callable[[], Subject]) -> None:
    subject = maker()
    for one, other in (*subject.pairs, *(pair for pair, _ in subject.distant)):
        first, again, second = (drawn(subject, value, 50) for value in (one, one, other))
        assert first.dtype == np.float64
        assert first.shape[0] == 50
        assert first.shape == second.shape
        if maker is not broken_additive.exact_laplace:
            np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("maker", EVERY, ids=named)
def test_a_sampled_mechanism_is_made_again_from_its_source(maker: Callable[[], Subject]) -> None:
    subject = maker()
    module, _, function = subject.source.partition(":")
    again = getattr(importlib.import_module(module), function)()
    assert (again.name, again.claim) == (subject.name, subject.claim)
    assert (again.pairs, again.distant) == (subject.pairs, subject.distant)
    value = subject.pairs[0][0]
    if maker is not broken_additive.exact_laplace:
        np.testing.assert_array_equal(drawn(subject, value, 20), drawn(again, value, 20))


@pytest.mark.parametrize("maker", [maker for maker, _ in PUBLISHED.values()], ids=named)
def test_distant_inputs_are_as_many_changes_apart_as_they_say(maker: Callable[[], Subject]) -> None:
    """Where one cell changes the distances of cells add up, elsewhere all values change at once."""
    for pair, steps in maker().distant:
        apart = np.abs(np.subtract(*map(np.asarray, pair)))
        assert steps == (apart.sum() if maker is published_bounds.histogram else apart.max())
        assert np.abs(np.asarray(pair)).max() <= 10


def test_a_sampled_mechanism_without_a_generator_draws_new_noise() -> None:
    subject = broken_additive.laplace()
    assert (subject.draw(0.0, 100, None) != subject.draw(0.0, 100, None)).all()


@pytest.mark.parametrize("makers", [BROKEN, HONEST], ids=["broken", "honest"])
def test_all_sampled_mechanisms_have_different_names(makers: tuple[Callable[[], Subject], ...]) -> None:
    assert len({maker().name for maker in makers}) == len(makers)


@pytest.mark.parametrize(
    ("maker", "scale"),
    [
        (broken_additive.laplace, 1 / EPSILON),
        (broken_additive.laplace_with_inverted_scale, EPSILON),
        (broken_additive.histogram, 1 / EPSILON),
        (broken_additive.histogram_with_inverted_scale, EPSILON),
        (broken_additive.replace_one_with_add_remove_noise, 1 / EPSILON),
        (published_bounds.parallel_laplace, 200.0),
    ],
    ids=lambda one: named(one) if callable(one) else f"{one:g}",
)
def test_laplace_noise_has_its_scale_in_every_cell(maker: Callable[[], Subject], scale: float) -> None:
    subject = maker()
    value = subject.pairs[0][1]
    outputs = drawn(subject, value, 4000)
    for column, centre in enumerate(np.broadcast_to(value, outputs.shape[1])):
        true, wrong = (stats.laplace(centre, factor * scale) for factor in (1, 1.3))
        assert_law(outputs[:, column], true, wrong)


def test_cells_of_a_histogram_are_independent() -> None:
    outputs = drawn(broken_additive.histogram(), (1.0,) * 5, 20_000)
    assert np.abs(np.corrcoef(outputs.T) - np.eye(5)).max() < 5 / math.sqrt(20_000)


def test_the_package_s_own_discrete_noise_has_its_law() -> None:
    outputs = drawn(broken_additive.exact_laplace(), 3, 100_000)[:, 0]
    for distance in range(4):
        expected = math.tanh(EPSILON / 2) * math.exp(-EPSILON * distance)
        # Unseeded: six standard errors are wrong twice in a billion.
        assert abs((outputs == 3 + distance).mean() - expected) < 6 * math.sqrt(expected / 100_000)


def test_the_classical_gaussian_exceeds_its_delta_at_epsilon_10() -> None:
    subject = broken_additive.classical_gaussian()
    claim = subject.claim
    assert isinstance(claim, Approximate)
    stddev = math.sqrt(2 * math.log(12.5)) / 10
    assert_law(drawn(subject, 1.0, 4000)[:, 0], stats.norm(1, stddev), stats.norm(1, 1.3 * stddev))
    half, shift = 1 / (2 * stddev), 10 * stddev
    exact = stats.norm.cdf(half - shift) - math.exp(10) * stats.norm.cdf(-half - shift)
    assert exact > 4 * claim.failure


# Two candidates one apart at epsilon 1: the probability of the better one (THEORY, section 5).
@pytest.mark.parametrize(
    ("maker", "better"),
    [
        (broken_selection.noisy_max_gumbel, 1 / (1 + math.exp(-0.5))),
        (broken_selection.noisy_max_exponential, 1 - math.exp(-0.5) / 2),
        (broken_selection.noisy_max_laplace, 1 - math.exp(-0.5) / 2 * (1 + 0.5 / 2)),
    ],
    ids=lambda one: named(one) if callable(one) else f"{one:.4f}",
)
def test_noisy_max_prefers_the_better_of_two_as_often_as_its_law_says(
    maker: Callable[[int], Subject], better: float
) -> None:
    assert_rate(drawn(maker(1), (0.0, 1.0), 200_000)[:, 0] == 1, better)


@pytest.mark.parametrize(
    ("maker", "noise"),
    [
        (broken_selection.value_of_noisy_max_laplace, stats.laplace(scale=2 / EPSILON)),
        (broken_selection.value_of_noisy_max_exponential, stats.expon(scale=2 / EPSILON)),
    ],
    ids=["laplace", "exponential"],
)
def test_the_value_of_noisy_max_is_the_largest_of_independent_ones(
    maker: Callable[[], Subject], noise: Any
) -> None:
    outputs = drawn(maker(), (1.0,) * 5, 100_000)[:, 0]
    for point in (1.5, 3.0, 6.0, 12.0):
        assert_rate(outputs <= point, float(noise.cdf(point - 1)) ** 5)


def below(scale: float, point: float) -> float:
    """Return Pr[Laplace noise < point]; without noise, of 0."""
    if scale == 0:
        return float(point > 0)
    return math.exp(point / scale) / 2 if point < 0 else 1 - math.exp(-point / scale) / 2


def over_the_threshold(
    algorithm: broken_sparse_vector.SparseVectorVariant, given: Callable[[float], float]
) -> float:
    """Integrate a probability that is known given the noisy threshold, piecewise between its kinks."""
    scale, centre = algorithm.threshold_scale, algorithm.threshold
    ends = [centre - 40 * scale, -1.0, 0.0, centre, 1.5, 2.0, centre + 40 * scale]
    pieces = [
        integrate.quad(lambda bar: given(bar) * math.exp(-abs(bar - centre) / scale) / (2 * scale), low, high)[0]
        for low, high in itertools.pairwise(sorted(ends))
    ]
    return math.fsum(pieces)


def pattern_probability(
    algorithm: broken_sparse_vector.SparseVectorVariant, values: Iterable[float], pattern: tuple[int, ...]
) -> float:
    """Return the probability of a pattern: given the threshold the answers are independent.

    A threshold that is redrawn makes what comes before and after it independent.
    """
    asked = [(value, answer) for value, answer in zip(values, pattern, strict=True) if answer >= 0]
    spans = [asked]
    if algorithm.redraws:
        ends = [place + 1 for place, (_, answer) in enumerate(asked) if answer]
        spans = [asked[low:high] for low, high in itertools.pairwise([0, *ends, len(asked)]) if low < high]
    return math.exp(
        math.fsum(math.log(over_the_threshold(algorithm, partial(given_bar, algorithm, span))) for span in spans)
    )


def given_bar(
    algorithm: broken_sparse_vector.SparseVectorVariant, span: list[tuple[float, int]], bar: float
) -> float:
    chances = (below(float(algorithm.value_scale), bar - value) for value, _ in span)
    return math.prod(1 - chance if answer else chance for chance, (_, answer) in zip(chances, span, strict=True))


ALGORITHMS = {
    "1": broken_sparse_vector.SparseVectorVariant(2.0, 4.0, 1, 0.5),
    "2": broken_sparse_vector.SparseVectorVariant(4.0, 8.0, 2, redraws=True),
    "3": broken_sparse_vector.SparseVectorVariant(2.0, 2.0, 2, tells=True),
    "4": broken_sparse_vector.SparseVectorVariant(4.0, 4 / 3, 1),
    "5": broken_sparse_vector.SparseVectorVariant(2.0, 0.0, None, 0.5),
    "6": broken_sparse_vector.SparseVectorVariant(2.0, 2.0, None),
}


@thinned(4)
@pytest.mark.parametrize("number", ALGORITHMS)
def test_patterns_of_sparse_vector_have_the_probabilities_of_quadrature(number: str) -> None:
    algorithm, values = ALGORITHMS[number], (0.0, 2.0, 1.5)
    outputs = algorithm(values, 60_000, np.random.default_rng(3))[:, :3]
    patterns, counts = np.unique(outputs, axis=0, return_counts=True)
    expected = [pattern_probability(algorithm, values, tuple(map(int, pattern))) for pattern in patterns]
    assert math.fsum(expected) == pytest.approx(1, abs=1e-6)
    assert stats.chisquare(counts, 60_000 * np.asarray(expected) / math.fsum(expected)).pvalue > 1e-4


def test_the_algorithms_of_sparse_vector_have_the_noise_of_their_authors() -> None:
    # Epsilon 1, c = 2: threshold and values, after Lyu, Su and Li 2017, Figure 1.
    made = {
        "lyu": (broken_sparse_vector.lyu(1, 2), 2, 8),
        "dwork and roth": (broken_sparse_vector.dwork_and_roth(1, 2), 4, 8),
        "roth": (broken_sparse_vector.roth(1, 2), 2, 4),
        "lee and clifton": (broken_sparse_vector.lee_and_clifton(1, 2), 4, 4 / 3),
    }
    for subject, bar, value in made.values():
        # Of one value at the threshold the comparison is fair; two values one apart tell the ratio of the scales.
        algorithm = broken_sparse_vector.SparseVectorVariant(bar, value, 2)
        expected = pattern_probability(algorithm, (1.0, 3.0), (0, 1))
        outputs = drawn(subject, (1.0, 3.0), 100_000)
        assert_rate((outputs[:, 0] == 0) & (outputs[:, 1] == 1), expected)


def test_sparse_vector_of_roth_tells_the_value_that_it_compared() -> None:
    algorithm, values = broken_sparse_vector.SparseVectorVariant(2.0, 2.0, 1, tells=True), (0.0, 1.5)
    outputs = algorithm(values, 100_000, np.random.default_rng(4))
    second = outputs[:, 1] == 1
    assert np.isnan(outputs[~second, 3]).all()

    def told_up_to_two(bar: float) -> float:
        return below(2.0, bar) * max(0.0, below(2.0, 2.0 - 1.5) - below(2.0, bar - 1.5))

    assert_rate(second & (outputs[:, 3] <= 2.0), over_the_threshold(algorithm, told_up_to_two))


def test_sums_have_the_means_and_covariances_of_their_noise() -> None:
    items, count = tuple(float(place % 3) for place in range(10)), 40_000
    variance = 2 / EPSILON**2
    places = np.arange(1, 11)
    # Of noisy items two sums share the noise of the shorter one; running sums share none.
    expected = {
        broken_sums.sums_of_items_that_all_change: variance * np.minimum.outer(places, places),
        broken_sums.prefix_sums_charged_once: variance * np.eye(10),
    }
    for maker, covariance in expected.items():
        outputs = drawn(maker(), items, count)
        spread = np.sqrt(np.diag(covariance))
        assert (np.abs(outputs.mean(axis=0) - np.cumsum(items)) < 5 * spread / math.sqrt(count)).all()
        # Laplace noise has kurtosis 6: the variance of a square is 5 variances squared.
        assert (np.abs(np.cov(outputs.T) - covariance) < 5 * math.sqrt(5 / count) * np.outer(spread, spread)).all()
    half = drawn(broken_sums.partial_sum_with_half_the_noise(), items, 4000)[:, 0]
    assert_law(half, stats.laplace(9, 0.5 / EPSILON), stats.laplace(9, 0.65 / EPSILON))


@pytest.mark.parametrize("block_scale", [0.0, 3.0])
def test_smart_sums_start_anew_from_the_sums_of_blocks(block_scale: float) -> None:
    items, count = tuple(float(place % 3) for place in range(10)), 40_000
    outputs = broken_sums.smart_sums(items, count, np.random.default_rng(8), 1.0, block_scale)
    steps, blocks = np.array([1, 2, 3, 4, 0, 1, 2, 3, 4, 0]), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    variances = 2 * steps + 2 * block_scale**2 * blocks
    assert (np.abs(outputs.mean(axis=0) - np.cumsum(items)) <= 5 * np.sqrt(variances / count)).all()
    assert (np.abs(outputs.var(axis=0) - variances) <= 5 * math.sqrt(5 / count) * variances).all()
    # The fifth sum is that of the first block; the sixth goes on from it, and the fourth shares nothing with it.
    shared = np.cov(outputs[:, [3, 4, 5]].T)
    assert shared[1, 2] == pytest.approx(2 * block_scale**2, abs=0.1 * (1 + block_scale**2))
    assert abs(shared[0, 1]) <= 0.1 * block_scale


def test_smooth_sensitivity_without_the_table_forgets_one_factor() -> None:
    beta = EPSILON / 2
    alpha = 2 * math.sinh(EPSILON / 2)
    scale = 8 * math.exp(-beta) / alpha
    outputs = drawn(broken_data_dependent.smooth_sensitivity_without_the_table(), (0, 0, 8), 6000)[:, 0]
    assert_law(outputs, stats.cauchy(0, scale), stats.cauchy(0, 1.3 * scale))
    # Cauchy noise of one scale s loses 2 arsinh(shift/(2 s)) at the most.
    assert 2 * math.asinh(8 / (2 * scale)) > 1.3 * EPSILON
    assert 2 * math.asinh(8 / (2 * honest((0, 0, 8), beta) / alpha)) == pytest.approx(EPSILON)


@pytest.mark.parametrize(("distance", "attempts"), [(0, 1), (0, 20), (4, 3), (20, 2)])
def test_propose_test_release_answers_as_often_as_attempts_one_by_one(distance: int, attempts: int) -> None:
    epsilon, delta, count = EPSILON, 0.05, 100_000
    random = np.random.default_rng(11)
    outputs = broken_data_dependent.propose_and_test((2.0, distance), count, random, epsilon, delta, attempts)
    tests = distance + stats.laplace(scale=2 / epsilon).rvs((20_000, attempts), random_state=random)
    expected = float((tests > 2 / epsilon * math.log(1 / (2 * delta))).any(axis=1).mean())
    answered = outputs[:, 0] == 1
    assert answered.mean() == pytest.approx(expected, abs=5 * math.sqrt(0.25 / 20_000))
    assert np.isnan(outputs[~answered, 1]).all()
    true, wrong = (stats.laplace(2, factor * 2 / epsilon) for factor in (1, 1.3))
    assert_law(outputs[answered, 1][:4000], true, wrong)


def test_one_attempt_at_distance_0_answers_with_probability_delta() -> None:
    outputs = broken_data_dependent.propose_and_test((0.0, 0), 100_000, np.random.default_rng(2), EPSILON, 0.05, 1)
    assert_rate(outputs[:, 0] == 1, 0.05)


def test_the_threshold_is_off_by_the_tie() -> None:
    subject = broken_selection.threshold_off_by_the_tie()
    decay = math.exp(-EPSILON)
    masses = [(1 - decay) / (1 + decay) * decay**k for k in range(200)]
    least = next(k for k in range(200) if math.fsum(masses[k:]) <= 0.05)
    # The right rule needs a noise of at least `least` from one person; the broken one lets one less pass.
    outputs = drawn(subject, 1, 100_000)[:, 0]
    assert_rate(outputs > 0, math.fsum(masses[least - 1 :]))
    assert outputs[outputs > 0].min() == least
    assert math.fsum(masses[least - 1 :]) > 1.5 * 0.05
    assert not drawn(subject, 0, 1000).any()


def test_every_broken_and_every_honest_mechanism_claims_seven_tenths() -> None:
    others = {broken_additive.classical_gaussian}
    assert all(maker().claim.event.epsilon == CLAIM for maker in (*BROKEN, *HONEST) if maker not in others)
    assert broken_additive.classical_gaussian().claim.event.epsilon == 10


@thinned(4)
@pytest.mark.parametrize("maker", BROKEN, ids=named)
def test_a_broken_mechanism_is_caught(maker: Callable[[], Subject]) -> None:
    finding = Pairwise().audit(maker(), Effort(MORE.get(maker, SAMPLES), seed=7))
    assert finding.verdict is Verdict.VIOLATION, finding
    assert finding.found > finding.claimed


@deep  # three minutes; make bench measures them too
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_lower_bound_is_reached_with_twenty_million_samples(name: str) -> None:
    """At the confidence of the publication, 0.9; and what is found is no more than what is known to be lost."""
    maker, bound = PUBLISHED[name]
    finding = Pairwise(early=False).audit(maker(), Effort(20_000_000, Fraction(9, 10), seed=7))
    losses = {"sparse vector 4": 0.175, "noisy max that prints the value": 0.25, "prefix sums": 1.0}
    known = losses.get(name, math.inf if name == "sparse vector 3" else 0.1)
    assert bound <= finding.found <= known, finding


@thinned(4)
@pytest.mark.parametrize("maker", HONEST, ids=named)
def test_an_honest_mechanism_passes(maker: Callable[[], Subject]) -> None:
    # One of them takes no seed.
    confidence = 1 - Fraction(1, 10**7) if maker is broken_additive.exact_laplace else Fraction(99, 100)
    finding = Pairwise().audit(maker(), Effort(SAMPLES, confidence, seed=7))
    assert finding.verdict is Verdict.NOTHING_FOUND, finding
    assert 0 < finding.found <= finding.claimed
