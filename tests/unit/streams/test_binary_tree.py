"""The binary tree: errors against dense least squares and the theory, distances against all patterns."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits
from tests.unit.streams.patterns import furthest_one_by_one

from jali.errors import MechanismError
from jali.streams import BinaryTree, Participation, tree_sensitivity

ONCE = Participation(adjacency="add-remove")
HORIZONS = (1, 2, 3, 7, 8, 13, 16, 29)
estimates = pytest.mark.parametrize("estimate", ["plain", "honaker"])


def tree(horizon: int, estimate: str = "honaker", person: Participation = ONCE) -> BinaryTree:
    return BinaryTree(horizon=horizon, rho=Fraction(1, 2), person=person, estimate=estimate)


def test_the_strategy_of_five_ticks_is_leaves_pairs_and_a_run_of_four() -> None:
    assert tree(5).strategy().tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 1, 0],
        [1, 1, 1, 1, 0],
    ]


@pytest.mark.parametrize("horizon", HORIZONS)
def test_honakers_estimate_is_least_squares_on_what_is_completed(horizon: int) -> None:
    """No linear unbiased estimate from the counts completed so far has a smaller variance (Gauss and Markov)."""
    counter = tree(horizon)
    rows = counter.strategy()
    noisy = np.random.default_rng(5).normal(10, 4, len(rows))
    values = counter.answer(noisy)
    for tick in range(1, horizon + 1):
        seen = np.array([not row[tick:].any() for row in rows])
        past = rows[seen][:, :tick]
        fitted = np.linalg.lstsq(past, noisy[seen], rcond=None)[0]
        assert values[tick - 1] == pytest.approx(fitted.sum())
        assert counter.factors()[tick - 1] == pytest.approx(np.linalg.inv(past.T @ past).sum())


@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_plain_estimate_adds_up_the_runs_that_binary_digits_name(horizon: int) -> None:
    counter = tree(horizon, "plain")
    noisy = np.random.default_rng(6).integers(-50, 50, len(counter.strategy()))
    by_run = {
        tuple(np.flatnonzero(row).tolist()): y for row, y in zip(counter.strategy(), noisy.tolist(), strict=True)
    }
    for tick, value in enumerate(counter.answer(noisy).tolist(), 1):
        place, total = 0, 0
        for level in reversed(range(tick.bit_length())):
            if tick >> level & 1:
                total += by_run[tuple(range(place, place + 2**level))]
                place += 2**level
        assert value == total


@estimates
@pytest.mark.parametrize("horizon", [*HORIZONS, 100, 1000, 1023, 1024])
def test_what_is_said_of_errors_in_closed_form_is_what_the_factors_say(horizon: int, estimate: str) -> None:
    counter = tree(horizon, estimate)
    factors, stddev = counter.factors(), float(counter.law.stddev)
    assert counter.largest == pytest.approx(stddev * math.sqrt(factors.max()))
    assert counter.rms == pytest.approx(stddev * math.sqrt(factors.mean()))
    assert factors[counter.worst_tick - 1] == pytest.approx(factors.max())
    for tick in {1, horizon // 2 + 1, horizon}:
        assert counter.stddev(tick) == pytest.approx(stddev * math.sqrt(factors[tick - 1]))
        assert counter.influence(tick) @ counter.influence(tick) == pytest.approx(factors[tick - 1])


@pytest.mark.parametrize(
    ("horizon", "estimate", "largest", "rms"),
    [
        (1 << 20, "plain", 20.494, 14.491),
        (1 << 20, "honaker", 15.062, 10.651),
        (1 << 10, "plain", 10.488, 7.417),
    ],
)
def test_errors_at_unit_sigma_are_those_of_the_theory(
    horizon: int, estimate: str, largest: float, rms: float
) -> None:
    """The norm of the strategy times that of the rows of the estimate; and what the discrete law gives."""
    counter = tree(horizon, estimate)
    norm, factors = math.sqrt(counter.distance[1]), counter.factors()
    assert norm * math.sqrt(factors.max()) == pytest.approx(largest, abs=6e-4)
    assert norm * math.sqrt(factors.mean()) == pytest.approx(rms, abs=6e-4)
    assert (counter.largest, counter.rms) == pytest.approx((largest, rms), abs=6e-4)


@pytest.mark.parametrize(("estimate", "largest", "rms"), [("plain", 132.8, 93.9), ("honaker", 97.6, 69.0)])
def test_errors_of_laplace_noise_are_those_of_the_theory(estimate: str, largest: float, rms: float) -> None:
    """At epsilon 1: sqrt(2) times the L1 norm, 21, for continuous noise; the discrete law has 1e-4 less."""
    counter = BinaryTree(horizon=1 << 20, epsilon=1, person=ONCE, estimate=estimate)
    continuous = math.sqrt(2) * float(counter.distance[0])
    assert continuous * math.sqrt(counter.factors().max()) == pytest.approx(largest, abs=0.06)
    assert continuous * math.sqrt(counter.factors().mean()) == pytest.approx(rms, abs=0.06)
    assert continuous * (1 - 2e-4) < counter.law.stddev < continuous


@estimates
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": Fraction(1, 2)}], ids=["Laplace", "Gaussian"])
def test_published_errors_have_the_variance_that_is_forecast(estimate: str, loss: dict[str, Any]) -> None:
    """Keys are streams of their own: 400 of them. Seven standard errors, seeded."""
    horizon, keys = 256, 400 * DEPTH
    counter = BinaryTree(horizon=horizon, person=ONCE, estimate=estimate, **loss)
    stream = np.random.default_rng(2).integers(0, 9, (horizon, keys))
    errors = counter.start(width=keys, bits=SeededBits(8)).extend(stream) - np.cumsum(stream, axis=0)
    squares = (errors**2).mean(axis=0)
    assert squares.mean() == pytest.approx(counter.rms**2, abs=7 * squares.std() / math.sqrt(keys))
    worst = errors[counter.worst_tick - 1] ** 2
    assert worst.mean() == pytest.approx(counter.largest**2, abs=7 * worst.std() / math.sqrt(keys))
    assert np.abs(errors.mean(axis=1)).max() < 7 * counter.largest / math.sqrt(keys)


@thinned(4)
@pytest.mark.parametrize("horizon", [1, 4, 7, 8, 13, 16])
def test_distances_are_those_of_the_worst_pattern_however_they_are_computed(
    horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the search they are bounds, and exact where runs are multiples or divisors of the separation."""
    for ticks in (1, 2, 3, 4, 5):
        for separation in (1, 2, 3, 4, 5, 6, 8):
            person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
            wanted = furthest_one_by_one(tree(horizon).strategy(), ticks, separation)
            assert tree(horizon, person=person).distance == wanted
            with monkeypatch.context() as without:
                without.setattr(tree_sensitivity, "_WORK", 0)
                bound = tree(horizon, person=person).distance
            assert bound[0] == wanted[0]
            assert bound[1] >= wanted[1]
            assert bound[1] == wanted[1] or separation in (3, 5, 6)


