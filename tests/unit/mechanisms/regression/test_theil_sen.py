"""The Theil-Sen line from medians over random pairs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.regression.matching import all_matchings, random_orders, sides_of
from jali.mechanisms.regression.theil_sen import TheilSen, _below, _height

Person = tuple[int, int]


def _small(epsilon: Any = 3, matchings: int = 1) -> TheilSen:
    return TheilSen(feature=(-1, 1), target=(-1, 1), epsilon=epsilon, matchings=matchings, grain=1)


def test_orders_are_uniform() -> None:
    """Chi-square over the 24 orders of four people; a false alarm has probability below 1e-6."""
    orders = random_orders(24_000 * DEPTH, 4, SeededBits(1))
    counts = Counter(map(tuple, orders.tolist()))
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_orders_with_equal_words_are_drawn_anew() -> None:
    class Repeating:
        def __init__(self) -> None:
            self.calls = 0

        def words(self, count: int) -> np.ndarray:
            self.calls += 1
            return np.arange(count, dtype=np.uint64)[::-1] if self.calls > 1 else np.ones(count, np.uint64)

        def integers(self, count: int, width: int) -> np.ndarray:
            raise NotImplementedError

    bits = Repeating()
    assert random_orders(1, 3, bits).tolist() == [[2, 1, 0]]
    assert bits.calls == 2


@pytest.mark.parametrize(("people", "count"), [(0, 1), (1, 1), (2, 1), (3, 3), (4, 3), (5, 15), (6, 15), (7, 105)])
def test_all_matchings_are_listed_once_and_every_order_makes_one(people: int, count: int) -> None:
    listed = [frozenset(map(frozenset, pairs)) for pairs in all_matchings(tuple(range(people)))]
    assert len(listed) == len(set(listed)) == count
    made = Counter(_matching(order) for order in itertools.permutations(range(people)))
    assert set(made) == set(listed)
    assert len(set(made.values())) == 1  # each by as many orders


def _matching(order: tuple[int, ...]) -> frozenset[frozenset[int]]:
    left, right = sides_of(np.array([order], np.intp).reshape(1, -1))
    return frozenset(map(frozenset, zip(left.tolist(), right.tolist(), strict=True)))


@pytest.mark.parametrize("people", [1, 2, 3, 4, 5, 6])
def test_matchings_with_one_more_person_reduce_to_uniform_ones_that_differ_in_a_pair(people: int) -> None:
    """The coupling of the proof: drop the new person's pair, and pair whom it leaves with whoever was left out."""
    reduced: Counter[frozenset[frozenset[int]]] = Counter()
    for larger in all_matchings(tuple(range(people + 1))):
        pairs = frozenset(map(frozenset, larger))
        kept = frozenset(pair for pair in pairs if people not in pair)
        alone = set(range(people)) - set().union(*kept)
        smaller = kept | ({frozenset(alone)} if len(alone) == 2 else set())
        assert len(smaller - pairs) <= 1
        assert len(pairs - smaller) <= 1
        reduced[smaller] += 1
    listed = [frozenset(map(frozenset, pairs)) for pairs in all_matchings(tuple(range(people)))]
    assert set(reduced) == set(listed)
    assert len(set(reduced.values())) == 1


def test_heights_are_those_of_the_lines_rounded_to_the_nearest_mark() -> None:
    generator = np.random.default_rng(3)
    grain = 1 << 20
    for size in (3, 50, grain):
        one, other = generator.integers(-size, size + 1, (2, 400, 2))
        distinct = one[:, 0] != other[:, 0]
        for quarter in (-grain, grain):
            found = _height(one, other, quarter).tolist()
            pairs = zip(one[distinct].tolist(), other[distinct].tolist(), strict=True)
            for mark, ((x, y), (u, v)) in zip(found, pairs, strict=True):
                height = y + Fraction(v - y, u - x) * (Fraction(quarter, 2) - x)
                assert mark == math.floor(height + Fraction(1, 2))
            assert _height(other, one, quarter).tolist() == found


def test_the_score_counts_pairs_below_and_above() -> None:
    pairs = np.array([-3, -1, -1, 4])
    for y in range(-6, 7):
        below, above = sum(pairs < y), sum(pairs > y)
        assert _below(pairs).at(y) == -abs(below - above)


@pytest.mark.parametrize("matchings", [1, 2])
def test_the_law_is_the_mixture_over_all_matchings(matchings: int) -> None:
    """From the definition: every matching, every pair of heights, weights exp(-rate gap)."""
    mechanism = _small(Fraction(5), matchings)
    table = [(-1, -1), (0, 1), (1, 1), (1, 0)]
    wanted = {(a, b): 0.0 for a in (-1, 0, 1) for b in (-1, 0, 1)}
    ways = list(itertools.product([_matching(o) for o in itertools.permutations(range(4))], repeat=matchings))
    for way in ways:
        pairs = [tuple(sorted(pair)) for matching in way for pair in matching]
        lines = [(table[i], table[j]) for i, j in pairs if table[i][0] != table[j][0]]
        laws = [_law([_at(line, quarter) for line in lines], 5 / 2 / (4 * matchings)) for quarter in (-1, 1)]
        for place in wanted:
            wanted[place] += laws[0][place[0]] * laws[1][place[1]] / len(ways)
    found = mechanism.log_masses(table)
    assert {place: math.exp(log) for place, log in found.items()} == pytest.approx(wanted, rel=1e-12)


