"""Where the ledger refuses an attacker, and what it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.attacks.small import ADJACENCIES, named, ran

from jali.lab import attacks
from jali.lab.attacks.oracle import Spent
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.lab.attacks.subsets.subset_operators import Singles, WithAndWithout
from jali.privacy import Adjacency


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", named("jali"))
def test_every_attack_meets_the_refusal_with_no_more_spent_than_the_budget(
    name: str, adjacency: Adjacency
) -> None:
    result = ran(name, "jali", adjacency)
    assert result.spent is not None
    assert 0 < result.spent <= 1
    assert result.refusal is not None
    assert "does not cover this question" in result.refusal.said
    assert "Remaining: epsilon" in result.refusal.said


def test_ten_questions_of_a_tenth_are_answered_and_the_eleventh_is_not() -> None:
    result = attacks.Averaging(repeats=50).run(attacks.database(n=1, each=Fraction(1, 10), seed=1))
    assert result.questions == 10
    assert result.spent == 1
    assert result.refusal is not None
    assert result.refusal.after == 10
    assert "Requested: epsilon 0.1. Remaining: epsilon 0." in result.refusal.said


def test_the_same_words_again_are_the_same_answer_again_and_cost_nothing() -> None:
    oracle = attacks.database(n=2, each=Fraction(1, 10), seed=2)
    result = attacks.Averaging(repeats=50, same_words=True).run(oracle)
    assert result.figures["answers"] == 6
    assert result.questions == 2
    assert result.spent == Fraction(2, 10)


def test_an_attack_goes_on_with_the_answers_it_has() -> None:
    result = attacks.Hadamard().run(attacks.database(n=8, each=Fraction(1, 3), seed=3))
    assert result.questions == 3
    assert len(result.guess) == 8
    assert result.refusal is not None
    assert result.refusal.after == 3


def test_what_is_left_is_spread_over_the_questions_and_afterwards_nothing_is_answered() -> None:
    oracle = attacks.database(n=4, seed=4)
    answers = oracle.ask(HadamardRows(4))
    assert len(answers) == 4
    assert str(oracle.noise) == "geometric:4"
    assert oracle.spent() == Spent(Fraction(1))
    assert len(oracle.ask(Singles(4))) == 0
    assert len(oracle.ask(WithAndWithout(4))) == 0
    assert oracle.spent() == Spent(Fraction(1))
    assert oracle.ask(HadamardRows(4)).tolist() == answers.tolist()
    refusal = oracle.refusal()
    assert refusal is not None
    assert refusal.after == 4


def test_a_budget_that_is_not_used_up_refuses_nothing() -> None:
    oracle = attacks.database(n=4, each=Fraction(1, 100), seed=5)
    oracle.ask(HadamardRows(4))
    assert oracle.spent() == Spent(Fraction(4, 100))
    assert oracle.refusal() is None


def test_answers_are_counts_of_the_secret_with_the_noise_that_the_plan_announced() -> None:
    oracle = attacks.database(n=16, epsilon=16 * 40, seed=6)  # noise with scale 1/40: another number in 1e-17
    answers = oracle.ask(HadamardRows(16))
    bits = attacks.simulator(n=16, seed=6).secret.bits.astype(float)
    np.testing.assert_array_equal(answers, HadamardRows(16).matvec(bits))
    assert oracle.mark(bits.astype(np.int8)) == 16
    assert oracle.mark(1 - bits.astype(np.int8)) == 0
