"""Norms of Toeplitz matrices with buffers, and the parameters that make them small, against dense matrices."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import thinned

from jali.streams.buffer_parameters import best_parameters, column_square, mean_row_square, row_square
from jali.streams.buffer_recurrence import BufferRecurrence, read_decays, read_weights

TWO = BufferRecurrence((Fraction(9, 10), Fraction(1, 2)), (Fraction(1, 5), Fraction(1, 4)))
SLOW = BufferRecurrence(
    (Fraction(999, 1000), Fraction(9, 10), Fraction(1, 3)), (Fraction(1, 50), Fraction(1, 9), Fraction(1, 4))
)


def chosen(horizon: int, buffers: int, ticks: int = 1, separation: int = 1) -> BufferRecurrence:
    decays, weights = best_parameters(horizon, ticks, separation, buffers)
    kept = read_decays(tuple(map(Fraction, decays.tolist())), buffers)
    return BufferRecurrence(kept, read_weights(tuple(map(Fraction, weights.tolist())), kept, 60))


def column(recurrence: BufferRecurrence, size: int) -> list[Fraction]:
    powers = [
        [w * theta ** (k - 1) for w, theta in zip(recurrence.weights, recurrence.decays, strict=True)]
        for k in range(1, size)
    ]
    return [Fraction(1), *map(sum, powers)]  # type: ignore[list-item]


def dense(recurrence: BufferRecurrence, size: int) -> NDArray[Any]:
    first = [float(c) for c in column(recurrence, size)]
    return np.array([[first[t - s] if s <= t else 0.0 for s in range(size)] for t in range(size)])


def product_of_norms(recurrence: BufferRecurrence, horizon: int, ticks: int = 1, separation: int = 1) -> float:
    columns = float(recurrence.column_square(horizon, ticks, separation))
    return math.sqrt(columns * row_square(recurrence.residues, recurrence.poles(), horizon))


@pytest.mark.parametrize(
    ("buffers", "horizon", "error"),
    [
        (1, 1 << 20, 12.0308),
        (2, 1 << 20, 6.6729),
        (3, 1 << 20, 5.7858),
        (4, 1 << 20, 5.5644),
        (5, 1 << 20, 5.5021),
        (4, 1024, 3.272944),
    ],
)
def test_chosen_parameters_have_the_errors_of_the_theorem_book(buffers: int, horizon: int, error: float) -> None:
    assert product_of_norms(chosen(horizon, buffers), horizon) == pytest.approx(error, abs=5.1e-5)


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 100, 5000, 1 << 16, 1 << 24])
def test_parameters_are_found_for_every_horizon_and_lie_between_the_bounds(horizon: int) -> None:
    """The square root of summing has the error sum f_k^2; no lower triangular matrix is below the lower bound."""
    found = product_of_norms(chosen(horizon, 4), horizon)
    root = (math.log(horizon) + 0.57722 + 4 * math.log(2)) / math.pi
    assert root - 0.5 <= found <= root * (1.06 if horizon > 1 else 1)


@pytest.mark.parametrize(("ticks", "separation"), [(1, 1), (3, 1), (5, 7), (12, 20), (200, 1), (2, 150)])
def test_a_pattern_has_parameters_of_its_own_that_are_better_for_it(ticks: int, separation: int) -> None:
    own = product_of_norms(chosen(200, 3, ticks, separation), 200, ticks, separation)
    usual = product_of_norms(chosen(200, 3), 200, ticks, separation)
    assert own <= usual * (1 + 1e-6)
    if ticks >= 5:
        assert own < 0.99 * usual


@pytest.mark.parametrize("recurrence", [TWO, SLOW], ids=["two", "slow"])
@pytest.mark.parametrize(("ticks", "separation"), [(1, 1), (2, 1), (2, 3), (3, 2), (4, 4), (3, 5), (10, 1)])
def test_the_worst_pattern_is_the_earliest_and_its_length_is_exact(
    recurrence: BufferRecurrence, ticks: int, separation: int
) -> None:
    horizon = 10
    first = column(recurrence, horizon)
    patterns = [
        chosen
        for size in range(1, ticks + 1)
        for chosen in itertools.combinations(range(horizon), size)
        if all(b - a >= separation for a, b in itertools.pairwise(chosen))
    ]
    squares = {
        pattern: sum(sum(first[t - s] for s in pattern if s <= t) ** 2 for t in range(horizon))
        for pattern in patterns
    }
    entered = len(range(0, min(horizon, ticks * separation), separation))
    worst = max(squares.values())
    found = recurrence.column_square(horizon, entered, separation)
    assert worst == squares[tuple(range(0, entered * separation, separation))]
    assert 0 <= found - worst < Fraction(1, 1 << 140)


@thinned(4)
@pytest.mark.parametrize(
    ("horizon", "ticks", "separation"), [(1024, 1, 1), (1000, 7, 100), (1000, 40, 25), (777, 777, 1)]
)
def test_long_columns_agree_with_the_dense_matrix(horizon: int, ticks: int, separation: int) -> None:
    moved = dense(SLOW, horizon)[:, : ticks * separation : separation].sum(axis=1)
    exact = float(moved @ moved)
    decays, weights = (np.array([float(x) for x in row]) for row in (SLOW.decays, SLOW.weights))
    assert column_square(decays, weights, horizon, ticks, separation) == pytest.approx(exact, rel=1e-11)
    assert float(SLOW.column_square(horizon, ticks, separation)) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("recurrence", [TWO, SLOW, chosen(300, 4), chosen(300, 1)])
def test_rows_agree_with_the_dense_inverse(recurrence: BufferRecurrence) -> None:
    horizon = 300
    inverse = np.tril(np.ones((horizon, horizon))) @ np.linalg.inv(dense(recurrence, horizon))
    squares = (inverse**2).sum(axis=1)
    residues, poles = recurrence.residues, recurrence.poles()
    assert recurrence.inverse(horizon) == pytest.approx(inverse[:, 0], rel=1e-9)
    for tick in (1, 2, 77, horizon):
        assert row_square(residues, poles, tick) == pytest.approx(squares[tick - 1], rel=1e-9)
    assert mean_row_square(residues, poles, horizon) == pytest.approx(squares.mean(), rel=1e-9)


@pytest.mark.parametrize("buffers", [1, 2, 5, 8])
def test_residues_are_positive_and_zeros_lie_between_the_decays(buffers: int) -> None:
    recurrence = chosen(1 << 18, buffers)
    assert (recurrence.residues > 0).all()
    assert recurrence.residues.sum() == pytest.approx(1, abs=1e-14)
    for decay, zero, lower in zip(
        recurrence.decays, recurrence.zeros, (*recurrence.decays[1:], Fraction(0)), strict=True
    ):
        assert lower < zero < decay
        left = 1 + sum(w / (zero - theta) for w, theta in zip(recurrence.weights, recurrence.decays, strict=True))
        assert abs(Fraction(left)) < Fraction(1, 1 << 90)
