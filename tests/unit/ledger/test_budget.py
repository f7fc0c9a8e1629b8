"""Debits and budgets: exact, atomic, never refunded, never reset."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.support import ANA, TENTH, VISITS, ask, debit, times

from jali.errors import BudgetExceeded, JaliError, LedgerError
from jali.ledger import Debit, Ledger, SqliteLedger, grant_account, table_account
from jali.privacy import NOTHING, Approximate, Budget, Concentrated, Event, Pure


def test_ten_debits_of_a_tenth_fit_a_budget_of_one_and_nothing_more(ledger: Ledger) -> None:
    for _ in range(10):
        ask(ledger, debit(ANA))
    assert ledger.spent(ANA).epsilon == 1
    with pytest.raises(BudgetExceeded) as refusal:
        ask(ledger, debit(ANA, "1e-30"))
    assert (refusal.value.account, refusal.value.kind) == (ANA, "epsilon")
    assert refusal.value.remaining == 0
    assert len(ledger.receipts()) == 10


def test_three_thirds_fit_a_budget_of_one(ledger: Ledger) -> None:
    for _ in range(3):
        ask(ledger, debit(ANA, "1/3"))
    assert ledger.spent(ANA).epsilon == 1


def test_many_questions_are_charged_by_the_square_root(ledger: Ledger) -> None:
    ledger.open_account("table wards", Budget(3, 1e-6))
    for _ in range(35):
        ask(ledger, debit("table wards"))
    with pytest.raises(BudgetExceeded) as refusal:
        ask(ledger, debit("table wards"))
    assert 0 < refusal.value.remaining < Fraction(1, 10)
    assert ledger.spent("table wards") == times(35)


def test_a_gaussian_event_leaves_no_pure_sum(ledger: Ledger) -> None:
    ledger.open_account("table wards", Budget(3, 1e-6))
    ask(ledger, Debit("table wards", Concentrated("1/8").event))
    ask(ledger, debit("table wards"))
    assert ledger.spent("table wards") == Event(None, Fraction(1, 8) + Fraction(1, 200))


def test_a_refused_delta_says_delta(ledger: Ledger) -> None:
    ledger.open_account("table wards", Budget(3, 1e-6))
    with pytest.raises(BudgetExceeded) as refusal:
        ask(ledger, Debit("table wards", Approximate(1, "6e-7").event))
    assert (refusal.value.kind, refusal.value.remaining) == ("delta", Fraction(1, 2 * 10**6))


def test_if_the_grant_refuses_the_table_is_untouched(ledger: Ledger) -> None:
    ask(ledger, debit(), debit(ANA))
    before = ledger.verify()
    with pytest.raises(BudgetExceeded) as refusal:
        ask(ledger, debit(VISITS, 1), debit(ANA, 1))
    assert refusal.value.account == ANA
    assert refusal.value.remaining == Fraction(9, 10)
    assert ledger.verify() == before
    assert ledger.spent(VISITS) == ledger.spent(ANA) == TENTH


def test_one_question_may_charge_an_account_twice(ledger: Ledger) -> None:
    ask(ledger, debit(ANA), debit(ANA))
    assert ledger.spent(ANA) == times(2)
    with pytest.raises(BudgetExceeded):
        ask(ledger, debit(ANA, 0.7), debit(ANA, 0.7))
    assert ledger.spent(ANA) == times(2)


def test_of_several_debits_the_first_that_cannot_be_charged_is_the_one_refused(ledger: Ledger) -> None:
    before = ledger.verify()
    for debits, code in (
        ((debit(ANA, 2), debit("table wards")), "budget-exceeded"),
        ((debit("table wards"), debit(ANA, 2)), "account-unknown"),
        ((debit(), debit(ANA), debit("table wards"), debit(ANA, 2)), "account-unknown"),
    ):
        with pytest.raises(JaliError) as refusal:
            ask(ledger, *debits)
        assert refusal.value.code == code
    with pytest.raises(BudgetExceeded) as exceeded:
        ask(ledger, debit(ANA, 0.6), debit(VISITS, 4), debit(ANA, 0.6))
    assert exceeded.value.account == VISITS
    with pytest.raises(BudgetExceeded) as exceeded:
        ask(ledger, debit(ANA, 0.6), debit(VISITS), debit(ANA, 0.6), debit("table wards"))
    assert exceeded.value.account == ANA
    assert ledger.verify() == before
    assert ledger.spent(VISITS) == ledger.spent(ANA) == NOTHING


def test_an_open_reservation_counts_as_spent_and_so_does_a_released_one(ledger: Ledger) -> None:
    receipt = ask(ledger)
    assert ledger.spent(VISITS) == TENTH
    ledger.release(receipt, "42")
    assert ledger.spent(VISITS) == TENTH


def test_an_unknown_account_is_refused_with_a_remedy(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no account table wards") as refusal:
        ask(ledger, debit(), debit("table wards"))
    assert refusal.value.remedy is not None
    assert ledger.spent(VISITS) == NOTHING
    assert ledger.budget("table wards") is None
    with pytest.raises(LedgerError):
        ledger.spent("table wards")


def test_a_question_without_a_debit_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="A question without a charge cannot be reserved"):
        ledger.reserve(analyst="ana", question="?", key="k", plan="{}", debits=())


@pytest.mark.parametrize(
    "event",
    [
        Event(Fraction(-1), Fraction(0)),
        Event(Fraction(1), Fraction(-1)),
        Event(None, Fraction(0), Fraction(-1)),
        Event(Fraction(1, 7**5000), Fraction(0)),
    ],
)
def test_a_debit_that_would_refund_or_never_end_is_refused(ledger: Ledger, event: Event) -> None:
    with pytest.raises(LedgerError):
        ask(ledger, Debit(VISITS, event))
    assert ledger.spent(VISITS) == NOTHING


def test_sums_of_awkward_fractions_stay_short_and_never_fall_below_the_truth(ledger: Ledger) -> None:
    truth = NOTHING
    for k in range(60):
        event = Pure(Fraction(1, 10**390 + 2 * k + 1)).event
        truth += event
        ask(ledger, Debit(VISITS, event))
    spent = ledger.spent(VISITS)
    assert spent.epsilon is not None
    assert truth.epsilon is not None
    assert 0 <= spent.epsilon - truth.epsilon <= Fraction(60, 2**1000)
    assert 0 <= spent.rho - truth.rho <= Fraction(60, 2**1000)
    assert spent.rho.denominator.bit_length() <= 1024


def test_an_account_opens_once_and_its_budget_never_changes(ledger: Ledger) -> None:
    ask(ledger)
    ledger.open_account(VISITS, Budget(3))
    assert ledger.spent(VISITS) == TENTH
    with pytest.raises(LedgerError, match="is fixed at"):
        ledger.open_account(VISITS, Budget(4))
    with pytest.raises(LedgerError, match="is fixed at"):
        ledger.open_account(VISITS, Budget(3, 1e-6, delta_events=0))
    assert ledger.budget(VISITS) == Budget(3)


def test_a_budget_of_too_many_digits_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="digits"):
        ledger.open_account("table wards", Budget(Fraction(1, 10**5000)))
    assert ledger.budget("table wards") is None


def test_accounts_are_listed_in_order_with_their_split_of_delta(ledger: Ledger) -> None:
    budget = Budget(2, 1e-6, delta_events="1e-7")
    ledger.open_account("table wards", budget)
    assert ledger.accounts() == ("table visits", "grant ana on visits", "grant ben on visits", "table wards")
    assert ledger.budget("table wards") == budget


def test_what_was_spent_survives_the_ledger_object(path: Path) -> None:
    with SqliteLedger(path) as first:
        first.open_account(VISITS, Budget(1))
        ask(first, debit(VISITS, 0.7))
    with SqliteLedger(path) as second:
        second.open_account(VISITS, Budget(1))
        with pytest.raises(BudgetExceeded):
            ask(second, debit(VISITS, 0.7))


def test_different_names_never_share_an_account() -> None:
    assert table_account("visits") == "table visits"
    assert grant_account("ana", "visits") == "grant ana on visits"
    names = ["a", "b", "c", "a on b", "b on c", "on", "a on", "on c", "", " ", '"a"', "a b", "Zoë", "a\n"]
    accounts = [grant_account(analyst, table) for analyst in names for table in names]
    accounts += [table_account(table) for table in names]
    assert len(set(accounts)) == len(accounts)
