"""The chooser takes the least variance, and the theory says which that is."""

from __future__ import annotations

import math

import pytest

from jali.errors import JaliError
from jali.local import KaryResponse, SubsetSelection, UnaryEncoding, Warner, best_local, local_candidates
from jali.local.hadamard import HadamardResponse

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
