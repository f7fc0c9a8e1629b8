"""Quantiles without a range: their loss on all small tables, their law, their rank error, and extreme values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.quantiles.unbounded_quantile import UnboundedQuantile
from jali.mechanisms.quantiles.unbounded_search import RankFork, RankWalk
from jali.privacy.adjacency import Adjacency

Table = tuple[int, ...]
Floats = NDArray[np.float64]
ADJACENCIES = ("add-remove", "replace-one")
EXTREMES = (1e300, -1e300, math.nan, math.inf, -math.inf, Fraction(1, 3), Decimal("1e4000"), 10**400, -0.0, 2.5)


def tables(marks: range, most: int) -> Iterator[Table]:
    for size in range(most + 1):
        yield from itertools.combinations_with_replacement(marks, size)


def neighbours(marks: range, most: int, adjacency: str) -> Iterator[tuple[Table, Table]]:
    for table in tables(marks, most):
        for place, mark in itertools.product(range(len(table) + 1), marks):
            if adjacency == "add-remove" and place == 0:
                yield table, (*table, mark)
            elif adjacency == "replace-one" and place < len(table) and mark > table[place]:
                yield table, (*table[:place], mark, *table[place + 1 :])


def largest_ratio(one: Any, other: Any) -> float:
    assert one.keys() == other.keys()
    return max(abs(float(one[key]) - float(other[key])) for key in one)


def make(**given: Any) -> UnboundedQuantile:
    return UnboundedQuantile(**({"step": 1, "reach": 4, "growth": 2, "epsilon": 2} | given))


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, None])
@pytest.mark.parametrize(("at", "spare"), [("1/2", 0), ("1/4", 1), (1, 0), (1, 4), (0, 1), ("0.9", 2)])
def test_no_two_neighbours_among_all_small_tables_lose_more_than_epsilon(
    at: Any, spare: int, low: int | None, adjacency: str
) -> None:
    mechanism = make(at=at, low=low, spare=spare, adjacency=adjacency)
    marks = range(0 if low == 0 else -4, 5, 1 if low == 0 else 2)
    law = cache(mechanism.log_masses)
    pairs = neighbours(marks, 3 if low == 0 else 2, adjacency)
    worst = max(largest_ratio(law(tuple(sorted(one))), law(tuple(sorted(other)))) for one, other in pairs)
    assert 0.3 < worst <= 2 * (1 + 1e-9)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("at", ["1/2", "3/4", 1])
def test_the_loss_is_reached_on_long_ladders(at: Any, adjacency: str) -> None:
    mechanism = make(at=at, low=0, reach=80, growth="1.0001", spare=5, epsilon=1, adjacency=adjacency)
    one, other = ((), (79,)) if adjacency == "add-remove" else ((79,), (0,))
    assert largest_ratio(mechanism.log_masses(one), mechanism.log_masses(other)) == pytest.approx(1, rel=1e-9)


def test_noise_for_a_median_under_add_remove_is_too_little_under_replace_one() -> None:
    """One person moves #{x <= c} - n/2 by 1/2 when added, and by 1 when moved."""
    mechanism = make(at="1/2", low=0, reach=80, growth="1.0001", spare=5, epsilon=1, adjacency="add-remove")
    assert largest_ratio(mechanism.log_masses((79,)), mechanism.log_masses((0,))) > 1.3


def laplace_masses(scale: float, far: int) -> tuple[NDArray[np.int64], Floats]:
    points = np.arange(-far, far + 1)
    weights = np.exp(-np.abs(points) / scale)
    return points, weights / weights.sum()


def walked(excess: list[int], threshold_scale: float, query_scale: float) -> list[float]:
    """Pr[first place whose excess plus noise reaches the threshold's noise], by sums over both noises."""
    points, thresholds = laplace_masses(threshold_scale, 400)
    _, noise = laplace_masses(query_scale, 400)
    chances = [0.0] * (len(excess) + 1)
    for z, mass in zip(points.tolist(), thresholds.tolist(), strict=True):
        left = mass
        for place, value in enumerate(excess):
            above = float(noise[points >= z - value].sum())
            chances[place] += left * above
            left *= 1 - above
        chances[-1] += left
    return chances


@pytest.mark.parametrize(("adjacency", "drift"), [("add-remove", 0.75), ("replace-one", 1.0)])
def test_the_law_of_a_walk_is_the_sum_over_both_noises(adjacency: str, drift: float) -> None:
    mechanism = make(at="3/4", low=0, spare=1, adjacency=adjacency)
    table = (0, 1, 1, 3, 4, 4)
    # In quarters of a person: 4 #{x <= c} - (3 n - 4), for c = 0, 1, 2; 4 is the answer where none is.
    excess = [4 * sum(x <= c for x in table) - (18 - 4) for c in (0, 1, 2)]
    scale = 4 * (1 + drift) / 2
    expected = walked(excess, scale, scale)
    masses = {key: math.exp(log) for key, log in mechanism.log_masses(table).items()}
    assert masses == pytest.approx(dict(zip((0, 1, 2, 4), expected, strict=True)), rel=1e-9)


def test_the_law_of_a_fork_is_that_of_its_side_and_of_two_walks() -> None:
    mechanism = make(at="1/2", epsilon=4, adjacency="add-remove")
    table = (-3, -2, -1, 0, 2, 2, 4)
    side = 2 * sum(x < 0 for x in table) - len(table)
    points, noise = laplace_masses(1.0, 400)  # in halves of a person: the drift is 1, the loss 4/4
    falls = float(noise[points >= -side].sum())
    scale = 2 * 1.5 / 3
    up = walked([2 * sum(x <= c for x in table) - len(table) for c in (0, 1, 2)], scale, scale)
    down = walked([2 * sum(x >= -c for x in table) - len(table) for c in (0, 1, 2)], scale, scale)
    expected = {c: (1 - falls) * p for c, p in zip((0, 1, 2, 4), up, strict=True)}
    for c, p in zip((0, 1, 2, 4), down, strict=True):
        expected[-c] = expected.get(-c, 0.0) + falls * p
    masses = {key: math.exp(log) for key, log in mechanism.log_masses(table).items()}
    assert masses == pytest.approx(expected, rel=1e-9)


