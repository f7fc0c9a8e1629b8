"""`jali attack`: the attacks of the registry as verbs, sweeps, the tour, and refusals that name the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.depth import deep

from jali.cli.app import main
from jali.lab.attacks import attacks
from jali.lab.attacks import sweeps as module

Runner = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
SMALL = ("attack", "hadamard", "--n", "64", "--noise", "uniform:1", "--seed", "1")
SWEEP = ("attack", "sweep", "hadamard", "--n", "64", "--points", "3", "--trials", "1", "--seed", "1")


def section() -> str:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith("jali attack"))


def undocumented(told: str) -> set[str]:
    """Return the options of a help text that the page does not have."""
    return set(re.findall(r"--[a-z-]+", told)) - {"--help"} - set(re.findall(r"--[a-z-]+", section()))


def words(text: str) -> str:
    """Return a text without frames and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("arguments", [("attack",), ("attack", "--help")])
def test_the_verb_alone_lists_every_attack_with_its_statement(jali: Runner, arguments: tuple[str, ...]) -> None:
    told = words(jali(*arguments).out)
    for name, kind in attacks().items():
        assert f"{name} {kind.statement}" in told
    assert "jali attack hadamard" in told


@pytest.mark.parametrize("name", list(attacks()))
def test_every_attack_has_help_with_its_statement_an_example_and_its_own_options(jali: Runner, name: str) -> None:
    told = words(jali("attack", name, "--help").out)
    assert attacks()[name].statement in told
    assert f"Example: jali attack {name}" in told
    for field in fields(attacks()[name]):  # type: ignore[arg-type]
        assert f"--{field.name.replace('_', '-')}" in told
    assert "A parameter of the attack." not in told
    assert undocumented(told) == set()


@pytest.mark.parametrize("form", ["sweep", "all"])
def test_every_option_of_the_other_forms_is_on_the_page(jali: Runner, form: str) -> None:
    assert undocumented(jali("attack", form, "--help").out) == set()


def test_an_attack_is_shown_beside_what_was_to_be_expected(jali: Runner) -> None:
    outcome = jali(*SMALL)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("hadamard against a simulator with noise uniform:1\n")
    facts = dict(re.findall(r"^ {2}(\S.*?) {2,}(.+)$", outcome.out, flags=re.MULTILINE))
    assert facts["people"] == "64"
    assert facts["right"].startswith("100 %, 64 of 64 bits;")
    assert facts["no release"].startswith("50.0 %")
    assert "Phi" in facts["law"]
    # (1 + e^-epsilon)^-64 = 0.05
    assert facts["proves"].startswith("epsilon of at least 3.03 (replace-one)")
    assert "spent" not in facts
    assert attacks()["hadamard"].statement in words(outcome.out)


def test_against_jali_the_loss_the_ceiling_and_the_refusal_are_shown(jali: Runner) -> None:
    told = words(jali("attack", "hadamard", "--n", "8", "--against", "jali", "--each", "0.25").out)
    assert "spent epsilon 1 " in told
    assert "ceiling no guess is right with a probability above 73.1 % (replace-one)" in told
    assert "refused after 4 answers: The budget of table" in told


def test_the_adjacency_changes_the_ceiling(jali: Runner) -> None:
    arguments = ("attack", "hadamard", "--n", "4", "--against", "jali", "--adjacency", "add-remove", "--json")
    document = jali(*arguments).document
    assert document["ceiling"] == pytest.approx(0.8807970779778823)
    assert document["epsilon_lower_bound"]["adjacency"] == "add-remove"
    assert (document["epsilon_spent"], document["refused"]["after"]) == ("1", 4)


def test_the_document_has_everything_but_the_bits(jali: Runner) -> None:
    document = jali(*SMALL, "--trials", "2", "--json").document
    assert (document["attack"], document["n"], document["trials"], document["guessed"]) == ("hadamard", 64, 2, 128)
    assert document["interval"][0] < document["fraction"] <= document["interval"][1]
    assert document["epsilon_spent"] is None
    assert sum(guessed for _, _, guessed in document["calibration"]) == 128
    assert set(document) <= set(re.findall(r"`(\w+)`", section()))


