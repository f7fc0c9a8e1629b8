"""`--part`: questions on one part of a table, and how the ledger shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Runner

COUNT = "SELECT COUNT(*) AS n FROM visits"


def test_parts_cost_the_dearest_and_the_ledger_lists_them(jali: Runner, clinic: Path) -> None:
    for ward in "ABC":
        assert jali("ask", clinic, COUNT, "--epsilon", "0.5", "--part", f"ward={ward}").code == 0
    shown = jali("ledger", clinic).out
    assert '"B" of visits by ward' in shown
    account = jali("ledger", clinic, "--json").document["accounts"][0]
    assert account["spent"]["epsilon"] == "1/2"
    assert [(part["key"], part["epsilon"]) for part in account["parts"]] == [(f'"{w}"', "1/2") for w in "ABC"]
    assert jali("verify", clinic).code == 0


def test_explain_says_what_a_part_costs_now(jali: Runner, clinic: Path) -> None:
    jali("ask", clinic, COUNT, "--epsilon", "0.5", "--part", "ward=A")
    text = " ".join(jali("explain", clinic, COUNT, "--epsilon", "0.5", "--part", "ward = B").out.split())
    assert "B of visits by ward" in text
    assert "its total now grows by nothing" in text


@pytest.mark.parametrize("part", ["ward", "=A", "ward=Z", "code=1"])
def test_a_part_that_is_none_is_refused(jali: Runner, clinic: Path, part: str) -> None:
    found = jali("ask", clinic, COUNT, "--epsilon", "0.5", "--part", part)
    assert found.code in (2, 4)
    assert jali("ledger", clinic, "--json").document["receipts"] == []
