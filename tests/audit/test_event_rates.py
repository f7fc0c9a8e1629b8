"""Coins share out runs, and the audited function never sees them; what was tried is what is said."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned

from jali.lab.audit import Effort, Subject, Verdict, audit, subject_of
from jali.lab.audit.subject import Outputs, Tester
from jali.lab.audit.testers.pairwise import Pairwise
from jali.lab.audit.testers.properties import Properties
from jali.lab.audit.testers.reachability import Reachability
from jali.privacy import Adjacency, Pure


@pytest.mark.parametrize("tester", [Properties(), Reachability(), Pairwise()], ids=lambda one: str(one.name))
def test_how_runs_are_shared_out_does_not_depend_on_what_the_function_does_with_its_generator(
    tester: Tester,
) -> None:
    def drawing(more: int) -> Subject:
        def draw(value: float, count: int, random: np.random.Generator | None) -> Outputs:
            assert random is not None
            random.random(more)
            # Half of the outputs of one input are NaN: there is something to count.
            return np.where(random.random((count, 1)) < 0.5 * value, np.nan, random.random((count, 1)))

        return Subject("draws", Pure(1), Adjacency.ADD_REMOVE, ((0, 1),), draw)

    effort = Effort(4000, seed=5)
    runs = [tester.audit(drawing(more), effort).witness.runs for more in (0, 1, 7)]
    blocks = {run[0] / sum(run) for run in runs} if tester.name == "pairwise" else set(runs)
    assert len(blocks) == 1
    assert all(map(all, runs))


def test_only_pairs_that_were_drawn_of_are_counted() -> None:
    subject = subject_of(
        lambda data, rng: round(sum(data) + rng.laplace(0, 5)), epsilon=1, adjacency="add-remove", data="answers:5"
    )
    few, many = (Pairwise().audit(subject, Effort(samples, seed=1)) for samples in (200, 20_000))
    assert few.tried.startswith("1 of 9 pairs both ways")
    assert many.tried.startswith("9 pairs both ways")


def _text(data: list[int], rng: np.random.Generator) -> str:
    return f"{sum(data) + rng.laplace(0, 0.05):.2f}"


def _json(data: list[int], rng: np.random.Generator) -> str:
    return json.dumps({"sum": round(sum(data) + rng.laplace(0, 0.05), 2)})


def _bytes(data: list[int], rng: np.random.Generator) -> bytes:
    return np.float64(round((sum(data) + rng.laplace(0, 0.05)) * 64) / 64).tobytes()


@pytest.mark.parametrize("function", [_text, _json, _bytes])
def test_noise_that_is_too_small_is_found_in_texts_and_bytes(function: Any) -> None:
    subject = subject_of(function, epsilon=1, adjacency="add-remove", data="values:10 in 0..1")
    assert Pairwise().audit(subject, Effort(4000, seed=1)).verdict is Verdict.VIOLATION


def _error(value: int, rng: np.random.Generator) -> int:
    if rng.random() < 0.003:
        raise (ValueError if value else KeyError)
    return round(rng.laplace(0, 1))


def _zero(value: int, rng: np.random.Generator) -> float:
    if rng.random() < 0.003:
        return -0.0 if value else 0.0
    return abs(float(round(rng.laplace(0, 1))))


def _kind(value: int, rng: np.random.Generator) -> float:
    made = abs(float(round(rng.laplace(0, 1))))
    return int(made) if value and rng.random() < 0.003 else made


def _nothing(value: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.003:
        return None if value else "n/a"
    return round(rng.laplace(0, 1))


@thinned(4)
@pytest.mark.parametrize("function", [_error, _zero, _kind, _nothing])
def test_rare_kinds_that_depend_on_the_data_are_found(function: Any) -> None:
    """Whether or not the outputs that the encoder was fitted to had any; seeded but for those."""
    subject = subject_of(function, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
    made = audit(subject, Effort(150_000, seed=1))
    assert made.verdict is Verdict.VIOLATION


def test_items_that_have_no_column_are_said_not_to_be_tried() -> None:
    long = subject_of(lambda data: [0.5] * 600, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
    assert "items past 512 of a collection" in " ".join(str(audit(long, Effort(100, seed=1))).split())
    short = subject_of(lambda data: [0.5] * 60, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
    assert "not tried" not in str(audit(short, Effort(100, seed=1)))
