"""`jali batch`: the questions of a file, asked together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jali.cli.verbs.batch import split_statements

QUESTIONS = """-- all; of them
SELECT COUNT(*) AS n FROM visits;
SELECT ward, COUNT(*) AS n FROM visits WHERE ward <> 'x;y' GROUP BY ward;
"""


def test_statements_are_parted_by_semicolons_outside_strings_and_comments() -> None:
    found = split_statements(QUESTIONS)
    assert [one.sql.rpartition("FROM")[2] for one in found] == [
        " visits",
        " visits WHERE ward <> 'x;y' GROUP BY ward",
    ]
    assert [one.position for one in found] == [(2, 1), (3, 1)]
    (one,) = split_statements("/* a; */ SELECT -- why; not\n  COUNT(*)\tFROM 'x -- y'")
    assert one.sql == "SELECT COUNT(*) FROM 'x -- y'"
    assert one.position == (1, 10)


def test_a_file_of_questions_is_answered_once_and_redeemed(jali: Any, clinic: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.sql"
    file.write_text(QUESTIONS)
    told = jali("batch", clinic, file, "--epsilon", "1/2", "--explain")
    assert told.code == 0
    assert "A batch of 2 questions" in told.out
    found = jali("batch", clinic, file, "--epsilon", "1/2", "--json")
    assert found.code == 0
    document = found.document
    assert document["cost"] == {"kind": "epsilon", "amount": "1/2", "delta": "0"}
    (total,), wards = document["answers"][0]["rows"][0], document["answers"][1]["rows"]
    # Rows without a ward, or of ward x;y, are in the total alone.
    assert sum(n for _, n in wards) <= total
    again = jali("redeem", clinic, document["receipt"])
    assert again.code == 0
    assert "already released" in again.out
    assert "[2]" in again.out


def test_a_refusal_says_which_question_and_a_missing_file_is_named(
    jali: Any, clinic: Path, tmp_path: Path
) -> None:
    file = tmp_path / "questions.sql"
    file.write_text("SELECT COUNT(*) FROM visits; SELECT foo FROM visits")
    refused = jali("batch", clinic, file, "--epsilon", "1/2")
    assert refused.code == 2
    assert "Question 2 of the batch" in refused.err
    assert "cannot be read" in jali("batch", clinic, tmp_path / "none.sql", "--epsilon", "1").err
    assert "The privacy loss" in jali("batch", clinic, file).err


def test_a_refusal_shows_the_line_of_the_file(jali: Any, clinic: Path, tmp_path: Path) -> None:
    """With a caret under the name; a refusal without a place is about where its question begins."""
    file = tmp_path / "questions.sql"
    file.write_text(
        "-- first\nSELECT COUNT(*) FROM visits; SELECT ward,\n  foo, COUNT(*) FROM visits GROUP BY 1, 2;\n"
    )
    told = jali("batch", clinic, file, "--epsilon", "1/2").err
    assert "line 3, column 3: Question 2 of the batch" in told
    assert "    foo, COUNT(*) FROM visits GROUP BY 1, 2;\n    ^" in told
    file.write_text("SELECT COUNT(*) FROM visits;\n\n  SELECT SUM(age + 1e400) FROM visits")
    document = jali("batch", clinic, file, "--epsilon", "1/2", "--json").document
    assert document["error"]["position"][0] == 3


def test_a_refusal_by_the_budget_is_about_the_batch_and_says_what_would_fit(
    jali: Any, clinic: Path, tmp_path: Path
) -> None:
    file = tmp_path / "questions.sql"
    file.write_text(QUESTIONS)
    refused = jali("batch", clinic, file, "--epsilon", "1000")
    assert refused.code == 3
    assert "does not cover this batch" in refused.err
    assert "What would fit: this batch for a total epsilon of" in refused.err
    told = jali("batch", clinic, file, "--epsilon", "1/2", "--explain").out
    assert "COUNT(*): ± " in told
    assert "Remaining of table visits: epsilon 2.5" in told
