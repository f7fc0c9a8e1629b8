"""The generalised exponential mechanism: distances, sensitivity, loss and error."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.generalised_exponential import GeneralisedExponential, find_distances


def slow_distances(scores: list[Fraction], moves: list[Fraction], margin: Fraction) -> list[Fraction]:
    lowered = [score - margin * move for score, move in zip(scores, moves, strict=True)]
    pairs = list(zip(lowered, moves, strict=True))
    return [max((other - own) / (mine + move) for other, move in pairs) for own, mine in pairs]


@pytest.mark.parametrize("seed", range(60))
def test_the_envelope_finds_the_same_distances_as_all_pairs(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, top = int(random.integers(1, 25)), int(random.choice([2, 10, 1000]))
    scores = [Fraction(int(n), int(d)) for n, d in random.integers(1, 30, (count, 2))]
    moves = [Fraction(int(n), int(d)) for n, d in random.integers(1, (top, 4), (count, 2))]
    margin = Fraction(int(random.integers(0, 9)), 7)
    found = find_distances(scores, moves, margin)
    assert found == slow_distances(scores, moves, margin)
    assert min(found) == 0


def test_distances_move_by_at_most_one_for_all_neighbours() -> None:
    moves, margin = [Fraction(1), Fraction(3), Fraction(10)], Fraction(5, 2)
    for table in product((0, 4), (0, 9), (0, 30)):
        before = find_distances([Fraction(score) for score in table], moves, margin)
        for change in product((-1, 0, 1), repeat=3):
            after = find_distances(
                [s + c * m for s, c, m in zip(table, change, moves, strict=True)], moves, margin
            )
            assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= 1


def test_the_loss_is_a_range_of_epsilon_for_all_neighbours() -> None:
    mechanism = GeneralisedExponential(sensitivities=[1, 3, 10, 10], epsilon=1)
    widest = 0.0
    for table in product((0, 60), (0, 80), (0, 70, 300), (0, 200)):
        for change in product((-1, 1), repeat=4):
            moved = np.add(table, np.multiply(change, [1, 3, 10, 10]))
            ratios = mechanism.log_probabilities(table) - mechanism.log_probabilities(moved)
            assert np.abs(ratios).max() <= 1 + 1e-12
            widest = max(widest, np.ptp(ratios))
    assert 0.5 < widest <= 1 + 1e-12


def test_equal_sensitivities_are_the_exponential_mechanism_at_half_the_loss() -> None:
    scores = [5, 1, 0, 7]
    mechanism = GeneralisedExponential(sensitivities=[2] * 4, epsilon=1)
    plain = Exponential(sensitivity=2, epsilon="1/2")
    assert mechanism.probabilities(scores) == pytest.approx(plain.probabilities(scores), rel=1e-13)


@pytest.mark.parametrize("failure", ["1/100", "1/20", "1/2"])
def test_the_chosen_score_is_within_two_margins_of_every_candidate(failure: str) -> None:
    """Exactly: the mass of all candidates that break the promise for some j is at most `failure`."""
    random = np.random.default_rng(9)
    moves = np.array([1, 1, 2, 5, 40, 300])
    mechanism = GeneralisedExponential(sensitivities=moves.tolist(), epsilon=1, failure=failure)
    reach = 2 * float(mechanism.margin)
    assert float(mechanism.margin) == pytest.approx(2 * math.log(6 / Fraction(failure)), rel=1e-11)
    for _ in range(100):
        scores = random.integers(0, int(random.choice([10, 100, 2000])), 6)
        promised = (scores - reach * moves).max()
        assert mechanism.probabilities(scores)[scores < promised].sum() <= float(Fraction(failure))


@pytest.mark.parametrize("failure", ["0.99999999999999999", "0.99", "1/3", "1e-300"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_margin_is_never_below_what_the_theorem_needs(failure: str, size: int) -> None:
    mechanism = GeneralisedExponential(sensitivities=[1] * size, epsilon="2/7", failure=failure)
    with mpmath.workdps(60):
        odds = size / Fraction(failure)
        needed = 7 * (mpmath.log(odds.numerator) - mpmath.log(odds.denominator))
        margin = mpmath.mpf(mechanism.margin.numerator) / mechanism.margin.denominator
        assert needed <= margin <= needed * (1 + mpmath.mpf("1e-13"))


def test_errors_take_any_kind_of_confidence_and_only_sensitivities_that_there_are() -> None:
    mechanism = GeneralisedExponential(sensitivities=[1, 2], epsilon=1)
    errors = {mechanism.error(c) for c in (0.75, Fraction(3, 4), Decimal("0.75"))}  # type: ignore[arg-type]
    assert len(errors) == 1
    with pytest.raises(JaliError, match="best"):
        mechanism.error(0.9, best=3)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_no_scores_do_worse_than_the_error(confidence: float) -> None:
    random = np.random.default_rng(10)
    moves = np.array([1, 1, 2, 5, 40])
    mechanism = GeneralisedExponential(sensitivities=moves.tolist(), epsilon=1)
    for _ in range(100):
        scores = random.integers(0, int(random.choice([10, 100, 900])), 5)
        law, gaps = mechanism.probabilities(scores), scores.max() - scores
        best = int(moves[scores == scores.max()].min())
        for error in (mechanism.error(confidence), mechanism.error(confidence, best=best)):
            assert law[gaps <= error].sum() >= confidence - 1e-12


def test_a_low_sensitivity_pays_off() -> None:
    """A steady candidate far ahead is found, which one sensitivity for all would blur."""
    scores, moves = [100, 20, 20, 20], [1, 1, 1, 500]
    mechanism = GeneralisedExponential(sensitivities=moves, epsilon=1)
    assert mechanism.expected_error(scores) < 2
    assert Exponential(sensitivity=500, epsilon=1).expected_error(scores) > 50
    assert mechanism.error(0.95, best=1) < 20


def test_draws_have_the_law() -> None:
    """Chi-square with 2 degrees of freedom: beyond 31 with a chance below 2e-7."""
    mechanism, scores, size = (
        GeneralisedExponential(sensitivities=[1, 3, 10], epsilon=1),
        [8, 12, 30],
        30_000 * DEPTH,
    )
    law = mechanism.probabilities(scores)
    counts = np.bincount(mechanism.sample(scores, size, bits=SeededBits(16)), minlength=3)  # type: ignore[arg-type]
    assert (((counts - size * law) ** 2) / (size * law)).sum() < 31


def test_real_scores_are_rounded_and_sensitivities_are_rounded_up() -> None:
    rounded = GeneralisedExponential(sensitivities=["0.3", "0.5"], epsilon=1, step="1/4")
    exact = GeneralisedExponential(sensitivities=["1/2", "1/2"], epsilon=1)
    assert rounded.probabilities([0.4, 0.1]) == pytest.approx(exact.probabilities([Fraction(1, 2), 0]))
    assert rounded.release([math.nan, math.inf]) in (0, 1)


def test_many_candidates_and_a_single_one_are_chosen_from() -> None:
    random = np.random.default_rng(17)
    moves = random.integers(1, 1000, 3000).tolist()
    assert (
        0 <= GeneralisedExponential(sensitivities=moves, epsilon=1).release(random.integers(0, 10**6, 3000)) < 3000
    )
    assert GeneralisedExponential(sensitivities=[1], epsilon=1).release([3]) == 0


def test_one_sensitivity_is_needed_for_each_score() -> None:
    with pytest.raises(JaliError, match="one sensitivity per score"):
        GeneralisedExponential(sensitivities=[1, 2], epsilon=1).release([1, 2, 3])


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", True, None])
def test_bad_parameters_are_refused_by_name(bad: Any) -> None:
    good: dict[str, Any] = {"sensitivities": [1, 2], "epsilon": 1}
    for name in ("epsilon", "failure", "sensitivities"):
        with pytest.raises(JaliError, match=name):
            GeneralisedExponential(**{**good, name: bad})
    for listed in ([1, bad], [], "12"):
        with pytest.raises(JaliError, match="sensitivities"):
            GeneralisedExponential(sensitivities=listed, epsilon=1)
    with pytest.raises(JaliError, match="failure"):
        GeneralisedExponential(**good, failure=1)
