"""How far sparse vector misjudges: the bound, the lecture's theorem and the exact tails."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.sparse_vector.above_threshold import AboveThreshold
from jali.mechanisms.sparse_vector.law import at_least, misjudged_by, pattern_masses
from jali.mechanisms.sparse_vector.sparse_vector import SparseVector


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
    t = misjudged_by(*scales, queries, confidence)
    assert inside(*scales, queries, t) >= confidence
    assert t == 0 or inside(*scales, queries, t - 1) < confidence


def test_blocks_bound_the_sum_from_the_safe_side_and_closely() -> None:
    coarse = misjudged_by(Fraction(5000), Fraction(9000), 100, 0.9)
    fine = misjudged_by(Fraction(50), Fraction(90), 100, 0.9)
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
