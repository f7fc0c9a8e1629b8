"""Subsets as operators do what the matrix of zeros and ones does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks import Subsets, simulator, unledgered
from jali.lab.attacks.subsets.random_subsets import (
    Listed,
    Packed,
    Sparse,
    draw_packed_subsets,
    draw_sparse_subsets,
    random_subsets,
)

FORMS: list[Callable[[object], Subsets]] = [Listed.of, Packed.of, Sparse.of]
NAMES = ["listed", "packed", "sparse"]


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.int8]:
    questions, people = draw(st.integers(1, 12)), draw(st.integers(1, 20))
    entries = st.lists(st.integers(0, 1), min_size=questions * people, max_size=questions * people)
    return np.array(draw(entries), np.int8).reshape(questions, people)


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@given(matrix=matrices(), seed=st.integers(0, 2**32 - 1))
def test_products_are_those_of_the_matrix(
    form: Callable[[object], Subsets], matrix: NDArray[np.int8], seed: int
) -> None:
    random = np.random.default_rng(seed)
    questions, people = matrix.shape
    x, y = random.normal(0, 1, (people,)), random.normal(0, 1, (questions,))
    subsets = form(matrix)
    assert subsets.shape == matrix.shape
    assert len(subsets) == questions
    np.testing.assert_allclose(subsets.matvec(x), matrix @ x, atol=1e-5)
    np.testing.assert_allclose(subsets.rmatvec(y), y @ matrix, atol=1e-5)
    assert float(y @ subsets.matvec(x)) == pytest.approx(float(subsets.rmatvec(y) @ x), abs=1e-4)


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@given(matrix=matrices(), data=st.data())
def test_rows_and_first_questions_are_those_of_the_matrix(
    form: Callable[[object], Subsets], matrix: NDArray[np.int8], data: st.DataObject
) -> None:
    subsets = form(matrix)
    count = data.draw(st.integers(0, len(matrix)))
    np.testing.assert_array_equal(np.array(list(subsets.rows())), matrix == 1)
    first = subsets.first(count)
    assert first.shape == (count, matrix.shape[1])
    bits = np.arange(matrix.shape[1]) % 2.0
    np.testing.assert_array_equal(first.matvec(bits), matrix[:count] @ bits)
    np.testing.assert_array_equal(first.rmatvec(np.ones(count)), matrix[:count].sum(axis=0))


@pytest.mark.parametrize("draw", [random_subsets, draw_packed_subsets])
def test_random_subsets_hold_half_of_the_people_independently(draw: Callable[..., Subsets]) -> None:
    """Seeded. All means and all products of columns are within five standard deviations."""
    questions, people = 4000, 21
    signs = 2.0 * np.array(list(draw(questions, people, seed=11).rows())) - 1
    assert signs.shape == (questions, people)
    assert np.abs(signs.mean(axis=0)).max() < 5 / questions**0.5
    products = signs.T @ signs / questions - np.eye(people)
    assert np.abs(products).max() < 5 / questions**0.5
    assert np.abs((signs[:-1] * signs[1:]).mean()) < 5 / (questions * people) ** 0.5


def in_threes(questions: int, people: int, *, seed: int | None) -> Subsets:
    return draw_sparse_subsets(questions, people, 3, seed=seed)


@pytest.mark.parametrize("draw", [random_subsets, draw_packed_subsets, in_threes])
def test_a_seed_decides_the_subsets_and_no_seed_none(draw: Callable[..., Subsets]) -> None:
    one, same, other, free, freer = (
        np.array(list(draw(30, 40, seed=seed).rows())) for seed in (1, 1, 2, None, None)
    )
    assert (one == same).all()
    assert (one != other).any()
    assert (free != freer).any()


@pytest.mark.parametrize("draw", [random_subsets, draw_packed_subsets])
def test_questions_share_no_bits_with_a_secret_of_the_same_seed(draw: Callable[..., Subsets]) -> None:
    """Seeded. That one of 2**15 pairs of bits agrees, or differs, 48 times by chance has probability 2**-32."""
    agreements = np.zeros((8 * 64, 64))
    for seed in range(48):
        secret = np.random.default_rng(seed).random(64) < 0.5
        bits = np.array(list(draw(8, 64, seed=seed).rows())).reshape(-1)
        agreements += bits[:, None] == secret
    assert agreements.min() > 0
    assert agreements.max() < 48


@given(
    questions=st.integers(1, 60),
    people=st.integers(2, 40),
    members=st.integers(1, 20),
    seed=st.integers(0, 1000),
)
def test_groups_part_the_people_again_and_again(questions: int, people: int, members: int, seed: int) -> None:
    members = min(members, people)
    rows = np.array(list(draw_sparse_subsets(questions, people, members, seed=seed).rows()))
    assert rows.shape == (questions, people)
    groups = -(-people // members)
    sizes = rows.sum(axis=1)
    assert sizes.max() <= members
    assert sizes.min() >= people // groups
    for start in range(0, questions - groups + 1, groups):
        assert (rows[start : start + groups].sum(axis=0) == 1).all()
    assert (rows[questions - questions % groups :].sum(axis=0) <= 1).all()


@pytest.mark.parametrize("oracle", [simulator(n=3, noise="none", seed=1), unledgered(n=3, each=50, seed=1)])
def test_a_matrix_of_zeros_and_ones_is_asked_as_it_is(oracle: Any) -> None:
    """Noise at epsilon 50 is another number than 0 with a chance below 1e-20."""
    answers = oracle.ask(np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert oracle.mark(answers[1:].astype(np.int8)) == 3
    assert answers[0] == answers[1:].sum()
    assert oracle.ask([[True, True, True]]).tolist() == [answers[0]]


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (np.ones(3), "not an array of 1 dimensions"),
        (np.full((2, 3), 0.5), "without other numbers"),
        (np.ones((2, 4)), "The questions are about 4 people, but there are 3."),
        ([[1, 0], [1]], "not list"),
        ("all", "not str"),
    ],
)
def test_what_is_no_list_of_questions_is_refused(questions: Any, told: str) -> None:
    with pytest.raises(CatalogError, match=told):
        simulator(n=3, seed=1).ask(questions)
