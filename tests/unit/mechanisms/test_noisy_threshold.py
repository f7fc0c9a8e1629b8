"""The law of sparse vector: losses by enumeration and quadrature, published variants, and how far it misjudges."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.base import LogMasses, Specimen
from jali.mechanisms.noisy_threshold import at_least, bound_misjudgement, pattern_masses, threshold_share
from jali.mechanisms.sparse_vector import AboveThreshold, SparseVector

WINDOW = range(-45, 46)


def laplace(scale: float) -> dict[int, float]:
    weights = {x: math.exp(-abs(x) / scale) for x in WINDOW}
    total = math.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def loss(p: LogMasses, q: LogMasses) -> float:
    assert p.keys() == q.keys()
    return max(abs(p[output] - q[output]) for output in p)


def neighbours(length: int, *, monotone: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    moves = (0, 1) if monotone else (-1, 0, 1)
    for values in itertools.product((-3, 0, 4), repeat=length):
        for move in itertools.product(moves, repeat=length):
            yield values, tuple(v + m for v, m in zip(values, move, strict=True))


@pytest.mark.parametrize("cutoff", [1, 2, None])
def test_pattern_masses_are_those_of_all_noises_tried_one_by_one(cutoff: int | None) -> None:
    values = (0, 1)
    threshold, query = laplace(0.75), laplace(1.25)
    tried: dict[tuple[bool, ...], float] = defaultdict(float)
    for z, one, two in itertools.product(WINDOW, repeat=3):
        answers: tuple[bool, ...] = (values[0] + one >= z, values[1] + two >= z)
        pattern = answers[:1] if cutoff == 1 and answers[0] else answers
        tried[pattern] += threshold[z] * query[one] * query[two]
    masses = pattern_masses(values, cutoff, Fraction(3, 4), Fraction(5, 4))
    assert masses.keys() == tried.keys()
    for pattern, mass in tried.items():
        assert math.exp(masses[pattern]) == pytest.approx(mass, rel=1e-12)


@thinned(4)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("cutoff", [1, 2])
def test_no_small_neighbours_lose_more_than_epsilon(cutoff: int, monotone: bool) -> None:
    adjacency = "add-remove" if monotone else None
    mechanism = SparseVector(cutoff=cutoff, sensitivity=1, epsilon=2, monotone=monotone, adjacency=adjacency)
    laws: dict[tuple[int, ...], LogMasses] = {}

    def law(values: tuple[int, ...]) -> LogMasses:
        return laws.setdefault(values, laws.get(values) or mechanism.log_masses(values))

    worst = max(loss(law(one), law(other)) for one, other in neighbours(3, monotone=monotone))
    assert 1 < worst <= 2 * (1 + 1e-12)


@pytest.mark.parametrize(
    "specimen", [*AboveThreshold.specimens(), *SparseVector.specimens()], ids=lambda s: s.name
)
def test_the_claimed_loss_is_reached(specimen: Any) -> None:
    one, other = (specimen.mechanism.log_masses(value) for value in specimen.neighbours[0])
    shared = one.keys() & other.keys()
    worst = max(abs(one[output] - other[output]) for output in shared)
    assert worst == pytest.approx(float(specimen.mechanism.loss.event.epsilon), rel=1e-9)


def test_monotone_noise_loses_half_as_much_again_when_values_move_both_ways() -> None:
    mechanism = AboveThreshold(sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")
    up, both = ((80,) * 4 + (0,), (81,) * 4 + (0,)), ((80,) * 4 + (1,), (81,) * 4 + (0,))
    assert loss(*map(mechanism.log_masses, up)) == pytest.approx(1, abs=1e-9)
    assert loss(*map(mechanism.log_masses, both)) == pytest.approx(1.5, abs=1e-9)


def test_numeric_answers_lose_their_own_epsilon_and_no_more() -> None:
    mechanism = SparseVector(cutoff=2, sensitivity=1, epsilon=3, epsilon_answers=4)
    one, other = mechanism.log_masses((1, 0, 1)), mechanism.log_masses((0, 1, 0))
    shared = one.keys() & other.keys()
    assert math.fsum(math.exp(one[o]) for o in shared) == pytest.approx(1, abs=1e-11)
    assert 5 < max(abs(one[o] - other[o]) for o in shared) <= 7 * (1 + 1e-12)


def test_the_parts_of_epsilon_sum_to_it_exactly_and_nearly_minimise_the_variance() -> None:
    for cutoff, monotone in itertools.product((1, 2, 3, 10, 1000), (False, True)):
        mechanism = SparseVector(
            cutoff=cutoff, sensitivity=1, epsilon="1/3", monotone=monotone, adjacency="add-remove"
        )
        assert mechanism.threshold_epsilon + mechanism.query_epsilon == Fraction(1, 3)
        weight = cutoff if monotone else 2 * cutoff
        best = 1 / (1 + weight ** (2 / 3))
        assert float(threshold_share(weight)) == pytest.approx(best, rel=2e-3)
        assert mechanism.query_scale == weight / mechanism.query_epsilon

        def variance(share: float, weight: int = weight) -> float:
            return share**-2 + (weight / (1 - share)) ** 2

        assert variance(float(threshold_share(weight))) <= min(variance(i / 1000) for i in range(1, 1000)) * (
            1 + 1e-5
        )


def test_twice_the_sensitivity_at_twice_both_losses_is_the_same_law() -> None:
    one = SparseVector(cutoff=1, sensitivity=1, epsilon=1, epsilon_answers=2)
    two = SparseVector(cutoff=1, sensitivity=2, epsilon=2, epsilon_answers=4)
    assert one.log_masses((0, 2)) == two.log_masses((0, 2))


def inside(threshold_scale: Fraction, query_scale: Fraction, queries: int, t: int) -> float:
    """sum_z Pr[z] Pr[z-t-1 <= x <= z+t]^queries, term by term in 30 digits."""
    with mpmath.workdps(30):
        p, q = (mpmath.exp(-1 / mpmath.mpf(s.numerator) * s.denominator) for s in (threshold_scale, query_scale))

        def up_to(x: int) -> mpmath.mpf:
            return 1 - q ** (x + 1) / (1 + q) if x >= 0 else q**-x / (1 + q)

        reach = math.ceil(60 * threshold_scale)
        total = mpmath.fsum(
            (1 - p) / (1 + p) * p ** abs(z) * (up_to(z + t) - up_to(z - t - 2)) ** queries
            for z in range(-reach, reach + 1)
        )
        return float(total)


@thinned(4)
@pytest.mark.parametrize(
    "scales", [(Fraction(2), Fraction(4)), (Fraction(1, 3), Fraction(1, 2)), (Fraction(20), Fraction(7))]
)
@pytest.mark.parametrize("queries", [1, 10, 1000])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_bound_is_the_least_t_whose_noises_all_stay_inside(
    scales: tuple[Fraction, Fraction], queries: int, confidence: float
) -> None:
    t = bound_misjudgement(*scales, queries, confidence)
    assert inside(*scales, queries, t) >= confidence
    assert t == 0 or inside(*scales, queries, t - 1) < confidence


def test_blocks_bound_the_sum_from_the_safe_side_and_closely() -> None:
    coarse = bound_misjudgement(Fraction(5000), Fraction(9000), 100, 0.9)
    fine = bound_misjudgement(Fraction(50), Fraction(90), 100, 0.9)
    assert 0 <= coarse - 100 * fine + 100 <= 300


@thinned(4)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("queries", [1, 30, 10**6])
def test_the_bound_is_below_that_of_the_lectures(epsilon: Fraction, queries: int) -> None:
    for confidence in (0.5, 0.9, 0.999):
        logs = math.log(queries) + math.log(2 / (1 - confidence))
        found = AboveThreshold(sensitivity=1, epsilon=epsilon).error(confidence, queries=queries)
        assert found <= 6 * logs / epsilon + 2
        assert epsilon > 1 or found <= 8 * logs / epsilon


@pytest.mark.parametrize("values", ["low", "mixed"])
def test_the_exact_tail_is_below_what_the_bound_allows(values: str) -> None:
    """Values just beyond the bound: all low, or one high after the low ones; misjudging any of them fails."""
    mechanism = AboveThreshold(sensitivity=1, epsilon=1)
    for queries, confidence in ((2, 0.6), (5, 0.9)):
        t = mechanism.error(confidence, queries=queries)
        low = (-t - 1,) * queries
        asked = low if values == "low" else (*low[1:], t + 1)
        masses = pattern_masses(asked, 1, mechanism.threshold_scale, mechanism.query_scale)
        right = (False,) * queries if values == "low" else ((False,) * (queries - 1)) + (True,)
        assert 1 - math.exp(masses[right]) <= 1 - confidence


def test_an_adaptive_analyst_gains_nothing_against_the_bound() -> None:
    """It asks at the threshold first, then far on the side to which that answer says the noise leans."""
    mechanism = SparseVector(cutoff=2, sensitivity=1, epsilon=1)
    for confidence in (0.5, 0.9, 0.99):
        t = mechanism.error(confidence, queries=2)
        z = np.arange(-400, 401, dtype=np.float64)
        q = math.exp(-1 / mechanism.threshold_scale)
        weights = (1 - q) / (1 + q) * q ** np.abs(z)
        above, below = at_least(mechanism.query_scale, z), at_least(mechanism.query_scale, 1 - z)
        low_found_above = at_least(mechanism.query_scale, z + t + 1)
        high_found_below = at_least(mechanism.query_scale, t + 2 - z)
        fails = float((weights * (above * low_found_above + below * high_found_below)).sum())
        assert fails <= 1 - confidence


def test_releases_misjudge_no_more_often_than_the_theorem_says() -> None:
    """The true rate is at most 0.2; the chance of 0.23 among 20,000 is below 1e-20."""
    mechanism = SparseVector(cutoff=3, sensitivity=1, epsilon=1)
    t = mechanism.error(0.8, queries=8)
    values = [t + 1, -t - 1] * 4
    draws = 20_000 * DEPTH
    outcomes = mechanism.sample(values, draws, bits=SeededBits(3))
    failed = sum(mechanism.deviation(values, outcome) > t for outcome in outcomes)  # type: ignore[arg-type]
    assert failed <= 0.23 * draws


def test_real_values_on_a_lattice_are_misjudged_by_at_most_one_step_more() -> None:
    on_integers = AboveThreshold(sensitivity=2, epsilon=1).error(0.9, queries=3)
    assert AboveThreshold(sensitivity="1/2", epsilon=1, step="1/4").error(0.9, queries=3) == (on_integers + 1) / 4


def test_the_error_of_a_numeric_answer_is_the_quantile_of_its_noise() -> None:
    mechanism = SparseVector(cutoff=3, sensitivity=1, epsilon=1, epsilon_answers=2)
    t = mechanism.answer_error(0.9)
    q = math.exp(-2 / 3)
    assert 2 * q ** (t + 1) / (1 + q) <= 0.1 < 2 * q**t / (1 + q)


def test_without_numeric_answers_there_is_no_error_of_one() -> None:
    with pytest.raises(MechanismError, match="epsilon_answers"):
        SparseVector(cutoff=3, sensitivity=1, epsilon=1).answer_error(0.9)


def test_tails_agree_with_their_sums() -> None:
    points = np.arange(-5, 6, dtype=np.float64)
    q = math.exp(-2 / 3)
    for point, found in zip(points.tolist(), at_least(Fraction(3, 2), points).tolist(), strict=True):
        summed = math.fsum((1 - q) / (1 + q) * q ** abs(x) for x in range(int(point), 120))
        assert found == pytest.approx(summed, rel=1e-13)


@pytest.mark.parametrize(
    "specimen", [*AboveThreshold.specimens(), *SparseVector.specimens()], ids=lambda specimen: specimen.name
)
def test_values_near_the_error_are_misjudged_in_the_specimens(specimen: Specimen) -> None:
    """So the suite of laws would notice an error that is stated three quarters as large as it is."""
    mechanism, value = specimen.mechanism, specimen.value
    claimed = mechanism.error(0.95, **specimen.shape)
    masses = mechanism.log_masses(value).items()
    beyond = sum(math.exp(mass) for o, mass in masses if mechanism.deviation(value, o) > 0.7 * claimed)
    assert 0.05 < beyond < 0.2


def test_the_law_of_values_far_from_the_threshold_has_no_end() -> None:
    """Pr[not above] of one value far up is the tail of the sum of two noises, summed in 40 digits."""
    mechanism = AboveThreshold(sensitivity=1, epsilon=1)
    with mpmath.workdps(40):
        p, q = (
            mpmath.exp(-mpmath.mpf(s.denominator) / s.numerator)
            for s in (mechanism.threshold_scale, mechanism.query_scale)
        )

        def tail(value: int) -> mpmath.mpf:
            reach = range(-200, value + 4000)
            mass = (1 - p) / (1 + p)
            return mpmath.fsum(
                mass
                * p ** abs(z)
                * (q ** (value + 1 - z) / (1 + q) if z <= value else 1 - q ** (z - value) / (1 + q))
                for z in reach
            )

        assert mechanism.log_masses([5000])[None] == pytest.approx(float(mpmath.log(tail(5000))), rel=1e-12)
    assert mechanism.log_masses([100_000])[None] < -30_000


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, 10**301])
def test_a_bad_number_of_queries_is_refused(bad: float) -> None:
    with pytest.raises(MechanismError, match="queries"):
        AboveThreshold(sensitivity=1, epsilon=1).error(0.9, queries=bad)  # type: ignore[arg-type]


Floats = NDArray[np.float64]


def tail(x: Floats, scale: float) -> Floats:
    """Pr[Laplace >= x]."""
    half = np.exp(-np.abs(x) / scale) / 2
    return np.where(x > 0, half, 1 - half)


def probability(values: Sequence[int], pattern: Sequence[bool], threshold: float, query: float) -> float:
    """Pr[pattern] with continuous Laplace noise: Gauss-Legendre between the kinks, exact to a dozen digits."""
    kinks = sorted({0.0, *map(float, values)})
    ends = [kinks[0] - 60 * threshold, *kinks, kinks[-1] + 60 * threshold]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = 0.0
    for a, b in itertools.pairwise(ends):
        pieces = np.linspace(a, b, 1 + math.ceil(2 * (b - a) / threshold))
        half = np.diff(pieces)[:, None] / 2
        z = pieces[:-1, None] + half * (1 + nodes)
        density = np.exp(-np.abs(z) / threshold) / (2 * threshold)
        for value, above in zip(values, pattern, strict=True):
            density = density * (tail(z - value, query) if above else tail(value - z, query))
        total += float((density * half * weights).sum())
    return total


def loss_by_quadrature(
    one: Sequence[int], other: Sequence[int], pattern: Sequence[bool], threshold: float, query: float
) -> float:
    return math.log(probability(one, pattern, threshold, query) / probability(other, pattern, threshold, query))


def below_then_above(below: int, above: int) -> tuple[list[int], list[int], list[bool]]:
    return [0] * below + [1] * above, [1] * below + [0] * above, [False] * below + [True] * above


def test_the_corrected_variant_loses_epsilon_in_the_limit_and_never_more() -> None:
    found = [loss_by_quadrature(*below_then_above(m, 1), 2, 4) for m in (5, 10, 20, 50)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1, abs=1e-10)
    assert found[-1] <= 1


@pytest.mark.parametrize(("cutoff", "shown"), [(1, "1.7498"), (5, "7.69")])
def test_lee_and_clifton_lose_nearly_one_and_six_cutoffs_over_four(cutoff: int, shown: str) -> None:
    found = loss_by_quadrature(*below_then_above(20, cutoff), 4, 4 / 3)
    assert f"{found:.{len(shown) - 2}f}" == shown
    assert loss_by_quadrature(*below_then_above(80, cutoff), 4, 4 / 3) == pytest.approx(
        (1 + 6 * cutoff) / 4, abs=1e-6
    )


@pytest.mark.parametrize(("m", "shown"), [(5, "4.486"), (20, "19.03")])
def test_chen_without_cut_off_loses_without_bound(m: int, shown: str) -> None:
    found = loss_by_quadrature([0] * 2 * m, [1] * m + [-1] * m, [False] * m + [True] * m, 2, 2)
    assert f"{found:.{len(shown.split('.')[1])}f}" == shown


def test_stoddard_without_noise_on_values_loses_everything() -> None:
    def chance(values: tuple[int, int]) -> float:
        """Pr[first below, second at or above] = Pr[first < Z <= second], at scale 2."""
        return max(0.0, float(tail(np.array(values[0]), 2) - tail(np.array(values[1]), 2)))

    assert chance((0, 1)) > 0.1
    assert chance((1, 0)) == 0


def told_loss(m: int) -> float:
    """Roth 2011 tells the value that it tested: m zeros (or ones) below, then 0 is told for a 0 (or a 1)."""
    z = np.arange(-400, 1, dtype=np.float64)  # the threshold's noise is at most what was told
    weights = np.exp(-np.abs(z) / 2)
    halves = [np.exp((z - 1 - value) / 2) / (1 + math.exp(-0.5)) for value in (0, 1)]
    zeros, ones = ((weights * half**m).sum() for half in halves)
    return math.log(zeros / ones) + 0.5


def test_roth_2011_who_tells_the_tested_value_loses_without_bound() -> None:
    for m in (2, 20, 200):
        assert told_loss(m) == pytest.approx((m + 1) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("threshold", "query", "least"), [(Fraction(4), Fraction(4, 3), 1.74), (Fraction(1), Fraction(2), 1.9)]
)
def test_wrong_noise_on_integers_is_caught_by_the_exact_law(
    threshold: Fraction, query: Fraction, least: float
) -> None:
    one, other, pattern = below_then_above(12, 1)
    masses = [pattern_masses(values, 1, threshold, query) for values in (one, other)]
    assert abs(masses[0][tuple(pattern)] - masses[1][tuple(pattern)]) > least


def test_without_cut_off_the_exact_law_on_integers_shows_the_same_growth() -> None:
    found = []
    for m in (2, 4):
        one, other = [0] * 2 * m, [1] * m + [-1] * m
        masses = [pattern_masses(values, None, Fraction(2), Fraction(2)) for values in (one, other)]
        pattern = (False,) * m + (True,) * m
        found.append(masses[0][pattern] - masses[1][pattern])
    assert found[0] > 1.5
    assert found[1] > found[0] + 1.7
