"""One question: reserved, begun, released, recalled."""

from __future__ import annotations

import pytest
from tests.ledger.support import ANA, BEN, TENTH, VISITS, ask, debit

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import MAX_ATTEMPTS, Debit, Ledger, ReceiptState, Reservation
from jali.privacy import NOTHING, Budget


def test_a_receipt_is_listed_as_it_was_reserved(ledger: Ledger) -> None:
    first = ask(ledger, debit(), debit(ANA))
    second = ask(ledger, analyst="ben")
    ledger.release(first, "42")
    listed = ledger.receipts()
    assert [(receipt.id, receipt.analyst, receipt.state) for receipt in listed] == [
        (first, "ana", ReceiptState.RELEASED),
        (second, "ben", ReceiptState.OPEN),
    ]
    assert listed[0].debits == (debit(), debit(ANA))
    assert listed[0].question == "how many?"
    assert listed[0].at.endswith("+00:00")
    assert ledger.receipts("ben") == listed[1:]
    assert ledger.receipts("eve") == ()


def test_receipts_are_unguessable_and_all_different(ledger: Ledger) -> None:
    names = {ask(ledger, debit(epsilon="1/1000")) for _ in range(20)}
    assert len(names) == 20
    assert all(len(name) == 32 for name in names)


def test_the_frozen_plan_is_handed_out_verbatim(ledger: Ledger) -> None:
    plan = '{"sql": "SELECT \'Zoë\'", "nothing": "\x00"}'
    receipt = ledger.reserve(analyst="ana", question="?", key="k", plan=plan, debits=(debit(),))
    assert ledger.begin(receipt, analyst="ana") == Reservation(receipt, plan, None)


def test_an_open_receipt_can_be_tried_five_times_the_first_included(ledger: Ledger) -> None:
    receipt = ask(ledger)
    for _ in range(MAX_ATTEMPTS - 1):
        ledger.begin(receipt, analyst="ana")
    before = ledger.verify()
    with pytest.raises(LedgerError, match="attempted 5 times"):
        ledger.begin(receipt, analyst="ana")
    with pytest.raises(LedgerError, match="attempted 5 times"):
        ledger.begin(receipt, analyst=None)
    assert ledger.verify() == before
    assert ledger.release(receipt, "42") == "42"
    assert ledger.begin(receipt, analyst="ana").answer == "42"


def test_only_the_owner_and_the_curator_may_begin_a_receipt(ledger: Ledger) -> None:
    receipt = ask(ledger)
    with pytest.raises(LedgerError) as others:
        ledger.begin(receipt, analyst="ben")
    with pytest.raises(LedgerError) as unknown:
        ledger.begin("0" * 32, analyst="ben")
    assert str(others.value).replace(receipt, "") == str(unknown.value).replace("0" * 32, "")
    assert ledger.begin(receipt, analyst=None).plan == '{"plan": 1}'


def test_beginning_a_released_receipt_gives_the_answer_and_counts_nothing(ledger: Ledger) -> None:
    receipt = ask(ledger)
    ledger.release(receipt, "42")
    before = ledger.verify()
    for _ in range(MAX_ATTEMPTS + 1):
        assert ledger.begin(receipt, analyst="ana").answer == "42"
    assert ledger.verify() == before


def test_the_second_release_gets_the_first_answer(ledger: Ledger) -> None:
    receipt = ask(ledger)
    assert ledger.release(receipt, "42") == "42"
    assert ledger.release(receipt, "43") == "42"
    with pytest.raises(LedgerError, match="no receipt"):
        ledger.release("0" * 32, "44")


def test_an_empty_answer_is_an_answer(ledger: Ledger) -> None:
    receipt = ask(ledger)
    assert ledger.release(receipt, "") == ""
    assert ledger.release(receipt, "43") == ""


def test_an_open_receipt_is_not_recalled(ledger: Ledger) -> None:
    ask(ledger)
    assert ledger.recall("key", analyst="ana", grant=None) is None
    assert ledger.recall("other", analyst="ana", grant=None) is None


def test_who_reserved_recalls_for_free(ledger: Ledger) -> None:
    receipt = ask(ledger, debit(), debit(ANA))
    ledger.release(receipt, "42")
    for _ in range(3):
        found = ledger.recall("key", analyst="ana", grant=debit(ANA))
        assert found == Reservation(receipt, '{"plan": 1}', "42")
    assert ledger.spent(ANA) == ledger.spent(VISITS) == TENTH


def test_another_analyst_pays_once_and_the_table_never(ledger: Ledger) -> None:
    receipt = ask(ledger, debit(), debit(ANA))
    ledger.release(receipt, "42")
    for _ in range(3):
        found = ledger.recall("key", analyst="ben", grant=debit(BEN))
        assert found is not None
        assert found.answer == "42"
    assert ledger.spent(BEN) == ledger.spent(VISITS) == ledger.spent(ANA) == TENTH


