"""Permute-and-flip: its law, its loss, its error, and its sampler bit by bit."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.divergences import renyi
from tests.seeded import SeededBits, enumerate_masses

from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import (
    PermuteAndFlip,
    compute_miss_probability,
    compute_permute_and_flip_law,
    draw_permute_and_flip,
)
from jali.mechanisms.selection.scores import Exponents, read_scores

HISTOGRAM = (3, 1, 2, 0, 0, 3, 1, 0)


def shuffled_law(x: list[float]) -> list[float]:
    """Walk through all orders and flip one coin after the other: the definition."""
    masses: dict[int, Any] = defaultdict(mpmath.mpf)
    with mpmath.workdps(40):
        p = [mpmath.exp(-mpmath.mpf(each)) for each in x]
        for order in permutations(range(len(x))):
            left = mpmath.mpf(1) / math.factorial(len(x))
            for place in order:
                masses[place] += left * p[place]
                left *= 1 - p[place]
        return [float(masses[place]) for place in range(len(x))]


def test_the_lecture_histogram_has_the_known_law() -> None:
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
    law = mechanism.probabilities(HISTOGRAM)
    assert law[:4].round(6).tolist() == [0.271154, 0.083072, 0.144888, 0.048886]
    assert mechanism.expected_error(HISTOGRAM) == pytest.approx(0.9171538, abs=5e-8)
    assert mechanism.probabilities([1, 0])[0] == pytest.approx(1 - math.exp(-0.5) / 2, rel=1e-14)
    assert mechanism.probabilities([1, 0])[0] == pytest.approx(0.69673467, abs=5e-9)
    assert mechanism.worst_expected_error(2) == pytest.approx(math.exp(-1), rel=1e-12)


@pytest.mark.parametrize("x", [[0, 0.5], [0, 0, 0], [0, 2, 0.25, 7, 1], [0, 40, 1e-3, 3, 3, 0.5, 0]])
def test_the_closed_form_is_the_law_of_shuffling_and_flipping(x: list[float]) -> None:
    assert np.exp(compute_permute_and_flip_law(np.array(x, float))) == pytest.approx(shuffled_law(x), rel=1e-13)


@thinned(4)
@pytest.mark.parametrize("count", [90, 95, 96, 300, 3000])
def test_many_candidates_have_the_law_that_many_digits_give(count: int) -> None:
    """Three kinds of candidates, integrated by mpmath; and the probabilities add up to 1."""
    gaps = [0.0, 1.5, 8.0]
    sizes = [2, count // 3, count - 2 - count // 3]
    law = np.exp(compute_permute_and_flip_law(np.repeat(gaps, sizes)))
    assert law.sum() == pytest.approx(1, abs=1e-12)
    with mpmath.workdps(30):
        p = [mpmath.exp(-gap) for gap in gaps]
        cuts = [0, *(mpmath.mpf(2) ** -k for k in range(14, -1, -1))]
        for kind, place in enumerate((0, 2, count - 1)):

            def density(t: Any, kind: int = kind) -> Any:
                return p[kind] * mpmath.fprod(
                    (1 - t * q) ** (size - (own == kind))
                    for own, (q, size) in enumerate(zip(p, sizes, strict=True))
                )

            assert law[place] == pytest.approx(float(mpmath.quad(density, cuts)), rel=1e-12)


def test_tiny_probabilities_keep_their_logarithms() -> None:
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=2)
    logs = mechanism.log_probabilities([10**30, 0, 10**30 - 5000])
    assert logs[1] == -1e30
    assert logs[2] == pytest.approx(-5000 - math.log(2), rel=1e-14)


@thinned(3)
@pytest.mark.parametrize("x", [(0, "1/2"), (0, 3), (0, "1/3", 1)])
def test_every_bit_string_leads_where_the_law_says(x: tuple[Any, ...]) -> None:
    """All strings of 18 bits, with coins of two bits at a time so that many are refined."""
    exponents = Exponents.from_list([Fraction(each) for each in x])
    masses, undecided = enumerate_masses(
        lambda bits: int(draw_permute_and_flip(exponents, 1, bits, word_bits=2)[0]), 17
    )
    assert undecided < 0.1
    for place, wanted in enumerate(shuffled_law([float(Fraction(each)) for each in x])):
        assert masses[place] - 1e-12 <= wanted <= masses[place] + undecided + 1e-12


@pytest.mark.parametrize("width", [3, 32])
def test_draws_have_the_law(width: int) -> None:
    """Chi-square with 7 degrees of freedom: beyond 45 with a chance below 2e-7."""
    exponents = read_scores(HISTOGRAM).exponents(Fraction(1, 2))
    law = PermuteAndFlip(sensitivity=1, epsilon=1).probabilities(HISTOGRAM)
    size = DEPTH * (3_000 if width == 3 else 30_000)
    counts = np.bincount(draw_permute_and_flip(exponents, size, SeededBits(12), word_bits=width), minlength=8)
    assert (((counts - size * law) ** 2) / (size * law)).sum() < 45


def test_many_equal_candidates_are_chosen_evenly() -> None:
    """The mean index of 20 choices among 100,000, within 6 sigma."""
    mechanism, bits = PermuteAndFlip(sensitivity=1, epsilon=1), SeededBits(8)
    scores = np.zeros(100_000, np.int64)
    mean = np.mean([mechanism.release(scores, bits=bits) for _ in range(20)])
    assert abs(mean - 49_999.5) < 6 * 100_000 / math.sqrt(12 * 20)


def neighbours(monotone: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    moves = (0, 1) if monotone else (-1, 0, 1)
    tables = list(product(range(3), repeat=3))
    return [(a, tuple(np.add(a, move).tolist())) for a in tables for move in product(moves, repeat=3)]


@pytest.mark.parametrize("monotone", [False, True])
def test_no_neighbours_are_told_apart_by_more_than_epsilon(monotone: bool) -> None:
    adjacency = "add-remove" if monotone else None
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1, monotone=monotone, adjacency=adjacency)
    losses = [
        np.abs(mechanism.log_probabilities(a) - mechanism.log_probabilities(b)) for a, b in neighbours(monotone)
    ]
    assert np.max(losses) == pytest.approx(1, abs=1e-12)


def test_it_is_not_of_bounded_range_and_its_divergence_is_above_an_eighth() -> None:
    """Two candidates, epsilon 1: losses range over more; D_a/a is 0.288 at order 2 and 0.3297 towards order 1."""
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
    orders, ranges = (1.0001, 1.1, 1.5, 2, 3), []
    slopes = dict.fromkeys(orders, 0.0)
    for gap in range(-400, 401, 5):
        a, b = ((Fraction(gap, 100), 0), (Fraction(gap, 100) - 1, 1))
        p, q = mechanism.log_masses(a), mechanism.log_masses(b)
        ratios = [p[i] - q[i] for i in p]
        ranges.append(max(ratios) - min(ratios))
        for order in orders:
            slopes[order] = max(slopes[order], renyi(p, q, order) / order)
    assert max(ranges) > 1.2
    assert slopes[2] == pytest.approx(0.288, abs=1e-4)
    assert max(slopes.values()) == pytest.approx(0.3297, abs=1e-4)
    assert max(slopes.values()) < mechanism.loss.event.rho


@pytest.mark.parametrize("candidates", [2, 8, 1000])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_the_error_is_reached_by_one_best_and_all_others_equally_far(candidates: int, confidence: float) -> None:
    mechanism = PermuteAndFlip(sensitivity=3, epsilon="1/2")
    error = mechanism.error(confidence, candidates=candidates)
    assert error <= Exponential(sensitivity=3, epsilon="1/2").error(confidence, candidates=candidates)
    missed = [1 - mechanism.probabilities([Fraction(error * f), *[0] * (candidates - 1)])[0] for f in (1, 0.99)]
    assert missed[0] <= (1 - confidence) * (1 + 1e-9)
    assert missed[1] > 1 - confidence or error == 0


@pytest.mark.parametrize("candidates", [1, 2, 3, 50, 10**6])
@pytest.mark.parametrize("p", ["1", "0.5", "1e-3", "1e-5", "1e-9", "1e-20"])
def test_the_chance_to_miss_has_full_precision(candidates: int, p: str) -> None:
    with mpmath.workdps(60):
        q = mpmath.mpf(float(p))
        wanted = 1 - (1 - (1 - q) ** candidates) / (candidates * q)
    assert compute_miss_probability(float(p), candidates) == pytest.approx(float(wanted), rel=2e-11, abs=1e-15)


def test_no_scores_do_worse_than_the_bounds_and_all_do_better_than_the_exponential_mechanism() -> None:
    random = np.random.default_rng(5)
    mechanism, other = PermuteAndFlip(sensitivity=1, epsilon=1), Exponential(sensitivity=1, epsilon=1)
    for _ in range(200):
        scores = (random.exponential(random.choice([1, 4]), 6) * 1000).astype(int)
        scaled = [Fraction(int(score), 500) for score in scores]
        law, gaps = mechanism.probabilities(scaled), (scores.max() - scores) / 500
        for confidence in (0.6, 0.9, 0.99):
            assert law[gaps <= mechanism.error(confidence, candidates=6)].sum() >= confidence
        assert mechanism.expected_error(scaled) <= mechanism.worst_expected_error(6)
        assert mechanism.expected_error(scaled) <= other.expected_error(scaled)


def test_huge_gaps_wide_rates_and_many_candidates_are_no_trouble() -> None:
    mechanism = PermuteAndFlip(sensitivity="0.123456789012345678901", epsilon="0.7182818284590452353602874")
    assert mechanism.release([0, 10**30, -(10**30)]) == 1
    assert mechanism.release(np.r_[np.zeros(10**6, np.int64), 10**6]) == 10**6
    assert mechanism.release([Fraction(1, 10)]) == 0
