from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Runner = Callable[..., Any]


def test_people_see_questions_truth_plan_and_refusal(jali: Runner) -> None:
    outcome = jali("demo")
    assert outcome.code == 0
    for words in (
        "200,000 visits of 40,000 patients",
        "synthetic: nobody is in it",
        "the exact answer after clamping and capping at 10 visits a patient",
        "about 1 interval in 20 misses: that is what 95 % means",
        "bounded",
        "raw",
        "lost to",
        "moved by",
        "Isolation",
        "Plan for a question on visits",
        "`jali explain` shows the engine's query too",
        "Refused:",
        "Requested",
        "Remaining",
        "Difference",
        "jali demo --keep hospital",
        "jali ledger hospital/hospital.jali",
        "jali ask hospital/hospital.jali",
    ):
        assert words in outcome.out
    assert "Engine query" not in outcome.out


def test_a_directory_with_a_blank_is_quoted_in_what_to_do_next(jali: Runner, tmp_path: Path) -> None:
    kept = tmp_path / "my hospital"
    out = jali("demo", "--keep", kept).out
    assert f"ledger '{kept}/hospital.jali'" in out
    assert "--keep" not in out


def test_the_demo_can_be_kept_and_gone_on_with(jali: Runner, tmp_path: Path) -> None:
    kept = tmp_path / "hospital"
    assert jali("demo", "--keep", kept, "--json").document["synthetic"] is True
    assert jali("verify", kept / "hospital.jali").code == 0
    again = jali("demo", "--keep", kept)
    assert again.code == 2
    assert "not empty" in again.err
