"""`jali ledger move`, and every other verb on a ledger in Postgres."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import make_visits
from tests.servers.postgres import Postgres

from jali.cli.app import SUBVERBS

Runner = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def address(postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return f"{postgres.url}?schema=cli_{secrets.token_hex(4)}"


def begun(jali: Runner, place: str | Path, tmp_path: Path) -> None:
    """Make a database with one answer."""
    source = make_visits(tmp_path / "visits.parquet")
    assert jali("init", place).code == 0
    declared = ("--unit", "patient_id", "--max-rows", 5, "--epsilon", 1)
    assert jali("protect", place, "visits", source, *declared).code == 0
    assert jali("ask", place, COUNT, "--epsilon", "0.1").code == 0


@pytest.mark.parametrize("name", [verb.__name__ for verb in SUBVERBS["ledger"]])
def test_it_has_help_with_an_example_and_is_on_the_page(jali: Runner, name: str) -> None:
    outcome = jali("ledger", name, "--help")
    assert outcome.code == 0
    assert f"Usage: jali ledger {name} [OPTIONS]" in outcome.out
    assert f"Example: jali ledger {name}" in outcome.out
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    section = next(part for part in parts if part.startswith("jali ledger"))
    assert f"jali ledger {name} DATABASE" in section
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", outcome.out)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z][a-z-]+", section))
    assert name in jali("ledger", "--help").out


def test_options_of_the_ledger_stand_before_and_after_the_database(jali: Runner, tmp_path: Path) -> None:
    place = tmp_path / "clinic.jali"
    begun(jali, place, tmp_path)
    whole = jali("ledger", place, "--json").document
    assert len(whole["receipts"]) == 1
    assert jali("ledger", "--json", place).document == whole
    assert jali("ledger", "--analyst", "ana", place, "--json").document == {"accounts": [], "receipts": []}
    for wrong in (("ledger",), ("ledger", place, "move", "x"), ("ledger", place, place), ("ledger", "move")):
        assert jali(*wrong).code == 2


def test_the_verbs_work_on_postgres(jali: Runner, address: str, tmp_path: Path) -> None:
    missing = jali("ledger", address)
    assert missing.code == 2
    assert f"jali init '{address}'" in missing.err
    begun(jali, address, tmp_path)
    assert jali("init", address).code == 2
    assert jali("grant", address, "ana", "visits", "--epsilon", "0.5").code == 0
    assert jali("ask", address, COUNT, "--epsilon", "0.2", "--analyst", "ana").code == 0
    assert jali("ask", address, COUNT, "--epsilon", "0.9").code == 3
    assert jali("verify", address, "--json").document["sound"]
    (receipt, _) = jali("ledger", address, "--json").document["receipts"]
    assert jali("redeem", address, receipt["receipt"]).code == 0
    assert jali("token", "create", address, "ana").code == 0


def test_a_ledger_moves_there_and_back(jali: Runner, address: str, tmp_path: Path) -> None:
    place, back = tmp_path / "clinic.jali", tmp_path / "back.jali"
    begun(jali, place, tmp_path)
    head = jali("verify", place, "--json").document["head"]
    moved = jali("ledger", "move", place, address, "--json")
    assert moved.code == 0
    assert moved.document["source"] == str(place)
    assert moved.document["target"] == address
    assert moved.document["head"] == jali("verify", address, "--json").document["head"] != head
    refused = jali("ask", place, COUNT, "--epsilon", "0.2")
    assert refused.code == 5
    assert address in refused.err
    assert jali("ask", address, COUNT, "--epsilon", "0.2").code == 0
    again = jali("ledger", "move", address, back)
    assert again.code == 0
    assert "the ledger is sound there" in again.out
    assert jali("ask", address, COUNT, "--epsilon", "0.3").code == 5
    assert jali("ask", back, COUNT, "--epsilon", "0.3").code == 0
    assert jali("ledger", "move", place, tmp_path / "other.jali").code == 5
    assert jali("ledger", "move", tmp_path / "none.jali", tmp_path / "other.jali").code == 2
