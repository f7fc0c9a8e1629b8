"""One private quantile: the numbers of the theory, sensitivity by brute force, exact laws, ties, extremes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2
from tests.depth import DEPTH, thinned
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.mechanisms.quantiles.private_quantile import (
    PiecewiseLaplace,
    QuantileExponential,
    RankQuantile,
    private_median,
    private_quantile,
)
from jali.mechanisms.quantiles.rank_laws import NestedIntervalLaw
from jali.mechanisms.quantiles.weighted_ranks import LinearRanks, Ranks, StepRanks, find_usual_target
from jali.mechanisms.selection.piecewise_geometric import RandomDigits

NINE = list(range(10, 100, 10))
KINDS: tuple[type[RankQuantile], ...] = (PiecewiseLaplace, QuantileExponential)
kinds = pytest.mark.parametrize("kind", KINDS)
quantiles = pytest.mark.parametrize(
    "at", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
)


def median(kind: type[RankQuantile], epsilon: Any, **others: Any) -> RankQuantile:
    return kind(**{"at": "1/2", "low": 0, "high": 100, "epsilon": epsilon, "adjacency": "replace-one"} | others)


def plain_distance(kind: type[RankQuantile], table: list[int], mark: int, top: int, at: Fraction) -> Fraction:
    """The distances as the docstrings define them, with loops and without order statistics."""
    n = len(table)
    if kind is QuantileExponential:
        spans = [(Fraction(sum(x < mark for x in table)), Fraction(sum(x <= mark for x in table)))]
        target = at * n
    else:
        knots = [0, *sorted(table), top]
        spans = [(Fraction(i), Fraction(i)) for i, knot in enumerate(knots) if knot == mark]
        for i, (one, other) in enumerate(itertools.pairwise(knots)):
            if one < mark < other:
                rank = i + Fraction(mark - one, other - one)
                spans.append((rank, rank))
        spans = [(min(s[0] for s in spans), max(s[1] for s in spans))]
        target = 1 + at * (n - 1) if n else at
    return min(max(Fraction(0), low - target, target - high) for low, high in spans)


def ranks_of(kind: type[RankQuantile], table: list[int], top: int, at: Fraction) -> Ranks:
    marks = np.array(sorted(table), np.int64)
    if kind is QuantileExponential:
        return StepRanks(marks, 0, top, at * len(table))
    return LinearRanks(marks, 0, top, find_usual_target(at, len(table)))


@pytest.mark.parametrize(
    ("kind", "epsilon", "expected"),
    [
        (PiecewiseLaplace, "1/2", 19.92244),
        (PiecewiseLaplace, 1, 15.52872),
        (PiecewiseLaplace, 2, 9.66081),
        (QuantileExponential, "1/2", 20.13056),
        (QuantileExponential, 1, 15.94366),
        (QuantileExponential, 2, 10.48058),
    ],
)
def test_the_median_of_nine_values_has_the_error_of_the_theory(
    kind: type[RankQuantile], epsilon: Any, expected: float
) -> None:
    """Digits are cut, not rounded. The closed forms are those of the continuous laws."""
    error = median(kind, epsilon).expected_error(NINE)
    assert math.floor(error * 1e5) / 1e5 == pytest.approx(expected, abs=1e-9)
    half, q = Fraction(epsilon) / 2, math.exp(-float(Fraction(epsilon)) / 2)
    scale = float(10 / half)
    laplace = scale - 50 * math.exp(-50 / scale) / -math.expm1(-50 / scale)
    steps = sum((5 + 10 * j) * q**j for j in range(5)) / sum(q**j for j in range(5))
    assert error == pytest.approx(laplace if kind is PiecewiseLaplace else steps, rel=1e-7)


@kinds
def test_the_median_of_nine_values_is_within_ten_as_often_as_the_theory_says(kind: type[RankQuantile]) -> None:
    """By the trapezoid rule on steps of 1/100, and by the closed form of the limit."""
    masses = median(kind, 1, step="1/100").log_masses(NINE)
    inside = math.fsum(math.exp(mass) for value, mass in masses.items() if 40 < value < 60)
    ends = [math.exp(masses[value]) / 2 for value in (40.0, 60.0, 0.0, 100.0)]
    assert (inside + ends[0] + ends[1]) / (1 - ends[2] - ends[3]) == pytest.approx(0.428656, abs=5e-5)
    weights = [math.exp(-j / 2) for j in range(5)]
    assert weights[0] / sum(weights) == pytest.approx(0.428656, abs=5e-7)


@kinds
def test_releases_of_the_median_have_the_expected_error(kind: type[RankQuantile]) -> None:
    """Six standard errors of 3,000 releases; |out - 50| has a standard deviation below 14."""
    mechanism = median(kind, 1)
    draws = np.array(mechanism.sample(NINE, 3000 * DEPTH, bits=SeededBits(4)), np.float64)
    errors = np.abs(draws - 50)
    assert errors.mean() == pytest.approx(mechanism.expected_error(NINE), abs=6 * 14 / math.sqrt(len(errors)))


@kinds
def test_the_expected_error_is_the_sum_over_all_marks(kind: type[RankQuantile]) -> None:
    generator = np.random.default_rng(3)
    for _ in range(150):
        at, epsilon = Fraction(int(generator.integers(0, 11)), 10), generator.choice(["1/1000", "1", "7"])
        table = generator.integers(0, 18, generator.integers(0, 7)).tolist()
        mechanism = kind(at=at, low=0, high=17, step=1, epsilon=str(epsilon), adjacency="add-remove")
        aim = np.quantile(table, float(at)) if table else 17 * float(at)
        plain = math.fsum(math.exp(mass) * abs(y - aim) for y, mass in mechanism.log_masses(table).items())
        assert mechanism.expected_error(table) == pytest.approx(plain, abs=1e-9)


@thinned(4)
@kinds
@quantiles
def test_distances_are_as_defined_and_intervals_hold_what_is_within(
    kind: type[RankQuantile], at: Fraction
) -> None:
    top = 5
    for n in range(5):
        for table in map(list, itertools.combinations_with_replacement(range(top + 1), n)):
            ranks = ranks_of(kind, table, top, at)
            plain = [plain_distance(kind, table, mark, top, at) for mark in range(top + 1)]
            assert [ranks.distance(mark) for mark in range(top + 1)] == plain
            assert ranks.best == min(plain)
            for reach in {*plain, Fraction(1, 3), Fraction(9)}:
                if reach >= ranks.best:
                    inside = [mark for mark in range(top + 1) if plain[mark] <= reach]
                    assert ranks.within(reach) == (inside[0], inside[-1])
                    assert len(inside) == inside[-1] - inside[0] + 1


@thinned(4)
@kinds
@quantiles
def test_no_distance_moves_further_than_the_sensitivity_and_some_do_that_far(
    kind: type[RankQuantile], at: Fraction
) -> None:
    """All tables of up to five values on six marks, in both adjacencies."""
    top = 5
    marks = range(top + 1)
    distances = {
        table: [plain_distance(kind, list(table), mark, top, at) for mark in marks]
        for n in range(6)
        for table in itertools.combinations_with_replacement(marks, n)
    }
    added, replaced = Fraction(0), Fraction(0)
    for table, ours in distances.items():
        for extra in marks:
            theirs = distances.get(tuple(sorted((*table, extra))))
            if theirs is not None:
                added = max(added, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
            if table:
                theirs = distances[tuple(sorted((*table[1:], extra)))]
                replaced = max(replaced, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
    assert added == max(at, 1 - at)
    assert replaced == 1


@pytest.mark.parametrize("start", [Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_another_target_for_an_empty_table_would_break_the_sensitivity(start: Fraction) -> None:
    """The target may grow by at to 1 - at per person: 9/10 for nobody and 1 for one person does."""
    at = Fraction(9, 10)
    empty = LinearRanks(np.zeros(0, np.int64), 0, 5, at - start)
    moved = [
        abs(empty.distance(mark) - ranks_of(PiecewiseLaplace, [x], 5, at).distance(mark))
        for mark in range(6)
        for x in range(6)
    ]
    assert max(moved) > at


@kinds
@pytest.mark.parametrize("table", [[1, 4, 5], [], [3], [2, 2, 2], [0, 5, 5, 5]])
@pytest.mark.parametrize("epsilon", ["1/3", 4])
def test_one_attempt_has_the_right_mass_over_all_bit_strings(
    kind: type[RankQuantile], table: list[int], epsilon: Any
) -> None:
    """Coarse weights, few levels and a coin of 3 bits at a time; tickets are listed, coins enumerated."""
    top = 5
    ranks = ranks_of(kind, table, top, Fraction(2, 5))
    law = NestedIntervalLaw(ranks, Fraction(epsilon) / 2, levels=2, precision=3)
    tickets = law._sums[-1]
    found, undecided = Counter[int | None](), Fraction(0)
    for ticket in range(tickets):
        masses, left = enumerate_masses(partial(_attempt, law, ticket), depth=15)
        found.update({mark: float(mass) for mark, mass in masses.items()})
        undecided += left
    assert undecided < 0.01
    for mark in range(top + 1):  # a mark has the weight exp(-exponent) * 2**precision
        expected = 2**3 * math.exp(-float(law.exponent(mark)))
        assert found[mark] == pytest.approx(expected, abs=float(undecided) + 1e-9)


class Tickets(RandomDigits):
    """Digits whose first uniform integer is given."""

    def __init__(self, bits: ScriptedBits, ticket: int) -> None:
        super().__init__(bits)
        self._ticket = ticket

    def below(self, limit: int) -> int:
        return self._ticket


def _attempt(law: NestedIntervalLaw, ticket: int, bits: ScriptedBits) -> int | None:
    return law.attempt(Tickets(bits, ticket), word=3)


@kinds
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_masses_agree_with_many_digits(kind: type[RankQuantile], adjacency: str) -> None:
    at, table, top = Fraction(1, 3), [1, 2, 2, 9], 11
    mechanism = kind(at=at, low=0, high=top, step=1, epsilon="3/2", adjacency=adjacency)
    rate = mpmath.mpf(3) / 4 if adjacency == "replace-one" else mpmath.mpf(9) / 8
    with mpmath.workdps(30):
        distances = [plain_distance(kind, table, mark, top, at) for mark in range(top + 1)]
        weights = [mpmath.exp(-rate * d.numerator / d.denominator) for d in distances]
        expected = {m: float(mpmath.log(w / mpmath.fsum(weights))) for m, w in enumerate(weights)}
    assert mechanism.log_masses(table) == pytest.approx(expected, abs=1e-13)


@kinds
def test_draws_on_a_lattice_of_many_marks_have_the_law_of_their_gaps(kind: type[RankQuantile]) -> None:
    """Chi-square over the gaps of a million marks, at a false-alarm rate of 1e-8."""
    table = [120_000, 300_000, 310_000, 310_000, 700_000]
    mechanism = kind(at="1/2", low=0, high=10**6, step=1, epsilon="3/2", adjacency="add-remove")
    edges = [0, 60_000, *sorted({*table, *(x + 1 for x in table)}), 850_000, 10**6 + 1]
    draws = np.array(mechanism.sample(table, 4000 * DEPTH, bits=SeededBits(6)), np.int64)
    seen = np.histogram(draws, edges)[0]
    distances = _distances(kind, table, 10**6)
    weights = np.exp(-1.5 * distances)
    expected = np.add.reduceat(weights, edges[:-1]) / weights.sum() * len(draws)
    common = expected >= 5
    statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
    assert chi2.sf(statistic, common.sum()) > 1e-8
    assert seen[~common].sum() < 30 * DEPTH


def _distances(kind: type[RankQuantile], table: list[int], top: int) -> Any:
    """The distances of all marks from the median's rank, by interpolation in doubles."""
    marks, values = np.arange(top + 1), np.sort(table)
    left, right = np.searchsorted(values, marks, "left"), np.searchsorted(values, marks, "right")
    if kind is QuantileExponential:
        return np.maximum(0, np.maximum(left - len(table) / 2, len(table) / 2 - right))
    knots = np.array([0, *values, top])
    start, end = knots[np.minimum(left, len(table))], knots[np.minimum(left + 1, len(table) + 1)]
    between = left + (marks - start) / np.maximum(end - start, 1)  # 1 more than the count at a value itself
    low, high = np.where(marks == 0, 0, between), np.where(np.isin(marks, values), right, between)
    target = (len(table) + 1) / 2
    return np.maximum(0, np.maximum(low - target, target - high))


