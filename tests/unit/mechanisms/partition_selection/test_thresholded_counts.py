"""Intervals of told counts: what they cover given that the count was told, by exact sums."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold

CASES: tuple[Any, ...] = (
    LaplaceThreshold(epsilon=1, delta="1e-4", adjacency="add-remove"),
    LaplaceThreshold(epsilon=1, delta="1e-3", max_keys=3, adjacency="add-remove", least_people=10),
    GaussianThreshold(rho="1/30", delta="1e-3", adjacency="replace-one", least_people=4),
)
cases = pytest.mark.parametrize("mechanism", CASES, ids=lambda m: f"{type(m).__name__}-{m.least_people}")


def law_given_told(mechanism: Any, people: int) -> dict[int, float]:
    """The law of a told count of so many people, by its masses."""
    start = mechanism.threshold
    masses = {y: math.exp(mechanism.law.log_mass(y - people)) for y in range(start - 1, start + people + 300)}
    masses[start - 1] *= mechanism.coin
    total = math.fsum(masses.values())
    return {y: mass / total for y, mass in masses.items()}


@thinned(4)
@cases
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_cover_given_that_the_count_is_told_whatever_it_is(mechanism: Any, confidence: float) -> None:
    start = mechanism.threshold
    ends = {y: mechanism.interval(y, confidence) for y in range(start - 1, 2 * start + 400)}
    for people in range(mechanism.least_people, start + 40, 3):
        told = law_given_told(mechanism, people)
        covered = math.fsum(mass for y, mass in told.items() if ends[y][0] <= people <= ends[y][1])
        assert covered >= confidence - 1e-9


@cases
def test_far_above_the_threshold_the_interval_is_the_usual_one(mechanism: Any) -> None:
    told = 10**6
    low, high = mechanism.interval(told, 0.95)
    half = mechanism.law.quantile(0.95)
    assert (low, high) == (told - half, told + half)


@cases
def test_a_count_at_the_threshold_may_be_of_any_small_key(mechanism: Any) -> None:
    low, high = mechanism.interval(mechanism.threshold, 0.95)
    assert low == mechanism.least_people
    assert high <= mechanism.threshold + mechanism.law.quantile(0.95)
    assert mechanism.interval(mechanism.threshold - 1, 0.95) == (low, high)


@cases
def test_above_the_threshold_the_ends_are_the_last_that_either_tail_allows(mechanism: Any) -> None:
    """Sums of masses, for counts so near the threshold that the coin is felt."""
    for told in range(mechanism.threshold + 1, mechanism.threshold + 12, 3):
        low, high = mechanism.interval(told, 0.9)

        def tails(people: int, told: int = told) -> tuple[float, float]:
            law = law_given_told(mechanism, people)
            return math.fsum(m for y, m in law.items() if y >= told), math.fsum(
                m for y, m in law.items() if y <= told
            )

        assert tails(low)[0] > 0.05
        assert low == mechanism.least_people or tails(low - 1)[0] <= 0.05
        assert tails(high)[1] > 0.05 >= tails(high + 1)[1]


@cases
def test_the_usual_interval_would_not_cover_near_the_threshold(mechanism: Any) -> None:
    """The reason for all this: it holds a small key's number of people far too seldom, given that it is told."""
    half = mechanism.law.quantile(0.95)
    told = law_given_told(mechanism, mechanism.threshold - half - 2)
    assert math.fsum(mass for y, mass in told.items() if y - half <= mechanism.threshold - half - 2) < 0.01


@cases
def test_ends_never_fall_as_the_told_count_grows(mechanism: Any) -> None:
    ends = [mechanism.interval(mechanism.threshold + y, 0.9) for y in range(-1, 120)]
    for one, other in itertools.pairwise(ends):
        assert one[0] <= other[0]
        assert one[1] <= other[1]


def test_a_told_laplace_count_is_too_large_by_what_the_proof_says() -> None:
    mechanism = CASES[1]
    q, t = math.exp(-1 / mechanism.scale), mechanism.threshold
    coin = float(mechanism.coin) * (1 - q)
    for people in (10, t - 2, t - 1):
        mean = math.fsum(y * mass for y, mass in law_given_told(mechanism, people).items())
        assert mean == pytest.approx(t + (q**2 / (1 - q) - coin) / (q + coin), rel=1e-9)
    for above in (0, 1, 5, 30):
        mean = math.fsum(y * mass for y, mass in law_given_told(mechanism, t + above).items())
        bias = (above + 1 / (1 - q) - coin * (above + 1)) * q ** (above + 1)
        bias /= 1 + q - (1 - coin) * q ** (above + 1)
        assert mean - t - above == pytest.approx(bias, rel=1e-6)


@cases
def test_counts_that_cannot_have_been_told_are_refused(mechanism: Any) -> None:
    for bad in (mechanism.threshold - 2, 1e9, "20"):
        with pytest.raises(MechanismError, match="told"):
            mechanism.interval(bad, 0.95)
    for confidence in (0, 1, math.nan):
        with pytest.raises(MechanismError, match="confidence"):
            mechanism.interval(mechanism.threshold, confidence)
