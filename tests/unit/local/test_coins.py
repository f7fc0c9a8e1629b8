"""The coins of the local model have exactly their odds: bounds enclose them, all bit strings add up to them."""

from __future__ import annotations

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.local.coins import odds_bounds, odds_coins
from jali.noise.enclosed import enclosed_coins
from jali.noise.uniform import uniform_below

ODDS = [(Fraction(1), Fraction(1)), (Fraction(1, 3), Fraction(7)), (Fraction(5, 2), Fraction(3, 2))]
ODDS += [(Fraction(1, 10**6), Fraction(999)), (Fraction(60), Fraction(1, 7)), (Fraction(30), Fraction(10**12))]


@pytest.mark.parametrize(("epsilon", "against"), ODDS)
@pytest.mark.parametrize("precision", [1, 8, 64, 200])
def test_bounds_enclose_the_odds_and_are_close(epsilon: Fraction, against: Fraction, precision: int) -> None:
    low, high = odds_bounds(epsilon, against, precision)
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        weight = mpmath.mpf(against.numerator) / against.denominator
        exact = mpmath.mpf(2) ** precision * power / (power + weight)
        assert low <= exact <= high
    assert high - low <= 2


@pytest.mark.parametrize(("epsilon", "against"), ODDS[:3])
def test_all_strings_of_bits_add_up_to_the_odds(epsilon: Fraction, against: Fraction) -> None:
    """Words of 2 bits, so that every coin is refined: the decided masses enclose the probability to 2^-20."""

    def toss(bits: ScriptedBits) -> bool:
        return bool(enclosed_coins(lambda precision: odds_bounds(epsilon, against, precision), 1, bits, 2)[0])

    masses, undecided = enumerate_masses(toss, 24)
    with mpmath.workdps(50):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        exact = power / (power + mpmath.mpf(against.numerator) / against.denominator)
        assert float(masses[True]) <= exact <= float(masses[True] + undecided)
    assert undecided < Fraction(1, 1 << 20)


def test_a_thousand_coins_are_tossed_at_once() -> None:
    coins = odds_coins(Fraction(1), Fraction(1), 100_000, bits=SeededBits(1))
    assert abs(coins.mean() - 0.7310585786) < 6 * 0.0015


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_whole_numbers_are_uniform_over_all_strings_of_bits(bound: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: int(uniform_below(bound, 1, bits=bits)[0]), 15)
    assert set(masses) == set(range(bound))
    assert len(set(masses.values())) == 1
    assert undecided <= Fraction(1, 2) ** 5


def test_rejected_whole_numbers_are_drawn_again_in_their_place() -> None:
    drawn = uniform_below(3, 30_000, bits=SeededBits(2))
    assert [abs((drawn == face).mean() - 1 / 3) < 0.02 for face in range(3)] == [True] * 3