@kinds
def test_constant_columns_give_the_constant(kind: type[RankQuantile]) -> None:
    """With 200 people at epsilon 1 another mark has a chance below 2^30 exp(-45)."""
    for adjacency in ("add-remove", "replace-one"):
        mechanism = median(kind, 1, adjacency=adjacency)
        assert {mechanism.release([37.5] * 200, bits=SeededBits(seed)) for seed in range(5)} == {37.5}
        assert median(kind, 1, at=1).release([100.0] * 200, bits=SeededBits(1)) == 100


@kinds
def test_an_empty_column_tells_nothing_and_is_answered(kind: type[RankQuantile]) -> None:
    mechanism = kind(at="1/4", low=0, high=8, step=1, epsilon=1, adjacency="add-remove")
    masses = mechanism.log_masses([])
    assert max(masses.values()) - min(masses.values()) <= 0.5 + 1e-12
    assert mechanism.release([], bits=SeededBits(1)) in range(9)
    if kind is PiecewiseLaplace:
        assert max(masses, key=lambda y: masses[y]) == 2


@kinds
@pytest.mark.parametrize("epsilon", ["1/1000000000", "1000000000"])
def test_extreme_losses_are_drawn_exactly(kind: type[RankQuantile], epsilon: str) -> None:
    draws = np.array(median(kind, epsilon).sample(NINE, 400, bits=SeededBits(2)), np.float64)
    if epsilon.startswith("1/"):
        assert draws.mean() == pytest.approx(50, abs=6 * 29 / 20)  # uniform on the range
    else:
        assert all(abs(y - 50) < 1e-5 for y in draws)  # a rate of 5e8 per ten units


