"""The exponential mechanism: its law, its loss, its error, and its sampler bit by bit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, deep, thinned
from tests.divergences import renyi
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.mechanisms.global_sensitivity import Root, Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential, compute_lambert, draw_exponential
from jali.mechanisms.selection.scores import Exponents, read_scores

HISTOGRAM = (3, 1, 2, 0, 0, 3, 1, 0)


def softmax(scores: tuple[Any, ...], rate: Fraction) -> list[float]:
    with mpmath.workdps(40):
        weights = [mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * score) for score in scores]
        return [float(weight / mpmath.fsum(weights)) for weight in weights]


def log_ratios(mechanism: Exponential, a: tuple[Any, ...], b: tuple[Any, ...]) -> list[float]:
    p, q = mechanism.log_masses(a), mechanism.log_masses(b)
    return [p[place] - q[place] for place in p]


def test_the_lecture_histogram_has_the_known_law() -> None:
    mechanism = Exponential(sensitivity=1, epsilon=1)
    law = mechanism.probabilities(HISTOGRAM)
    assert law[:4].round(6).tolist() == [0.249272, 0.091702, 0.151191, 0.055620]
    assert mechanism.expected_error(HISTOGRAM) == pytest.approx(1.0185807, abs=5e-8)
    assert mechanism.probabilities([1, 0])[0] == pytest.approx(0.62245933, abs=5e-9)
    assert mechanism.worst_expected_error(2) == pytest.approx(0.5569291, abs=5e-8)


@pytest.mark.parametrize("epsilon", ["1/10", 1, 7])
def test_probabilities_are_the_softmax_of_the_scores(epsilon: Any) -> None:
    for scores in (HISTOGRAM, (0, 100), (-5, 3, 8)):
        plain = Exponential(sensitivity=2, epsilon=epsilon)
        rising = Exponential(sensitivity=2, epsilon=epsilon, monotone=True, adjacency="add-remove")
        assert plain.probabilities(scores) == pytest.approx(softmax(scores, Fraction(epsilon) / 4), rel=1e-13)
        assert rising.probabilities(scores) == pytest.approx(softmax(scores, Fraction(epsilon) / 2), rel=1e-13)


@deep
@thinned(3)
@pytest.mark.parametrize(("x", "depth"), [((0, 1), 0), ((0, 1), 2), ((0, "7/5", "1/3"), 1)])
def test_every_bit_string_leads_where_the_law_says(x: tuple[Any, ...], depth: int) -> None:
    """All strings of 16 bits, with words so short that proposals, rejections and refinements all occur."""
    exponents = Exponents.from_list([Fraction(each) for each in x])
    masses, undecided = enumerate_masses(
        lambda bits: int(draw_exponential(exponents, 1, bits, depth=depth, word_bits=3)[0]), 16
    )
    law = softmax(
        tuple(-mpmath.mpf(Fraction(each).numerator) / Fraction(each).denominator for each in x), Fraction(1)
    )
    assert undecided < 0.25
    for place, wanted in enumerate(law):
        assert masses[place] - 1e-12 <= wanted <= masses[place] + undecided + 1e-12


@pytest.mark.parametrize("depth", [0, 1, 5, 40])
def test_draws_have_the_law_at_every_depth_of_the_proposals(depth: int) -> None:
    """Chi-square with 7 degrees of freedom: beyond 45 with a chance below 2e-7."""
    exponents = read_scores(HISTOGRAM).exponents(Fraction(3, 2))
    law = np.array(softmax(HISTOGRAM, Fraction(3, 2)))
    size = 50_000 * DEPTH
    counts = np.bincount(draw_exponential(exponents, size, SeededBits(11), depth=depth), minlength=8)
    assert (((counts - size * law) ** 2) / (size * law)).sum() < 45


def test_far_candidates_are_drawn_as_often_as_they_should() -> None:
    """40,000 candidates at exp(-9) each hold 0.832 of the mass; a deviation of 6 sigma has a chance of 2e-9."""
    scores = np.r_[9, np.zeros(40_000, np.int64)]
    chosen = np.array(Exponential(sensitivity=1, epsilon=2).sample(scores, 20_000, bits=SeededBits(3)))
    wanted = 40_000 / (40_000 + math.exp(9))
    assert abs((chosen > 0).mean() - wanted) < 6 * math.sqrt(wanted * (1 - wanted) / 20_000)
    others = chosen[chosen > 0]
    assert abs(others.mean() - 20_000.5) < 6 * 40_000 / math.sqrt(12 * len(others))


def neighbours(monotone: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    moves = (0, 1) if monotone else (-1, 0, 1)
    tables = list(product(range(4), repeat=3))
    return [(a, tuple(np.add(a, move).tolist())) for a in tables for move in product(moves, repeat=3)]


@pytest.mark.parametrize("monotone", [False, True])
def test_all_losses_lie_in_a_range_of_length_epsilon_for_all_neighbours(monotone: bool) -> None:
    adjacency = "add-remove" if monotone else None
    mechanism = Exponential(sensitivity=1, epsilon=1, monotone=monotone, adjacency=adjacency)
    widest = 0.0
    for a, b in neighbours(monotone):
        ratios = log_ratios(mechanism, a, b)
        assert max(map(abs, ratios)) <= 1 + 1e-12
        widest = max(widest, max(ratios) - min(ratios))
    assert widest == pytest.approx(1, abs=1e-12)


def test_the_factor_for_monotone_scores_is_refuted_under_replace_one() -> None:
    mechanism = Exponential(sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")
    assert max(max(map(abs, log_ratios(mechanism, a, b))) for a, b in neighbours(monotone=False)) > 1.5


def test_the_largest_divergence_of_a_bounded_range_is_reached_and_stays_below_an_eighth() -> None:
    mechanism = Exponential(sensitivity=1, epsilon=1)
    masses = [
        (mechanism.log_masses((Fraction(gap, 1000), 0)), mechanism.log_masses((Fraction(gap, 1000) - 1, 1)))
        for gap in range(-3000, 5000, 2)
    ]
    divergences = [sum(math.exp(p[i]) * (p[i] - q[i]) for i in p) for p, q in masses]
    assert max(divergences) == pytest.approx(0.1233016, abs=5e-8)
    assert max(renyi(p, q, 1 + a) / (1 + a) for p, q in masses[::20] for a in (0.01, 0.5, 1, 4, 20)) <= 0.125


@pytest.mark.parametrize("candidates", [2, 8, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_reached_by_one_best_and_all_others_equally_far(candidates: int, confidence: float) -> None:
    mechanism = Exponential(sensitivity=3, epsilon="1/2")
    error = mechanism.error(confidence, candidates=candidates)
    assert error <= float(mechanism.scale) * (math.log(candidates) + math.log(1 / (1 - confidence)))
    missed = [1 - mechanism.probabilities([Fraction(error * f), *[0] * (candidates - 1)])[0] for f in (1, 0.99)]
    assert missed[0] <= (1 - confidence) * (1 + 1e-9)
    assert missed[1] > 1 - confidence or error == 0


def test_no_scores_do_worse_than_the_bounds() -> None:
    random, mechanism = np.random.default_rng(5), Exponential(sensitivity=1, epsilon=1)
    for _ in range(200):
        scores = (random.exponential(random.choice([1, 4]), 6) * 1000).astype(int)
        scaled = [Fraction(int(score), 500) for score in scores]
        law, gaps = mechanism.probabilities(scaled), (scores.max() - scores) / 500
        for confidence in (0.6, 0.9, 0.99):
            assert law[gaps <= mechanism.error(confidence, candidates=6)].sum() >= confidence
        assert mechanism.expected_error(scaled) <= mechanism.worst_expected_error(6)


@pytest.mark.parametrize("candidates", [2, 5, 100])
def test_the_worst_expected_error_is_that_of_the_worst_equal_gap(candidates: int) -> None:
    mechanism = Exponential(sensitivity=1, epsilon=1)
    gap = Fraction(2 * (1 + compute_lambert((candidates - 1) / math.e)))
    at_worst = mechanism.expected_error([gap, *[0] * (candidates - 1)])
    assert at_worst == pytest.approx(mechanism.worst_expected_error(candidates), rel=1e-12)
    assert compute_lambert(3.0) == pytest.approx(float(mpmath.lambertw(3).real), rel=1e-14)


def test_the_tail_of_the_lectures_holds_measured_and_exact() -> None:
    """Error above (2 Delta/epsilon)(ln d + t) has a chance below exp(-t)."""
    scores = np.random.default_rng(2).integers(0, 40, 200)
    mechanism = Exponential(sensitivity=1, epsilon=1)
    chosen = np.array(mechanism.sample(scores, 20_000, bits=SeededBits(4)))
    law, gaps = mechanism.probabilities(scores), scores.max() - scores
    for t in (0.1, 0.5, 1, 2):
        beyond = gaps > 2 * (math.log(200) + t)
        exact = law[beyond].sum()
        assert exact < math.exp(-t)
        assert beyond[chosen].mean() <= exact + 6 * math.sqrt(exact / 20_000) + 1e-3


@pytest.mark.parametrize("noise", [10**30, 2**63, 10**300])
def test_huge_gaps_choose_the_best(noise: int) -> None:
    assert Exponential(sensitivity=1, epsilon=1).release([0, noise, -noise]) == 1


def test_a_million_candidates_and_a_single_one_are_chosen_from() -> None:
    mechanism = Exponential(sensitivity=1, epsilon=1)
    assert 0 <= mechanism.release(np.zeros(10**6, np.int64)) < 10**6
    assert mechanism.release(np.r_[np.zeros(10**6, np.int64), 10**6]) == 10**6
    assert mechanism.release([7]) == 0


def test_real_scores_are_rounded_and_the_sensitivity_is_rounded_up() -> None:
    mechanism = Exponential(sensitivity="0.3", epsilon=1, step="1/4")
    assert mechanism.scale == 1
    assert mechanism.probabilities([0.4, 0.1]) == pytest.approx(softmax((Fraction(1, 2), 0), Fraction(1)))
    assert mechanism.release([math.nan, math.inf]) in (0, 1)


def test_monotone_scores_need_an_adjacency_that_allows_them() -> None:
    counts = Sensitivity(l1=1, l2=Root(1), l_infinity=1, adjacency="add-remove", monotone=True)
    replaced = Sensitivity(l1=2, l2=Root(2), l_infinity=1, adjacency="replace-one")
    either_way = Sensitivity(l1=2, l2=Root(2), l_infinity=1, adjacency="add-remove")
    assert Exponential(sensitivity=counts, epsilon=1, monotone=True).scale == 1
    assert Exponential(sensitivity=counts, epsilon=1).scale == 1  # the sensitivity knows
    refused: list[dict[str, Any]] = [
        {"sensitivity": 1},
        {"sensitivity": 1, "adjacency": "replace-one"},
        {"sensitivity": replaced},
        {"sensitivity": either_way},
    ]
    for arguments in refused:
        with pytest.raises(JaliError, match="monotone"):
            Exponential(**arguments, epsilon=1, monotone=True)
    with pytest.raises(JaliError, match="adjacency"):
        Exponential(sensitivity=counts, epsilon=1, adjacency="replace-one")
    with pytest.raises(JaliError, match="monotone"):
        Exponential(sensitivity=1, epsilon=1, monotone="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", True, None])
def test_bad_parameters_are_refused_by_name(bad: Any) -> None:
    for name in ("sensitivity", "epsilon"):
        with pytest.raises(JaliError, match=name):
            Exponential(**{"sensitivity": 1, "epsilon": 1, name: bad})
    with pytest.raises(JaliError, match="candidates"):
        Exponential(sensitivity=1, epsilon=1).error(0.9, candidates=bad if bad != math.inf else 0)
