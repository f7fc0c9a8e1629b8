"""Staircase noise: the law, the best tread, the sampler."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.additive.staircase_mechanism import Staircase, StaircaseLaw
from jali.sampling import interval_bernoulli
from jali.sampling.discrete_staircase import DiscreteStaircase


def brute(epsilon: Fraction, period: int, tread: int) -> tuple[float, float]:
    """Return E|X| and the standard deviation by summing the weights as they are defined."""
    with mpmath.workdps(30):
        b = mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        end = period * (int(70 / epsilon) + 2)
        weights = [b ** (y // period + (y % period >= tread)) for y in range(end)]
        total = 2 * mpmath.fsum(weights) - 1
        expected = 2 * mpmath.fsum(y * w for y, w in enumerate(weights)) / total
        square = 2 * mpmath.fsum(y * y * w for y, w in enumerate(weights)) / total
        return float(expected), float(mpmath.sqrt(square))


@thinned(4)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("period", [1, 2, 7, 20])
def test_the_tread_is_the_best_of_all_and_moments_are_those_of_the_weights(epsilon: Fraction, period: int) -> None:
    best = StaircaseLaw.best(epsilon, period)
    every = [brute(epsilon, period, tread)[0] for tread in range(1, period + 1)]
    assert best.mean_magnitude == pytest.approx(min(every), rel=1e-12)
    assert best.stddev == pytest.approx(brute(epsilon, period, best.tread)[1], rel=1e-12)


@pytest.mark.parametrize(("epsilon", "wanted"), [(1, 0.9595173757), (3, 0.2348212203), (5, 0.0826418349)])
def test_a_fine_staircase_has_the_optimal_expected_error(epsilon: int, wanted: float) -> None:
    assert wanted == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon), abs=1e-10)
    fine = Staircase(sensitivity=10**7, epsilon=epsilon)
    assert fine.expected_error() / 10**7 == pytest.approx(wanted, abs=1e-10)
    assert fine.law.tread / 10**7 == pytest.approx(1 / (1 + math.exp(epsilon / 2)), abs=1e-6)
    assert Staircase(sensitivity=2**60, epsilon=epsilon).expected_error() / 2**60 == pytest.approx(
        wanted, abs=1e-10
    )


@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_for_a_sensitivity_of_one_step_it_is_laplace_noise(epsilon: str) -> None:
    stairs, plain = Staircase(sensitivity=1, epsilon=epsilon), Laplace(sensitivity=1, epsilon=epsilon)
    for x in (0, 1, -5, 40):
        assert stairs.law.log_mass(x) == pytest.approx(plain.law.log_mass(x), rel=1e-12)
    for t in (0, 3, 17):
        assert stairs.law.tail(t) == pytest.approx(plain.law.tail(t), rel=1e-12)


def test_it_is_never_worse_than_laplace_noise() -> None:
    for epsilon in ("1/100", "1", "3", "8"):
        for sensitivity in (1, 2, 10, 1000):
            stairs = Staircase(sensitivity=sensitivity, epsilon=epsilon)
            plain = Laplace(sensitivity=sensitivity, epsilon=epsilon)
            assert stairs.expected_error() <= plain.expected_error() * (1 + 1e-12)


def test_tails_are_sums_of_masses() -> None:
    law = StaircaseLaw.best(Fraction(2), 9)
    for threshold in range(40):
        beyond = 2 * math.fsum(math.exp(law.log_mass(x)) for x in range(threshold + 1, 250))
        assert law.tail(threshold) == pytest.approx(beyond, rel=1e-12)


@pytest.mark.parametrize(("period", "tread"), [(3, 1), (5, 2), (2, 2)])
def test_places_in_a_block_have_their_law_over_every_bit_string(
    period: int, tread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interval_bernoulli, "WORD", 2)
    law = DiscreteStaircase(Fraction(1), period, tread)
    masses, undecided = enumerate_masses(lambda bits: tuple(law._places(1, bits).tolist()), 18)
    kept = {place: float(mass) for (place, *_), mass in ((k, m) for k, m in masses.items() if k)}
    upper = kept[0]
    slack = 8 * float(undecided) + 1e-12
    for place in range(period):
        assert kept[place] == pytest.approx(upper * (1 if place < tread else math.exp(-1)), abs=slack)
    assert slack < 2e-2


def test_large_periods_and_scales_are_sampled_without_wrapping() -> None:
    wide = DiscreteStaircase(Fraction(2**60), 2**60, 2**59)
    drawn = [int(x) for x in wide.sample(50, bits=SeededBits(5))]
    assert max(map(abs, drawn)) > 2**110
    sharp = Staircase(sensitivity=1000, epsilon=10)
    noise = sharp.noise(1, 20_000, bits=SeededBits(6))
    assert np.abs(noise).mean() == pytest.approx(sharp.expected_error(), rel=0.1)


def test_several_numbers_and_bad_treads_are_refused() -> None:
    with pytest.raises(JaliError, match="one number"):
        Staircase(sensitivity=1, epsilon=1).release([1, 2])
    with pytest.raises(JaliError, match="one number"):
        Staircase(sensitivity=1, epsilon=1).release_integers(np.array([1, 2]))
    with pytest.raises(JaliError, match="tread"):
        DiscreteStaircase(Fraction(1), 3, 4)
    with pytest.raises(JaliError, match="coordinates"):
        Staircase(sensitivity=1, epsilon=1).worst_error(0.9, 2)