def test_a_drawn_seed_is_told_and_makes_the_attack_again(jali: Runner) -> None:
    noisy = ("attack", "hadamard", "--n", "256", "--noise", "uniform:16", "--json")
    once = jali(*noisy).document
    again = jali(*noisy, "--seed", once["seed"]).document
    assert (again["right"], again["seed"]) == (once["right"], once["seed"])
    assert jali(*noisy).document["seed"] != once["seed"]


def test_the_list_is_a_document_too(jali: Runner) -> None:
    listed = jali("attack", "--json").document["attacks"]
    assert [one["name"] for one in listed] == list(attacks())
    assert {"attacks", *listed[0]} <= set(re.findall(r"`(\w+)`", section()))


def test_a_seed_makes_a_simulated_attack_again(jali: Runner) -> None:
    noisy = ("attack", "hadamard", "--n", "256", "--noise", "uniform:16", "--json", "--seed")
    once, again, other = (jali(*noisy, seed).document["right"] for seed in (7, 7, 8))
    assert once == again
    assert isinstance(other, int)


def test_parameters_of_an_attack_are_its_fields(jali: Runner) -> None:
    document = jali("attack", "averaging", "--n", "4", "--repeats", "7", "--seed", "1", "--json").document
    assert document["questions"] == 28


def test_flags_of_an_attack_are_options_without_a_value(jali: Runner) -> None:
    arguments = ("attack", "averaging", "--n", "3", "--repeats", "4", "--against", "jali", "--json")
    asked = [jali(*arguments, *flag).document["questions"] for flag in ((), ("--same-words",))]
    assert asked == [10, 3]


@deep
def test_the_result_is_drawn_into_a_file(jali: Runner, tmp_path: Path) -> None:
    outcome = jali(*SMALL, "--plot", tmp_path / "bits.png")
    assert (outcome.code, outcome.err) == (0, f"drew {tmp_path / 'bits.png'}\n")
    assert (tmp_path / "bits.png").read_bytes().startswith(b"\x89PNG")


@deep
def test_what_was_drawn_is_said_by_its_name_and_not_to_programs(jali: Runner, tmp_path: Path) -> None:
    assert jali(*SMALL, "--plot", tmp_path / "bits").err == f"drew {tmp_path / 'bits.png'}\n"
    assert jali(*SMALL, "--plot", tmp_path / "bits", "--json").err == ""


@pytest.mark.parametrize("arguments", [SMALL, SWEEP])
def test_a_directory_is_no_place_for_one_picture(jali: Runner, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "lab").mkdir()
    outcome = jali(*arguments, "--plot", tmp_path / "lab")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"--plot: {tmp_path / 'lab'} is a directory. Name a file in it: " in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["lab"]


def test_a_result_that_is_not_of_bits_has_a_picture_too(jali: Runner, tmp_path: Path) -> None:
    arguments = ("attack", "tables", "--n", "3", "--against", "jali", "--plot", tmp_path / "block.png")
    assert jali(*arguments).code == 0
    assert (tmp_path / "block.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("people", ["1", "12"])
def test_the_same_words_are_one_charge_and_one_answer_and_are_never_refused(jali: Runner, people: str) -> None:
    arguments = ("attack", "averaging", "--same-words", "--against", "jali", "--n", people, "--repeats", "50")
    told = words(jali(*arguments).out)
    assert f"questions {people} " in told
    assert f"spent epsilon {'0.1' if people == '1' else '1'} " in told
    assert "refused nothing" in told
    assert "3 of 50 for each person, in the same words: the same answer every time, charged once" in told


def test_without_a_ledger_the_price_that_nobody_paid_is_shown(jali: Runner) -> None:
    arguments = ("attack", "hadamard", "--n", "4", "--against", "unledgered", "--each", "3")
    assert "unpaid epsilon 12 would have been spent, had a ledger counted" in words(jali(*arguments).out)
    assert jali(*arguments, "--json").document["epsilon_unpaid"] == "12"


def test_help_offers_what_an_attack_takes(jali: Runner) -> None:
    replay, tables, sticky = (words(jali("attack", name, "--help").out) for name in ("replay", "tables", "sticky"))
    assert set(re.findall(r"--[a-z]+", replay)) == {"--against", "--plot", "--json", "--help"}
    assert "jali attack replay --against FOLDER, with files answers_X.csv and people_X.csv." in replay
    assert "--noise" not in tables
    assert "What is attacked: simulator or jali; simulator by default." in tables
    assert "layers:1 by default. Kinds: layers." in sticky


def test_a_log_that_is_not_where_the_environment_says_is_named(
    jali: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JALI_DIFFIX", "/nope")
    outcome = jali("attack", "replay")
    assert outcome.code == 2
    assert "There is no log at '/nope', the value of JALI_DIFFIX." in outcome.err


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (("--by", "noise", "--noise", "uniform"), "sqrt(n) is at 1; n is at 8."),
        (("--by", "epsilon", "--delta", "1e-5"), "hadamard, gaussian noise"),
        (("--by", "questions", "--epsilon", "2", "--each", "1/2"), "The ledger refuses from question 5 on"),
    ],
)
def test_a_sweep_is_a_table_and_a_document(jali: Runner, by: tuple[str, ...], told: str) -> None:
    outcome = jali(*SWEEP, *by)
    assert (outcome.code, outcome.err) == (0, "")
    assert told in outcome.out
    document = jali(*SWEEP, *by, "--json").document
    assert (document["by"], document["n"], document["trials"]) == (by[1], 64, 1)
    assert len(document["lines"][0]["points"]) == 3


