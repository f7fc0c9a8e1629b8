"""The Walsh-Hadamard transform against the matrix itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard as dense

from jali.lab.attacks.subsets.hadamard_rows import build_sylvester, transform_hadamard


@pytest.mark.parametrize("exponent", range(13))
def test_it_is_the_product_with_sylvesters_matrix(exponent: int) -> None:
    n = 1 << exponent
    x = np.random.default_rng(exponent).normal(size=n)
    assert transform_hadamard(x) == pytest.approx(dense(n).astype(float) @ x, abs=1e-9)


@pytest.mark.parametrize("exponent", range(8))
def test_the_small_matrices_are_sylvesters(exponent: int) -> None:
    assert np.array_equal(build_sylvester(1 << exponent), dense(1 << exponent))


@pytest.mark.parametrize("exponent", [17, 18, 19, 20])
def test_twice_it_is_n_times_what_it_was_to_the_last_bit_for_whole_numbers(exponent: int) -> None:
    n = 1 << exponent
    x = np.random.default_rng(exponent).integers(-9, 10, n).astype(np.float64)
    once = transform_hadamard(x)
    assert once @ once == n * (x @ x)
    assert np.array_equal(transform_hadamard(once), n * x)


def test_a_single_one_gives_a_column_of_signs() -> None:
    n, place = 1 << 16, 40_503
    x = np.zeros(n)
    x[place] = 1
    shared = np.bitwise_count(np.arange(n) & place)
    assert np.array_equal(transform_hadamard(x), 1.0 - 2.0 * (shared % 2))


@pytest.mark.parametrize("n", [1, 2, 32, 64, 4096])
def test_the_argument_is_left_alone_and_the_result_is_new(n: int) -> None:
    x = np.random.default_rng(n).random(n)
    kept = x.copy()
    result = transform_hadamard(x)
    result += 1
    assert np.array_equal(x, kept)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_single_precision_stays_single(kind: type[np.floating[Any]]) -> None:
    x = (np.arange(64) % 5).astype(kind)
    assert transform_hadamard(x).dtype == kind
    assert np.array_equal(transform_hadamard(x), dense(64) @ x)


def test_strided_numbers_are_transformed_too() -> None:
    x = np.random.default_rng(3).random(512)
    assert transform_hadamard(x[::2]) == pytest.approx(dense(256) @ x[::2])


@pytest.mark.parametrize("n", [3, 12, 48, 1000, 3072])
def test_other_lengths_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="reshape"):
        transform_hadamard(np.ones(n))
