"""An exact answer or none: chances, their optimality, privacy, and what is never told."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.divergences import hockey_stick
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import MechanismError
from jali.mechanisms.stability.acceptance import DECLINED, Declined
from jali.mechanisms.stability.stable_value import Stable, StableValue

Graph = dict[int, set[int]]


def test_the_chances_are_those_of_the_theorem_book() -> None:
    """Section 7: pi_10 = .128183, pi_12 = .760311, pi_22 = .999995, pi_23 = 1 at (1, 1e-5)."""
    mechanism = StableValue(epsilon=1, delta=1e-5)
    found = [round(mechanism.chance(n - 1), 6) for n in (10, 12, 22, 23)]
    assert found == [0.128183, 0.760311, 0.999995, 1.0]
    assert mechanism.chance(0) == 1e-5
    assert mechanism.chance(10**12) == 1


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.3, 1e-3), (2.0, 0.2), (0.1, 1e-9)])
def test_no_table_is_answered_less_often_than_by_the_laplace_test(epsilon: float, delta: float) -> None:
    """Section 6: release iff d + Lap(1/epsilon) > ln(1/(2 delta))/epsilon."""
    mechanism = StableValue(epsilon=epsilon, delta=delta)
    threshold = math.log(1 / (2 * delta)) / epsilon
    for distance in range(2 * math.ceil(threshold) + 4):
        beyond = math.exp(-abs(distance - threshold) * epsilon) / 2
        classical = 1 - beyond if distance >= threshold else beyond
        assert mechanism.chance(distance) >= classical * (1 - 1e-12)


def test_the_threshold_of_the_laplace_test_is_the_one_of_the_theorem_book() -> None:
    assert 1 + math.log(1 / 2e-5) == pytest.approx(11.8197783, abs=1e-7)


def _path(size: int) -> tuple[Graph, list[str]]:
    graph = {i: {j for j in (i - 1, i + 1) if 0 <= j < size} for i in range(size)}
    return graph, ["b"] + ["a"] * (size - 1)


def _cycle(size: int) -> tuple[Graph, list[str]]:
    graph = {i: {(i - 1) % size, (i + 1) % size} for i in range(size)}
    return graph, ["a"] * (size - 4) + ["b", "b", "c", "c"]


def _grid(side: int) -> tuple[Graph, list[str]]:
    places = list(itertools.product(range(side), repeat=2))
    graph = {
        i: {j for j, q in enumerate(places) if abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1}
        for i, p in enumerate(places)
    }
    return graph, ["a" if x + y < side else "b" if x > y else "c" for x, y in places]


def _distances(graph: Graph, answers: list[str]) -> list[int]:
    """Return, for each table, how many changes leave the answer the same, by breadth-first search."""
    return [_distance(graph, answers, start) for start in graph]


def _distance(graph: Graph, answers: list[str], start: int) -> int:
    ball, changes = {start}, 0
    while True:
        ball = ball | {near for place in ball for near in graph[place]}
        if any(answers[place] != answers[start] for place in ball):
            return changes
        changes += 1


def _best_chances(graph: Graph, answers: list[str], epsilon: float, delta: float) -> np.ndarray:
    """Maximise the chances of all tables together, over all mechanisms that tell the right answer or decline."""
    rows: list[np.ndarray] = []
    limits: list[float] = []
    outputs = [*sorted(set(answers)), None]
    for one, near in graph.items():
        for other in near:
            for size in range(1, len(outputs) + 1):
                for event in itertools.combinations(outputs, size):
                    row, limit = _event_row(len(graph), answers, one, other, set(event), math.exp(epsilon))
                    rows.append(row)
                    limits.append(limit + delta)
    found = linprog(-np.ones(len(graph)), A_ub=np.array(rows), b_ub=limits, bounds=(0, 1), method="highs")
    assert found.status == 0
    return np.asarray(found.x)


def _event_row(
    count: int, answers: list[str], one: int, other: int, event: set[Any], growth: float
) -> tuple[np.ndarray, float]:
    """Write Pr_one[event] - growth Pr_other[event] <= limit as a row; the chance of declining is 1 - p."""
    row, constant = np.zeros(count), 0.0
    for place, factor in ((one, 1.0), (other, -growth)):
        declines = None in event
        row[place] += factor * ((answers[place] in event) - declines)
        constant += factor * declines
    return row, -constant


@pytest.mark.parametrize(("make", "size"), [(_path, 9), (_cycle, 12), (_grid, 4)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.5, 0.05), (2.0, 0.001)])
def test_a_linear_programme_over_all_such_mechanisms_finds_the_same_chances(
    make: Any, size: int, epsilon: float, delta: float
) -> None:
    graph, answers = make(size)
    mechanism = StableValue(epsilon=epsilon, delta=delta)
    ours = [mechanism.chance(distance) for distance in _distances(graph, answers)]
    assert _best_chances(graph, answers, epsilon, delta) == pytest.approx(ours, abs=1e-7)


@pytest.mark.parametrize(("make", "size"), [(_path, 9), (_cycle, 12), (_grid, 4)])
def test_neighbouring_tables_are_as_close_as_claimed(make: Any, size: int) -> None:
    graph, answers = make(size)
    mechanism = StableValue(epsilon="1/2", delta="1/20")
    laws = [mechanism.log_masses(pair) for pair in zip(answers, _distances(graph, answers), strict=True)]
    worst = max(hockey_stick(laws[one], laws[other], 0.5) for one in graph for other in graph[one])
    assert worst == pytest.approx(0.05, abs=1e-12)


def test_the_distance_to_the_nearest_different_table_would_cost_more() -> None:
    """Where a neighbour has another answer, the number after p(1) = delta is p(2) = (1 + e^epsilon) delta."""
    mechanism = StableValue(epsilon=1, delta="1/100")
    one, other = mechanism.log_masses(("a", 1)), mechanism.log_masses(("b", 1))
    assert hockey_stick(one, other, 1) == pytest.approx((1 + math.e) / 100, abs=1e-12)


def test_the_coin_of_every_distance_has_exactly_its_chance() -> None:
    """All strings of some bits: what they decide differs from the chance by what they leave open at most."""
    mechanism = StableValue(epsilon=1, delta="1/10")
    for distance in range(mechanism.chances.sure + 1):

        def told(bits: Any, distance: int = distance) -> bool:
            from jali.mechanisms.stability.acceptance import steps_of_distance
            from jali.sampling.interval_bernoulli import draw_booleans

            number = steps_of_distance(mechanism.chances, distance)
            return bool(draw_booleans(lambda n: mechanism.chances.bounds(number, n), 1, bits, 4)[0])

        masses, open_ = enumerate_masses(told, 12)
        chance = Fraction(mechanism.chance(distance))
        assert open_ <= Fraction(2, 1 << 12)
        assert masses.get(True, Fraction(0)) - Fraction(1, 10**15) <= chance
        assert chance <= masses.get(True, Fraction(0)) + open_ + Fraction(1, 10**15)


def test_releases_decline_with_the_right_probability() -> None:
    """20,000 draws, within six standard deviations: false alarms below 1e-8."""
    mechanism = StableValue(epsilon=1, delta="1/100")
    for distance in (0, 2, 4, 6):
        drawn = Counter(mechanism.sample(("a", distance), 20_000, bits=SeededBits(distance)))
        chance = mechanism.chance(distance)
        assert abs(drawn["a"] / 20_000 - chance) <= 6 * math.sqrt(chance * (1 - chance) / 20_000)
        assert set(drawn) <= {"a", DECLINED}


def test_a_sure_distance_is_always_answered_with_the_answer_itself() -> None:
    mechanism = StableValue(epsilon=1, delta="1/100")
    answer = object()
    assert mechanism.release((answer, mechanism.chances.sure)) is answer
    assert mechanism.release(Stable([1, 2], 10**40)) == [1, 2]


def test_the_loss_is_the_same_whether_it_answers_or_declines() -> None:
    mechanism = StableValue(epsilon=1, delta="1/100")
    before = mechanism.loss
    assert mechanism.release(("a", 100)) == "a"
    assert mechanism.loss == before
    assert (before.event.epsilon, before.event.delta) == (Fraction(1), Fraction(1, 100))


def test_what_is_said_instead_of_an_answer_tells_no_reason() -> None:
    assert repr(DECLINED) == str(DECLINED) == "declined"
    assert not DECLINED
    assert list(Declined) == [DECLINED]


@pytest.mark.parametrize(
    "value",
    [
        ("a", 1.5),
        ("a", True),
        ("a", None),
        "ab",
        ["a", 1],
        ("a", Decimal(1)),
        3,
        ("a",),
        ("a", np.timedelta64(5, "s")),
    ],
)
def test_values_are_refused_for_their_types(value: Any) -> None:
    with pytest.raises(MechanismError, match="pair"):
        StableValue(epsilon=1, delta="1/100").release(value)


def test_no_distance_is_refused_for_its_value() -> None:
    mechanism = StableValue(epsilon=1, delta="1/100")
    assert mechanism.log_masses(("a", -7)) == mechanism.log_masses(("a", 0))
    of_numpy: Any = ("a", np.int64(5))
    assert mechanism.log_masses(of_numpy) == mechanism.log_masses(("a", 5))


@pytest.mark.parametrize("bad", [-1, 1.5, True, "x"])
def test_a_bad_distance_is_refused_where_it_is_a_question(bad: Any) -> None:
    with pytest.raises(MechanismError, match="distance"):
        StableValue(epsilon=1, delta="1/100").chance(bad)


def test_the_error_is_the_least_distance_that_is_answered_with_the_confidence() -> None:
    mechanism = StableValue(epsilon=1, delta=1e-5)
    for confidence in (0.01, 0.5, 0.95, 0.999999):
        distance = mechanism.error(confidence)
        assert mechanism.chance(distance) >= confidence > mechanism.chance(distance - 1)
