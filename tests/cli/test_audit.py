"""`jali audit`: anybody's function, what is registered, everything, and a witness once more."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jali.lab.audit import Subject
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects import subject_registry
from jali.lab.audit.subjects.subject_registry import SubjectEntry
from jali.privacy import Adjacency, Pure

Runner = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
# On a lattice, as floating-point noise is caught by its digits, whatever its scale.
FUNCTIONS = """
import numpy as np

def honest(value, size, rng):
    return np.round((value + rng.laplace(0, 2, size)) * 4) / 4

def broken(value, size, rng):
    return np.round((value + rng.laplace(0, 1 / 2, size)) * 4) / 4

def floats(value, size, rng):
    return value + rng.laplace(0, 2, size)
"""
CLAIM = ("--epsilon", "1/2", "--adjacency", "add-remove", "--seed", "1", "--samples", "40000")


# Other processes would not know what is registered here.
QUICKLY = ("--samples", "20000", "--seed", "1", "--workers", "1")


@pytest.fixture
def noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "noise.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "noise", raising=False)  # that of another test
    return tmp_path


def section() -> str:
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith("jali audit"))


def facts(text: str) -> dict[str, str]:
    return dict(re.findall(r"^ {2}(\S.*?) {2,}(.+)$", text, flags=re.MULTILINE))


@pytest.mark.parametrize("word", ["noise.py:honest", "all", "replay"])
def test_every_form_has_help_and_every_option_is_on_the_page(jali: Runner, word: str) -> None:
    outcome = jali("audit", word, "--help")
    assert outcome.code == 0
    assert "Example: jali audit" in outcome.out
    options = set(re.findall(r"--[a-z-]+", outcome.out)) - {"--help"}
    assert options
    assert options <= set(re.findall(r"--[a-z-]+", section()))


def test_an_honest_function_passes_with_what_was_tried_and_how_far(jali: Runner, noise: Path) -> None:
    outcome = jali("audit", "noise.py:honest", *CLAIM)
    assert (outcome.code, outcome.err) == (0, "")
    told = facts(outcome.out)
    assert re.fullmatch(
        r"no violation found up to epsilon 0\.[0-4]\d* of 0\.5 claimed, at 99 % confidence", told["verdict"]
    )
    assert told["claim"] == "epsilon 0.5 (add-remove)"
    assert "pairwise: " in outcome.out
    assert "private" not in outcome.out


def test_a_violation_has_an_exit_code_of_its_own_and_a_witness(jali: Runner, noise: Path) -> None:
    outcome = jali("audit", "noise.py:broken", *CLAIM, "--out", "witness.json", "--plot", "found.png")
    told = "wrote witness.json; replay it with: jali audit replay witness.json\ndrew found.png\n"
    assert (outcome.code, outcome.err) == (1, told)
    assert facts(outcome.out)["verdict"].startswith("violation: claims epsilon 0.5, loses at least ")
    assert {"inputs", "event", "rates"} <= set(facts(outcome.out))
    assert (noise / "found.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((noise / "witness.json").read_text())["source"] == "noise.py:broken"


def test_a_witness_is_replayed_by_one_command(jali: Runner, noise: Path) -> None:
    jali("audit", "noise.py:broken", *CLAIM, "--out", "witness.json")
    outcome = jali("audit", "replay", "witness.json", "--samples", "20000")
    assert (outcome.code, outcome.err) == (1, "")
    assert facts(outcome.out)["reproduces"] == "yes"
    document = jali("audit", "replay", "witness.json", "--json").document
    assert document["reproduces"] is True
    assert document["now"]["found"] > 0.5
    assert set(document) <= set(re.findall(r"`(\w+)`", section()))
    # The function was mended meanwhile.
    (noise / "noise.py").write_text(FUNCTIONS.replace("1 / 2", "2"), encoding="utf-8")
    mended = jali("audit", "replay", "witness.json", "--samples", "20000")
    assert (mended.code, facts(mended.out)["reproduces"]) == (0, "no")


def test_floating_point_noise_is_found_by_its_digits(jali: Runner, noise: Path) -> None:
    document = jali("audit", "noise:floats", *CLAIM, "--json").document
    assert (document["verdict"], document["findings"][-1]["tester"]) == ("violation", "reachability")
    assert document["found"] > 2


def test_the_document_has_the_fields_of_the_page(jali: Runner, noise: Path) -> None:
    outcome = jali("audit", "noise.py:honest", *CLAIM, "--json", "--data", "scalar")
    document = outcome.document
    assert outcome.code == 0
    assert (document["verdict"], document["kind"], document["claimed"]) == ("nothing found", "epsilon", 0.5)
    assert 0 < document["interval"][0] == document["found"] < document["interval"][1]
    assert document["samples"] <= 40_000
    words = set(re.findall(r"`(\w+)`", section()))
    assert set(document) <= words
    assert set(document["findings"][0]) <= words


def drawn(value: float, count: int, random: np.random.Generator | None) -> Outputs:
    assert random is not None
    return np.round((value + random.laplace(0, 1, (count, 1))) * 4) / 4


def thing(name: str, epsilon: str) -> Subject:
    return Subject(name, Pure(epsilon), Adjacency.ADD_REMOVE, ((0, 1),), drawn, name)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register two claims of one thing and one of another, in place of all."""
    held = (thing("Thing, at 2", "2"), thing("Thing, at 3", "3"), thing("Other, at 1/2", "1/2"))
    lines = tuple(SubjectEntry(one.name, one.claim, one.adjacency, lambda one=one: one) for one in held)  # type: ignore[misc]
    monkeypatch.setattr(subject_registry, "list_entries", lambda: lines)


