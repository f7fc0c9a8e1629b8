"""Scaled numbers, decaying sums and lotteries: never below the truth, hardly above it, at every size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.seeded import SeededBits

from jali.mechanisms.quantiles.scaled_numbers import DecayingPowers, Lottery, ScaledNumbers, build_zeros
from jali.mechanisms.selection.piecewise_geometric import RandomDigits

doubles = st.floats(0, 2.0**60) | st.just(0.0)
powers = st.integers(-(2**50), 2**50)


def exact(number: ScaledNumbers) -> Any:
    """The value of one scaled number, in mpmath, whose exponents have no end."""
    return mpmath.ldexp(mpmath.mpf(float(number.factors)), int(number.powers))


@settings(deadline=None)
@given(doubles, doubles, powers, st.integers(-2000, 2000))
def test_sums_and_products_are_rounded_up_and_hardly(one: float, other: float, power: int, apart: int) -> None:
    a, b = ScaledNumbers.of(one, power), ScaledNumbers.of(other, power + apart)
    with mpmath.workprec(5000):
        for found, true in ((a + b, exact(a) + exact(b)), (a * b, exact(a) * exact(b))):
            assert true <= exact(found) <= true * (1 + mpmath.mpf(2) ** -49)


@pytest.mark.parametrize("exponent", ["0", "1e-300", "1/3", "1", "44.9", "1e3", "123456789.1", "1e12"])
def test_exponentials_are_rounded_up_and_hardly(exponent: str) -> None:
    number = Fraction(exponent)
    with mpmath.workprec(300):
        true = mpmath.exp(-mpmath.mpf(number.numerator) / number.denominator)
        found = exact(ScaledNumbers.exp(number))
        assert true <= found <= true * mpmath.exp(2.0**-45 * (1 + float(number)))


def test_what_is_beyond_all_numbers_is_bounded_all_the_same() -> None:
    assert ScaledNumbers.exp(Fraction(10**400)).powers < -(2**50)


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1), Fraction(10**6)])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 12, 13])
def test_decaying_sums_bound_the_sums_of_their_terms(rate: Fraction, length: int) -> None:
    masses = ScaledNumbers.of(np.random.default_rng(1).random(13), np.arange(13) * 90_000)
    decay = DecayingPowers(rate, 13)
    found = decay.sums(masses, length)
    with mpmath.workprec(200):
        for start in range(13):
            terms = [exact(masses[start + i]) * exact(decay.powers[i]) for i in range(min(length, 13 - start))]
            assert (
                mpmath.fsum(terms) * (1 - 2.0**-44) <= exact(found[start]) <= mpmath.fsum(terms) * (1 + 2.0**-44)
            )


def test_powers_bound_the_exponentials() -> None:
    decay = DecayingPowers(Fraction(2, 7), 50)
    assert len(decay.powers) == 50
    for i in range(50):
        true = math.exp(-2 * i / 7)
        assert true * (1 - 1e-14) <= float(exact(decay.powers[i])) <= true * (1 + 1e-12)


def test_every_mass_has_a_ticket_and_nothing_else_has() -> None:
    parts = ScaledNumbers.of([0.0, 1.0, 1.0, 3.0], [0, 0, -(10**9), 0])
    lottery = Lottery(parts, Lottery.room(parts.sum()))
    assert (lottery.tickets > 0).tolist() == [False, True, True, True]
    assert lottery.tickets[2] == 1
    for place, share in ((1, Fraction(1, 4)), (3, Fraction(3, 4))):
        assert share * (1 - Fraction(1, 2**20)) < lottery.chance(place) <= share
    drawn = [lottery.draw(RandomDigits(SeededBits(seed))) for seed in range(50)]
    assert set(drawn) == {1, 3}


def test_sums_of_nothing_are_nothing() -> None:
    assert float(build_zeros(3).sum().factors) == 0
    assert build_zeros(2).advance(5).factors.tolist() == build_zeros(2).delay(5).factors.tolist() == [0, 0]


def test_no_integer_is_drawn_below_none() -> None:
    with pytest.raises(AssertionError):
        RandomDigits(SeededBits(1)).below(0)