@deep
def test_a_sweep_is_drawn_into_a_file(jali: Runner, tmp_path: Path) -> None:
    assert jali(*SWEEP, "--by", "questions", "--plot", tmp_path / "sweep.png").code == 0
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_a_sweep_begins_and_ends_where_it_is_told(jali: Runner) -> None:
    document = jali(*SWEEP, "--noise", "gaussian", "--from", "1/2", "--to", "2", "--json").document
    assert [point["at"] for point in document["lines"][0]["points"]] == pytest.approx([0.5, 1, 2])


def test_the_tour_is_one_table_a_document_and_pictures(
    jali: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "stops", lambda: iter([("hadamard", "simulator"), ("singletons", "jali")]))
    outcome = jali("attack", "all", "--seed", "1", "--plot", tmp_path / "lab")
    assert (outcome.code, outcome.err) == (0, f"drew 3 pictures into {tmp_path / 'lab'}\n")
    assert "Left out: replay, which needs a log: jali attack replay --against FOLDER." in outcome.out
    assert [line.split()[0] for line in outcome.out.splitlines()[2:4]] == ["hadamard", "singletons"]
    drawn = sorted(path.name for path in (tmp_path / "lab").iterdir())
    assert drawn == ["hadamard-simulator.png", "singletons-jali.png", "tour.png"]
    assert [stop["opponent"] for stop in jali("attack", "all", "--json").document["results"]] == [
        "simulator",
        "jali",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("hadamrd",), "There is no attack 'hadamrd'. Did you mean hadamard?"),
        (
            ("hadamard", "--n", "1000"),
            "--n must be a power of two for Hadamard's questions, not 1000. Use 512 or 1024.",
        ),
        (("hadamard", "--n", "none"), "--n must be a whole number of at least 1, not none. Write --n 4096"),
        (("tables", "--n", "0"), "Write --n 7, for example."),
        (("hadamard", "--n", "2^40"), "--n must be a whole number"),
        (("hadamard", "--n", 1 << 40), "--n must be at most 16,777,216 for hadamard"),
        (("hadamard", "--n", 1 << 14, "--against", "jali"), "A database would need about"),
        (("hadamard", "--noise", "uniform:-1"), "its size must be 0 or more, not -1. Write KIND:SIZE"),
        (("hadamard", "--noise", "blue:1"), "There is no noise 'blue'. Use one of none, uniform"),
        (("hadamard", "--noise", "uniform"), "--noise 'uniform' cannot be read. Write KIND:SIZE"),
        (("hadamard", "--noise", "none:3"), "--noise none takes no size. Write KIND:SIZE"),
        (("hadamard", "--noise", "uniform:inf"), "0 or more and finite, not inf"),
        (("hadamard", "--epsilon", "2"), "--epsilon has no effect against simulator. Leave it out, or point"),
        (("hadamard", "--adjacency", "add-remove"), "--adjacency has no effect against simulator."),
        (("hadamard", "--against", "jali", "--noise", "none"), "--noise has no effect against jali."),
        (("replay", "--n", "3"), "replay has no option --n. It takes --against, --plot"),
        (("tables", "--noise", "uniform:1"), "tables has no option --noise."),
        (("hadamard", "--splits", "3"), "hadamard has no option --splits. It takes --"),
        (
            ("hadamard", "--against", "jalli"),
            "hadamard cannot be pointed at 'jalli'. Point it at simulator or jali",
        ),
        (("replay", "--against", "nowhere.csv"), "There is no log at 'nowhere.csv'."),
        (("hadamard", "--against", "jali", "--epsilon", "0"), "--epsilon must be above 0"),
        (("hadamard", "--against", "jali", "--delta", "2"), "--delta must be in [0, 1), not 2. Give a small"),
        (("hadamard", "--trials", "0"), "must be a whole number of at least 1, not 0. Write --trials 10, for"),
        (("hadamard", "--against", "jali", "--adjacency", "far"), "not 'far'. Leave it out for replace-one."),
        (("hadamard", "--seed", "-1"), "--seed must be a whole number of at least 0, not -1. Write --seed 1"),
        (("hadamard", "--seed", "abc"), "--seed must be a whole number of at least 0, not abc."),
        (("hadamard", "--noise"), "--noise"),
        (("hadamard", "more"), "unexpected extra argument"),
        (("averaging", "--repeats", "some"), "--repeats must be a whole number"),
        (("tracing", "--false-positives", "few"), "--false-positives is not a number: few."),
        (("tracing", "--false-positives", "2"), "--false-positives must be between 0 and 1"),
        (
            ("sweep", "--by", "weather"),
            "--by must be one of noise, epsilon, questions, not weather. Write --by epsilon.",
        ),
        (("sweep", "hadamard", "--n", "100"), "--n must be a power of two for Hadamard's questions"),
        (("sweep", "hadamard", "--points", "0"), "Write --points 12, for example."),
        (("sweep", "hadamard", "--by", "epsilon", "--delta", "2", "--n", "64"), "--delta must be in [0, 1)"),
        (("sweep", "--each", "1"), "--each has no effect with --by noise."),
        (("sweep", "--noise", "garbage"), "noise 'garbage' cannot be swept."),
        (("sweep", "tracing"), "tracing cannot be swept, because it does not query a simulator for counts."),
        (("sweep", "hadamard", "--from", "2", "--to", "1"), "--from must be below the last point: 2 is not"),
        (("sweep", "hadamard", "--points", "1"), "--points must be from 2 to 200"),
        (("hadamard", "--n", "4", "--plot", "nowhere/at/all.png"), "cannot be written"),
        (("all", "--epsilon", "x"), "--epsilon is not a finite number"),
    ],
)
def test_wrong_use_is_refused_with_a_remedy(jali: Runner, arguments: tuple[str, ...], told: str) -> None:
    outcome = jali("attack", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err


@pytest.mark.parametrize("arguments", [("hadamrd",), ("hadamard", "--splits", "3"), ("hadamard", "more")])
def test_wrong_use_is_a_document_for_programs(jali: Runner, arguments: tuple[str, ...]) -> None:
    error = jali("attack", *arguments, "--json").document["error"]
    assert error["exit_code"] == 2
    assert error["remedy"]


def test_a_directory_for_pictures_is_made_before_anything_runs(jali: Runner, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    outcome = jali("attack", "all", "--plot", tmp_path / "taken")
    assert (outcome.code, outcome.out) == (2, "")
    assert "is not a directory" in outcome.err


def test_wrong_use_points_to_the_help_of_the_attack(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "hadamard", "more"]) == 2
    assert "See `jali attack hadamard --help`." in capsys.readouterr().err


def test_lines_fit_the_page(jali: Runner) -> None:
    against = ("attack", "hadamard", "--n", "4", "--against", "jali")
    assert max(len(line) for line in jali(*against).out.splitlines()) <= 100
    for arguments in (SWEEP, (*SWEEP, "--by", "epsilon"), (*SWEEP, "--by", "questions")):
        assert max(len(line) for line in jali(*arguments).out.splitlines()) <= 80
