"""Results for people: shares, what they prove, and what a ledger counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from jali.lab.attacks import Refusal, Result, Spent
from jali.lab.attacks.attack_report import list_facts
from jali.privacy import Adjacency

RESULT = Result(
    attack="guessing",
    oracle="nobody",
    n=100,
    trials=2,
    noise="none",
    guess=np.zeros(200, np.int8),
    confidence=np.zeros(200),
    right=150,
    prior=0.5,
    predicted=0.7,
    law="a law",
    sense="at least",
    adjacency=None,
    questions=1234,
    spent=None,
    refusal=None,
    seconds=0.5,
    figures={"area_below": 0.25},
)


def test_a_result_tells_its_facts_in_order() -> None:
    facts = dict(list_facts(RESULT))
    assert list(facts) == ["people", "questions", "right", "", "no release", "law", "proves", "area below", "time"]
    assert facts["people"] == "100, 2 secrets one after the other"
    assert facts["questions"] == "1,234 each"
    # Clopper and Pearson for 150 of 200.
    assert facts["right"] == "75.0 %, 150 of 200 bits; 68.4 % … 80.8 % at 95 % if bits are independent"
    assert facts["law"] == "at least 70.0 %: a law"
    assert facts["area below"] == "0.25"
    assert str(RESULT).startswith("guessing against nobody\n\n  people")


def test_a_proved_loss_is_never_rounded_up() -> None:
    proved = dict(list_facts(RESULT))["proves"]
    shown = float(proved.split()[4])
    assert 0 <= RESULT.epsilon_lower_bound.epsilon - shown < 0.01
    assert proved.endswith("(replace-one), at 95 % confidence")
    assert dict(list_facts(replace(RESULT, right=100)))["proves"] == "no loss, at 95 % confidence"


def test_a_ledger_is_told_with_its_ceiling_and_its_words() -> None:
    spent = replace(
        RESULT, spent=Fraction(1, 2), adjacency=Adjacency.ADD_REMOVE, refusal=Refusal(1, "Enough.\x1b[2J")
    )
    facts = dict(list_facts(spent))
    assert facts["spent"] == "epsilon 0.5 for these answers"
    assert facts["ceiling"] == "no guess is right with a probability above 73.1 % (add-remove)"
    assert facts["refused"] == "after 1 answer: Enough.\\x1b[2J"
    folded = replace(spent, refusal=Refusal(12, "No.\n\nNothing\n  is left.", further=9))
    assert dict(list_facts(folded))["refused"] == (
        "after 12 answers, 9 of them asked only to see the refusal: No. Nothing is left."
    )
    assert "╏ ceiling" in facts[""]
    assert dict(list_facts(replace(spent, refusal=None)))["refused"] == "nothing"
    assert " above 99.9955 % " in dict(list_facts(replace(spent, spent=Fraction(5))))["ceiling"]
    assert (
        dict(list_facts(replace(spent, delta=Fraction(1, 100))))["spent"]
        == "epsilon 0.5, delta 0.01 for these answers"
    )


def test_beside_a_delta_the_proved_loss_names_it() -> None:
    proved = dict(list_facts(replace(RESULT, delta=Fraction(1, 10**9))))["proves"]
    assert " beside delta 1e-09 (replace-one)" in proved


def test_what_is_guessed_need_not_be_bits() -> None:
    assert "150 of 200 records;" in dict(list_facts(replace(RESULT, things="records", chance=0.1)))["right"]
    assert dict(list_facts(replace(RESULT, chance=0.1)))["no release"].startswith("10.0 %")


def test_where_theory_is_silent_there_is_no_law() -> None:
    assert "law" not in dict(list_facts(replace(RESULT, predicted=None, law="")))


@pytest.mark.parametrize(("seconds", "shown"), [(0.0123, "0.012 s"), (12.3, "12 s")])
def test_times_have_two_digits(seconds: float, shown: str) -> None:
    assert dict(list_facts(replace(RESULT, seconds=seconds)))["time"] == shown


def test_notebooks_see_a_table() -> None:
    page = replace(RESULT, law="a < b")._repr_html_()
    assert "a &lt; b" in page
    assert "75.0 %, 150 of 200 bits" in page
    assert page.index("guessing against nobody") < page.index("people")


def test_words_are_shown_for_figures_and_what_nobody_paid_for_a_ledger() -> None:
    facts = dict(list_facts(replace(RESULT, notes={"area": "small"}, unpaid=Spent(Fraction(256)))))
    assert facts["area"] == "small"
    assert "area below" not in facts
    assert facts["unpaid"] == "epsilon 256 would have been spent, had a ledger counted"
    assert "spent" not in facts
