"""Debits of parts: an account counts the dearest part, or the dearest pair, whatever the order of the debits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.earlier import downgrade
from tests.ledger.support import ANA, VISITS, ask, clinic, copy_ledger, in_child
from tests.ledger.test_concurrency import together
from tests.ledger.test_kill import dying_after, script, state

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import Debit, DebitSubpopulation, Ledger, SqliteLedger
from jali.privacy import NOTHING, Budget, Concentrated, Event, Filter, Pure

WARD = "visits by ward [1]"
YEAR = "visits by year [1]"


def of_part(
    key: str,
    epsilon: str = "0.1",
    *,
    scheme: str = WARD,
    touched: int = 1,
    apart: str | None = None,
    account: str = VISITS,
) -> Debit:
    alone = None if apart is None else Pure(apart).event
    return Debit(account, Pure(epsilon).event, DebitSubpopulation(scheme, key, touched, alone))


def epsilon_of(ledger: Ledger, account: str = VISITS) -> Fraction | None:
    return ledger.spent(account).epsilon


def test_all_parts_together_cost_the_dearest_one(ledger: Ledger) -> None:
    for key, epsilon in (("A", "0.1"), ("B", "0.3"), ("C", "0.2"), ("A", "0.1")):
        ask(ledger, of_part(key, epsilon))
    assert epsilon_of(ledger) == Fraction("0.3")


def test_what_concerns_everybody_is_added_before_and_after(ledger: Ledger) -> None:
    ask(ledger, Debit(VISITS, Pure("0.5").event))
    ask(ledger, of_part("A", "0.2"))
    ask(ledger, Debit(VISITS, Pure("0.25").event))
    ask(ledger, of_part("B", "0.3"))
    assert epsilon_of(ledger) == Fraction("1.05")


def test_two_partitions_add(ledger: Ledger) -> None:
    ask(ledger, of_part("A", "0.2"))
    ask(ledger, of_part("A", "0.3", scheme=YEAR))
    ask(ledger, of_part("B", "0.25"))
    assert epsilon_of(ledger) == Fraction("0.55")


def test_a_replaced_person_can_touch_two_parts(ledger: Ledger) -> None:
    ask(ledger, of_part("A", "0.4", touched=2, apart="0.3"))
    assert epsilon_of(ledger) == Fraction("0.4")
    ask(ledger, of_part("B", "0.2", touched=2, apart="0.2"))
    assert epsilon_of(ledger) == Fraction("0.5")
    ask(ledger, of_part("C", "0.4", touched=2, apart="0.25"))
    assert epsilon_of(ledger) == Fraction("0.55")
    ask(ledger, of_part("A", "0.4", touched=2, apart="0.2"))
    assert epsilon_of(ledger) == Fraction("0.8")


def test_without_a_loss_of_its_own_an_addition_costs_as_much_as_a_replacement(ledger: Ledger) -> None:
    ask(ledger, of_part("A", "0.4", touched=2))
    ask(ledger, of_part("B", "0.3", touched=2))
    assert epsilon_of(ledger) == Fraction("0.7")


def test_a_grant_follows_the_same_rule(ledger: Ledger) -> None:
    for key in "ABCDEFGHIJKL":
        ask(ledger, of_part(key, "0.9"), of_part(key, "0.9", account=ANA))
    assert epsilon_of(ledger, ANA) == Fraction("0.9")
    with pytest.raises(BudgetExceeded) as refused:
        ask(ledger, of_part("A", "0.2", account=ANA))
    assert refused.value.remaining == Fraction("0.1")


def test_a_first_sight_of_a_parts_answer_charges_the_part(ledger: Ledger) -> None:
    ledger.release(ask(ledger, of_part("A", "0.5"), analyst="ben"), "42")
    ask(ledger, of_part("B", "0.75", account=ANA))
    seen = ledger.recall("key", analyst="ana", grant=of_part("A", "0.5", account=ANA))
    assert seen is not None
    assert epsilon_of(ledger, ANA) == Fraction("0.75")


def test_what_remains_for_a_part_is_what_a_question_on_it_is_granted(ledger: Ledger) -> None:
    ask(ledger, Debit(VISITS, Pure(1).event))
    ask(ledger, of_part("A", "1.5"))
    ask(ledger, of_part("B", "0.5"))
    rule = Filter(Budget(3))
    for key, left in (("A", "0.5"), ("B", "1.5"), ("C", "2")):
        found = rule.largest_epsilon(ledger.filter_sum(VISITS, DebitSubpopulation(WARD, key)))
        assert found == Fraction(left)
    ask(ledger, of_part("C", "2"))
    with pytest.raises(BudgetExceeded):
        ask(ledger, of_part("C", "1e-9"))


def test_a_rule_that_one_part_used_up_is_closed_to_the_others(tmp_path: Path) -> None:
    """Gaussian noise in one part leaves no sum of epsilon; many questions in another then go by rho alone."""
    with SqliteLedger(None) as ledger:
        budget = Budget(1, "1e-6")
        ledger.open_account(VISITS, budget)
        ask(ledger, Debit(VISITS, Concentrated("0.001").event, DebitSubpopulation(WARD, "A")))
        left = Filter(budget).largest_epsilon(ledger.filter_sum(VISITS, DebitSubpopulation(WARD, "B")))
        assert left < 1
        ask(ledger, Debit(VISITS, Pure(left).event, DebitSubpopulation(WARD, "B")))
        assert ledger.verify().problems == ()


def test_the_sum_after_a_debit_is_told_and_nothing_is_charged(ledger: Ledger) -> None:
    ask(ledger, of_part("A", "0.5"))
    assert ledger.after(of_part("B", "0.25")).epsilon == Fraction("0.5")
    assert ledger.after(of_part("B", "0.75")).epsilon == Fraction("0.75")
    assert ledger.after(of_part("A", "0.25")).epsilon == Fraction("0.75")
    assert epsilon_of(ledger) == Fraction("0.5")


def test_a_scheme_touches_one_number_of_parts(ledger: Ledger) -> None:
    ask(ledger, of_part("A"))
    for wrong in (of_part("A", touched=2), of_part("A", scheme=""), of_part("A", scheme=YEAR, touched=3)):
        with pytest.raises(LedgerError):
            ask(ledger, wrong)


def test_a_part_cannot_be_refunded(ledger: Ledger) -> None:
    for event in (Event(Fraction(-1), Fraction(0)), Event(Fraction(0), Fraction(0), Fraction(-1))):
        with pytest.raises(LedgerError):
            ask(ledger, Debit(VISITS, Pure("0.1").event, DebitSubpopulation(WARD, "A", 2, event)))


def test_parts_are_listed_scheme_after_scheme(ledger: Ledger) -> None:
    for debit in (of_part("B"), of_part("A", scheme=YEAR), of_part("A", "0.2"), of_part("B")):
        ask(ledger, debit)
    lines = [(line.scheme, line.key, line.spent.epsilon) for line in ledger.parts(VISITS)]
    tenth = Fraction("0.1")
    assert lines == [(WARD, "A", 2 * tenth), (WARD, "B", 2 * tenth), (YEAR, "A", tenth)]


# Against every person, one by one.

KEYS = ("A", "B", "C")
EPSILONS = st.sampled_from(["1/10", "1/7", "3/10", "1/2"])
PLACES = st.one_of(st.none(), st.tuples(st.sampled_from([WARD, YEAR]), st.sampled_from(KEYS)))


def combined(events: list[Event]) -> Event:
    return reduce(Event.__add__, events, NOTHING)


def people(debits: list[Debit], touched: int) -> Iterator[Event]:
    """Yield what every way in which a unit can change adds up to: its parts of each scheme, chosen freely."""
    common = combined([d.event for d in debits if d.part is None])
    choices = []
    for scheme in (WARD, YEAR):
        mine = [d for d in debits if d.part is not None and d.part.scheme == scheme]
        inside = {k: combined([d.event for d in mine if d.part and d.part.key == k]) for k in KEYS}
        apart = {k: combined([d.part.apart or d.event for d in mine if d.part and d.part.key == k]) for k in KEYS}
        moves = [apart[a] + apart[b] for a, b in product(KEYS, KEYS) if a != b] if touched == 2 else []
        choices.append([NOTHING, *inside.values(), *moves])
    for first, second in product(*choices):
        yield common + first + second


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PLACES, EPSILONS, st.booleans()), max_size=14), st.sampled_from([1, 2]))
def test_pure_debits_are_admitted_exactly_where_every_person_can_bear_them(
    asked: list[tuple[tuple[str, str] | None, str, bool]], touched: int
) -> None:
    charged: list[Debit] = []
    with SqliteLedger(None) as ledger:
        ledger.open_account(VISITS, Budget(1))
        for place, epsilon, halved in asked:
            event = Pure(epsilon).event
            alone = Pure(Fraction(epsilon) / 2).event if halved and touched == 2 else None
            debit = Debit(VISITS, event, None if place is None else DebitSubpopulation(*place, touched, alone))
            bearable = all(e.epsilon is not None and e.epsilon <= 1 for e in people([*charged, debit], touched))
            try:
                ask(ledger, debit)
                charged.append(debit)
                assert bearable
            except BudgetExceeded:
                assert not bearable
        assert epsilon_of(ledger) == max(e.epsilon or 0 for e in people(charged, touched))
        assert ledger.verify().problems == ()


EVENTS = st.sampled_from(
    [
        Pure("1/10").event,
        Pure("1/2").event,
        Concentrated("1/1000").event,
        Concentrated("1/100").event,
        Event(Fraction(1, 5), Fraction(1, 50), Fraction(1, 10**7)),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PLACES, EVENTS), max_size=14), st.sampled_from([1, 2]))
def test_no_person_ever_bears_more_than_the_filter_admits(
    asked: list[tuple[tuple[str, str] | None, Event]], touched: int
) -> None:
    """And a refusal means that the largest numbers of all people, each by itself, would be too much together."""
    budget, charged = Budget(1, "1e-6"), list[Debit]()
    rule = Filter(budget)
    with SqliteLedger(None) as ledger:
        ledger.open_account(VISITS, budget)
        for place, event in asked:
            debit = Debit(VISITS, event, None if place is None else DebitSubpopulation(*place, touched))
            sums = list(people([*charged, debit], touched))
            endless = any(e.epsilon is None for e in sums)
            worst = Event(
                None if endless else max(e.epsilon or Fraction(0) for e in sums),
                max(e.rho for e in sums),
                max(e.delta for e in sums),
            )
            try:
                ask(ledger, debit)
                charged.append(debit)
                assert all(rule.admits(NOTHING, e) for e in sums)
            except BudgetExceeded:
                assert not rule.admits(NOTHING, worst)
        assert ledger.verify().problems == ()


# The file.


def test_a_ledger_of_schema_1_is_read_verified_and_continued(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        ledger.release(ask(clinic(ledger)), "42")
    downgrade(path, 1)
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        assert ledger.parts(VISITS) == ()
        ask(ledger)
        assert epsilon_of(ledger) == Fraction("0.2")
        ask(ledger, of_part("A", "0.3"))
        ask(ledger, of_part("B", "0.3"))
        assert epsilon_of(ledger) == Fraction("0.5")
        assert ledger.verify().problems == ()
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        assert [line.key for line in ledger.parts(VISITS)] == ["A", "B"]


@pytest.mark.parametrize(
    "falsified",
    [
        "UPDATE schemes SET spent = (SELECT spent FROM schemes WHERE scheme = '') WHERE scheme <> ''",
        "UPDATE parts SET inside = apart, key = 'Z' WHERE key = 'A'",
        "DELETE FROM parts WHERE key = 'A'",
        "UPDATE accounts SET spent = (SELECT spent FROM schemes WHERE scheme = '') WHERE name = 'table visits'",
    ],
)
def test_falsified_sums_of_parts_are_found(path: Path, falsified: str) -> None:
    with SqliteLedger(path) as ledger:
        ask(clinic(ledger), of_part("A", "0.3"))
        ask(ledger, of_part("B", "0.2"))
    with sqlite3.connect(path) as raw:
        raw.execute(falsified)
    raw.close()
    with SqliteLedger(path, checked=False) as ledger:
        assert ledger.verify().problems != ()
        with pytest.raises(LedgerError) as refusal:
            ask(ledger, of_part("A", "0.1"), key="another")
        assert refusal.value.code == "ledger-damaged"


def test_a_debit_of_a_part_is_whole_or_nothing_wherever_it_is_killed(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteLedger(path) as ledger:
        ask(clinic(ledger), of_part("A", "0.3"))
    debits = [of_part("B", "0.5"), of_part("B", "0.5", account=ANA)]

    def step(file: Path) -> None:
        with SqliteLedger(file) as mine:
            ask(mine, *debits)

    before, done = state(path), tmp_path / "done.jali"
    copy_ledger(path, done)
    statements = len(script(monkeypatch, lambda: step(done)))
    after = state(done)
    assert after != before
    for count in range(1, statements, 2):
        copy = tmp_path / f"{count}.jali"
        copy_ledger(path, copy)
        assert in_child(dying_after(count, lambda copy=copy: step(copy)))() == -9  # type: ignore[misc]
        assert state(copy) in (before, after)


def test_processes_at_once_never_overspend_a_part_and_never_lose_a_debit(path: Path) -> None:
    """Four processes, two to a part, each as long as it is granted: both parts end at the budget, not beyond."""
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=2)

    def work(number: int) -> str:
        granted = 0
        with SqliteLedger(path) as mine:
            for _ in range(25):
                try:
                    ask(mine, of_part("AB"[number % 2]))
                    granted += 1
                except BudgetExceeded:
                    break
        return str(granted)

    granted = [int(said) for said in together(4, work)]
    with SqliteLedger(path) as ledger:
        assert granted[0] + granted[2] == granted[1] + granted[3] == 20
        assert [line.spent.epsilon for line in ledger.parts(VISITS)] == [2, 2]
        assert epsilon_of(ledger) == 2
        assert ledger.verify().problems == ()
