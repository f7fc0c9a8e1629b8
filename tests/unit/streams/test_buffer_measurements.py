"""Products with matrices of rationals, against rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import thinned

from jali.streams.buffer_measurements import ExactProduct, times

OFF = Fraction(1, 2) + Fraction(1, 32)


def scaled(matrix: NDArray[Any]) -> NDArray[Any]:
    return np.array([[int(x * (1 << 200)) for x in row] for row in matrix], dtype=object)


@thinned(4)
@pytest.mark.parametrize("bits", [3, 8, 14, 20, 28])
@pytest.mark.parametrize("top", [0, 10, 40, 70])
def test_products_are_within_half_a_unit_and_a_32nd(bits: int, top: int) -> None:
    """For matrices with entries up to 2^top, and vectors up to the largest size of either sign."""
    generator = np.random.default_rng(bits * 100 + top)
    matrix = np.array(
        [
            [Fraction(int(n) << top, (1 << 62) + int(m)) for n, m in row]
            for row in generator.integers(0, 1 << 62, (5, 60, 2))
        ]
    )
    product = ExactProduct(scaled(matrix), 200, bits)
    vectors = generator.integers(-(1 << bits), 1 << bits, (40, 60), endpoint=True)
    vectors[0], vectors[1] = 1 << bits, -(1 << bits)
    found = product(vectors.astype(np.float64), 1 << bits)
    for vector, row in zip(vectors.tolist(), found.tolist(), strict=True):
        for line, result in zip(matrix, row, strict=True):
            assert int(result) == result
            assert abs(sum(a * x for a, x in zip(line, vector, strict=True)) - int(result)) <= OFF


def test_a_product_is_a_function_of_its_vector_alone() -> None:
    """Sums are exact in every order: neither the place of a vector nor the order of its entries changes them."""
    generator = np.random.default_rng(5)
    matrix = np.array(
        [[Fraction(int(n), 1 << 60) for n in row] for row in generator.integers(0, 1 << 62, (3, 50))]
    )
    vectors = generator.integers(-(1 << 14), 1 << 14, (300, 50)).astype(np.float64)
    found = ExactProduct(scaled(matrix), 200, 14)(vectors, 1 << 14)
    order = generator.permutation(50)
    assert (ExactProduct(scaled(matrix)[:, order], 200, 14)(vectors[:, order], 1 << 14) == found).all()
    assert (ExactProduct(scaled(matrix), 200, 14)(vectors[7:8], 1 << 14) == found[7]).all()


def test_products_in_pieces_are_products() -> None:
    generator = np.random.default_rng(6)
    vectors, matrix = (
        generator.integers(0, 9, (1234, 40)).astype(float),
        generator.integers(0, 9, (40, 30)).astype(float),
    )
    assert (times(vectors, matrix) == vectors @ matrix).all()
