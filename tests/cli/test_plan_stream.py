from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jali as jali_package
from jali.streams import Participation, choose

Runner = Callable[..., Any]
SOURCE = str(Path(jali_package.__file__).parents[1])
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
YEAR = ("plan", "stream", "--horizon", "365", "--epsilon", "1")


def section() -> str:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith("jali plan stream"))


def table(out: str) -> list[list[str]]:
    """Return the rows of the table, in words."""
    return [line.split() for line in out.split("\n\n")[1].splitlines()[2:]]


def test_the_counters_are_shown_from_the_least_error_up(jali: Runner) -> None:
    outcome = jali(*YEAR)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("365 ticks within epsilon=1; add-remove, each person in one tick\n")
    fit = [cells for cells in table(outcome.out) if cells[-2:] != ["left", "out"]]
    largest = [float(cells[2]) for cells in fit]
    assert largest == sorted(largest)
    best = choose(horizon=365, epsilon=1, person=Participation(adjacency="add-remove")).best
    (marked,) = (cells for cells in fit if cells[-1] == "*")
    assert marked[0] == best.name
    assert f"\nTake {best.name} with {best.noise} noise" in outcome.out


def test_a_program_gets_the_same_facts(jali: Runner) -> None:
    person = Participation(adjacency="replace-one", ticks=3, separation=7, l1=2)
    options = ("--delta", "1e-6", "--max-ticks", "3", "--separation", "7", "--max-items", "2")
    document = jali(*YEAR, *options, "--replace-one", "--oblivious", "--memory", "50", "--json").document
    choices = choose(horizon=365, epsilon=1, delta="1e-6", person=person, adaptive=False, memory=50)
    assert document["best"] == choices.best.name
    assert document["advice"] == choices.advice
    assert document["person"] == {"adjacency": "replace-one", "max_ticks": 3, "separation": 7, "max_items": "2"}
    figures = [(row.name, row.noise, row.largest, row.rms, row.error) for row in choices.alternatives]
    names = ("counter", "noise", "largest", "rms", "error")
    assert [tuple(row[name] for name in names) for row in document["counters"]] == figures
    assert [row["left_out"] for row in document["counters"]] == [row.said or None for row in choices.alternatives]


def test_gaussian_noise_needs_a_delta_or_a_rho(jali: Runner) -> None:
    def noises(*options: str) -> set[str]:
        found = jali("plan", "stream", "--horizon", "9", *options, "--json").document["counters"]
        return {row["noise"] for row in found}

    assert noises("--epsilon", "1") == {"Laplace"}
    assert noises("--rho", "0.1") == {"Gaussian"}
    assert noises("--epsilon", "1", "--delta", "1e-6") == {"Laplace", "Gaussian"}


def test_what_is_left_out_is_told_with_the_reason(jali: Runner) -> None:
    told = " ".join(jali(*YEAR, "--memory", "1").out.split())
    assert "it keeps more than 1 number." in told
    assert "Take every-item with Laplace noise" in told


def test_lines_fit_the_page(jali: Runner) -> None:
    outcome = jali("plan", "stream", "--horizon", "100000", "--epsilon", "0.001", "--delta", "1e-9")
    assert max(map(len, outcome.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "The privacy loss of the stream is missing. Write --epsilon 1"),
        (("--epsilon", "1"), "The horizon of the stream is missing. Write --horizon 365"),
        (("--horizon", "9", "--epsilon", "1", "--rho", "1"), "--epsilon and --rho cannot be combined."),
        (
            ("--horizon", "9", "--rho", "1", "--delta", "1e-6"),
            "--delta can be combined with --epsilon, not with --rho.",
        ),
        (("--horizon", "0", "--epsilon", "1"), "--horizon must be a whole number of at least 1, not 0."),
        (("--horizon", "many", "--epsilon", "1"), "--horizon must be a whole number"),
        (("--horizon", "--epsilon", "1"), "--horizon needs a value: --epsilon follows it. See `jali plan stream"),
        (("--horizon", "9", "--epsilon", "0"), "--epsilon must be above 0"),
        (("--horizon", "9", "--epsilon", "x"), "--epsilon is not a finite number"),
        (("--horizon", "9", "--epsilon", "1", "--delta", "2"), "--delta must be in [0, 1)"),
        (("--horizon", "9", "--rho", "-1"), "--rho must be above 0"),
        (("--horizon", "9", "--epsilon", "1", "--max-items", "0"), "--max-items must be above 0"),
        (("--horizon", "9", "--epsilon", "1", "--max-ticks", "0"), "--max-ticks must be a whole"),
        (("--horizon", "9", "--epsilon", "1", "--separation", "1.5"), "--separation must be a whole number"),
        (("--horizon", "9", "--epsilon", "1", "--memory", "0"), "--memory must be a whole number"),
        (("--horizon", "9", "--epsilon", "1", "--by", "mean"), '--by must be "largest" or "rms"'),
        (("--horizon", "9", "--bogus"), "No such option: --bogus. See `jali plan stream --help`."),
        (("--horizon", "9", "--epsilon", "1", "7"), "extra argument"),
    ],
)
def test_wrong_use_is_explained_and_names_the_option(jali: Runner, arguments: tuple[str, ...], said: str) -> None:
    people, program = (jali("plan", "stream", *arguments, *more) for more in ((), ("--json",)))
    assert (people.code, people.out, program.code) == (2, "", 2)
    assert said in " ".join(people.err.split())
    assert program.document["error"]["exit_code"] == 2


def test_options_before_the_word_stream_are_refused(jali: Runner) -> None:
    outcome = jali("plan", "--epsilon", "1", "stream", "--horizon", "9")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--epsilon must follow the word stream. Write `jali plan stream --epsilon ...`." in outcome.err


def test_help_has_an_example_and_every_option_is_on_the_page(jali: Runner) -> None:
    outcome = jali("plan", "stream", "--help")
    assert "Example: jali plan stream --horizon 365" in outcome.out
    options = set(re.findall(r"--[a-z-]+", outcome.out)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z-]+", section()))
    assert "stream" in jali("plan", "--help").out


def test_every_field_of_the_document_is_on_the_page(jali: Runner) -> None:
    def fields(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(fields, value.values()))
        return set().union(*map(fields, value)) if isinstance(value, list) else set()

    found = fields(jali(*YEAR, "--json").document)
    assert {field for field in found if f"`{field}`" not in section()} == set()


def test_planning_a_stream_loads_no_database(tmp_path: Path) -> None:
    code = (
        "import sys; from jali.cli import main; code = main(sys.argv[1:]); "
        "sys.exit(90 if {'duckdb', 'sqlglot', 'sqlite3'} & set(sys.modules) else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *YEAR],
        env=os.environ | {"PYTHONPATH": SOURCE},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
