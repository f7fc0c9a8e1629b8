"""`--within`: a question for an accuracy in place of a loss."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

Runner = Callable[..., Any]
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
BOTH = "SELECT COUNT(*) AS n, AVG(age) AS age FROM visits"


def test_a_question_is_explained_and_asked_for_an_accuracy(jali: Runner, clinic: Path) -> None:
    text = jali("explain", clinic, COUNT, "--within", "60").out
    assert "n within 60, whatever the data" in text
    asked = jali("ask", clinic, COUNT, "--within", "60", "--json").document
    assert all(high - low <= 120 for _, (low, high) in asked["intervals"])
    again = jali("ask", clinic, COUNT, "--epsilon", asked["cost"]["amount"], "--json").document
    assert again["cached"]
    assert again["rows"] == asked["rows"]


def test_outputs_are_named_and_the_rows_guessed(jali: Runner, clinic: Path) -> None:
    terms = ("--within", "n=500", "--within", "age=40", "--group-rows", "900", "--confidence", "0.9")
    found = jali("explain", clinic, BOTH, *terms, "--json").document
    assert len(found["accuracy"]) == 3
    assert "90 %" in found["accuracy"][0]
    gaussian = jali("explain", clinic, COUNT, "--within", "60", "--noise", "gaussian", "--json").document
    assert gaussian["loss"].startswith("rho ")
    assert 0 < Fraction(gaussian["exact_loss"]) < 1


def test_what_is_not_understood_is_refused(jali: Runner, clinic: Path) -> None:
    for terms in (
        ("--within", "60", "--epsilon", "1"),
        ("--within", "60", "--within", "n=2"),
        ("--within", "m=2"),
    ):
        outcome = jali("explain", clinic, COUNT, *terms)
        assert outcome.code != 0
        assert "within" in outcome.err
