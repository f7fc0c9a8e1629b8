"""The broken twin: without a ledger the same planner, engine and noise give everything to the same attacks."""

from __future__ import annotations

import pytest
from tests.attacks.small import named, ran
from tests.depth import deep, thinned

from jali.lab import attacks
from jali.lab.attacks.oracles.protected_table import ForgetfulLedger
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.ledger import Debit
from jali.privacy import Adjacency, Budget, Pure


@thinned(3)
@pytest.mark.parametrize("name", named("unledgered"))
def test_every_attack_recovers_everything(name: str) -> None:
    # With so much loss for a question, a bit is wrong with probability below 1e-9.
    result = ran(name, "unledgered", Adjacency.ADD_REMOVE, each=25)
    assert result.fraction == 1, result
    assert result.spent is None
    assert result.refusal is None


@deep
def test_questions_that_each_keep_the_budget_break_it_together() -> None:
    oracle = attacks.unledgered(n=128, epsilon=1, seed=1)
    result = attacks.Hadamard().run(oracle)
    assert str(oracle.noise) == "geometric:1"
    assert result.predicted == pytest.approx(0.98, abs=0.005)
    assert result.right >= 110  # fewer with probability below 1e-8
    assert result.epsilon_lower_bound.epsilon > 1
    assert result.adjacency is Adjacency.REPLACE_ONE


def test_the_same_words_are_answered_anew() -> None:
    oracle = attacks.unledgered(n=4, epsilon="0.01", seed=2)
    assert oracle.ask(HadamardRows(4)).tolist() != oracle.ask(HadamardRows(4)).tolist()
    assert attacks.Averaging(repeats=4, same_words=True).run(oracle).questions == 16


def test_the_forgetful_ledger_grants_what_no_budget_covers_and_counts_nothing() -> None:
    ledger = ForgetfulLedger(None)
    ledger.open_account("table people", Budget(1))
    debits = (Debit("table people", Pure(5).event),)
    receipts = {ledger.reserve(analyst="eve", question="?", key="k", plan="{}", debits=debits) for _ in range(3)}
    assert len(receipts) == 3
    assert ledger.release(receipts.pop(), "42") == "42"
    assert ledger.spent("table people").epsilon == 0
    assert ledger.recall("k", analyst="eve", grant=None) is None
    assert ledger.look_up("k", "?", analyst="eve", others=True).hit is None
