"""The joint mechanism: how far its utility moves, its law, its sampler, and its error."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError, MechanismError
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.joint_top_k import JointTopK, _draw_uniform_ranks
from jali.mechanisms.selection.piecewise_geometric import RandomDigits
from jali.mechanisms.selection.top_k_counts import SequenceCounts


def largest_gap(counts: tuple[int, ...], ranking: tuple[int, ...]) -> int:
    best = sorted(counts, reverse=True)
    return max(best[i] - counts[j] for i, j in enumerate(ranking))


def moves(adjacency: str, size: int) -> list[tuple[int, ...]]:
    """How counts can move when a record, a set of candidates, is added or replaced."""
    return list(itertools.product((0, 1) if adjacency == "add-remove" else (-1, 0, 1), repeat=size))


def neighbours(adjacency: str, size: int, top: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    tables = itertools.product(range(top + 1), repeat=size)
    pairs = ((c, tuple(x + y for x, y in zip(c, m, strict=True))) for c in tables for m in moves(adjacency, size))
    return [(one, other) for one, other in pairs if min(other) >= 0]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("k", "size", "top"), [(1, 3, 3), (2, 3, 3), (3, 3, 2), (2, 4, 2)])
def test_largest_gaps_move_within_the_stated_width_and_reach_it(
    adjacency: str, k: int, size: int, top: int
) -> None:
    """By exhaustive search: the sensitivity of the utility, and the width of the interval it moves in."""
    rankings = list(itertools.permutations(range(size), k))
    widest = farthest = 0
    for one, other in neighbours(adjacency, size, top):
        moved = [largest_gap(other, ranking) - largest_gap(one, ranking) for ranking in rankings]
        widest = max(widest, max(moved) - min(moved))
        farthest = max(farthest, *map(abs, moved))
    mechanism = JointTopK(k=k, sensitivity=1, epsilon=1, adjacency=adjacency)
    assert widest == mechanism.width
    assert farthest == (1 if adjacency == "add-remove" else 2)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_promise_holds_on_all_small_tables(adjacency: str, k: int) -> None:
    """Log-ratios lie in an interval of length epsilon, which is reached, and none is above epsilon."""
    mechanism = JointTopK(k=k, sensitivity=1, epsilon=1, adjacency=adjacency)
    laws = {c: mechanism.log_masses(c) for c in itertools.product(range(5), repeat=3)}
    widest = 0.0
    for one, other in neighbours(adjacency, 3, 3):
        ratios = [laws[one][ranking] - laws[other][ranking] for ranking in laws[one]]
        assert max(map(abs, ratios)) <= 1 + 1e-12
        widest = max(widest, max(ratios) - min(ratios))
    assert widest == pytest.approx(1, abs=1e-12)


def test_masses_agree_with_many_digits() -> None:
    """The law of the theory: exp(-epsilon * largest gap / 2) under add-remove."""
    counts = (5, 3, 3, 0)
    mechanism = JointTopK(k=2, sensitivity=1, epsilon="7/10", adjacency="add-remove")
    with mpmath.workdps(30):
        rate = mpmath.mpf(7) / 20
        weights = {
            ranking: mpmath.exp(-rate * largest_gap(counts, ranking))
            for ranking in itertools.permutations(range(4), 2)
        }
        total = mpmath.fsum(weights.values())
        expected = {ranking: float(mpmath.log(weight / total)) for ranking, weight in weights.items()}
    assert mechanism.log_masses(counts) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("counts", [(4, 4, 2, 1, 1), (0, 0, 0, 0, 0), (9, 5, 4, 1, 0)])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_number_of_sequences_within_a_level_is_counted_rightly(counts: tuple[int, ...], k: int) -> None:
    gaps = [largest_gap(counts, ranking) for ranking in itertools.permutations(range(5), k)]
    levels = SequenceCounts.of(np.sort(np.array(counts)), k)
    for level in range(11):
        assert levels.sequences(level) == sum(gap <= level for gap in gaps)
    assert levels.exactly() == dict(Counter(gaps))
    everywhere = np.arange(11)
    mantissas, exponents = levels.caps(everywhere)
    for level, mantissa, exponent in zip(range(11), mantissas, exponents, strict=True):
        held = levels.sequences(level)
        assert held <= Fraction(float(mantissa)) * 2 ** int(exponent) <= held * Fraction(1000001, 1000000)


def test_intervals_cover_every_level_once_whatever_the_counts() -> None:
    generator = np.random.default_rng(3)
    for scale in (3, 100, 10**6, 2**61):
        for unit in (Fraction(1, 1000), Fraction(1), Fraction(1, 10**15)):
            levels = SequenceCounts.of(np.sort(generator.integers(0, scale, 40)), 4)
            starts, lasts = levels.cover(unit)
            assert starts[0] == 0
            assert lasts[-1] == levels.widest - 1
            assert (starts[1:] == lasts[:-1] + 1).all()
            assert (lasts >= starts).all()


FAR = [
    ([10**300, 0, 1, 2], Fraction(1, 2)),
    ([10**5000, 0, 1, 2], Fraction(1, 2)),
    ([2**4000, 0, 1, 2], Fraction(1, 10**600)),
    ([10**9999, 1, 0, 10**4999], Fraction(1, 2 * 10**4999)),
    ([10**i for i in range(0, 5000, 50)], Fraction(1, 3**900)),
    ([0, 1, 10**600], Fraction(10**600)),
]


@pytest.mark.parametrize(("counts", "unit"), FAR, ids=range(len(FAR)))
def test_counts_far_apart_take_few_intervals(counts: list[int], unit: Fraction) -> None:
    """Time grows with the number of intervals; halving alone took one for each bit of the largest gap."""
    levels = SequenceCounts.of(np.array(sorted(counts), object), 2)
    starts, lasts = levels.cover(unit)
    assert len(starts) < 150
    assert (starts[0], lasts[-1]) == (0, levels.widest - 1)
    assert (starts[1:] == lasts[:-1] + 1).all()
    weights, _ = levels.law(unit)[0]._weights
    assert weights[-2] <= 2  # the last interval before the endless one: proposed with a chance of about 2**-40


@pytest.mark.parametrize(
    "counts",
    [
        [10**5000, 0, 1, 2],
        [10**20000, Fraction(1, 10**4999), 0, 1],
        [Fraction(1, 3**i) for i in range(1, 3000, 100)] + [3**i for i in range(1, 3000, 100)],
    ],
)
def test_counts_far_apart_are_ranked(counts: list[Any]) -> None:
    mechanism = JointTopK(k=2, sensitivity=1, epsilon=1, adjacency="add-remove")
    assert mechanism.release(counts, bits=SeededBits(1))[0] == counts.index(max(counts))


@thinned(4)
@pytest.mark.parametrize("cut", [0, 1, 3, 6, 100])
def test_the_law_does_not_depend_on_where_levels_are_cut(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a cut through the heaviest levels costs time alone. Chi-square at a false-alarm rate of 1e-8."""
    monkeypatch.setattr(SequenceCounts, "_faint_from", lambda self, unit: cut)
    mechanism = JointTopK(k=2, sensitivity=1, epsilon=1, adjacency="add-remove")
    counts = (7, 5, 5, 1, 0)
    seen = Counter(mechanism.sample(counts, 4000 * DEPTH, bits=SeededBits(22)))
    _accept(seen, {r: math.exp(m) for r, m in mechanism.log_masses(counts).items()})


