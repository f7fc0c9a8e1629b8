"""The questions about all subsets against a matrix that itertools lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.subsets.subset_operators import AllSubsets


def listed(people: int) -> Doubles:
    """All rows of zeros and ones; the last column of the product is the fastest, so it is person 0."""
    return np.array(list(itertools.product((0.0, 1.0), repeat=people)))[:, ::-1]


@pytest.mark.parametrize("people", [1, 2, 5])
def test_any_first_questions_are_the_first_rows_of_the_matrix(people: int) -> None:
    random = np.random.default_rng(people)
    x = random.normal(size=people)
    for count in range(2**people + 1):
        rows, subsets, y = listed(people)[:count], AllSubsets(people).first(count), random.normal(size=count)
        assert subsets.shape == rows.shape
        np.testing.assert_allclose(subsets.matvec(x), rows @ x, atol=1e-12)
        np.testing.assert_allclose(subsets.rmatvec(y), y @ rows, atol=1e-12)
        assert subsets.gram().tolist() == (rows.T @ rows).tolist()
        assert [row.tolist() for row in subsets.rows()] == (rows == 1).tolist()


def test_without_a_count_all_subsets_are_asked() -> None:
    assert AllSubsets(7).shape == (128, 7)
    assert AllSubsets(7).matvec(np.ones(7)).sum() == 7 * 64


def test_products_leave_their_arguments_alone() -> None:
    y = np.arange(8.0)
    AllSubsets(3).rmatvec(y)
    assert y.tolist() == list(range(8))


@pytest.mark.parametrize("people", [0, 63])
def test_a_number_of_people_that_cannot_be_numbered_is_refused(people: int) -> None:
    with pytest.raises(CatalogError, match="from 1 to 62") as error:
        AllSubsets(people)
    assert "smaller" in str(error.value)
