from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runner = Callable[..., Any]
ASKED = ("--epsilon", "2.9", "--delta", "1e-7", "--column", "max_rows", "--column", "floor", "--column", "code")


def test_a_dry_run_shows_the_cost_and_charges_nothing(jali: Runner, clinic: Path) -> None:
    outcome = jali("advise", clinic, "visits", *ASKED, "--dry-run")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("It would cost epsilon 2.9, delta 1e-07, from the budget of visits.")
    lines = [line for line in outcome.out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert [line.split()[0] for line in lines] == ["max_rows", "floor", "code"]
    assert "This was free" in outcome.out
    assert jali("ledger", clinic, "--json").document["receipts"] == []


def test_the_command_that_is_printed_declares_what_is_proposed(jali: Runner, clinic: Path) -> None:
    document = jali("advise", clinic, "visits", *ASKED, "--json").document
    assert document["paid"] is True
    assert len(jali("ledger", clinic, "--json").document["receipts"]) == 3
    again = jali("advise", clinic, "visits", *ASKED)
    assert "Charged epsilon 0, from the budget of visits." in again.out
    assert document["command"] in again.out
    outcome = jali(*shlex.split(document["command"])[1:], "--json")
    assert outcome.code == 0
    declared = {column["name"]: column for column in outcome.document["columns"]}
    proposed = {proposal["subject"]: proposal["value"] for proposal in document["proposals"]}
    # 5 are declared, and stay where the release tells too little.
    assert outcome.document["max_rows"] == (proposed["max_rows"] or 5)
    assert declared["floor"]["range"] == [str(end) for end in proposed["floor"]]
    assert declared["code"]["keys"] == proposed["code"]
    assert declared["age"]["range"] == ["0", "120"]
    assert declared["ward"]["keys"] == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("visits", "--epsilon", "9"), 3, "Requested"),
        (("nothing", "--epsilon", "1"), 2, "There is no protected table nothing."),
        (("visits", "--epsilon", "1", "--column", "none"), 2, "visits has no column none."),
        (("visits", "--epsilon", "0"), 2, "epsilon must be above 0"),
    ],
)
def test_wrong_use_is_explained(
    jali: Runner, clinic: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    outcome = jali("advise", clinic, *arguments)
    assert outcome.code == code
    assert said in outcome.err
    assert jali("ledger", clinic, "--json").document["receipts"] == []
