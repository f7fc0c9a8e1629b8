"""Any sequence of operations does what a model of a few dictionaries does."""

from __future__ import annotations

import secrets
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.depth import DEPTH
from tests.ledger.support import VISITS, debit
from tests.servers.postgres import Postgres

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import MAX_ATTEMPTS, Ledger, PostgresLedger, ReceiptState, SqliteLedger, grant_account
from jali.privacy import Budget

ANALYSTS = ("ana", "ben", "an on a")
LIMITS = {VISITS: Fraction(2), **{grant_account(name, "visits"): Fraction(1) for name in ANALYSTS}}

analysts = st.sampled_from(ANALYSTS)
epsilons = st.fractions(min_value="1/12", max_value="4/5", max_denominator=12)
keys = st.sampled_from("abc")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


class Machine(RuleBasedStateMachine):
    """The ledger beside a model: sums, receipts, who saw what."""

    receipts = Bundle("receipts")

    @initialize()
    def open(self) -> None:
        self.ledger = self.made()
        self.spent = dict.fromkeys(LIMITS, Fraction(0))
        self.owner: dict[str, str] = {}
        self.key: dict[str, str] = {}
        self.plan: dict[str, str] = {}
        self.attempts: dict[str, int] = {}
        self.answer: dict[str, str] = {}
        self.paid: set[tuple[str, str]] = set()
        for account, limit in LIMITS.items():
            self.ledger.open_account(account, Budget(limit))

    def made(self) -> Ledger:
        return SqliteLedger(None)

    def fits(self, account: str, epsilon: Fraction) -> bool:
        return self.spent[account] + epsilon <= LIMITS[account]

    @rule(target=receipts, analyst=analysts, epsilon=epsilons, key=keys, plan=texts)
    def reserve(self, analyst: str, epsilon: Fraction, key: str, plan: str) -> str:
        accounts = (VISITS, grant_account(analyst, "visits"))
        debits = tuple(debit(account, epsilon) for account in accounts)
        if not all(self.fits(account, epsilon) for account in accounts):
            with pytest.raises(BudgetExceeded) as refusal:
                self.ledger.reserve(analyst=analyst, question=plan, key=key, plan=plan, debits=debits)
            assert refusal.value.remaining == LIMITS[refusal.value.account] - self.spent[refusal.value.account]
            return ""
        receipt = self.ledger.reserve(analyst=analyst, question=plan, key=key, plan=plan, debits=debits)
        for account in accounts:
            self.spent[account] += epsilon
        self.owner[receipt], self.key[receipt], self.plan[receipt] = analyst, key, plan
        self.attempts[receipt] = 1
        self.paid.add((receipt, analyst))
        return receipt

    @rule(receipt=receipts, analyst=st.none() | analysts)
    def begin(self, receipt: str, analyst: str | None) -> None:
        known = receipt in self.owner and analyst in (None, self.owner[receipt])
        released = receipt in self.answer
        if not known or (not released and self.attempts[receipt] == MAX_ATTEMPTS):
            with pytest.raises(LedgerError):
                self.ledger.begin(receipt, analyst=analyst)
            return
        found = self.ledger.begin(receipt, analyst=analyst)
        assert (found.plan, found.answer) == (self.plan[receipt], self.answer.get(receipt))
        self.attempts[receipt] += not released

    @rule(receipt=receipts | consumes(receipts), answer=texts)
    def release(self, receipt: str, answer: str) -> None:
        if receipt not in self.owner:
            with pytest.raises(LedgerError):
                self.ledger.release(receipt, answer)
            return
        assert self.ledger.release(receipt, answer) == self.answer.setdefault(receipt, answer)

    @rule(key=keys, analyst=analysts, epsilon=epsilons)
    def recall(self, key: str, analyst: str, epsilon: Fraction) -> None:
        account = grant_account(analyst, "visits")
        hits = [receipt for receipt in self.answer if self.key[receipt] == key]
        hit = next((receipt for receipt in hits if (receipt, analyst) in self.paid), next(iter(hits), None))
        if hit is not None and (hit, analyst) not in self.paid:
            if not self.fits(account, epsilon):
                with pytest.raises(BudgetExceeded):
                    self.ledger.recall(key, analyst=analyst, grant=debit(account, epsilon))
                return
            self.spent[account] += epsilon
            self.paid.add((hit, analyst))
        found = self.ledger.recall(key, analyst=analyst, grant=debit(account, epsilon))
        assert (found and found.receipt) == hit
        assert hit is None or (found is not None and found.answer == self.answer[hit])

    @rule(account=st.sampled_from(sorted(LIMITS)), epsilon=epsilons)
    def open_again(self, account: str, epsilon: Fraction) -> None:
        self.ledger.open_account(account, Budget(LIMITS[account]))
        with pytest.raises(LedgerError):
            self.ledger.open_account(account, Budget(LIMITS[account] + epsilon))

    @invariant()
    def sums_agree(self) -> None:
        if hasattr(self, "ledger"):
            assert {account: self.ledger.spent(account).epsilon for account in LIMITS} == self.spent

    def teardown(self) -> None:
        if not hasattr(self, "ledger"):
            return
        found = self.ledger.verify()
        assert found.problems == ()
        assert {account: event.epsilon for account, event in found.spent.items()} == self.spent
        released = {receipt.id for receipt in self.ledger.receipts() if receipt.state is ReceiptState.RELEASED}
        assert released == set(self.answer)
        self.ledger.close()


TestAnySequence = Machine.TestCase
TestAnySequence.settings = settings(
    max_examples=25 * DEPTH, stateful_step_count=40, deadline=None, derandomize=True
)


class PostgresMachine(Machine):
    """The same in Postgres."""

    url: str

    def made(self) -> Ledger:
        return PostgresLedger(f"{self.url}?schema=model_{secrets.token_hex(6)}")


def test_any_sequence_in_postgres(postgres: Postgres) -> None:
    PostgresMachine.url = postgres.url
    few = settings(max_examples=4 * DEPTH, stateful_step_count=25, deadline=None, derandomize=True)
    run_state_machine_as_test(PostgresMachine, settings=few)
