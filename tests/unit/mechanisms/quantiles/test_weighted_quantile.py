"""Quantiles of weighted rows: distances, sensitivity and loss by brute force, exact draws, ends of intervals."""

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
from scipy.stats import chi2
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError, MechanismError
from jali.mechanisms.quantiles.approximate_quantiles import ApproximateQuantiles, WeightedQuantiles
from jali.mechanisms.quantiles.private_quantile import PermutedQuantile, PiecewiseLaplace, QuantileExponential
from jali.mechanisms.quantiles.quantile_mechanism import FEW_MARKS
from jali.mechanisms.quantiles.rank_laws import PermuteAndFlipLaw, WindowDistances
from jali.mechanisms.quantiles.weighted_quantile import (
    PermutedWeightedQuantile,
    WeightedQuantile,
    end_offset,
    inner_offset,
    interval_shares,
    rank_reach,
)
from jali.mechanisms.quantiles.weighted_ranks import WeightedMarks, WindowRanks, find_weighted_target

UNIT = 1 << 20
KINDS: tuple[type[WeightedQuantile], ...] = (WeightedQuantile, PermutedWeightedQuantile)
kinds = pytest.mark.parametrize("kind", KINDS)
shares = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
offsets = st.sampled_from([Fraction(0), Fraction(5, 2), Fraction(-7, 3), Fraction(40), Fraction(-40)])
histograms = st.dictionaries(st.integers(0, 9), st.integers(0, 9), max_size=6)

Histogram = tuple[int, ...]


def quantile(kind: type[WeightedQuantile], **others: Any) -> WeightedQuantile:
    usual: dict[str, Any] = {"at": "1/2", "low": 0, "high": 9, "step": 1, "sensitivity": 2, "epsilon": 1}
    return kind(**usual | others)


def plain_means(weights: Histogram, top: int, window: int) -> list[Fraction]:
    """The mean of the quantile function over the window before each whole rank, unit by unit."""
    units = [0] * window + [m for m, w in enumerate(weights) for _ in range(w)] + [top] * window
    return [Fraction(sum(units[s : s + window]), window) for s in range(len(units) - window + 1)]


def plain_distances(weights: Histogram, at: Fraction, window: int, offset: Fraction) -> list[Fraction]:
    """Distances by their definition, from the means at whole ranks and straight lines between them."""
    top, total = len(weights) - 1, sum(weights)
    means = plain_means(weights, top, window)
    target = offset + (window * at + total * (1 - at) if total < window else total * at + window * (1 - at))
    found = []
    for mark in range(top + 1):
        ranks = [Fraction(s) for s, mean in enumerate(means) if mean == mark]
        ranks += [
            s + (mark - one) / (other - one)
            for s, (one, other) in enumerate(itertools.pairwise(means))
            if one < mark < other
        ]
        least = -math.inf if mark == 0 else min(ranks)
        most = math.inf if mark == top else max(ranks)
        found.append(Fraction(max(0, least - target, target - most)))
    return found


def ranks_of(weights: Histogram, at: Fraction, window: int, offset: Fraction = Fraction(0)) -> WindowRanks:
    top = len(weights) - 1
    column = WeightedMarks.of((range(top + 1), weights), top)
    return WindowRanks.of(column, (0, top), window, find_weighted_target(at, column.total, window) + offset)


@settings(max_examples=150 * DEPTH)
@given(histograms, shares, st.integers(1, 7), offsets)
def test_distances_are_as_defined(rows: dict[int, int], at: Fraction, window: int, offset: Fraction) -> None:
    weights = tuple(rows.get(mark, 0) for mark in range(10))
    plain = plain_distances(weights, at, window, offset)
    ranks = ranks_of(weights, at, window, offset)
    assert [ranks.distance(mark) for mark in range(10)] == plain
    assert ranks.best == min(plain) <= Fraction(window, 2)
    for reach in {*plain, Fraction(1, 3), Fraction(9)}:
        if reach >= ranks.best:
            inside = [mark for mark in range(10) if plain[mark] <= reach]
            assert ranks.within(reach) == (inside[0], inside[-1])
    doubles = WindowDistances(ranks).doubles(0, 9)
    assert doubles.tolist() == pytest.approx([float(d - min(plain)) for d in plain], rel=2.0**-50, abs=0)


