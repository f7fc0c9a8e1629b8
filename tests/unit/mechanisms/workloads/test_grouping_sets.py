"""Totals that agree, against dense weighted least squares, and their intervals against exact laws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.grouping_sets import (
    Averages,
    choose_shares,
    compute_averaged_widths,
    compute_intervals,
    compute_stddevs,
    compute_widths,
    list_variances,
    make_consistent,
)

Sets = list[tuple[int, ...]]
CUBE: Sets = [axes for k in range(4) for axes in itertools.combinations(range(3), k)]
QUESTIONS: dict[str, tuple[list[int], Sets]] = {
    "rollup": ([3, 4, 2], [(0, 1, 2), (0, 1), (0,), ()]),
    "cube": ([3, 2, 4], CUBE),
    "two that share the total": ([3, 5], [(0,), (1,)]),
    "a total without the tables between": ([2, 3, 2], [(0, 1, 2), ()]),
    "three pairs": ([2, 3, 4], [(0, 1), (1, 2), (0, 2)]),
    "one twice": ([3, 2], [(0, 1), (0,), (0, 1)]),
    "a column with one key": ([3, 1, 2], [(0, 1), (1, 2), (1,), ()]),
    "one alone": ([4], [(0,)]),
    "a common column everywhere": ([2, 3, 3, 2], [(0, 1), (0, 2, 3), (0, 3), (0, 1, 3)]),
}


def design(sizes: list[int], axes: tuple[int, ...]) -> Any:
    """Return the 0/1 matrix that sums the cells of the whole table to those of one set."""
    factors = [np.eye(size) if axis in axes else np.ones((1, size)) for axis, size in enumerate(sizes)]
    matrix: Any = np.ones((1, 1))
    for factor in factors:
        matrix = np.kron(matrix, factor)
    return matrix


def dense(sizes: list[int], sets: Sets, variances: list[float]) -> tuple[Any, Any]:
    """Return the matrix from all noisy cells to all estimates, and the variances of the noisy cells."""
    rows = np.vstack([design(sizes, axes) for axes in sets])
    counts = [math.prod(sizes[axis] for axis in axes) for axes in sets]
    spread = np.repeat(variances, counts)
    scaled = rows / np.sqrt(spread)[:, None]
    return rows @ np.linalg.pinv(scaled) / np.sqrt(spread), spread


def variances_for(sets: Sets) -> list[float]:
    return [1.0 + 0.7 * i**2 for i in range(len(sets))]


def noisy(sizes: list[int], sets: Sets, seed: int) -> list[Any]:
    chance = np.random.default_rng(seed)
    return [chance.integers(-50, 200, size=[sizes[axis] for axis in axes]) for axes in sets]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_estimate_is_the_least_squares_one(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    variances = variances_for(sets)
    tables = noisy(sizes, sets, 1)
    matrix, _ = dense(sizes, sets, variances)
    wanted = matrix @ np.concatenate([table.ravel() for table in tables])
    found = make_consistent(sizes, sets, tables, variances)
    assert np.allclose(np.concatenate([table.ravel() for table in found]), wanted, rtol=0, atol=1e-9)
    assert [table.shape for table in found] == [table.shape for table in tables]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_two_tables_agree_on_their_common_columns(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    found = make_consistent(sizes, sets, noisy(sizes, sets, 2), variances_for(sets))
    for (one, first), (other, second) in itertools.combinations(zip(sets, found, strict=True), 2):
        left = first.sum(axis=tuple(i for i, axis in enumerate(one) if axis not in other))
        right = second.sum(axis=tuple(i for i, axis in enumerate(other) if axis not in one))
        assert np.allclose(left, right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", QUESTIONS)
def test_exact_tables_are_left_as_they_are(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    cells = np.random.default_rng(3).integers(0, 1000, size=math.prod(sizes))
    tables = [design(sizes, axes) @ cells for axes in sets]
    for table, estimate in zip(tables, make_consistent(sizes, sets, tables, variances_for(sets)), strict=True):
        assert np.allclose(estimate, table, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_variance_is_that_of_linear_algebra_and_never_larger_than_before(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    variances = variances_for(sets)
    matrix, spread = dense(sizes, sets, variances)
    every = (matrix**2) @ spread
    start = 0
    for axes, stddev, before in zip(sets, compute_stddevs(sizes, sets, variances), variances, strict=True):
        stop = start + math.prod(sizes[axis] for axis in axes)
        assert np.allclose(every[start:stop], stddev**2, rtol=1e-9)
        assert stddev**2 <= before * (1 + 1e-12)
        start = stop


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_coefficients_are_the_rows_of_the_estimate(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    variances = variances_for(sets)
    matrix, _ = dense(sizes, sets, variances)
    starts = np.cumsum([0] + [math.prod(sizes[axis] for axis in axes) for axes in sets])
    averages = Averages.of(sizes, sets, variances)
    for number, axes in enumerate(averages.question.sets):
        for cell in range(starts[number], starts[number + 1]):
            assert listed(averages.coefficients(axes)) == rows(matrix[cell], starts)


def listed(coefficients: list[tuple[int, float, int]]) -> Counter[tuple[int, float]]:
    found: Counter[tuple[int, float]] = Counter()
    for index, value, count in coefficients:
        found[index, round(value, 9) + 0.0] += count
    return found


def rows(row: Any, starts: Any) -> Counter[tuple[int, float]]:
    pairs = itertools.pairwise(starts)
    return Counter((i, round(v, 9) + 0.0) for i, (a, b) in enumerate(pairs) for v in row[a:b].tolist())


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[int], Sets, list[float]]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    subsets = st.sets(st.integers(0, len(sizes) - 1)).map(lambda axes: tuple(sorted(axes)))
    sets = draw(st.lists(subsets, min_size=1, max_size=5))
    spread = st.floats(0.1, 10.0)
    return sizes, sets, draw(st.lists(spread, min_size=len(sets), max_size=len(sets)))


@settings(max_examples=60, deadline=None)
@given(questions(), st.integers(0, 2**32))
def test_any_sets_give_the_least_squares_estimate(
    question: tuple[list[int], Sets, list[float]], seed: int
) -> None:
    sizes, sets, variances = question
    tables = noisy(sizes, sets, seed)
    matrix, spread = dense(sizes, sets, variances)
    wanted = matrix @ np.concatenate([table.ravel() for table in tables])
    found = make_consistent(sizes, sets, tables, variances)
    assert np.allclose(np.concatenate([table.ravel() for table in found]), wanted, rtol=0, atol=1e-7)
    counts = [math.prod(sizes[axis] for axis in axes) for axes in sets]
    after = np.repeat(np.square(compute_stddevs(sizes, sets, variances)), counts)
    assert np.allclose((matrix**2) @ spread, after, rtol=1e-7)


def test_a_table_that_is_not_measured_is_the_sum_of_one_that_is() -> None:
    table = np.arange(6).reshape(2, 3)
    whole, rest, total = make_consistent(
        [2, 3], [(0, 1), (1,), ()], [table, None, None], [1.0, math.inf, math.inf]
    )
    assert np.allclose(whole, table)
    assert np.allclose(rest, table.sum(axis=0))
    assert total.shape == ()
    assert math.isclose(float(total), 15)
    with pytest.raises(MechanismError, match="A table that is not measured must be a marginal of one that is"):
        make_consistent([2, 3], [(0, 1), (1,)], [None, np.zeros(3)], [math.inf, 1.0])


def test_numbers_beyond_64_bits_are_taken() -> None:
    tables = [np.array([2**70, 2**70], dtype=object), np.array([2**71], dtype=object)]
    found = make_consistent([2], [(0,), ()], tables, [1.0, 1.0])
    assert np.allclose(found[0], 2.0**70)


def exact_tail(row: Any, laws: list[Any], unit: Fraction) -> Any:
    """Return Pr[|Y| > k unit] for k = 0, 1, ..., for coefficients that are whole multiples of a unit."""
    total = np.ones(1)
    for value, law in zip(row, laws, strict=True):
        whole = abs(round(value / unit))
        assert abs(abs(value) - whole * float(unit)) < 1e-9
        if whole:
            reach = law.bound_tail(1e-13)
            one = np.zeros(2 * whole * reach + 1)
            one[::whole] = [math.exp(law.log_mass(z)) for z in range(-reach, reach + 1)]
            total = np.convolve(total, one)
    return 2 * total[len(total) // 2 + 1 :][::-1].cumsum()[::-1]


# Equal variances in these questions have coefficients that are multiples of a simple fraction.
RATIONAL = [
    ([2], [(0,), ()], Fraction(1, 3)),
    ([4], [(0,), ()], Fraction(1, 5)),
    ([2, 2], [(0, 1), (0,), ()], Fraction(1, 21)),
    ([2, 2], [(0,), (1,)], Fraction(1, 4)),
]
LAWS = [DiscreteLaplaceLaw(Fraction(1)), DiscreteLaplaceLaw(Fraction(4)), DiscreteGaussianLaw(Fraction(2))]


@thinned(4)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("sizes", "sets", "unit"), RATIONAL, ids=str)
def test_the_widths_cover_by_the_exact_law(sizes: list[int], sets: Sets, unit: Fraction, law: Any) -> None:
    matrix, _ = dense(sizes, sets, [1.0] * len(sets))
    for confidence in (0.5, 0.9, 0.95, 0.99):
        start = 0
        for axes, width in zip(
            sets, compute_averaged_widths(sizes, sets, [law] * len(sets), confidence), strict=True
        ):
            beyond = exact_tail(matrix[start], [law] * len(matrix), unit)
            assert beyond[math.floor(width / unit + 1e-9)] <= 1 - confidence
            narrower = max(0.0, 0.97 * width - float(unit))
            assert beyond[math.floor(narrower / unit)] > (1 - confidence) * 0.99
            start += math.prod(sizes[axis] for axis in axes)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_widths_are_never_above_those_of_the_own_noise(name: str, confidence: float) -> None:
    sizes, sets = QUESTIONS[name]
    laws = [DiscreteLaplaceLaw(Fraction(2 + i)) for i in range(len(sets))]
    found = compute_widths(sizes, sets, laws, confidence)
    assert all(width <= law.quantile(confidence) for width, law in zip(found, laws, strict=True))
    if name in ("rollup", "cube") and confidence == 0.95:
        assert found[-1] < laws[-1].quantile(confidence) * 0.95


def test_an_interval_is_about_the_noisy_cells_where_these_are_known_better_by_it() -> None:
    sizes, sets = [2, 2], [(0, 1), ()]
    # At low confidence a sharp peak is worth more than a small variance.
    laws = [DiscreteLaplaceLaw(Fraction(1, 2)), DiscreteLaplaceLaw(Fraction(9))]
    tables = [np.array([5, 6, 7, 8]), np.array([40])]
    (low, high), (least, most) = compute_intervals(sizes, sets, tables, laws, 0.7)
    own = laws[0].quantile(0.7)
    assert compute_averaged_widths(sizes, sets, laws, 0.7)[0] > own == compute_widths(sizes, sets, laws, 0.7)[0]
    estimate = make_consistent(sizes, sets, tables, list_variances(laws))
    assert np.allclose(low, np.minimum(tables[0] - own, estimate[0]))
    assert np.allclose(high, np.maximum(tables[0] + own, estimate[0]))
    wide = compute_averaged_widths(sizes, sets, laws, 0.7)[1]
    assert wide < laws[1].quantile(0.7)
    assert np.allclose([least[0], most[0]], [estimate[1][0] - wide, estimate[1][0] + wide])


def total_variance(sizes: list[int], sets: Sets, split: list[Fraction], power: Fraction) -> float:
    """Return the total variance of all cells, from dense least squares."""
    order = float(1 / power - 1)
    variances = [float(share) ** -order if share else 1e12 for share in split]
    matrix, spread = dense(sizes, sets, variances)
    return float(((matrix**2) @ spread).sum())


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("power", [Fraction(1, 3), Fraction(1, 2)])
def test_shares_sum_to_1_and_are_no_worse_than_the_plain_rule(name: str, power: Fraction) -> None:
    sizes, sets = QUESTIONS[name]
    best, plain = choose_shares(sizes, sets, power), choose_shares(sizes, sets, power, every=True)
    assert sum(best) == sum(plain) == 1
    assert min(best) >= 0 < min(plain)
    before = total_variance(sizes, sets, plain, power)
    assert total_variance(sizes, sets, best, power) <= before * (1 + 1e-6)


def test_with_every_set_measured_shares_go_with_a_power_of_the_cells() -> None:
    half, third = (
        [float(x) for x in choose_shares([64], [(0,), ()], p, every=True)]
        for p in (Fraction(1, 2), Fraction(1, 3))
    )
    assert half == pytest.approx([8 / 9, 1 / 9], abs=1e-3)
    assert third == pytest.approx([4 / 5, 1 / 5], abs=1e-3)


@pytest.mark.parametrize("name", ["rollup", "cube", "three pairs"])
def test_no_other_shares_are_better_for_gaussian_noise(name: str) -> None:
    sizes, sets = QUESTIONS[name]
    best = total_variance(sizes, sets, choose_shares(sizes, sets, Fraction(1, 2)), Fraction(1, 2))
    chance = np.random.default_rng(5)
    for _ in range(40):
        other = [Fraction(float(x)) for x in chance.dirichlet(np.ones(len(sets)))]
        assert total_variance(sizes, sets, other, Fraction(1, 2)) >= best * (1 - 1e-3)


def test_a_cube_with_laplace_noise_is_best_computed_from_its_finest_table() -> None:
    sizes, sets = QUESTIONS["cube"]
    assert choose_shares(sizes, sets, Fraction(1, 3)) == [0, 0, 0, 0, 0, 0, 0, 1]
    plain = total_variance(sizes, sets, choose_shares(sizes, sets, Fraction(1, 3), every=True), Fraction(1, 3))
    assert total_variance(sizes, sets, choose_shares(sizes, sets, Fraction(1, 3)), Fraction(1, 3)) < plain / 2


def test_a_long_rollup_needs_no_more_than_its_tables() -> None:
    sets: Sets = [tuple(range(k)) for k in range(15)]
    averages = Averages.of([2] * 14, sets, [1.0] * 15)
    assert len(averages.question.meets) == 15
    assert len(averages.coefficients(averages.question.sets[-1])) < 150


@pytest.mark.parametrize(
    ("sizes", "sets", "match"),
    [
        ([2], [], "sets must have"),
        ([2, 2], [(1, 0)], "ascending"),
        ([2], [(1,)], "sets must name columns"),
        ([0], [(0,)], "sizes must be"),
    ],
)
def test_a_wrong_question_is_refused(sizes: list[int], sets: Sets, match: str) -> None:
    with pytest.raises(MechanismError, match=match):
        compute_stddevs(sizes, sets, [1.0] * len(sets))


def test_wrong_tables_variances_and_powers_are_refused() -> None:
    with pytest.raises(MechanismError, match="must have 2 cells"):
        make_consistent([2], [(0,)], [np.zeros(3)], [1.0])
    with pytest.raises(MechanismError, match="variances"):
        make_consistent([2], [(0,)], [np.zeros(2)], [math.nan])
    with pytest.raises(MechanismError, match="power"):
        choose_shares([2], [(0,)], Fraction(2, 3))
    with pytest.raises(MechanismError, match="Too many"):
        compute_stddevs([2] * 13, [tuple(j for j in range(13) if j != i) for i in range(13)], [1.0] * 13)