def test_the_verb_alone_lists_what_can_be_audited(jali: Runner, few: None) -> None:
    outcome = jali("audit")
    assert outcome.code == 0
    assert [re.split(r" {2,}", line) for line in outcome.out.splitlines()[2:]] == [
        ["Thing", "2", "epsilon 2 (add-remove)"],
        ["Other", "1", "epsilon 0.5 (add-remove)"],
    ]


def test_everything_is_one_table_a_document_and_a_picture(jali: Runner, few: None, tmp_path: Path) -> None:
    outcome = jali("audit", "all", *QUICKLY, "--plot", tmp_path / "all.png")
    assert (outcome.code, outcome.err) == (1, f"drew {tmp_path / 'all.png'}\n")
    rows = [re.split(r" {2,}", line) for line in outcome.out.splitlines()[2:4]]
    assert [row[0] for row in rows] == ["Thing", "Other"]
    assert [row[-1] for row in rows] == ["no violation", "violation"]
    assert "3 claims: 1 violation, at 99 % confidence for all together" in outcome.out
    assert (tmp_path / "all.png").read_bytes().startswith(b"\x89PNG")
    document = jali("audit", "all", *QUICKLY, "--json").document
    assert document["violations"] == ["Other, at 1/2"]
    assert set(document) <= set(re.findall(r"`(\w+)`", section()))


