from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.frames import failing

import jali as jali_package

SOURCE = str(Path(jali_package.__file__).parents[1])
PROGRAM = "import sys; from jali.cli import main; sys.exit(main())"
Runner = Callable[..., Any]
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def test_a_question_is_answered_as_a_table_with_error_bars(jali: Runner, clinic: Path) -> None:
    outcome = jali("ask", clinic, BY_WARD, "--epsilon", "0.5", "--analyst", "ana")
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert lines[0].split()[:4] == ["ward", "n", "±", "age"]
    assert lines[0].split()[4] in ("±", "interval")
    assert [line.split()[0] for line in lines[2:5]] == ["A", "B", "C"]
    assert "95 % interval" in outcome.out
    assert "cost epsilon 0.5" in outcome.out
    assert "remaining epsilon 0.5" in outcome.out
    assert outcome.err == ""


def test_a_program_gets_one_json_document(jali: Runner, clinic: Path) -> None:
    document = jali("ask", clinic, BY_WARD, "--rho", "0.01", "--confidence", "0.9", "--json").document
    assert document["columns"] == ["ward", "n", "age"]
    assert [row[0] for row in document["rows"]] == ["A", "B", "C"]
    assert all(spans[0] is None and spans[1][0] < spans[1][1] for spans in document["intervals"])
    assert document["cost"] == {"kind": "rho", "amount": "1/100", "delta": "0"}
    assert document["confidence"] == 0.9
    assert document["costs"] == {"visits": document["cost"]}
    assert {table: set(left) for table, left in document["remaining"].items()} == {
        "visits": {"epsilon", "rho", "delta"}
    }
    assert document["totals"] == [[], [], []]
    assert document["group_sizes"] is None
    assert document["cached"] is False


def test_the_same_question_again_gives_the_same_answer_and_says_so(jali: Runner, clinic: Path) -> None:
    first = jali("ask", clinic, BY_WARD, "--epsilon", "0.1", "--json").document
    again = jali("ask", clinic, BY_WARD, "--epsilon", "0.1", "--json").document
    assert again["cached"] is True
    assert (again["rows"], again["receipt"]) == (first["rows"], first["receipt"])
    assert "already released" in jali("ask", clinic, BY_WARD, "--epsilon", "0.1").out


def test_a_wider_confidence_gives_wider_intervals(jali: Runner, clinic: Path) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits"
    narrow = jali("ask", clinic, sql, "--epsilon", "0.1", "--confidence", "0.5", "--json").document
    wide = jali("ask", clinic, sql, "--epsilon", "0.1", "--confidence", "0.99", "--json").document
    assert wide["intervals"][0][0][1] > narrow["intervals"][0][0][1]


def test_the_question_is_read_from_stdin(jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for verb in ("ask", "explain"):
        monkeypatch.setattr("sys.stdin", io.StringIO("SELECT COUNT(*) AS n\nFROM visits\n"))
        outcome = jali(verb, clinic, "-", "--epsilon", "0.1")
        assert outcome.code == 0
        assert "n" in outcome.out


def test_an_empty_question_is_refused(jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  \n"))
    outcome = jali("ask", clinic, "-", "--epsilon", "0.1")
    assert outcome.code == 2
    assert "empty" in outcome.err


@pytest.mark.parametrize("confidence", ["0", "1", "1.5", "nan"])
def test_an_impossible_confidence_is_refused_before_anything_is_spent(
    jali: Runner, clinic: Path, confidence: str
) -> None:
    outcome = jali("ask", clinic, BY_WARD, "--epsilon", "0.1", "--confidence", confidence)
    assert outcome.code == 2
    assert "--confidence" in outcome.err
    assert jali("ledger", clinic, "--json").document["receipts"] == []


def test_an_open_receipt_is_redeemed_once_the_source_is_back(
    jali: Runner, clinic: Path, visits: Path, tmp_path: Path
) -> None:
    source = tmp_path / "own.parquet"
    source.write_bytes(visits.read_bytes())
    declared = ("--unit", "patient_id", "--max-rows", "5", "--epsilon", "1")
    assert jali("protect", clinic, "own", source, *declared).code == 0
    with failing():
        failed = jali("ask", clinic, "SELECT COUNT(*) AS n FROM own", "--epsilon", "0.25")
    assert failed.code == 5
    receipt = jali("ledger", clinic, "--json").document["receipts"][0]
    assert f"stays open. Once this is resolved: jali redeem {clinic} {receipt['receipt']}\n" in failed.err

    ledger = jali("ledger", clinic)
    assert "open" in ledger.out
    assert f"jali redeem {clinic} RECEIPT" in ledger.out
    assert receipt["state"] == "open"
    with failing():
        assert jali("redeem", clinic, receipt["receipt"]).code == 5

    first = jali("redeem", clinic, receipt["receipt"], "--json").document
    again = jali("redeem", clinic, receipt["receipt"], "--json").document
    assert first["rows"] == again["rows"]
    assert (first["cached"], again["cached"]) == (False, True)
    assert "cost epsilon 0.25" in jali("redeem", clinic, receipt["receipt"]).out
    assert jali("ledger", clinic, "--json").document["receipts"][0]["state"] == "released"


def test_a_receipt_is_redeemed_by_the_beginning_that_only_it_has(
    jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = jali("ask", clinic, BY_WARD, "--epsilon", "0.1", "--json").document
    again = jali("redeem", clinic, first["receipt"][:8] + "…", "--json").document
    assert (again["receipt"], again["rows"]) == (first["receipt"], first["rows"])
    short = jali("redeem", clinic, first["receipt"][:5])
    assert short.code == 2
    assert "6 characters" in short.err

    two = [SimpleNamespace(id=first["receipt"]), SimpleNamespace(id=first["receipt"][:6] + "0" * 26)]
    monkeypatch.setattr("jali.database.Database.receipts", lambda *_, **__: two)
    doubtful = jali("redeem", clinic, first["receipt"][:6])
    assert doubtful.code == 2
    assert "2 receipts start with" in doubtful.err


def test_no_rows_need_no_legend(jali: Runner, clinic: Path) -> None:
    out = jali("ask", clinic, f"{BY_WARD} HAVING COUNT(*) > 1000000", "--epsilon", "0.1").out
    assert out.startswith("No rows.\n\ncost epsilon 0.1")
    assert "±" not in out


def test_an_interval_off_centre_is_shown_by_its_ends(
    jali: Runner, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jali.answer.Answer.interval", lambda *_: [((0.0, 1e9),)])
    lines = jali("ask", clinic, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1").out.splitlines()
    assert lines[0].split() == ["n", "interval"]
    assert lines[2].endswith("0 … 1,000,000,000")
    assert lines[4] == "low … high is a 95 % interval for the bounded truth."


def test_a_terminal_without_the_sign_still_gets_its_answer(clinic: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "ask", str(clinic), BY_WARD, "--epsilon", "0.1"],
        env=os.environ | {"PYTHONPATH": SOURCE, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["ward", "n", "?"]
