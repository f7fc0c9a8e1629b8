"""Bits by confidence: marks of bins, found by handing in flipped guesses, are those of the bits themselves."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks import simulator
from jali.attacks.calibration import Bin, by_confidence, together


def test_the_marks_of_a_bin_are_those_of_its_bits() -> None:
    random = np.random.default_rng(5)
    oracle = simulator(n=500, seed=5)
    guess = random.integers(0, 2, 500).astype(np.int8)
    confidence = random.random(500)
    found = {one.place: one for one in by_confidence(oracle, guess, confidence)}
    assert sorted(found) == list(range(10))
    right = guess == oracle.secret.bits
    for place, one in found.items():
        inside = (confidence >= place / 10) & (confidence < (place + 1) / 10)
        assert (one.guessed, one.right) == (inside.sum(), right[inside].sum())
        assert one.claim == pytest.approx(0.5 + confidence[inside].mean() / 2)
        assert one.fraction == pytest.approx(right[inside].mean())


def test_what_is_certain_is_in_the_last_bin() -> None:
    oracle = simulator(n=8, seed=1)
    (one,) = by_confidence(oracle, oracle.secret.bits, np.ones(8))
    assert (one.place, one.claim, one.fraction) == (9, 1.0, 1.0)
    assert one.interval == pytest.approx((0.025 ** (1 / 8), 1.0))


def test_bins_of_several_secrets_are_added_up() -> None:
    runs = [(Bin(0, 5.5, 6, 10), Bin(9, 9.9, 10, 10)), (Bin(9, 4.8, 3, 5),)]
    assert together(runs) == (Bin(0, 5.5, 6, 10), Bin(9, 9.9 + 4.8, 13, 15))


def test_marks_that_do_not_count_bits_have_no_bins() -> None:
    class Whole:
        """Marks a guess as a whole."""

        def mark(self, guess: np.ndarray) -> int:
            return 1 if not guess.any() else 0

    assert by_confidence(Whole(), np.zeros(4, np.int8), np.array([0.1, 0.1, 0.9, 0.9])) == ()  # type: ignore[arg-type]