def test_a_name_stands_for_all_its_claims(jali: Runner, few: None) -> None:
    outcome = jali("audit", "Thing", "--samples", "20000", "--seed", "1")
    assert outcome.code == 0
    assert "2 claims: no violation found" in outcome.out
    one = jali("audit", "Other", "--samples", "20000", "--seed", "1")
    assert one.code == 1
    assert one.out.startswith("Other, at 1/2\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("noise.py:honest", "--epsilon", "1"), "--adjacency is missing: a privacy claim depends on it."),
        (
            ("noise.py:honest", "--adjacency", "add-remove"),
            "A claim must be --epsilon, --epsilon and --delta, or --rho.",
        ),
        (("noise.py:honest", *CLAIM, "--rho", "1"), "A claim must be --epsilon, --epsilon and --delta, or --rho"),
        (("noise.py:honest", "--epsilon", "x", "--adjacency", "add-remove"), "--epsilon is not a finite number"),
        (("noise.py:honest", "--epsilon", "1", "--adjacency", "far"), "--adjacency must be 'add-remove' or"),
        (("noise.py:onest", *CLAIM), "Did you mean noise.py:honest?"),
        (("nowhere.py:honest", *CLAIM), "There is no file nowhere.py."),
        (("noise.py:honest", *CLAIM, "--data", "moons:5"), "--data 'moons:5' is not a data pattern."),
        (("noise.py:honest", *CLAIM, "--confidence", "2"), "--confidence must"),
        (("noise.py:honest", *CLAIM, "--samples", "none"), "--samples must be a whole number"),
        (("noise.py:honest", *CLAIM, "--deep", "0"), "--deep must be above 0"),
        (("noise.py:honest", *CLAIM, "--out", "no/where.json"), "--out: no/where.json cannot be written."),
        (("all", "--plot", "no/where.png"), "--plot: no/where.png cannot be written."),
        (("Thingy",), "Nothing is registered as 'Thingy'. Did you mean Thing?"),
        (("Thing", "--epsilon", "1"), "Thing is registered with its own claim, so --epsilon has no effect."),
        (("replay", "nowhere.json"), "There is no file nowhere.json."),
        (("replay",), "FILE"),
    ],
)
def test_wrong_use_is_refused_with_a_remedy(
    jali: Runner, noise: Path, few: None, arguments: tuple[str, ...], told: str
) -> None:
    outcome = jali("audit", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err


def test_the_list_is_a_document_too(jali: Runner, few: None) -> None:
    listed = jali("audit", "--json").document["registered"]
    assert [one["name"] for one in listed] == ["Thing, at 2", "Thing, at 3", "Other, at 1/2"]
    assert listed[2] == {
        "name": "Other, at 1/2", "group": "Other", "claim": "epsilon 0.5", "adjacency": "add-remove"
    }  # fmt: skip
    assert {"registered", *listed[0]} <= set(re.findall(r"`(\w+)`", section()))


def test_stages_can_be_left_out(jali: Runner, noise: Path) -> None:
    document = jali("audit", "noise:floats", *CLAIM, "--skip", "reachability,pairwise", "--json").document
    assert document["verdict"] == "nothing found"
    assert {one["tester"] for one in document["findings"]}.isdisjoint({"reachability", "pairwise"})
    outcome = jali("audit", "noise:floats", *CLAIM, "--skip", "thinking")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--skip: there is no stage 'thinking'." in outcome.err
    assert "one-run" in outcome.err


def test_other_stages_are_run_after_a_violation_if_asked(jali: Runner, noise: Path) -> None:
    stopped = jali("audit", "noise:floats", *CLAIM, "--json").document["findings"]
    onward = jali("audit", "noise:floats", *CLAIM, "--onward", "--json").document["findings"]
    assert [one["tester"] for one in stopped][-1] == "reachability"
    assert "pairwise" in {one["tester"] for one in onward}


def test_what_a_function_prints_is_not_part_of_the_report(jali: Runner, noise: Path) -> None:
    loud = FUNCTIONS + "\ndef loud(value, size, rng):\n    print('loud')\n    return honest(value, size, rng)\n"
    (noise / "noise.py").write_text(loud, encoding="utf-8")
    outcome = jali("audit", "noise.py:loud", *CLAIM, "--json")
    assert outcome.document["verdict"] == "nothing found"
    assert "loud\n" in outcome.err


def test_lines_fit_the_page(jali: Runner, noise: Path, few: None) -> None:
    for arguments in (("noise.py:broken", *CLAIM), ("all", *QUICKLY), ()):
        assert max(len(line) for line in jali("audit", *arguments).out.splitlines()) <= 100