def test_a_ranking_within_a_level_is_uniform_for_every_bit_string() -> None:
    """Places reach 2, 3 and 4 of the ranks: 2 * 2 * 2 rankings, all equally likely."""
    masses, left = enumerate_masses(lambda bits: tuple(_draw_uniform_ranks([2, 3, 4], RandomDigits(bits))), 12)
    allowed = {
        ranks for ranks in itertools.permutations(range(4), 3) if ranks[0] < 2 and ranks[1] < 3 and ranks[2] < 4
    }
    assert set(masses) == allowed
    assert set(masses.values()) == {Fraction(1, 8)}
    assert left == 0


def test_uniform_rankings_with_rejected_draws_stay_uniform() -> None:
    masses, left = enumerate_masses(lambda bits: tuple(_draw_uniform_ranks([3, 4], RandomDigits(bits))), 16)
    assert set(masses) == {(a, b) for a in range(3) for b in range(4) if a != b}
    assert len(set(masses.values())) == 1
    assert left < Fraction(1, 100)


@thinned(4)
@pytest.mark.parametrize(
    ("counts", "k", "epsilon"),
    [
        ((7, 5, 5, 1, 0), 3, 2),
        ((2, 2, 2, 2), 2, 1),
        ((Fraction(1, 2), Fraction(1, 3), 0), 2, 6),
        ((10**25, 10**25 - 2, 0), 2, 1),
    ],
)
def test_releases_have_the_law(counts: tuple[Any, ...], k: int, epsilon: int) -> None:
    """Chi-square at a false-alarm rate of 1e-8."""
    mechanism = JointTopK(k=k, sensitivity=1, epsilon=epsilon, adjacency="add-remove")
    draws = 8000 * DEPTH
    seen = Counter(mechanism.sample(counts, draws, bits=SeededBits(21)))
    _accept(seen, {r: math.exp(m) for r, m in mechanism.log_masses(counts).items()})


