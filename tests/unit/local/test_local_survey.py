"""The choice of a randomizer takes the least variance; simulated surveys ask people in exact proportions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.local import (
    AlmostRandom,
    KaryResponse,
    SubsetSelection,
    UnaryEncoding,
    Warner,
    best_local,
    local_candidates,
    simulate_survey,
)
from jali.local.frequency_oracles import HadamardResponse
from jali.local.local_survey import draw_categories

LOSSES = (0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@pytest.mark.parametrize("epsilon", LOSSES)
def test_k_ary_response_beats_unary_encoding_below_three_powers_of_e_and_two(epsilon: float) -> None:
    for categories in range(2, 500):
        kary = KaryResponse(categories=categories, epsilon=epsilon).variance()
        unary = UnaryEncoding(categories=categories, epsilon=epsilon).variance()
        assert (kary < unary) == (categories < 3 * math.exp(epsilon) + 2)


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("categories", [2, 3, 5, 8, 13, 40, 200])
def test_subset_selection_is_the_best_of_all_and_its_size_the_best_of_all_sizes(
    categories: int, epsilon: float
) -> None:
    subset = SubsetSelection(categories=categories, epsilon=epsilon)
    sizes = [subset._chances(size).variance(0, 1) for size in range(1, categories)]
    assert subset.variance() <= min(sizes) * (1 + 1e-12)
    for kind in (KaryResponse, UnaryEncoding, HadamardResponse):
        assert subset.variance() <= kind(categories=categories, epsilon=epsilon).variance() * (1 + 1e-12)


def test_candidates_come_from_the_least_variance_up() -> None:
    for categories, epsilon in ((2, 1), (3, 2), (50, "1/2")):
        variances = [mechanism.variance() for mechanism in local_candidates(categories, epsilon)]
        assert variances == pytest.approx(sorted(variances), rel=1e-11)


def test_of_equals_the_plainer_is_taken() -> None:
    assert best_local(2, 1) == Warner(epsilon=1)
    assert best_local(5, 3) == KaryResponse(categories=5, epsilon=3)
    assert SubsetSelection(categories=5, epsilon=3).size == 1
    assert best_local(100, 1) == SubsetSelection(categories=100, epsilon=1)


def test_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(JaliError, match="categories"):
        best_local(1, 1)
    with pytest.raises(JaliError, match="epsilon"):
        best_local(3, 0)


def test_categories_are_drawn_with_exactly_their_shares() -> None:
    shares = (Fraction(1, 2), Fraction(1, 8), Fraction(3, 8))
    masses, undecided = enumerate_masses(lambda bits: int(draw_categories(shares, 1, bits=bits)[0]), 6)
    assert masses == dict(enumerate(shares))
    assert undecided == Fraction(0)


def test_a_share_of_zero_is_never_drawn() -> None:
    values = draw_categories((Fraction(0), Fraction(1), Fraction(0)), 1000, bits=SeededBits(1))
    assert set(values.tolist()) == {1}


def test_many_people_are_asked_in_batches_and_counted_once() -> None:
    """200,000 people: truth and estimate within 6 standard deviations of the shares."""
    shares = ("1/2", "0.3", "1/5")
    survey = simulate_survey(KaryResponse(categories=3, epsilon=2), shares, 200_000, bits=SeededBits(2))
    assert sum(survey.truth) == sum(survey.estimate.supports) == survey.estimate.people == 200_000
    np.testing.assert_allclose(survey.true_shares, [0.5, 0.3, 0.2], atol=0.007)
    np.testing.assert_allclose(
        survey.estimate.frequencies, survey.true_shares, atol=6 * max(survey.estimate.stddevs)
    )


@pytest.mark.parametrize("shares", [None, 5, (0.5, 0.4), (0.5,), (1.5, -0.5), ("x", 1), (1, 0, 0), ("1e-25", 1)])
def test_shares_that_are_none_are_refused_by_name(shares: Any) -> None:
    with pytest.raises(JaliError, match="shares"):
        simulate_survey(AlmostRandom(), shares, 10)


def test_what_is_no_randomizer_is_refused() -> None:
    with pytest.raises(JaliError, match="mechanism"):
        simulate_survey("Warner", (0.5, 0.5), 10)  # type: ignore[arg-type]


def test_nobody_cannot_be_asked() -> None:
    with pytest.raises(JaliError, match="people"):
        simulate_survey(AlmostRandom(), (0.5, 0.5), 0)
