"""Calls for many outputs: an error or a warning is one run's, and the runs are independent all the same."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.depth import DEPTH, deep, thinned

from jali.errors import CatalogError
from jali.lab.audit import Effort, Subject, Verdict, audit, subject_of
from jali.lab.audit.function_caller import BatchResult, isolate_failures
from jali.lab.audit.subject import Outputs
from jali.lab.audit.testers.properties import RAISED, WARNED, watch_runs
from jali.privacy import Adjacency, Pure


def _pieces(rate: float, count: int, random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    def call(size: int) -> BatchResult[list[float]]:
        failed = bool((random.random(size) < rate).any())
        return BatchResult([1.0 if failed else 0.0] * size, failed)

    pieces = isolate_failures(call, count)
    return np.array([row for piece in pieces for row in piece])


@thinned(4)
@pytest.mark.parametrize(("rate", "count"), [(0.5, 7), (0.02, 50), (1e-3, 100), (1.0, 9), (0.0, 9)])
def test_failures_are_as_many_as_those_of_independent_runs(rate: float, count: int) -> None:
    """Seeded; the counts have the mean and the spread of a binomial, to five standard errors."""
    random, repeats = np.random.default_rng(1), 2000
    made = np.array([_pieces(rate, count, random).sum() for _ in range(repeats)])
    law = stats.binom(count, rate)
    assert abs(made.mean() - law.mean()) <= 5 * law.std() / repeats**0.5
    fourth = float(stats.binom(count, rate).moment(4)) if law.std() else 0.0
    assert abs(made.var() - law.var()) <= 5 * (fourth / repeats) ** 0.5
    assert len(_pieces(rate, count, random)) == count


def _flaky(value: float, size: int, rng: np.random.Generator) -> Any:
    if rng.random(size).min() < 3e-5:
        raise RuntimeError("overflow")
    return np.rint(value + rng.laplace(0, 2, size))


@deep
def test_an_honest_function_of_many_outputs_that_rarely_fails_is_not_accused() -> None:
    """Seeded. Counted as a failure of each output, the same function is accused in a quarter of all audits."""
    for seed in range(8):
        subject = subject_of(_flaky, epsilon=0.7, delta=1e-3, adjacency="add-remove", data="scalar")
        assert audit(subject, Effort(100_000, seed=seed)).verdict is Verdict.NOTHING_FOUND


def test_a_failure_of_one_output_is_not_that_of_the_others() -> None:
    subject = subject_of(_flaky, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
    random = np.random.default_rng(1)
    rows = np.concatenate([subject.draw(0, 1 << 15, random) for _ in range(4 * DEPTH)])
    failed = int(np.isnan(rows[:, 0]).sum()) or int((rows[:, -1] != 0).sum())
    assert stats.binomtest(failed, len(rows), 3e-5).pvalue > 1e-6


def test_what_gives_no_single_output_is_refused_when_a_call_for_many_fails() -> None:
    def stubborn(value: float, size: int, rng: np.random.Generator) -> Any:
        if size == 1:
            return 0.5
        raise RuntimeError

    subject = subject_of(stubborn, epsilon=1, adjacency="add-remove", pairs=[(0, 1)], encoder=_encoder())
    with pytest.raises(CatalogError, match="did not return the requested 1 output"):
        subject.draw(0, 1000, np.random.default_rng(1))


def _encoder() -> str:
    return str(subject_of(_flaky, epsilon=1, adjacency="add-remove", pairs=[(0, 1)]).encoder)


def test_warnings_and_errors_of_watched_runs_keep_their_rate() -> None:
    """Seeded: a third of a percent of runs warn, in calls for a hundred at a time."""

    def draw(value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        if (random.random(count) < 1 / 300).any():
            warnings.warn("rare", RuntimeWarning, stacklevel=1)
        return np.zeros((count, 1))

    subject, _ = watch_runs(Subject("warns", Pure(1), Adjacency.REPLACE_ONE, ((0, 1),), draw))
    random = np.random.default_rng(2)
    traits = np.concatenate([subject.draw(0, 100, random) for _ in range(300)])
    assert stats.binomtest(int((traits[:, WARNED] != 0).sum()), len(traits), 1 / 300).pvalue > 1e-6
    assert not traits[:, RAISED].any()


@pytest.mark.parametrize("size", [False, True])
def test_a_function_that_ends_the_program_has_an_output_of_its_own(size: bool) -> None:
    def once(data: list[int], rng: np.random.Generator) -> int:
        if len(data) == 10 and rng.random() < 0.3:
            sys.exit(0)
        return round(rng.laplace(0, 1))

    def many(data: list[int], size: int, rng: np.random.Generator) -> Any:
        if len(data) == 10 and (rng.random(size) < 0.3).any():
            sys.exit(0)
        return np.rint(rng.laplace(0, 1, size))

    subject = subject_of(many if size else once, epsilon=1, adjacency="add-remove", data="values:10 in 0..1")
    assert audit(subject, Effort(20_000, seed=1)).verdict is Verdict.VIOLATION


def test_an_interrupt_ends_the_audit() -> None:
    def interrupted(data: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subject_of(interrupted, epsilon=1, adjacency="add-remove", pairs=[(0, 1)])
