"""`jali removed`: what a question leaves out."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Runner

MEAN = "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward"


def test_it_writes_counts_with_intervals_and_what_they_cost(jali: Runner, clinic: Path) -> None:
    said = jali("removed", clinic, MEAN, "--epsilon", "0.1")
    assert said.code == 0
    assert "age below " in said.out
    assert "people who have such" in said.out
    assert "of them count." in said.out
    assert "cost epsilon 0.1 · receipt " in said.out


def test_its_json_has_the_same(jali: Runner, clinic: Path) -> None:
    document = jali("removed", clinic, MEAN, "--epsilon", "0.1", "--json").document
    assert set(document) == {
        "clamped",
        "bounded",
        "max_rows",
        "reach",
        "notes",
        "confidence",
        "cost",
        "receipts",
    }
    assert document["reach"] == 8 * document["max_rows"]


def test_it_needs_a_loss(jali: Runner, clinic: Path) -> None:
    said = jali("removed", clinic, MEAN)
    assert said.code != 0
    assert "epsilon" in said.err


def test_people_who_are_counted_once_lose_no_rows(jali: Runner, clinic: Path) -> None:
    said = jali("removed", clinic, "SELECT COUNT(DISTINCT patient_id) FROM visits", "--epsilon", "0.1")
    assert (said.code, said.out) == (0, "Nothing is clamped or bounded.\n")
    assert jali("ledger", clinic, "--json").document["receipts"] == []
