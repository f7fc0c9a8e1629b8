"""Coins of bounded probability, by all bit strings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.mechanisms.keys.chances import Chances
from jali.mechanisms.keys.coins import toss

CHANCES = Chances(Fraction(1), Fraction(1, 20))


@thinned(4)
@pytest.mark.parametrize("people", range(1, 7))
@pytest.mark.parametrize("word_bits", [1, 2, 3])
def test_the_masses_of_all_bit_strings_enclose_the_chance(people: int, word_bits: int) -> None:
    def run(bits: ScriptedBits) -> bool:
        kinds = np.zeros(1, np.intp)
        return bool(toss(kinds, lambda _, n: CHANCES.bounds(people, n), bits, word_bits=word_bits)[0])

    masses, undecided = enumerate_masses(run, 42)
    low, high = CHANCES.bounds(people, 200)
    assert undecided < Fraction(1, 10**11)
    assert masses.get(True, Fraction(0)) <= Fraction(high, 1 << 200)
    assert masses.get(True, Fraction(0)) + undecided >= Fraction(low, 1 << 200)


def test_coins_of_several_kinds_follow_their_own_chances() -> None:
    """Six standard deviations at most, for six kinds: a false alarm is less likely than 2e-8."""
    size = 60_000
    kinds = np.arange(size, dtype=np.intp) % 6
    coins = toss(kinds, lambda kind, n: CHANCES.bounds(kind + 1, n), SeededBits(8))
    for kind in range(6):
        p, shown = CHANCES.near(kind + 1), coins[kinds == kind]
        assert abs(shown.mean() - p) <= 6 * (p * (1 - p) / len(shown)) ** 0.5 + 1e-12


def test_no_coins_are_no_trouble() -> None:
    assert toss(np.zeros(0, np.intp), lambda _, n: CHANCES.bounds(1, n), SeededBits(0)).tolist() == []
