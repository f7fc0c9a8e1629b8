"""The exponential mechanism on an interval: the median of the lectures, large lattices, the continuous limit."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.selection.interval_exponential import IntervalExponential
from jali.mechanisms.selection.piecewise_scores import Piecewise


def median_score(values: list[int]) -> Piecewise:
    """The score -|#{x < y} - n/2|."""
    half = Fraction(len(values), 2)
    return Piecewise(
        breaks=sorted(values), scores=[-abs(r - half) for r in range(len(values) + 1)], closed="right"
    )


def fine(epsilon: Any) -> IntervalExponential:
    return IntervalExponential(low=0, high=100, step=Fraction(100, 10**12), sensitivity=1, epsilon=epsilon)


@pytest.mark.parametrize(("epsilon", "expected"), [("1/2", 20.13056), (1, 15.94366), (2, 10.48058)])
def test_the_median_of_nine_values_has_the_error_of_the_theory(epsilon: Any, expected: float) -> None:
    """Replace-one: the score has sensitivity 1, the exponent epsilon/2 times it. Digits are cut, not rounded."""
    masses = fine(epsilon).piece_masses(median_score(list(range(10, 100, 10))))
    error = float(masses @ np.abs(np.arange(5, 100, 10) - 50))
    q = math.exp(-float(Fraction(epsilon)) / 2)
    assert error == pytest.approx(
        sum((5 + 10 * j) * q**j for j in range(5)) / sum(q**j for j in range(5)), rel=1e-9
    )
    assert math.floor(error * 1e5) / 1e5 == pytest.approx(expected, abs=1e-9)


def test_the_median_of_nine_values_is_within_ten_as_often_as_the_theory_says() -> None:
    masses = fine(1).piece_masses(median_score(list(range(10, 100, 10))))
    assert float(masses[4] + masses[5]) == pytest.approx(0.428656, abs=5e-7)


def test_releases_of_the_median_have_the_error_of_the_theory() -> None:
    """Four standard errors of 2,000 releases; |out - 50| has a standard deviation below 13."""
    draws = fine(1).sample(median_score(list(range(10, 100, 10))), 2000 * DEPTH, bits=SeededBits(4))
    errors = [abs(float(y) - 50) for y in draws if isinstance(y, Fraction)]
    assert math.fsum(errors) / len(errors) == pytest.approx(15.94366, abs=6 * 13 / math.sqrt(len(errors)))


@pytest.mark.parametrize("closed", ["left", "right"])
def test_masses_agree_with_many_digits_on_a_small_lattice(closed: Any) -> None:
    score = Piecewise(breaks=[1, Fraction(5, 2), 3], scores=[0, 4, -1, 2], slopes=[1, -1, 0, -2], closed=closed)
    mechanism = IntervalExponential(low=-1, high=4, step="1/2", sensitivity=3, epsilon="1/2")
    points = [Fraction(i, 2) for i in range(-2, 9)]
    with mpmath.workdps(30):
        weights = [mpmath.exp(mpmath.mpf(float(score.at(y))) / 12) for y in points]
        total = mpmath.fsum(weights)
        expected = {y: float(mpmath.log(w / total)) for y, w in zip(points, weights, strict=True)}
    assert mechanism.log_masses(score) == pytest.approx(expected, abs=1e-13)
    by_piece = [0.0] * 4
    for y, mass in mechanism.log_masses(score).items():
        place = sum(b < y or (b == y and closed == "left") for b in (1, Fraction(5, 2), 3))
        by_piece[place] += math.exp(mass)
    assert mechanism.piece_masses(score) == pytest.approx(by_piece, abs=1e-13)


def test_a_fine_lattice_approaches_the_continuous_law() -> None:
    """The revenue of the valuations 3 and 7: exp(c p k) integrates in closed form between them."""
    score = Piecewise(breaks=[3, 7], scores=[0, 0, 0], slopes=[2, 1, 0], closed="right")
    mechanism = IntervalExponential(low=0, high=10, step=Fraction(1, 10**9), sensitivity=5, epsilon=2)
    rate = 0.2
    areas = [
        (math.exp(2 * rate * 3) - 1) / (2 * rate),
        (math.exp(rate * 7) - math.exp(rate * 3)) / rate,
        3.0,
    ]
    assert mechanism.piece_masses(score) == pytest.approx([a / sum(areas) for a in areas], rel=1e-7)


def test_two_to_the_sixty_points_and_many_pieces_are_no_obstacle() -> None:
    generator = np.random.default_rng(8)
    values = np.sort(generator.integers(0, 2**60, 20_000))
    ranks = -np.abs(2 * np.arange(20_001) - 20_000)
    mechanism = IntervalExponential(low=0, high=2**60 - 1, step=1, sensitivity=2, epsilon="1/10")
    score = Piecewise(breaks=values, scores=ranks, closed="right")
    bits = SeededBits(9)
    for _ in range(5):
        below = int(np.searchsorted(values, int(mechanism.release(score, bits=bits)), "left"))
        # Rank errors beyond 2000 have a chance of less than exp(-90).
        assert abs(below - 10_000) < 2000


def test_steep_scores_on_a_huge_lattice_pick_the_best_end() -> None:
    mechanism = IntervalExponential(low=0, high=2**60 - 1, step=1, sensitivity=1, epsilon=1000)
    rising = Piecewise(breaks=[], scores=[0], slopes=[1])
    falling = Piecewise(breaks=[], scores=[0], slopes=[-1])
    assert mechanism.release(rising, bits=SeededBits(1)) == 2**60 - 1
    assert mechanism.release(falling, bits=SeededBits(1)) == 0