def _accept(seen: Counter[Any], masses: dict[Any, float]) -> None:
    draws = seen.total()
    common = {o: draws * m for o, m in masses.items() if draws * m >= 10}
    statistic = math.fsum((seen[o] - e) ** 2 / e for o, e in common.items())
    rare = draws - math.fsum(common.values())
    statistic += (draws - sum(seen[o] for o in common) - rare) ** 2 / max(rare, 1.0)
    assert chi2.sf(statistic, len(common)) > 1e-8


@pytest.mark.parametrize(("epsilon", "spread"), [("1/10", 300), (4, 30)])
def test_the_largest_gap_of_many_candidates_has_its_exact_law(epsilon: Any, spread: int) -> None:
    """Sixty candidates and five places have 655 million rankings: the law comes from N(V)."""
    counts = np.random.default_rng(5).integers(0, spread, 60)
    mechanism = JointTopK(k=5, sensitivity=1, epsilon=epsilon, adjacency="add-remove")
    rankings: Any = mechanism.sample(counts, 2000 * DEPTH, bits=SeededBits(2))
    seen = Counter(mechanism.deviation(counts, ranking) for ranking in rankings)
    _accept(seen, dict(mechanism.gap_masses(counts)))


def test_the_law_of_gaps_sums_the_law_of_rankings() -> None:
    counts = (6, 4, 4, 1, 0)
    mechanism = JointTopK(k=3, sensitivity=1, epsilon=1, adjacency="replace-one")
    by_gap: dict[Fraction, float] = {}
    for ranking, mass in mechanism.log_masses(counts).items():
        gap = Fraction(largest_gap(counts, ranking))
        by_gap[gap] = by_gap.get(gap, 0.0) + math.exp(mass)
    assert mechanism.gap_masses(counts) == pytest.approx(by_gap, abs=1e-13)


def test_the_error_bounds_every_small_table() -> None:
    mechanism = JointTopK(k=2, sensitivity=1, epsilon=2, adjacency="add-remove")
    for counts in itertools.combinations_with_replacement(range(0, 30, 3), 3):
        law = mechanism.gap_masses(counts)
        for confidence in (0.5, 0.9, 0.99):
            bound = mechanism.error(confidence, candidates=3)
            assert math.fsum(mass for gap, mass in law.items() if gap <= bound) >= confidence - 1e-12


def test_for_one_place_it_is_the_exponential_mechanism() -> None:
    """Its error is then that of the worst scores, exactly."""
    counts = (4, 1, 0, 2)
    for adjacency, monotone in (("add-remove", True), ("replace-one", False)):
        joint = JointTopK(k=1, sensitivity=1, epsilon=1, adjacency=adjacency)
        single = Exponential(sensitivity=1, epsilon=1, monotone=monotone, adjacency=adjacency)
        expected = {(i,): mass for i, mass in single.log_masses(counts).items()}
        assert joint.log_masses(counts) == pytest.approx(expected, abs=1e-12)
        assert joint.error(0.9, candidates=4) == pytest.approx(single.error(0.9, candidates=4), rel=1e-9)