def test_the_bound_is_not_always_reached() -> None:
    """Four ticks three apart: two runs of four hold two each, or a run of eight holds three, but not both."""
    person = Participation(adjacency="add-remove", ticks=4, separation=3)
    bound = sum(count * count for level in ([1] * 4, [1] * 4, [2, 2], [3, 1], [4]) for count in level)
    assert tree(16, person=person).distance[1] == bound - 2 == 40


@pytest.mark.parametrize(("ticks", "separation"), [(52, 7), (10, 7), (12, 30), (100, 3)])
def test_the_bound_is_close_to_the_worst_pattern(
    ticks: int, separation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 2 % of the noise."""
    person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
    found = []
    for work in (0, 1 << 40):
        monkeypatch.setattr(tree_sensitivity, "_WORK", work)
        found.append(float(tree(365, person=person).distance[1]))
    assert found[1] <= found[0] <= 1.02**2 * found[1]


@pytest.mark.parametrize("horizon", [1, 2, 3, 100, 1000, 1023, 1024])
def test_one_person_is_in_as_many_counts_as_there_are_levels(horizon: int) -> None:
    columns = tree(horizon).strategy().sum(axis=0)
    assert tree(horizon).distance == (columns.max(), columns.max())
    assert columns.max() == math.floor(math.log2(horizon)) + 1


def test_a_million_ticks_have_21_levels() -> None:
    assert tree(1 << 20).distance == (Fraction(21), Fraction(21))


def test_another_estimate_is_refused() -> None:
    with pytest.raises(MechanismError, match="estimate must be one of honaker, plain"):
        tree(4, "best")


def test_a_stream_of_a_million_ticks_keeps_few_numbers() -> None:
    counter = tree(1 << 20)
    run = counter.start(ahead=1)
    run.extend(np.ones((1 << 18) - 1, dtype=np.int64))
    assert len(run.state()) < 40 * counter.numbers_kept()
    assert counter.numbers_kept() == 84