def test_gentle_slopes_whose_scale_exceeds_the_lattice_are_nearly_uniform() -> None:
    mechanism = IntervalExponential(low=0, high=2**59, step=1, sensitivity=1, epsilon=1)
    score = Piecewise(breaks=[], scores=[0], slopes=[Fraction(1, 10**40)])
    draws = [float(mechanism.release(score, bits=bits)) / 2**59 for bits in map(SeededBits, range(200))]
    assert sum(draws) / 200 == pytest.approx(0.5, abs=0.12)  # six standard errors


def test_the_lecture_bound_holds_for_the_exact_law_and_is_the_worst_case() -> None:
    """Pr[error >= t] for one point at the top and all others t below: the bound is reached."""
    mechanism = IntervalExponential(low=1, high=50, step=1, sensitivity=1, epsilon=1)
    for confidence in (0.9, 0.99, 0.999):
        t = mechanism.error(confidence)
        gap = Fraction(t).limit_denominator(10**9)
        worst = Piecewise(breaks=[2], scores=[gap, 0])
        masses = mechanism.log_masses(worst)
        missed = 1 - math.exp(masses[Fraction(1)])
        assert missed == pytest.approx(1 - confidence, rel=1e-6)
        # Theorem of the lecture: more than (2/epsilon)(ln n + t) below the best with a chance below e^-t.
        assert t <= 2 * (math.log(50) - math.log(1 - confidence))


def scores_of(values: tuple[int, ...], points: range) -> list[Fraction]:
    score = median_score(list(values))
    return [score.at(y) for y in points]


def test_the_rank_score_has_sensitivity_one_under_replacement_and_one_half_under_addition() -> None:
    """By exhaustive search over tables of up to four values in 0..4."""
    points = range(6)
    replaced = added = Fraction(0)
    for n in (1, 2, 3):
        for values in itertools.combinations_with_replacement(range(5), n):
            here = scores_of(values, points)
            for other in range(5):
                more = scores_of(tuple(sorted((*values, other))), points)
                added = max(added, *(abs(a - b) for a, b in zip(here, more, strict=True)))
                swapped = scores_of(tuple(sorted((*values[1:], other))), points)
                replaced = max(replaced, *(abs(a - b) for a, b in zip(here, swapped, strict=True)))
    assert [replaced, added] == [Fraction(1), Fraction(1, 2)]


@pytest.mark.parametrize(("adjacency", "sensitivity"), [("replace-one", 1), ("add-remove", "1/2")])
def test_the_median_keeps_its_promise_on_all_small_tables(adjacency: str, sensitivity: Any) -> None:
    """The range of the log-ratios is within epsilon for every pair of neighbours."""
    mechanism = IntervalExponential(low=0, high=5, step=1, sensitivity=sensitivity, epsilon=1, adjacency=adjacency)
    tables = [t for n in (2, 3) for t in itertools.combinations_with_replacement(range(5), n)]
    laws = {table: mechanism.log_masses(median_score(list(table))) for table in tables}
    widest = 0.0
    for one, other in itertools.combinations(tables, 2):
        apart = Counter(one) - Counter(other)
        if (len(one) == len(other)) != (adjacency == "replace-one") or apart.total() + (
            Counter(other) - Counter(one)
        ).total() > (2 if adjacency == "replace-one" else 1):
            continue
        ratios = [laws[one][y] - laws[other][y] for y in laws[one]]
        assert max(map(abs, ratios)) <= 1 + 1e-12
        widest = max(widest, max(ratios) - min(ratios))
    assert widest == pytest.approx(1, abs=1e-12)


def test_ends_and_scores_of_hundreds_of_digits_do_not_fail() -> None:
    mechanism = IntervalExponential(low=Fraction(1, 10**290), high=1, step="1/8", sensitivity=1, epsilon=1)
    level = Piecewise(breaks=[], scores=[10**400])
    assert 0 < mechanism.release(level) < 1
    steep = Piecewise(breaks=[Fraction(1, 2)], scores=[0, Fraction(1, 10**400)], slopes=[10**350, 0])
    assert mechanism.release(steep, bits=SeededBits(1)) == Fraction(3, 8) + Fraction(1, 10**290)


def test_one_point_alone_is_released_without_error() -> None:
    mechanism = IntervalExponential(low="1/3", high="1/2", step=1, sensitivity=1, epsilon=1)
    assert mechanism.release(Piecewise(breaks=[], scores=[0])) == Fraction(1, 3)
    assert mechanism.error(0.999) == 0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"high": -1}, "high"),
        ({"step": 0}, "step"),
        ({"low": "nan"}, "low"),
        ({"step": Fraction(1, 2**70)}, "step"),
        ({"monotone": True}, "monotone"),
        ({"monotone": True, "adjacency": "replace-one"}, "monotone"),
    ],
)
def test_bad_parameters_are_refused_by_name(change: dict[str, Any], name: str) -> None:
    good: dict[str, Any] = {"low": 0, "high": 10, "step": 1, "sensitivity": 1, "epsilon": 1}
    with pytest.raises(MechanismError, match=name):
        IntervalExponential(**(good | change))


def test_only_piecewise_scores_are_taken() -> None:
    with pytest.raises(MechanismError, match="Piecewise"):
        IntervalExponential(low=0, high=10, step=1, sensitivity=1, epsilon=1).release([1, 2])  # type: ignore[arg-type]
