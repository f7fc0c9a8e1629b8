"""`jali stream create --last` and `--restart`, and `jali plan stream` with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runner = Callable[..., Any]


@pytest.fixture
def create(jali: Runner, tmp_path: Path) -> Runner:
    """A runner of `jali stream create` on a database."""
    file = tmp_path / "clinic.jali"
    jali("init", file)
    return lambda *options: jali(
        "stream", "create", file, "admissions", "--unit", "patient", "--epsilon", 1, *options
    )


@pytest.mark.parametrize(
    ("options", "said", "window"),
    [
        (("--last", 7), "count over the last 7 ticks", {"last": 7}),
        (("--restart", 7), "count from tick 1, 8, 15, ... anew", {"restart": 7}),
        (("--restart", 1, "--horizon", 30), "count of each tick", {"restart": 1}),
        (("--horizon", 30), "count so far", None),
    ],
)
def test_a_window_is_declared_and_told(
    jali: Runner,
    create: Runner,
    tmp_path: Path,
    options: tuple[Any, ...],
    said: str,
    window: dict[str, int] | None,
) -> None:
    made = create(*options)
    assert made.code == 0
    assert said in made.out
    assert "Nothing changed" in create(*options).out
    file = tmp_path / "clinic.jali"
    assert jali("stream", "publish", file, "admissions", "--tick", 9).code == 0
    assert said in jali("stream", "show", file, "admissions").out
    document = jali("stream", "show", file, "admissions", "--json").document
    assert document["window"] == window
    assert document["horizon"] == (30 if "--horizon" in options else None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--last", 0), "--last must be a whole number"),
        (
            ("--last", 7, "--restart", 7),
            "Give --last 7 for a sliding window of 7 ticks, or --restart 7 to restart after every 7 ticks",
        ),
        (("--last", 7, "--horizon", 5), "--last is 7, but the stream has 5 ticks"),
        (("--last", 7, "--separation", 2), "Give --max-ticks as well, or leave --separation out."),
        (
            ("--last", 7, "--mechanism", "balanced-digits"),
            "If no increment depends on published values, declare --oblivious",
        ),
        (("--last", 7, "--mechanism", "toeplitz-root"), "Add a delta, or give rho"),
        (("--horizon", 365, "--max-ticks", 400, "--separation", 28), "Give 14 or fewer"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_the_words_of_the_options(
    create: Runner, options: tuple[Any, ...], said: str
) -> None:
    refused = create(*options)
    assert refused.code == 2
    assert said in refused.err


def test_a_plan_compares_the_counters_of_a_window(jali: Runner) -> None:
    made = jali("plan", "stream", "--last", 7, "--epsilon", 1)
    assert made.code == 0
    assert "over the last 7 ticks" in made.out
    assert "sliding-every-item" in made.out
    assert (
        jali("plan", "stream", "--restart", 7, "--epsilon", 1, "--json").document["best"] == "tumbling-every-item"
    )
    both = jali("plan", "stream", "--restart", 7, "--last", 7, "--epsilon", 1)
    assert both.code == 2
    assert "--last and restart cannot be combined" in both.err