@kinds
def test_values_outside_the_range_and_nan_are_taken_in(kind: type[RankQuantile]) -> None:
    column = [-math.inf, math.nan, 50.0, 1e300, math.inf]
    assert 0 <= median(kind, 1).release(column, bits=SeededBits(3)) <= 100
    assert 0 <= median(kind, 1).release(np.array(column), bits=SeededBits(3)) <= 100


def test_the_rank_error_bounds_the_exact_law_and_grows_with_the_range() -> None:
    for kind, table in itertools.product(KINDS, ([3, 3, 4, 40, 41, 90], [50], list(range(0, 100, 3)))):
        mechanism = median(kind, 1, step=1)
        masses = mechanism.log_masses(table)
        for confidence in (0.5, 0.9, 0.99):
            reach = mechanism.error(confidence)
            missed = math.fsum(math.exp(m) for y, m in masses.items() if mechanism.deviation(table, y) > reach)
            assert missed <= 1 - confidence
    assert median(PiecewiseLaplace, 1).error(0.9) > median(PiecewiseLaplace, 1, step=1).error(0.9)


def test_where_the_rank_is_whole_the_error_is_never_above_that_of_the_exponential_mechanism() -> None:
    """Odd numbers of values, medians, fine steps: normal, heavy-tailed, bimodal, crowded and tiny columns."""
    generator = np.random.default_rng(5)
    shapes: list[Any] = [
        generator.normal(50, 10, 101),
        50 + generator.standard_cauchy(51),
        generator.uniform(0, 100, 3),
    ]
    shapes += [
        np.append(generator.normal(20, 1, 20), generator.normal(80, 1, 21)),
        np.full(7, 99.0),
        np.array(NINE),
    ]
    shapes += [generator.choice([0.0, 1.0, 99.0, 100.0], 9) for _ in range(20)]
    for column, epsilon, adjacency in itertools.product(shapes, ("1/10", 1, 4), ("add-remove", "replace-one")):
        ours, theirs = (median(kind, epsilon, adjacency=adjacency).expected_error(column) for kind in KINDS)
        assert ours <= theirs * (1 + 1e-6) + 1e-6


