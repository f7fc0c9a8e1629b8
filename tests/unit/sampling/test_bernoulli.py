from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.distribution.exact_laws import mpmath
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.errors import MechanismError
from jali.sampling import bernoulli, bernoulli_exp, bernoulli_exp_array

LEVEL = 1e-9  # per test; about 40 tests of chance in this file, all seeded


@pytest.mark.parametrize(
    "p", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(10**30 - 1, 10**30)]
)
@pytest.mark.parametrize("word_bits", [1, 3, 4])
def test_every_bit_string_gives_bernoulli_its_exact_mass(p: Fraction, word_bits: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: bool(bernoulli(p, 1, bits=bits, word_bits=word_bits)[0]), 48)
    assert masses.get(True, 0) <= p <= masses.get(True, 0) + undecided
    assert undecided <= Fraction(1, 10**12)


EXPONENTS = [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5, 2), Fraction(40), Fraction(10**20 + 1, 10**20)]


@pytest.mark.parametrize("x", EXPONENTS)
@pytest.mark.parametrize("word_bits", [1, 4])
def test_every_bit_string_gives_bernoulli_exp_its_exact_mass(x: Fraction, word_bits: int) -> None:
    def one(bits: ScriptedBits) -> bool:
        return bool(bernoulli_exp(x, 1, bits=bits, word_bits=word_bits)[0])

    def of_array(bits: ScriptedBits) -> bool:
        numerators = np.array([x.numerator], object)
        return bool(bernoulli_exp_array(numerators, x.denominator, bits=bits, word_bits=word_bits)[0])

    exact = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
    for run in (one, of_array):
        masses, undecided = enumerate_masses(run, 48)
        low = masses.get(True, Fraction(0))
        high = low + undecided
        assert mpmath.mpf(low.numerator) / low.denominator <= exact
        assert exact <= mpmath.mpf(high.numerator) / high.denominator
        assert undecided <= Fraction(1, 10**12)


@pytest.mark.parametrize("word_bits", [2, 4, 16, 64])
@pytest.mark.parametrize("x", [Fraction(1, 50), Fraction(2, 3), Fraction(3)])
def test_the_frequency_is_exp_at_every_word_width(x: Fraction, word_bits: int) -> None:
    size = 4000
    chance = float(np.exp(-float(x)))
    one = bernoulli_exp(x, size, bits=SeededBits(1), word_bits=word_bits)
    numerators = np.full(size, x.numerator)
    many = bernoulli_exp_array(numerators, x.denominator, bits=SeededBits(2), word_bits=word_bits)
    assert binomtest(int(one.sum()), size, chance).pvalue > LEVEL
    assert binomtest(int(many.sum()), size, chance).pvalue > LEVEL


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32, np.uint8, object])
def test_each_coin_of_an_array_has_its_own_chance(kind: Any) -> None:
    numerators = np.repeat(np.array([0, 10, 30, 100, 200]), 20_000).astype(kind)
    coins = bernoulli_exp_array(numerators, 37, bits=SeededBits(3)).reshape(5, -1).sum(axis=1)
    assert coins[0] == 20_000
    for place, numerator in ((1, 10), (2, 30), (3, 100), (4, 200)):
        assert binomtest(int(coins[place]), 20_000, float(np.exp(-numerator / 37))).pvalue > LEVEL


def test_numbers_far_beyond_doubles_are_taken() -> None:
    huge = np.array([0, 1, 10**400, 10**500], object)
    assert bernoulli_exp_array(huge, 10**450, bits=SeededBits(4)).tolist() == [True, True, True, False]
    assert bernoulli_exp_array(np.array([1, 2]), 10**450, bits=SeededBits(4)).all()
    assert not bernoulli_exp_array(np.array([2**64 - 1], np.uint64), 1, bits=SeededBits(4)).any()
    assert not bernoulli_exp(Fraction(10**40), 100, bits=SeededBits(4)).any()


def test_a_word_of_zeros_is_settled_by_further_bits() -> None:
    """exp(-50) is below 2**-64, so that 64 zeros decide nothing; exp(-50) = 2**-72.13."""
    x = np.array([50])
    assert bernoulli_exp_array(x, 1, bits=ScriptedBits(1 << 55, 128)).tolist() == [True]
    assert bernoulli_exp_array(x, 1, bits=ScriptedBits(1 << 56, 128)).tolist() == [False]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_as_many_coins_come_as_were_asked_for(size: int) -> None:
    assert bernoulli(Fraction(1, 3), size).shape == (size,)
    assert bernoulli_exp(Fraction(1, 3), size).shape == (size,)
    assert bernoulli_exp_array(np.ones(size, np.int64), 3).shape == (size,)


@pytest.mark.parametrize("p", [Fraction(-1, 9), Fraction(9, 8), 0.5, "1/2", True])
def test_a_bad_probability_is_refused_by_name(p: Any) -> None:
    with pytest.raises(MechanismError, match=r"^p must"):
        bernoulli(p, 1)


@pytest.mark.parametrize("x", [Fraction(-1, 9), 0.5, None])
def test_a_bad_exponent_is_refused_by_name(x: Any) -> None:
    with pytest.raises(MechanismError, match=r"^x must"):
        bernoulli_exp(x, 1)


@pytest.mark.parametrize(
    "numerators", [np.array([1.0]), np.array([-1]), np.array([[1]]), np.array([0.5], object), np.array(["a"])]
)
def test_bad_numerators_are_refused_by_name(numerators: Any) -> None:
    with pytest.raises(MechanismError, match=r"^numerators must"):
        bernoulli_exp_array(numerators, 1)


@pytest.mark.parametrize("denominator", [0, -3, 1.0, True])
def test_a_bad_denominator_is_refused_by_name(denominator: Any) -> None:
    with pytest.raises(MechanismError, match=r"^denominator must"):
        bernoulli_exp_array(np.array([1]), denominator)


@pytest.mark.parametrize("size", [-1, 1.5, "3", None, True])
def test_a_bad_size_is_refused_by_name(size: Any) -> None:
    with pytest.raises(MechanismError, match=r"^size must"):
        bernoulli(Fraction(1, 2), size)
