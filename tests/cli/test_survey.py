from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runner = Callable[..., Any]
TRAVEL = ("--categories", "bus=0.5,car=0.3,foot=0.2")


def cells(out: str, answer: str) -> list[str]:
    """Return the cells of an answer's row."""
    return next(line.split() for line in out.splitlines() if line.startswith(f"{answer} "))


def test_a_survey_shows_estimate_truth_interval_loss_and_shuffling(jali: Runner) -> None:
    outcome = jali("survey")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("1,000 people answer by Warner's coin, epsilon 1 each\n")
    assert cells(outcome.out, "yes")[2] == "%"
    told = " ".join(outcome.out.split())
    assert "loss epsilon 1 for each person" in told
    assert "error at most 6.8 % for any answer, at 95 % confidence" in told
    assert "shuffled epsilon 0.126615 at delta 1e-06 for each person (exactly)" in told


@pytest.mark.parametrize(
    ("method", "shown"),
    [
        ("auto", "kary"),
        ("kary", "kary"),
        ("unary", "unary"),
        ("subset", "subset"),
    ],
)
def test_every_method_estimates_within_its_error(jali: Runner, method: str, shown: str) -> None:
    """20,000 people at a confidence of 1 - 1e-9: three intervals fail with a chance below 1e-8."""
    arguments = ("survey", "--people", "20000", *TRAVEL, "--method", method, "--confidence", "0.999999999")
    document = jali(*arguments, "--json").document
    assert document["method"] == shown
    assert (document["covered"], document["surveys"], document["epsilon"]) == (3, 1, "1")
    for row in document["answers"]:
        low, high = row["interval"]
        assert low <= row["truth"] <= high
        assert abs(row["estimate"] - row["truth"]) <= document["error"]
        assert row["plain"] < (high - low) / 2


def test_one_bit_is_enough_for_many_categories(jali: Runner) -> None:
    document = jali("survey", "--people", "1e4", *TRAVEL, "--method", "hadamard", "--json").document
    assert (document["method"], document["title"]) == ("hadamard", "Hadamard response")
    assert document["people"] == 10_000


def test_two_fair_coins_lose_the_logarithm_of_three(jali: Runner) -> None:
    outcome = jali("survey", "--method", "almost-random", "--truth", "0.1")
    assert "two coins, epsilon 1.09862 each" in outcome.out
    assert [row["share"] for row in jali("survey", "--truth", "0.1", "--json").document["answers"]] == [
        "9/10",
        "1/10",
    ]


def test_shares_may_be_percentages(jali: Runner) -> None:
    assert [row["share"] for row in jali("survey", "--truth", "30%", "--json").document["answers"]] == [
        "7/10",
        "3/10",
    ]
    document = jali("survey", "--categories", "a=50%,b = 1/4, c=25 %", "--json").document
    assert [(row["answer"], row["share"]) for row in document["answers"]] == [
        ("a", "1/2"),
        ("b", "1/4"),
        ("c", "1/4"),
    ]


def test_shuffling_is_a_number_rounded_up(jali: Runner) -> None:
    shuffled = jali("survey", "--json").document["shuffled"]
    assert shuffled["epsilon"] == pytest.approx(0.1266144812, abs=1e-9)
    assert shuffled["method"] == "count"


@pytest.mark.parametrize(
    "arguments",
    [("--epsilon", "40", "--people", "100"), ("--confidence", "0.9999999999999999", "--people", "3000")],
)
def test_answers_that_are_nearly_plain_or_nearly_sure_are_no_trouble(
    jali: Runner, arguments: tuple[str, ...]
) -> None:
    outcome = jali("survey", *arguments)
    assert (outcome.code, outcome.err) == (0, "")


def test_numbers_stay_short_where_answers_tell_nothing(jali: Runner) -> None:
    table = jali("survey", "--epsilon", "1e-12").out.splitlines()[2:6]
    assert max(map(len, table)) < 70
    assert "e+12" in table[2]