def test_on_a_coarse_lattice_the_exponential_mechanism_can_be_better() -> None:
    """Values on neighbouring marks and a long empty range: the limit of what the claim above says."""
    column = list(range(41))
    ours, theirs = (median(kind, 1, step=1, high=2000).expected_error(column) for kind in KINDS)
    assert theirs < ours < 1.3 * theirs


def test_quantiles_of_a_long_column_are_close() -> None:
    """Ranks are off by more than 200 people with a chance below 2^31 exp(-100)."""
    column = np.random.default_rng(9).exponential(10, 20_000)
    for at in (0.1, 0.5, 0.9):
        found = private_quantile(column, at, 0, 1000, epsilon=1, adjacency="add-remove", bits=SeededBits(1))
        assert abs(np.mean(column < found) - at) < 0.011
    found = private_median(column, 0, 1000, epsilon=1, adjacency="replace-one", bits=SeededBits(2))
    assert abs(np.mean(column < found) - 0.5) < 0.011


def test_whole_steps_give_integers_and_others_doubles() -> None:
    assert isinstance(private_median([3, 4], 0, 10, 1, epsilon=1, adjacency="replace-one"), int)
    assert isinstance(private_median([3, 4], 0, 10, "1/2", epsilon=1, adjacency="replace-one"), float)