@thinned(4)
@pytest.mark.parametrize("scale", [1, 1 << 20, 1 << 50, 1 << 70])
@pytest.mark.parametrize("window", [1, 3, 1 << 20, 1 << 66])
def test_exponents_in_double_are_as_near_as_promised_whatever_the_weights(scale: int, window: int) -> None:
    generator = np.random.default_rng(scale % 1000 + window % 1000)
    for at, offset in ((Fraction(1, 2), Fraction(0)), (Fraction(1, 999_983), Fraction(-10, 7))):
        marks = generator.integers(0, 400, 30).tolist()
        weights = [scale * int(w) + int(w) for w in generator.integers(0, 9, 30)]
        mechanism = quantile(PermutedWeightedQuantile, at=at, offset=offset, high=399, window=window)
        ranks = mechanism.ranks((marks, weights))
        exponents = WindowDistances(ranks).exponents(Fraction(1, 3 * scale), 0, 399)
        for mark in range(400):
            exact = (ranks.distance(mark) - ranks.best) / (3 * scale)
            assert exponents.exact(mark) == exact
            if exact <= 2**40:
                assert abs(Fraction(float(exponents.doubles[mark])) - exact) <= exact / 2**50
            else:
                assert exponents.doubles[mark] >= 2.0**40 * (1 - 2.0**-50)


def vectors(top: int, most: int) -> list[Histogram]:
    """All weights on the marks 0 .. top of at most this total."""
    return [v for v in itertools.product(range(most + 1), repeat=top + 1) if sum(v) <= most]


def added(*parts: Histogram) -> Histogram:
    return tuple(map(sum, zip(*parts, strict=True)))


def neighbours(top: int, reach: int, changes: int, rest: list[Histogram]) -> list[tuple[Histogram, Histogram]]:
    """All pairs of tables with the same rest: one vector or none, or one or two replaced by as many others."""
    people = vectors(top, reach)
    nobody = (0,) * (top + 1)
    if changes == 1:
        pairs = [(nobody, one) for one in people]
    else:
        sides = people if changes == 2 else sorted({added(a, b) for a in people for b in people})
        pairs = list(itertools.combinations(sides, 2))
    return [(added(base, one), added(base, other)) for base in rest for one, other in pairs]