def test_repeated_surveys_count_the_intervals_that_hold_the_truth(jali: Runner) -> None:
    """200 intervals of 99 %: fewer than 180 would be a chance below 1e-12."""
    arguments = ("survey", "--people", "2000", "--repeat", "100", "--confidence", "0.99", "--epsilon", "2")
    document = jali(*arguments, "--json").document
    assert document["surveys"] == 100
    assert 180 <= document["covered"] <= 200
    for row in document["answers"]:
        assert row["root_mean_square"] == pytest.approx(row["forecast"], rel=0.5)
    assert "100 surveys: " in jali(*arguments).out


def test_the_survey_is_drawn_into_a_file(jali: Runner, tmp_path: Path) -> None:
    path = tmp_path / "survey.png"
    assert jali("survey", *TRAVEL, "--plot", path).code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_names_from_the_command_line_cannot_move_the_cursor(jali: Runner) -> None:
    assert "\x1b" not in jali("survey", "--categories", "a\x1b[2J=0.5,b=0.5").out


def test_every_field_of_the_document_is_on_the_page(jali: Runner) -> None:
    page = (Path(__file__).parents[2] / "docs" / "local.md").read_text(encoding="utf-8")

    def fields(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(fields, value.values()))
        return set().union(*map(fields, value)) if isinstance(value, list) else set()

    found = fields(jali("survey", "--json").document)
    assert {field for field in found if f"`{field}`" not in page} == set()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--people", "0"), "--people must be a whole number from 1 to 10,000,000, not 0."),
        (("--people", "many"), "--people must be a whole number"),
        (("--repeat", "1.5"), "--repeat must be a whole number"),
        (("--truth", "1.2"), "--truth must be between 0 and 1"),
        (
            ("--truth", "0.2", *TRAVEL),
            "--truth and --categories cannot be combined: --truth is for yes/no questions",
        ),
        (("--categories", "a=0.5,b=0.2"), "--categories must have shares that sum to 1, not 0.7."),
        (("--categories", "a=1"), "--categories needs two or more distinct names, each with a share"),
        (("--categories", "a=0.5,a=0.5"), "--categories names a twice"),
        (("--categories", "a=0.5,b"), "--categories: the share of b is missing."),
        (("--categories", "a,b,c"), "--categories: the share of a is missing."),
        (("--categories", "a=0.5,=0.5"), "--categories: a name is missing."),
        (("--categories", "a=0.5,b=x"), "--categories: the share of b is not a finite number"),
        (
            ("--categories", "a=0.33333333333333333333333,b=0.66666666666666666666667"),
            "--categories must be short",
        ),
        (("--truth", "0.33333333333333333333333333333"), "--truth must be short decimals or fractions."),
        (("--truth", "130%"), "--truth must be between 0 and 1"),
        (("--epsilon", "1e-300"), "--epsilon must be at least 1e-12."),
        (("--method", "guess"), "--method must be one of auto, warner"),
        (
            ("--method", "warner", *TRAVEL),
            "--method warner only supports yes/no questions, but there are 3 answers.",
        ),
        (
            ("--method", "almost-random", "--epsilon", "1"),
            "--epsilon cannot be combined with --method almost-random, whose epsilon is ln 3",
        ),
        (("--epsilon", "0"), "--epsilon must be above 0"),
        (("--epsilon", "x"), "--epsilon is not a finite number"),
        (("--confidence", "95"), "--confidence must be between 0 and 1, not"),
        (("--delta", "0"), "--delta must be above 0"),
        (("--plot", "nowhere/at/all.png"), "--plot: nowhere/at/all.png cannot be written."),
        (("--plot", "picture.abc"), "--plot: picture.abc cannot be written."),
    ],
)
def test_wrong_use_is_explained_and_names_the_option(jali: Runner, arguments: tuple[str, ...], told: str) -> None:
    people, program = jali("survey", *arguments), jali("survey", *arguments, "--json")
    assert (people.code, people.out, program.code) == (2, "", 2)
    assert told in people.err
    assert program.document["error"]["exit_code"] == 2


def test_lines_fit_the_page(jali: Runner) -> None:
    outcome = jali("survey", *TRAVEL, "--repeat", "3")
    assert max(len(line) for line in outcome.out.splitlines()) <= 100