def test_a_grant_that_cannot_pay_sees_nothing(ledger: Ledger) -> None:
    ledger.release(ask(ledger), "42")
    ask(ledger, debit(BEN, 1), analyst="ben", key="other")
    before = ledger.verify()
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.recall("key", analyst="ben", grant=debit(BEN))
    assert refusal.value.account == BEN
    assert ledger.verify() == before


@pytest.mark.parametrize("account", [VISITS, ANA])
def test_a_recall_charges_only_the_grants_of_the_one_who_sees(ledger: Ledger, account: str) -> None:
    ledger.release(ask(ledger), "42")
    with pytest.raises(LedgerError, match="cannot be charged for answers to"):
        ledger.recall("key", analyst="ben", grant=debit(account))
    assert ledger.spent(BEN) == NOTHING


def test_a_recall_on_a_grant_that_does_not_exist_is_refused(ledger: Ledger) -> None:
    ledger.release(ask(ledger), "42")
    with pytest.raises(LedgerError, match="no account"):
        ledger.recall("key", analyst="eve", grant=Debit("grant eve on visits", TENTH))


def test_a_recall_over_two_tables_charges_both_grants_or_none(ledger: Ledger) -> None:
    ledger.open_account("grant ben on wards", Budget("1/20"))
    ledger.release(ask(ledger), "42")
    with pytest.raises(BudgetExceeded):
        ledger.recall("key", analyst="ben", grant=(debit(BEN), debit("grant ben on wards")))
    assert ledger.spent(BEN) == NOTHING
    small = (debit(BEN, "1/20"), debit("grant ben on wards", "1/20"))
    assert ledger.recall("key", analyst="ben", grant=small) is not None
    assert ledger.spent("grant ben on wards").epsilon == ledger.spent(BEN).epsilon == small[0].event.epsilon


def test_the_curator_recalls_without_a_grant(ledger: Ledger) -> None:
    ledger.release(ask(ledger), "42")
    found = ledger.recall("key", analyst="curator", grant=None)
    assert found is not None
    assert found.answer == "42"
    assert ledger.spent(VISITS) == TENTH


def test_of_two_answers_with_one_key_each_owner_recalls_the_own_and_others_the_first(
    ledger: Ledger,
) -> None:
    anas, bens = ask(ledger), ask(ledger, analyst="ben")
    ledger.release(bens, "43")
    ledger.release(anas, "42")
    for analyst, receipt in (("ana", anas), ("ben", bens), ("curator", bens)):
        found = ledger.recall("key", analyst=analyst, grant=None)
        assert found is not None
        assert found.receipt == receipt


def test_a_text_that_is_not_unicode_spends_nothing(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="Unicode"):
        ledger.reserve(analyst="ana", question="\ud800", key="k", plan="{}", debits=(debit(),))
    with pytest.raises(LedgerError, match="Unicode"):
        ledger.reserve(analyst="ana", question="?", key="k", plan="\ud800", debits=(debit(),))
    with pytest.raises(LedgerError, match="Unicode"):
        ledger.release(ask(ledger, debit(BEN)), "\ud800")
    assert ledger.spent(VISITS) == NOTHING


def reserved(ledger: Ledger, key: str, *, analyst: str = "ana", question: str = "q") -> str:
    return ledger.reserve(analyst=analyst, question=question, key=key, plan=f"of {key}", debits=(debit(),))


def test_keys_of_earlier_versions_are_found_by_the_words_of_a_question(ledger: Ledger) -> None:
    """Those versions wrote hexadecimal keys, and all since begin with a k."""
    first, _, _, _ = (
        reserved(ledger, "00ff"),
        reserved(ledger, "ff00"),
        reserved(ledger, "k00ff"),
        reserved(ledger, "aa00", question="another"),
    )
    ledger.release(first, "42")
    assert ledger.look_up("k", "q", analyst="ana", others=False).earlier == (
        ("00ff", "of 00ff"),
        ("ff00", "of ff00"),
    )
    assert ledger.look_up("k", "Q", analyst="ana", others=False).earlier == ()


def test_keys_of_questions_of_others_are_found_where_they_may_be_known_only(ledger: Ledger) -> None:
    receipt = reserved(ledger, "00ff")
    ledger.release(receipt, "42")
    assert ledger.look_up("k", "q", analyst="ben", others=False).earlier == ()
    assert ledger.look_up("k", "q", analyst="ben", others=True).earlier == (("00ff", "of 00ff"),)
    assert ledger.recall("00ff", analyst="ben", grant=debit(BEN)) is not None
    assert ledger.look_up("k", "q", analyst="ben", others=False).earlier == (("00ff", "of 00ff"),)