def test_many_candidates_of_many_shapes_are_ranked() -> None:
    size = 100_000
    generator = np.random.default_rng(7)
    shapes: list[Any] = [
        np.zeros(size, np.int64),
        (1e6 / np.arange(1, size + 1)).astype(np.int64),
        generator.integers(0, 2**61, size),
        generator.poisson(100, size),
    ]
    for counts in shapes:
        mechanism = JointTopK(k=10, sensitivity=1, epsilon=1, adjacency="add-remove")
        ranking = mechanism.release(counts, bits=SeededBits(1))
        assert len(set(ranking)) == 10
        assert mechanism.deviation(counts, ranking) <= mechanism.error(1 - 1e-9, candidates=size)


def test_all_candidates_can_be_ranked_and_a_lone_one_is() -> None:
    everybody = JointTopK(k=4, sensitivity=1, epsilon=50, adjacency="add-remove")
    assert everybody.release([40, 10, 30, 20], bits=SeededBits(1)) == (0, 2, 3, 1)
    assert JointTopK(k=1, sensitivity=1, epsilon=1, adjacency="replace-one").release([5]) == (0,)


def test_counts_of_hundreds_of_digits_do_not_fail() -> None:
    mechanism = JointTopK(k=2, sensitivity=1, epsilon=1, adjacency="add-remove")
    assert mechanism.release([0, 10**400, 10**399], bits=SeededBits(1)) == (1, 2)
    tiny = [Fraction(1, 10**350), Fraction(3, 10**340), 0]
    assert sorted(JointTopK(k=3, sensitivity=1, epsilon=1, adjacency="add-remove").release(tiny)) == [0, 1, 2]


def test_counts_at_the_ends_of_machine_integers_do_not_wrap() -> None:
    end = 2**62 - 1
    for counts in ([end, -end, -end, 0], [2**63 - 1, -(2**63), 0, 1]):
        mechanism = JointTopK(k=2, sensitivity=1, epsilon=1, adjacency="replace-one")
        best = tuple(int(i) for i in np.argsort(np.array(counts, object))[::-1][:2])
        assert mechanism.release(counts, bits=SeededBits(1)) == best


def test_more_places_than_candidates_are_refused() -> None:
    with pytest.raises(MechanismError, match="k is 3"):
        JointTopK(k=3, sensitivity=1, epsilon=1, adjacency="add-remove").release([1, 2])


def test_a_sensitivity_whose_counts_move_either_way_is_refused_under_add_remove() -> None:
    either = Sensitivity(l1=2, l2=2, l_infinity=1, adjacency="add-remove")
    with pytest.raises(JaliError, match="monotone"):
        JointTopK(k=2, sensitivity=either, epsilon=1, adjacency="add-remove")


def test_a_step_rounds_counts_and_sensitivity() -> None:
    mechanism = JointTopK(k=1, sensitivity="0.3", epsilon=1, adjacency="add-remove", step="1/4")
    assert mechanism.rate == 2
    assert mechanism.release([0.1, 50.0, math.nan], bits=SeededBits(3)) == (1,)


def test_the_loss_is_approached_as_candidates_become_many() -> None:
    """A record raises the first place and all of the many at 0; the runner-up is not in it."""
    mechanism = JointTopK(k=2, sensitivity=1, epsilon=2, adjacency="add-remove")
    one, other = (100, 4, *[0] * 20_000), (101, 4, *[1] * 20_000)
    logs = []
    for counts in (one, other):
        masses = mechanism.gap_masses(counts)
        # One ranking has no gap at all, and that of (1, 0) is the gap between the two largest counts.
        logs.append(math.log(masses[Fraction(0)]) - (counts[0] - counts[1]))
    assert 1.98 < logs[0] - logs[1] <= 2