@thinned(4)
@pytest.mark.parametrize(("changes", "reach", "window"), [(1, 3, 1), (1, 3, 2), (2, 2, 1), (2, 2, 2), (4, 1, 2)])
@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 3), Fraction(1, 2)])
def test_no_distance_moves_further_than_the_reach_and_some_do_that_far(
    changes: int, reach: int, window: int, at: Fraction
) -> None:
    """Every person of up to `reach` units on four marks, beside every rest of two units and some larger ones."""
    top = 3
    rest = [*vectors(top, 2), (3, 0, 0, 3), (0, 2, 3, 0), (4, 1, 1, 4)]
    known: dict[Histogram, list[Fraction]] = {}
    worst = Fraction(0)
    for pair in neighbours(top, reach, changes, rest):
        for table in pair:
            if table not in known:
                known[table] = plain_distances(table, at, window, Fraction(1, 2))
        one, other = known[pair[0]], known[pair[1]]
        worst = max(worst, *(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert worst == rank_reach(at, reach, changes, groups=1)


@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 3), Fraction(1, 2)])
def test_one_who_moves_between_groups_counts_for_both(at: Fraction) -> None:
    """A person's vectors over two groups of three marks; the distances of each group move by their own most."""
    reach = 2
    rest = ((3, 1, 2), (2, 3, 2))
    people = [(v[:3], v[3:]) for v in vectors(5, reach)]
    moved = Fraction(0)
    tables = {
        person: [
            plain_distances(added(base, part), at, 1, Fraction(0)) for base, part in zip(rest, person, strict=True)
        ]
        for person in people
    }
    for one, other in itertools.combinations(tables.values(), 2):
        each = [max(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in zip(one, other, strict=True)]
        moved = max(moved, sum(each, Fraction(0)))
    assert moved == rank_reach(at, reach, 2, groups=2) >= rank_reach(at, reach, 2, groups=1)


@kinds
@pytest.mark.parametrize(("changes", "reach"), [(1, 3), (2, 2), (4, 1)])
@pytest.mark.parametrize(("at", "window", "offset"), [("1/2", 1, 0), ("1/3", 2, "3/2"), (1, 3, -2)])
def test_no_two_small_neighbours_are_told_apart_by_more_than_epsilon(
    kind: type[WeightedQuantile], changes: int, reach: int, at: Any, window: int, offset: Any
) -> None:
    """Exact laws on four marks; the exponential kind also keeps the range of all losses within epsilon."""
    sensitivity = rank_reach(at, reach, changes, groups=1)
    given: dict[str, Any] = {"at": at, "window": window, "offset": offset, "sensitivity": sensitivity}
    mechanism = quantile(kind, high=3, epsilon=2, **given)
    known: dict[Histogram, Any] = {}
    largest, widest = 0.0, 0.0
    for pair in neighbours(3, reach, changes, [(0, 0, 0, 0), (2, 0, 1, 2)]):
        for table in pair:
            if table not in known:
                known[table] = np.array(mechanism.log_law((range(4), table)))
        losses = known[pair[0]] - known[pair[1]]
        largest, widest = max(largest, float(np.abs(losses).max())), max(widest, float(np.ptp(losses)))
    assert largest <= 2 * (1 + 1e-12)
    assert largest > 0.8  # the claim is not idle
    if kind is WeightedQuantile:
        assert widest <= 2 * (1 + 1e-12)


@pytest.mark.parametrize("at", ["0", "1/3", "1/2", "9/10"])
@pytest.mark.parametrize("table", [[], [3], [1, 1, 4, 8], [0, 0, 9], [2, 3, 4, 5, 6, 7]])
def test_with_weights_of_one_it_is_the_quantile_of_a_column(at: str, table: list[int]) -> None:
    counts = Counter(table)
    pair = (list(counts), list(counts.values()))
    sensitivity = rank_reach(at, 1, 1, groups=1)
    for ours, theirs in ((WeightedQuantile, PiecewiseLaplace), (PermutedWeightedQuantile, PermutedQuantile)):
        one = quantile(ours, at=at, sensitivity=sensitivity)
        other = theirs(at=at, low=0, high=9, step=1, epsilon=1, adjacency="add-remove")
        assert one.log_masses(pair) == pytest.approx(dict(other.log_masses(table)), abs=1e-12)


def test_a_small_window_reads_ranks_by_steps() -> None:
    """At the median the steps aim at n/2, and so does a window of a millionth of a row."""
    table = [1, 1, 4, 8]
    counts = Counter(table)
    heavy = (list(counts), [UNIT * c for c in counts.values()])
    mechanism = quantile(WeightedQuantile, sensitivity=rank_reach("1/2", UNIT, 1, groups=1))
    steps = QuantileExponential(at="1/2", low=0, high=9, step=1, epsilon=1, adjacency="add-remove")
    assert mechanism.log_masses(heavy) == pytest.approx(dict(steps.log_masses(table)), abs=1e-5)


@kinds
@pytest.mark.parametrize("factor", [UNIT, 1 << 55, 1 << 70])
def test_the_law_does_not_depend_on_the_unit_of_weight(kind: type[WeightedQuantile], factor: int) -> None:
    marks, weights = [0, 3, 4, 8], [2, 1, 7, 3]
    offset = 1 if factor < 1 << 60 else 0
    small = quantile(kind, window=3, offset=offset, sensitivity=4)
    large = quantile(kind, window=3 * factor, offset=offset * factor, sensitivity=4 * factor)
    heavy = (marks, [weight * factor for weight in weights])
    assert large.log_masses(heavy) == pytest.approx(dict(small.log_masses((marks, weights))), abs=1e-12)
    one, other = (m.sample(t, 50, bits=SeededBits(1)) for m, t in ((small, (marks, weights)), (large, heavy)))
    assert one == other


@kinds
def test_order_repeated_marks_and_empty_ones_do_not_matter(kind: type[WeightedQuantile]) -> None:
    mechanism = quantile(kind, window=2)
    law = mechanism.log_masses(([2, 5, 9], [4, 3, 2]))
    for other in (
        ([9, 2, 5], [2, 4, 3]),
        ([5, 2, 5, 7, 99, 2], [1, 3, 2, 0, 2, 1]),
        ([2, 5, 9, 4], [4, 3, 2, -8]),
    ):
        assert mechanism.log_masses(other) == law
        arrays = np.array(other[0], np.int32), np.array(other[1], np.int64)
        assert mechanism.log_masses(arrays) == law


@thinned(4)
@kinds
@pytest.mark.parametrize("top", [999, 60_000])
def test_draws_have_the_law_of_their_gaps(kind: type[WeightedQuantile], top: int) -> None:
    """Chi-square over the gaps of many marks at a false-alarm rate of 1e-8; masses by interpolation in doubles."""
    generator = np.random.default_rng(4)
    marks = np.unique(generator.integers(top // 3, top // 2, 40))
    weights = generator.integers(1, UNIT, len(marks))
    mechanism = quantile(kind, at="2/3", high=top, window=UNIT, sensitivity=2 * UNIT, offset=-UNIT)
    size = (3000 if top < 1000 else 300) * DEPTH
    draws = np.array(mechanism.sample((marks, weights), size, bits=SeededBits(6)), np.int64)
    law = np.exp(_plain_law(kind, marks, weights, top))
    edges = [0, top // 6, *marks[::5].tolist(), 3 * top // 4, top + 1]
    expected = np.add.reduceat(law, edges[:-1]) * size
    seen = np.histogram(draws, edges)[0]
    common = expected >= 5
    statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
    statistic += (seen[~common].sum() - expected[~common].sum()) ** 2 / max(1, expected[~common].sum())
    assert chi2.sf(statistic, common.sum()) > 1e-8


def _plain_law(kind: type[WeightedQuantile], marks: Any, weights: Any, top: int) -> Any:
    sums = np.concatenate(([0], np.cumsum(weights)))
    grid = np.unique(np.concatenate((sums, sums + UNIT))).astype(float)
    areas = np.concatenate(([0], np.cumsum(weights * marks)))

    def area(s: Any) -> Any:
        return np.interp(s, sums, areas) + top * np.maximum(s - sums[-1], 0)

    means = (area(grid) - area(grid - UNIT)) / UNIT
    ranks = np.interp(np.arange(top + 1), means, grid)  # no mark holds a window of its own
    target = sums[-1] * 2 / 3 + UNIT / 3 - UNIT
    exponents = np.abs(ranks - target) / (4 * UNIT)
    exponents -= exponents.min()
    masses = np.exp(-exponents)
    if kind is WeightedQuantile:
        return np.log(masses / masses.sum())
    nodes, parts = np.polynomial.legendre.leggauss(60)
    found = np.zeros(top + 1)
    edges = [0.0, *(2.0**-k for k in range(22, -1, -1))]
    for low, high in itertools.pairwise(edges):
        for node, part in zip((high - low) / 2 * nodes + (high + low) / 2, (high - low) / 2 * parts, strict=True):
            refused = np.log1p(-node * masses)
            found += part * masses * np.exp(refused.sum() - refused)
    return np.log(found)


def test_the_coins_of_far_marks_have_their_chances_over_all_bit_strings() -> None:
    """Three marks, two of them far, and words of two bits."""
    mechanism = quantile(PermutedWeightedQuantile, high=2, sensitivity=1)
    value = ([0, 1, 2], [3, 1, 1])
    law = [math.exp(log) for log in mechanism.log_law(value)]
    flips = PermuteAndFlipLaw(mechanism.ranks(value), mechanism.rate, far=0, word=2)
    masses, undecided = enumerate_masses(flips.draw, depth=15)
    assert undecided < 0.05
    for mark in range(3):
        assert 0 <= law[mark] - masses[mark] <= undecided


@thinned(3)
@pytest.mark.parametrize("far", [0, 1, 4])
def test_the_law_does_not_depend_on_what_is_called_far(far: int) -> None:
    """Chi-square at a false-alarm rate of 1e-8."""
    mechanism = quantile(PermutedWeightedQuantile, high=59, window=3)
    value = ([20, 21, 33, 40], [5, 9, 4, 6])
    law = np.exp(mechanism.log_law(value))
    flips, bits = PermuteAndFlipLaw(mechanism.ranks(value), mechanism.rate, far=far), SeededBits(3)
    seen = np.bincount([flips.draw(bits) for _ in range(600 * DEPTH)], minlength=60)
    expected, groups = law * seen.sum(), np.cumsum(law) // 0.04
    cells = [(seen[groups == g].sum(), expected[groups == g].sum()) for g in np.unique(groups)]
    statistic = sum((one - other) ** 2 / other for one, other in cells)
    assert chi2.sf(statistic, len(cells) - 1) > 1e-8


def test_totals_beyond_machine_integers_are_released() -> None:
    heavy = ([1, 5, 7], [1 << 63, (1 << 63) - 1, 1])
    for kind in KINDS:
        mechanism = quantile(kind, at="999983/1000000", sensitivity=UNIT, window=UNIT)
        assert mechanism.release(heavy, bits=SeededBits(1)) == 5
        assert quantile(kind, sensitivity=UNIT).release(
            (np.array([3], np.uint64), [5]), bits=SeededBits(2)
        ) in range(10)


@pytest.mark.parametrize(("changes", "adjacency"), [(1, "add-remove"), (2, "replace-one")])
def test_many_quantiles_of_weights_of_one_are_those_of_a_column(changes: int, adjacency: str) -> None:
    others: dict[str, Any] = {"at": ("1/5", "1/2", "4/5"), "low": 0, "high": 5, "step": 1, "epsilon": 3}
    ours = WeightedQuantiles(reach=1, changes=changes, groups=1, **others)
    theirs = ApproximateQuantiles(adjacency=adjacency, **others)
    for table in ([], [3], [1, 1, 4, 5], [0, 2, 2, 2, 5]):
        counts = Counter(table)
        law = ours.log_masses((list(counts), list(counts.values())))
        assert law == pytest.approx(dict(theirs.log_masses(table)), abs=1e-12)


@pytest.mark.parametrize(("changes", "reach"), [(1, 3), (2, 2)])
@pytest.mark.parametrize(("at", "window"), [(("1/4", "3/4"), 1), (("1/3", "1/2", "9/10"), 2)])
def test_many_quantiles_of_small_neighbours_are_not_told_apart_by_more_than_epsilon(
    changes: int, reach: int, at: tuple[str, ...], window: int
) -> None:
    """Exact laws of all answers on three marks."""
    given: dict[str, Any] = {"at": at, "window": window, "reach": reach, "changes": changes, "groups": 1}
    mechanism = WeightedQuantiles(low=0, high=2, step=1, epsilon=2, **given)
    known: dict[Histogram, Any] = {}
    largest = 0.0
    for pair in neighbours(2, reach, changes, [(0, 0, 0), (2, 1, 1)]):
        for table in pair:
            if table not in known:
                known[table] = np.array(list(mechanism.log_masses((range(3), table)).values()))
        largest = max(largest, float(np.abs(known[pair[0]] - known[pair[1]]).max()))
    assert largest <= 2 * (1 + 1e-12)
    assert largest > 0.4  # the claim is not idle


def test_groups_share_the_reach() -> None:
    given: dict[str, Any] = {"at": ("1/4", "1/2"), "low": 0, "high": 9, "step": 1, "reach": 2, "epsilon": 4}
    one, many = (WeightedQuantiles(changes=2, groups=groups, **given) for groups in (1, 7))
    assert (one.rate(one.turns), many.rate(many.turns)) == (Fraction(1, 2), Fraction(1, 2))  # a median
    lower = Fraction(1, 4) / Fraction(1, 2)  # between the end and the median
    part = one.turns.parts[0]
    assert part is not None
    assert part.share == lower
    skewed = WeightedQuantiles(changes=2, groups=7, **given | {"at": ("1/4",)})
    assert skewed.rate(skewed.turns) == Fraction(4, 2) / (2 * 2 * Fraction(3, 4))


def test_many_quantiles_of_heavy_rows_are_near() -> None:
    """Ranks off by more than 60 people have a chance below 2^16 exp(-30) on each level."""
    marks = np.random.default_rng(2).permutation(10_000)
    at = ("1/10", "1/4", "1/2", "3/4", "9/10")
    given: dict[str, Any] = {"reach": UNIT, "changes": 1, "groups": 1, "window": UNIT}
    mechanism = WeightedQuantiles(at=at, low=0, high=65_535, step=1, epsilon=3, **given)
    found = mechanism.release((marks, np.full(10_000, UNIT)), bits=SeededBits(5))
    assert [abs(y - 10_000 * float(Fraction(share))) < 200 for y, share in zip(found, at, strict=True)] == [
        True
    ] * 5
    assert mechanism.deviation((marks, np.full(10_000, UNIT)), found) <= mechanism.error(1 - 1e-9, ties=UNIT)


@kinds
def test_the_error_bounds_the_exact_law(kind: type[WeightedQuantile]) -> None:
    for table in (([], []), ([3, 4, 90], [9, 20, 3]), ([50], [100]), (range(0, 100, 3), [2] * 34)):
        mechanism = quantile(kind, high=99, window=5, offset=-9)
        masses = mechanism.log_masses(table)
        for confidence in (0.5, 0.9, 0.99):
            reach = mechanism.error(confidence)
            missed = math.fsum(math.exp(m) for y, m in masses.items() if mechanism.deviation(table, y) > reach)
            assert missed <= 1 - confidence


@thinned(4)
@kinds
@pytest.mark.parametrize("at", ["0", "1/4", "1/2", "1"])
def test_the_ends_of_an_interval_are_on_their_sides_of_the_quantile(kind: type[WeightedQuantile], at: str) -> None:
    """The exact chance of the wrong side, for empty, tiny, even, crowded and long-tailed tables."""
    generator = np.random.default_rng(8)
    tables = [(0,) * 40, (0,) * 39 + (3,), (4,) + (0,) * 39, (9,) * 40, (0,) * 20 + (500,) + (0,) * 19]
    tables += [tuple(generator.integers(0, most, 40).tolist()) for most in (2, 4, 30)]
    sensitivity, worst = rank_reach(at, 3, 1, groups=1), 0.0
    for table, window, epsilon in itertools.product(tables, (1, 3), ("1/2", 4)):
        others: dict[str, Any] = {"at": at, "high": 39, "sensitivity": sensitivity, "window": window}
        aim = end_offset(quantile(kind, epsilon=epsilon, **others), 0.9)
        low, high = (
            quantile(kind, epsilon=epsilon, offset=sign * aim, **others).log_masses((range(40), table))
            for sign in (-1, 1)
        )
        true = _plain_quantile(table, Fraction(at), window)
        below = math.fsum(math.exp(mass) for y, mass in high.items() if y < true)
        above = math.fsum(math.exp(mass) for y, mass in low.items() if y > true)
        worst = max(worst, below, above)
        assert max(below, above) <= 0.05
    assert worst > 0.002  # the ends are not set needlessly far


def _plain_quantile(table: Histogram, at: Fraction, window: int) -> Fraction:
    """The mean over the window at the wanted rank."""
    total, means = sum(table), plain_means(table, len(table) - 1, window)
    target = window * at + total * (1 - at) if total < window else total * at + window * (1 - at)
    place = min(math.floor(target), len(means) - 2)
    return means[place] + (target - place) * (means[place + 1] - means[place])


def test_the_shares_of_an_interval_add_up_and_cost_the_least_by_their_measure() -> None:
    for at in (0, "1/3", 1):
        low, centre, high = interval_shares(at)
        assert low + centre + high == 1
        assert (low == 0, high == 0) == (at == 0, at == 1)
    measure = {x: 1 / (1 - 2 * x) ** 3 / x for x in (Fraction(n, 80) for n in range(1, 40))}
    assert min(measure, key=lambda x: measure[x]) == interval_shares("1/2")[0]


@kinds
def test_where_every_row_weighs_one_window_the_aim_is_the_quantile_by_interpolation(
    kind: type[WeightedQuantile],
) -> None:
    """As numpy has it, and DuckDB's QUANTILE_CONT; a huge epsilon tells what is aimed at."""
    table = [1, 4, 4, 6, 8]
    counts = tuple(5 * Counter(table)[mark] for mark in range(10))
    for at in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)):
        assert float(_plain_quantile(counts, at, 5)) == pytest.approx(np.quantile(table, float(at)))
        sharp = quantile(kind, at=at, window=5, epsilon=10**6, step="1/1000")
        found = sharp.release(([1000 * m for m in range(10)], counts), bits=SeededBits(2))
        assert found == pytest.approx(np.quantile(table, float(at)), abs=1e-3)


@kinds
def test_the_largest_value_is_aimed_at_from_inside(kind: type[WeightedQuantile]) -> None:
    """An empty upper half of the range draws most releases if the last rank itself is the aim."""
    marks = list(range(500))
    others: dict[str, Any] = {"at": 1, "high": 999, "sensitivity": 1, "epsilon": 1}
    plain = quantile(kind, **others)
    inner = quantile(kind, offset=inner_offset(plain), **others)
    assert inner_offset(plain) == -14  # 2 ln 999 = 13.8
    assert inner_offset(quantile(kind, **others | {"at": 0})) == 14
    assert inner_offset(quantile(kind, **others | {"at": "1/2"})) == 0

    def beyond(mechanism: WeightedQuantile) -> float:
        masses = mechanism.log_masses((marks, [1] * 500))
        return math.fsum(math.exp(mass) for y, mass in masses.items() if y > 499)

    assert beyond(plain) > 0.95
    assert beyond(inner) < 0.25


def test_few_marks_only_are_permuted() -> None:
    assert quantile(PermutedWeightedQuantile, high=FEW_MARKS - 1).top == FEW_MARKS - 1
    with pytest.raises(MechanismError, match=r"2\*\*16 grid points") as refused:
        quantile(PermutedWeightedQuantile, high=FEW_MARKS)
    assert refused.value.remedy == "Use WeightedQuantile."
    assert quantile(WeightedQuantile, high=FEW_MARKS).top == FEW_MARKS


@kinds
@pytest.mark.parametrize(
    ("name", "bad"),
    [("sensitivity", 0), ("sensitivity", "1e-90"), ("offset", "x"), ("offset", 1 << 61), ("window", 0), ("at", 2)],
)
def test_bad_parameters_are_refused_by_name(kind: type[WeightedQuantile], name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match=rf"\b{name}\b"):
        quantile(kind, **{name: bad})


@pytest.mark.parametrize("bad", [[1, 2, 3], ([1], [1, 2]), ([1.5], [1]), (["a"], [1]), ([[1]], [[1]]), 7])
def test_what_is_no_weighted_column_by_its_type_is_refused(bad: Any) -> None:
    with pytest.raises(MechanismError, match=r"value|marks|weights"):
        quantile(WeightedQuantile).release(bad)


@pytest.mark.parametrize(("name", "bad"), [("reach", 0), ("changes", 0), ("groups", 0), ("at", -1)])
def test_a_reach_of_nothing_is_refused(name: str, bad: Any) -> None:
    given: dict[str, Any] = {"at": "1/2", "reach": 3, "changes": 1, "groups": 1}
    with pytest.raises(JaliError, match=name):
        rank_reach(**given | {name: bad})