def _at(line: tuple[Person, Person], quarter: int) -> int:
    (x, y), (u, v) = line
    height = math.floor(y + Fraction(v - y, u - x) * (Fraction(quarter, 2) - x) + Fraction(1, 2))
    return min(max(height, -1), 1)


def _law(heights: list[int], rate: float) -> dict[int, float]:
    weights = {
        y: math.exp(-rate * abs(sum(h < y for h in heights) - sum(h > y for h in heights))) for y in (-1, 0, 1)
    }
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


@pytest.mark.parametrize("matchings", [1, 2])
def test_the_loss_over_all_small_tables_is_at_most_epsilon_in_both_adjacencies(matchings: int) -> None:
    mechanism = _small(2, matchings)
    cells = list(itertools.product((-1, 0, 1), (-1, 1)))
    tables = [
        t for n in range(4 if matchings == 1 else 3) for t in itertools.combinations_with_replacement(cells, n)
    ]
    tables += [((-1, -1), (-1, 1), (1, 1), cell) for cell in cells]
    laws = {tuple(sorted(table)): mechanism.log_masses(list(table)) for table in tables}
    worst = 0.0
    for table, law in laws.items():
        for other, masses in laws.items():
            gone, come = Counter(table) - Counter(other), Counter(other) - Counter(table)
            if (gone.total(), come.total()) in {(0, 1), (1, 0), (1, 1)}:
                worst = max(worst, *(abs(law[place] - masses[place]) for place in law))
    assert 0.1 < worst <= 2


def test_outliers_hardly_move_the_line() -> None:
    generator = np.random.default_rng(5)
    x = generator.uniform(0, 10, 4000)
    table = np.column_stack([x, 20 + 5 * x + generator.normal(0, 2, 4000)])
    table[:400] = (9.9, 0)  # a tenth of all people, all in one corner
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon=1)
    released = [mechanism.release(table, bits=SeededBits(i)) for i in range(5)]
    least_squares = np.polyfit(table[:, 0], table[:, 1], 1)[0]
    for line in released:
        assert abs(line.slope - 5) < 1
        assert abs(line.predict(5.0) - 45) < 2
    assert abs(least_squares - 5) > 1.5


def test_people_on_one_line_give_that_line() -> None:
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon=1)
    line = mechanism.release([(x % 11, 7 * (x % 11) + 5) for x in range(5000)], bits=SeededBits(1))
    assert line.slope == pytest.approx(7, abs=0.01)
    assert line.intercept == pytest.approx(5, abs=0.05)
    assert line.points[0] == pytest.approx((2.5, 22.5), abs=0.05)


def test_the_error_shrinks_with_the_number_of_people() -> None:
    mechanism = TheilSen(feature=(0, 1), target=(0, 1), epsilon=1, matchings=2)
    generator, errors = np.random.default_rng(6), []
    for count in (300, 3000, 30_000):
        x = generator.random(count)
        table = np.column_stack([x, 0.2 + 0.5 * x + generator.normal(0, 0.05, count)])
        lines = [mechanism.release(table, bits=SeededBits(i)) for i in range(12)]
        errors.append(math.sqrt(np.mean([(line.slope - 0.5) ** 2 for line in lines])))
    assert errors[0] > 3 * errors[1] > 3 * errors[2]


def test_the_tail_of_the_error_is_below_its_bound() -> None:
    """Summed over the exact law of a small table, which is kept for every confidence."""
    mechanism = TheilSen(feature=(-1, 1), target=(-1, 1), epsilon=40, matchings=1, grain=4)
    table = [(-1, -0.5), (1, -0.5), (-1, 0.25), (1, 0.25)]
    for confidence in (0.5, 0.9, 0.99):
        bound = mechanism.error(confidence)
        masses = mechanism.log_masses(table).items()
        beyond = math.fsum(math.exp(log) for place, log in masses if mechanism.deviation(table, place) > bound)
        assert beyond <= 1 - confidence


@pytest.mark.parametrize(
    "table",
    [
        [],
        [(1, 1)],
        [(5, 1)] * 40,
        [(math.nan, math.inf), (-math.inf, 1e308), (5e-324, -1e308)],
        [(0, 0), (10, 100)],
    ],
)
def test_no_table_fails(table: Any) -> None:
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon=1)
    line = mechanism.release(table, bits=SeededBits(2))
    assert all(0 <= y <= 100 for _, y in line.points)
    assert math.isfinite(line.slope)


def test_without_pairs_every_line_is_as_likely() -> None:
    for table in ([], [(1, 1)], [(1, -1), (1, 1)]):
        masses = _small().log_masses(table)
        assert list(masses.values()) == pytest.approx([-math.log(9)] * 9)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("feature", (0, 0)), ("target", "x"), ("epsilon", 0), ("matchings", 0), ("matchings", 10**6), ("grain", -1)],
)
def test_bad_parameters_are_refused_by_name(name: str, bad: Any) -> None:
    given = {"feature": (0, 1), "target": (0, 1), "epsilon": 1, name: bad}
    with pytest.raises(MechanismError, match=name):
        TheilSen(**given)