@kinds
@pytest.mark.parametrize(
    ("name", "bad"), [("at", -0.1), ("at", 1.1), ("at", "x"), ("at", None), ("low", 200), ("adjacency", None)]
)
def test_bad_parameters_are_refused_by_name(kind: type[RankQuantile], name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match=rf"\b{name}\b"):
        median(kind, 1, **{name: bad})


@kinds
def test_releases_and_samples_have_the_same_law(kind: type[RankQuantile]) -> None:
    mechanism = kind(at="1/2", low=0, high=3, step=1, epsilon=2, adjacency="replace-one")
    masses, bits = mechanism.log_masses([1, 1, 3]), SeededBits(12)
    counts = Counter(mechanism.release([1, 1, 3], bits=bits) for _ in range(1500))
    statistic = sum((counts[y] - 1500 * math.exp(m)) ** 2 / (1500 * math.exp(m)) for y, m in masses.items())
    assert chi2.sf(statistic, 3) > 1e-8


@kinds
def test_quantiles_of_many_digits_are_read_as_the_nearest_short_fraction(kind: type[RankQuantile]) -> None:
    assert median(kind, 1, at=1 - 0.99).at == Fraction(1, 100)
    assert median(kind, 1, at=Fraction(1, 10**305)).at == 0


@kinds
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**320), 10**101])
def test_losses_that_no_error_can_be_told_for_are_refused(kind: type[RankQuantile], epsilon: Any) -> None:
    with pytest.raises(JaliError, match="epsilon"):
        median(kind, epsilon)
    assert math.isfinite(median(kind, Fraction(1, 10**100)).error(0.95))
