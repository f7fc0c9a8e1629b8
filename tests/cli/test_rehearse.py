from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runner = Callable[..., Any]
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_a_rehearsal_is_marked_first_and_says_what_the_question_would_cost(jali: Runner, clinic: Path) -> None:
    outcome = jali("rehearse", clinic, BY_WARD, "--epsilon", "0.5", "--analyst", "ana", "--rows", "300")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "Rehearsal: synthetic data. Nothing real was read, and nothing was charged."
    assert [line.split()[0] for line in lines[4:7]] == ["A", "B", "C"]
    assert "The real question would cost epsilon 0.5, with these budgets remaining:" in lines
    assert [line.split("  ")[1] for line in lines[-1:]] == ["grant ana on visits"]
    assert jali("ledger", clinic, "--json").document["receipts"] == []


def test_a_program_gets_a_marked_document_without_a_receipt(jali: Runner, clinic: Path) -> None:
    found = jali("rehearse", clinic, BY_WARD, "--within", "50", "--rows", "100", "--json").document
    assert found["rehearsed"] is True
    assert [row[0] for row in found["rows"]] == ["A", "B", "C"]
    assert set(found["leaves"]) == {"table visits"}
    assert not {"receipt", "cached"} & set(found)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("SELECT foo FROM visits", "--epsilon", "1"), 2, "foo"),
        ((BY_WARD, "--epsilon", "4"), 3, "What would fit:"),
        ((BY_WARD, "--epsilon", "1", "--rows", "0"), 2, "--rows must be"),
    ],
)
def test_what_would_be_refused_in_earnest_is_refused(
    jali: Runner, clinic: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    outcome = jali("rehearse", clinic, *arguments)
    assert outcome.code == code
    assert said in outcome.err
