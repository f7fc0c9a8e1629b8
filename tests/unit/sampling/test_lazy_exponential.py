"""Digits of a real exponential variable: exact at every length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.sampling.lazy_exponential import further_digits


@thinned(4)
@pytest.mark.parametrize(("precision", "count"), [(0, 1), (0, 2), (2, 1), (5, 2)])
def test_every_bit_string_leads_where_the_exponential_law_says(precision: int, count: int) -> None:
    """Sub-interval k of 2**count has a mass in proportion to exp(-k/2**(precision + count))."""
    masses, undecided = enumerate_masses(
        lambda bits: further_digits(3, precision, count, bits=bits, word_bits=2), 16
    )
    weights = np.exp(-np.arange(2**count) / 2.0 ** (precision + count))
    assert undecided < 0.03
    for place, wanted in enumerate(weights / weights.sum()):
        known = masses[3 << count | place]
        assert known - 1e-12 <= wanted <= known + undecided + 1e-12


def test_one_digit_is_a_coin_of_the_known_chance() -> None:
    """Pr[1] = 1/(1 + exp(2**-1)), within 6 sigma of 20,000 digits."""
    bits = SeededBits(18)
    ones = sum(further_digits(0, 0, 1, bits=bits) for _ in range(20_000))
    p = 1 / (1 + math.exp(0.5))
    assert abs(ones / 20_000 - p) < 6 * math.sqrt(p * (1 - p) / 20_000)


def test_what_is_known_stays_as_it_is() -> None:
    bits = SeededBits(19)
    assert all(further_digits(2**70 + 5, 20, 32, bits=bits) >> 32 == 2**70 + 5 for _ in range(100))
