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
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.regression.below_median import BelowMedian
from jali.mechanisms.regression.column_axes import ColumnAxis, read_table
from jali.mechanisms.regression.theil_sen import (
    TheilSen,
    _below,
    _height,
    all_matchings,
    intervals_of,
    random_orders,
    sides_of,
)

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


@pytest.mark.parametrize(("matchings", "confidence"), [(1, None), (2, None), (1, "1/4")])
def test_the_loss_over_all_small_tables_is_at_most_epsilon_in_both_adjacencies(
    matchings: int, confidence: str | None
) -> None:
    mechanism = TheilSen(
        feature=(-1, 1), target=(-1, 1), epsilon=2, matchings=matchings, grain=1, confidence=confidence
    )
    cells = list(itertools.product((-1, 0, 1), (-1, 1)))
    tables = [
        t
        for n in range(4 if matchings == 1 and not confidence else 3)
        for t in itertools.combinations_with_replacement(cells, n)
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


def _outer_law(outer: BelowMedian, heights: list[int]) -> dict[int, float]:
    """The law of the lower mark from its definition: weights exp(rate q)."""
    rate, weights = float(outer.epsilon) / (4 * outer.matchings), {}
    for y in range(-outer.grain, outer.grain + 1):
        ranks = range(2 * sum(h < y for h in heights), 2 * sum(h <= y for h in heights) + 1)
        aimed = len(heights) - outer.aim
        loss = max(ranks[0] - aimed, aimed - ranks[-1], 0)
        weights[y] = math.exp(-rate * (outer.cap if y == -outer.grain else loss))
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


CLUMPS = [
    *([-3] * k + [3] * (2 * n - k) for n in (1, 8, 100, 2000) for k in (n - 1, n, n + 1)),
    *([h] * n for h in (-4, 0, 4) for n in (1, 10, 1000)),
    *(sorted(h % 9 - 4 for h in range(n)) for n in (1, 2, 9, 90, 900, 9000)),
    [],
]


@thinned(4)
@pytest.mark.parametrize("heights", CLUMPS, ids=len)
@pytest.mark.parametrize("epsilon", ["1/10", 1, 8])
def test_the_outer_mark_has_the_law_of_its_definition(heights: list[int], epsilon: Any) -> None:
    outer = BelowMedian(4, 1, Fraction(epsilon), Fraction(1, 80))
    found = outer.mechanism.log_masses(outer.score(np.array(heights, np.int64)))
    assert {int(y): math.exp(log) for y, log in found.items()} == pytest.approx(
        _outer_law(outer, heights), rel=1e-9, abs=1e-300
    )


@pytest.mark.parametrize("failing", [Fraction(1, 80), Fraction(1, 5)])
def test_an_outer_mark_is_above_a_median_as_rarely_as_promised(failing: Fraction) -> None:
    """Exactly, from the definition: for clumps with a gap at the median, ties, and all small sets of heights."""
    small = [list(h) for n in range(5) for h in itertools.combinations_with_replacement((-4, -1, 0, 4), n)]
    for heights, epsilon in itertools.product([*CLUMPS, *small], (Fraction(1, 10), Fraction(1), Fraction(20))):
        outer = BelowMedian(4, 1, epsilon, failing)
        law = _outer_law(outer, heights)
        least = sorted(heights)[(len(heights) - 1) // 2] if heights else -4
        assert math.fsum(mass for y, mass in law.items() if y > least) <= failing


def test_a_score_by_the_pairs_below_alone_would_miss_a_median_beside_a_gap() -> None:
    """Why a mark stands for all ranks of its pairs: else marks in the gap win, which are above the median."""
    outer, heights = BelowMedian(4, 1, Fraction(1), Fraction(1, 80)), [-3] * 1001 + [3] * 1000
    weights = {}
    for y in range(-4, 5):
        beyond = sum(h < y for h in heights) - sum(h >= y for h in heights) + outer.aim
        weights[y] = math.exp(-abs(beyond) / 4)
    assert sum(w for y, w in weights.items() if y > -3) / sum(weights.values()) > 0.99


def test_with_pairs_enough_the_first_mark_is_rare() -> None:
    for heights in ([-3] * 500 + [3] * 500, list(range(-3, 5)) * 200, [4] * 900):
        outer = BelowMedian(4, 1, Fraction(1), Fraction(1, 80))
        assert outer.aim <= len(heights)
        assert _outer_law(outer, heights)[-4] <= math.exp(-5)


def test_intervals_hold_the_line_of_the_pairs_that_were_drawn() -> None:
    """The promise of 0.8 is kept, with a false-alarm rate below 1e-6, and the intervals are short."""
    generator = np.random.default_rng(8)
    x = generator.uniform(0, 10, 1500)
    table = np.column_stack([x, 20 + 5 * x + generator.normal(0, 5, 1500)])
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon=4, matchings=2, grain=200, confidence="0.8")
    marks, missed, widths = read_table(table, mechanism.axes), 0, []
    releases = 100 * DEPTH
    for seed in range(releases):
        line = mechanism.release(table, bits=SeededBits(seed))
        drawn = mechanism._draw_heights(marks, SeededBits(seed))  # the pairs come from the first bits
        slope, intercept = _median_line(mechanism, *drawn)
        assert line.interval() is not None
        (low, high), (under, over) = line.interval()  # type: ignore[misc]
        missed += not (low <= slope <= high and under <= intercept <= over)
        assert low <= line.slope <= high
        assert under <= line.intercept <= over
        widths.append(high - low)
    assert missed <= 0.2 * releases + 5 * math.sqrt(0.16 * releases)
    assert np.median(widths) < 2


def _median_line(mechanism: TheilSen, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    up = mechanism.axes[1]
    low, high = (float(up.at(int(pairs[(len(pairs) - 1) // 2]))) for pairs in (first, second))
    return (high - low) / 5, low - (high - low) / 5 * 2.5  # quarters at 2.5 and 7.5


@pytest.mark.parametrize("table", [[], [(1, 1)], [(5, 1)] * 40, [(0, 0), (10, 100)], [(math.nan, math.inf)] * 9])
def test_with_few_people_the_interval_is_nearly_all_there_is(table: Any) -> None:
    """Any mark other than an end has probability at most 1e-10 here, and pairs as few as these add little."""
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon="1/1000", confidence="0.9999999999")
    line = mechanism.release(table, bits=SeededBits(3))
    assert line.bands == ((-mechanism.grain, mechanism.grain),) * 2
    assert line.interval() == ((-20, 20), (-50, 150))


def test_intervals_of_slope_and_intercept_are_those_over_all_heights_in_the_bands() -> None:
    generator = np.random.default_rng(9)
    for _ in range(200):
        low, width = Fraction(int(generator.integers(-30, 30)), 7), Fraction(int(generator.integers(1, 90)), 11)
        axes = ColumnAxis(low, low + width, 10), ColumnAxis(Fraction(-3), Fraction(5), 10)
        one, other, *ends = generator.integers(-10, 11, 6).tolist()
        marks, bands = (one, other), ((min(ends[:2]), max(ends[:2])), (min(ends[2:]), max(ends[2:])))
        heights = [{*band, mark} for band, mark in zip(bands, marks, strict=True)]
        lines = [_exact_line(axes, near, far) for near in heights[0] for far in heights[1]]
        found = intervals_of(axes, marks, bands)
        for (least, most), terms in zip(found, zip(*lines, strict=True), strict=True):
            assert least <= min(terms)
            assert most >= max(terms)
            assert (least, most) == pytest.approx((float(min(terms)), float(max(terms))), rel=1e-15, abs=1e-300)


def _exact_line(axes: tuple[ColumnAxis, ColumnAxis], one: int, other: int) -> tuple[Fraction, Fraction]:
    across, up = axes
    near, far = (3 * across.low + across.high) / 4, (across.low + 3 * across.high) / 4
    slope = (up.at(other) - up.at(one)) / (far - near)
    return slope, up.at(one) - slope * near


def test_the_line_has_two_thirds_of_epsilon_where_intervals_are_bought() -> None:
    given: dict[str, Any] = {"feature": (0, 1), "target": (0, 1)}
    plain, sure = TheilSen(epsilon=2, **given), TheilSen(epsilon=3, confidence=0.9, **given)
    assert sure.median == plain.median
    assert sure.error(0.9) == plain.error(0.9)
    assert plain.release([], bits=SeededBits(1)).interval() is None
    assert sure.below is not None
    assert 2 * sure.median.epsilon + 4 * sure.below.epsilon == sure.loss.event.epsilon == 3


def test_a_tiny_epsilon_gives_the_whole_range() -> None:
    mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon="1e-100", confidence=0.9999999)
    assert mechanism.release([(1, 2), (3, 4)], bits=SeededBits(1)).interval() == ((-20, 20), (-50, 150))


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
    [
        ("feature", (0, 0)),
        ("target", "x"),
        ("epsilon", 0),
        ("matchings", 0),
        ("matchings", 10**6),
        ("grain", -1),
        ("confidence", 0),
        ("confidence", 1),
        ("confidence", -1),
        ("confidence", "x"),
        ("confidence", math.nan),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, bad: Any) -> None:
    given = {"feature": (0, 1), "target": (0, 1), "epsilon": 1, name: bad}
    with pytest.raises(MechanismError, match=name):
        TheilSen(**given)