COLUMNS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": lambda rng: rng.normal(300, 80, 4000),
    "far from 0": lambda rng: rng.normal(-20_000, 5, 4000),
    "skewed": lambda rng: rng.lognormal(8, 1, 4000),
    "heavy-tailed": lambda rng: rng.standard_cauchy(4000) * 100,
    "constant": lambda rng: np.full(4000, 77.0),
    "tiny": lambda rng: rng.normal(0, 50, 5),
}


def misranked(marks: Floats, answer: int, wanted: float) -> float:
    """Return how many people an answer is off, but for the distance of marks: at most 1 %, or 1 below 200."""
    towards = 0.99 * answer if abs(answer) > 200 else answer - np.sign(answer)
    if answer > 0:
        enough, too_many = marks <= answer, marks <= towards
    elif answer < 0:
        enough, too_many = marks < towards, marks < answer
    else:
        enough, too_many = marks <= 0, marks < 0
    return max(wanted - int(enough.sum()), int(too_many.sum()) - wanted)


@thinned(4)
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("at", ["0.1", "1/2", "0.95"])
def test_ranks_are_within_the_error_of_above_threshold(name: str, at: str, adjacency: str) -> None:
    """Each of the releases is off by more with a chance of at most 10 %; false alarms below 1e-8 a case."""
    column = COLUMNS[name](np.random.default_rng(7))
    mechanism = UnboundedQuantile(at=at, step=1, growth="1.01", epsilon=1, adjacency=adjacency)
    marks, wanted = np.floor(column + 0.5), float(mechanism.at) * len(column)
    answers: list[Any] = mechanism.sample(column, 40 * DEPTH, bits=SeededBits(11))
    wrong = sum(misranked(marks, answer, wanted) > mechanism.error(0.9) for answer in answers)
    assert wrong <= binom.isf(1e-8, len(answers), 0.1)


def test_the_error_is_below_the_bound_of_the_lectures() -> None:
    """8 (ln k + ln(2/beta)) / epsilon for k marks, Dwork and Roth 2014, Theorem 3.24; the walk is monotone."""
    mechanism = UnboundedQuantile(at=1, low=0, step=1, epsilon=1, adjacency="replace-one")
    finder = mechanism._finder
    assert isinstance(finder, RankWalk)
    bound = 8 * (math.log(len(finder.distances) - 1) + math.log(2 / 0.05))
    assert mechanism.error(0.95) < bound / 2


def test_a_known_low_end_gives_a_walk_and_none_gives_a_fork() -> None:
    assert isinstance(make(at="1/2", low=0, adjacency="add-remove")._finder, RankWalk)
    assert isinstance(make(at="1/2", adjacency="add-remove")._finder, RankFork)


def test_the_losses_of_side_and_walk_add_up_to_epsilon() -> None:
    for adjacency in Adjacency:
        fork = make(at="0.3", epsilon=2, adjacency=adjacency)._finder
        assert isinstance(fork, RankFork)
        assert fork.side.epsilon + fork.up.epsilon == fork.side.epsilon + fork.down.epsilon == 2


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, "-1/3", None])
@pytest.mark.parametrize("table", [EXTREMES, (), (math.nan,), (1e300,) * 3, np.array([-np.inf, np.nan])])
def test_extreme_values_and_empty_tables_are_answered_like_any_other(table: Any, low: Any, adjacency: str) -> None:
    mechanism = UnboundedQuantile(at="0.99", low=low, step="1/8", epsilon=1, adjacency=adjacency)
    answer = mechanism.release(table, bits=SeededBits(1))
    assert isinstance(answer, float)
    assert math.isfinite(answer)
    assert abs(answer) <= 2**47 + 1


def test_values_are_compared_with_marks_as_integers() -> None:
    """2^53 + 1 is no double; a step of 1 tells it from 2^53 all the same."""
    mechanism = make(at=1, low=2**53, reach=4, growth=2, epsilon=200, adjacency="replace-one")
    assert mechanism.release([2**53 + 1] * 9, bits=SeededBits(1)) == 2**53 + 1


def test_a_high_loss_gives_the_quantile_itself() -> None:
    values = list(range(1, 101))
    for quantile, answer in (("1/4", 25), ("1/2", 50), (1, 100)):
        for side in (1, -1):
            low = 0 if side == 1 else None
            share = Fraction(quantile) if side == 1 else 1 - Fraction(quantile)
            mechanism = make(at=share, low=low, reach=1000, growth="1.0001", epsilon=5000, adjacency="replace-one")
            found = mechanism.release([side * value for value in values], bits=SeededBits(2))
            assert abs(found - side * answer) <= 1


def test_quantiles_of_many_digits_are_read_as_the_nearest_short_fraction() -> None:
    assert make(at=1 - 0.99, adjacency="add-remove").at == Fraction(1, 100)
    assert make(at=1 / 3, adjacency="add-remove").at == Fraction(1, 3)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("at", 1.1), ("at", -0.1), ("reach", 0), ("reach", "1/2"), ("spare", -1), ("spare", 0.5)],
)
def test_parameters_outside_their_domain_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match="step" if bad == "1/2" else name):
        make(**({"at": "1/2", "low": 0, "adjacency": "add-remove"} | {name: bad}))
