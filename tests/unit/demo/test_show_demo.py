from __future__ import annotations

import importlib
import io
from fractions import Fraction
from typing import Any

import pytest

from jali.demo.demo_steps import DemoReport
from jali.demo.show_demo import FEW_STRIP_CELLS, STRIP_CELLS, draw_strip_text

# Laplace noise exceeds k times its 95 % half-width with probability 0.05**k: below 2e-8 for k = 6, so that the 23
# numbers of one run raise a false alarm less than once in 10**6.
PLAUSIBLE = 6.0


@pytest.fixture(scope="module")
def found() -> DemoReport:
    from jali.demo import run

    return run()


@pytest.fixture(scope="module")
def report(found: DemoReport) -> dict[str, Any]:
    return found.to_json()


@pytest.fixture
def found_before(found: DemoReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Show what was found before: to find it takes a second."""
    monkeypatch.setattr(importlib.import_module("jali.demo.show_demo"), "steps", lambda *_: iter(found.steps))


def test_the_table_is_as_announced(report: dict[str, Any]) -> None:
    table = report["table"]
    assert report["synthetic"] is True
    assert (table["visits"], table["patients"]) == (200_000, 40_000)
    assert table["most_visits"] > 50
    assert table["kept"] > 0.9


def test_counts_and_sums_are_within_reason_of_the_bounded_truth(report: dict[str, Any]) -> None:
    for question in report["questions"]:
        if "AVG" in question["sql"]:
            continue
        for line in question["lines"]:
            half = (line["high"] - line["low"]) / 2
            assert abs(line["value"] - line["bounded"]) <= PLAUSIBLE * half, question["sql"]


def test_means_of_large_wards_are_within_reason_of_the_bounded_truth(report: dict[str, Any]) -> None:
    means = next(q for q in report["questions"] if "AVG" in q["sql"])
    counts = next(q for q in report["questions"] if q["sql"].startswith("SELECT ward, COUNT"))
    large = {line["key"] for line in counts["lines"] if (line["raw"] or 0) > 10_000}
    assert len(large) > 3
    for line in means["lines"]:
        if line["key"] in large:
            half = (line["high"] - line["low"]) / 2
            assert abs(line["value"] - line["bounded"]) <= PLAUSIBLE * half


def test_bounding_removes_little_and_never_adds_to_a_count(report: dict[str, Any]) -> None:
    for question in report["questions"]:
        if "AVG" not in question["sql"]:
            for line in question["lines"]:
                raw = line["raw"] or 0
                assert 0.8 * raw <= line["bounded"] <= raw


def test_an_empty_ward_is_answered_like_any_other(report: dict[str, Any]) -> None:
    counts = next(q for q in report["questions"] if q["sql"].startswith("SELECT ward, COUNT"))
    empty = next(line for line in counts["lines"] if line["key"] == "Isolation")
    assert (empty["bounded"], empty["raw"]) == (0.0, None)
    assert empty["value"] is not None


def test_costs_add_up_and_the_last_question_is_refused(report: dict[str, Any]) -> None:
    assert [q["left"] for q in report["questions"]] == ["0.9", "0.8", "0.6", "0.3", "0.1"]
    refused = report["refused"]
    assert refused["account"] == "grant ana on visits"
    assert Fraction(refused["difference"]) == Fraction(refused["requested"]) - Fraction(refused["remaining"])
    assert (refused["requested"], refused["remaining"]) == ("1/5", "1/10")


def test_a_plan_is_explained(report: dict[str, Any]) -> None:
    assert report["explained"]["unit"] == "patient_id"
    assert len(report["explained"]["measures"]) == 2


@pytest.mark.usefixtures("found_before")
@pytest.mark.parametrize("width", [80, 90, 100])
def test_no_line_is_too_long_or_ends_in_blanks(width: int) -> None:
    from rich.console import Console

    from jali.demo import show

    stream = io.StringIO()
    show(console=Console(file=stream, width=width))
    lines = stream.getvalue().splitlines()
    assert max(len(line) for line in lines) <= width
    assert [line for line in lines if line != line.rstrip()] == []
    first = next(i for i, line in enumerate(lines) if line.startswith("  Privacy unit"))
    last = next(i for i, line in enumerate(lines) if line.startswith("Answers"))
    assert all(line.startswith("  ") for line in lines[first : last - 1])


@pytest.mark.usefixtures("found_before")
def test_the_demo_shows_colour_where_it_is_wanted() -> None:
    from rich.console import Console

    from jali.demo import show

    stream = io.StringIO()
    show(console=Console(file=stream, width=100, force_terminal=True, color_system="standard"))
    assert "\x1b[" in stream.getvalue()


@pytest.mark.parametrize(
    ("truth", "drawn"),
    [
        (11.0, "     ├────●─◆──┤     "),
        (10.0, "     ├────◆────┤     "),
        (-90.0, "<    ├────●────┤     "),
        (90.0, "     ├────●────┤    >"),
        (None, "     ├────●────┤     "),
    ],
)
def test_a_strip_shows_where_the_truth_is(truth: float | None, drawn: str) -> None:
    assert draw_strip_text(10.0, 8.0, 12.0, truth) == drawn


def test_a_strip_for_a_narrow_terminal_is_shorter() -> None:
    assert draw_strip_text(10.0, 8.0, 12.0, None, FEW_STRIP_CELLS) == "   ├──●──┤   "


def test_a_strip_without_an_interval_is_empty() -> None:
    assert draw_strip_text(None, 8.0, 12.0, 9.0) == draw_strip_text(1.0, None, None, 1.0) == " " * STRIP_CELLS
