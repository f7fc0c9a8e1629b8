"""Interactive runs: the cut-off, and no way round it."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import chi2
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.sparse_vector.above_threshold import AboveThreshold
from jali.mechanisms.sparse_vector.sparse_vector import SparseVector
from jali.mechanisms.sparse_vector.watch import Watch

FAR = 10**6


def test_a_watch_refuses_after_the_cut_off_and_says_why() -> None:
    watch = SparseVector(cutoff=2, sensitivity=1, epsilon=1).start(threshold=FAR)
    assert [watch.ask(v) for v in (0, 2 * FAR, 0, 2 * FAR)] == [False, True, False, True]
    assert watch.left == 0
    for _ in range(2):
        with pytest.raises(MechanismError, match="budget of positive answers is used up: 2 of 2"):
            watch.ask(0)


def test_answers_below_are_free() -> None:
    watch = AboveThreshold(sensitivity=1, epsilon=1).start()
    assert not any(watch.ask(-FAR) for _ in range(500))
    assert (watch.left, watch.ask(FAR), watch.left) == (1, True, 0)


def test_numeric_answers_are_none_below_and_near_the_value_above() -> None:
    watch = SparseVector(cutoff=2, sensitivity=1, epsilon=1, epsilon_answers=1).start(threshold=5)
    assert watch.ask(-FAR) is None
    assert abs(watch.ask(FAR) - FAR) < 1000
    assert watch.left == 1


def test_every_start_is_a_run_of_its_own_with_the_whole_loss() -> None:
    mechanism = SparseVector(cutoff=1, sensitivity=1, epsilon=1, epsilon_answers="1/2")
    one, other = mechanism.start(), mechanism.start()
    assert one.ask(FAR) is not None
    assert (one.left, other.left) == (0, 1)
    assert one.loss == mechanism.loss
    assert one.loss.epsilon(0) == 1.5


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda f: f.__name__)
def test_a_watch_cannot_be_copied_or_stored(duplicate: Callable[[Watch], Any]) -> None:
    with pytest.raises(MechanismError, match="copied or stored"):
        duplicate(AboveThreshold(sensitivity=1, epsilon=1).start())


def test_a_forked_child_cannot_go_on_with_the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = AboveThreshold(sensitivity=1, epsilon=1).start()
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(MechanismError, match="process"):
        watch.ask(0)


def test_its_printed_form_says_nothing_of_the_noise() -> None:
    assert repr(SparseVector(cutoff=3, sensitivity=1, epsilon=1).start()) == "Watch(SparseVector, left=3)"


@pytest.mark.parametrize("bad", ["a", 0.5, [1, 2], None])
def test_a_value_of_a_wrong_type_is_refused_and_costs_nothing(bad: Any) -> None:
    watch = AboveThreshold(sensitivity=1, epsilon=1).start()
    with pytest.raises(MechanismError):
        watch.ask(bad)
    assert watch.left == 1


def test_threads_together_get_no_more_positive_answers_than_one() -> None:
    watch = SparseVector(cutoff=20, sensitivity=1, epsilon=1).start()
    answers: list[bool] = []

    def ask_on() -> None:
        try:
            while True:
                answers.append(watch.ask(FAR))
        except MechanismError:
            return

    threads = [threading.Thread(target=ask_on) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(answers) == len(answers) == 20


def test_a_watch_has_the_exact_law_of_a_release() -> None:
    """Chi-square at a false-alarm rate of 1e-8."""
    mechanism, values, runs = SparseVector(cutoff=2, sensitivity=1, epsilon=1), (-1, 1, 0), 1000 * DEPTH
    bits = SeededBits(11)
    seen = Counter(_run(mechanism.start(bits=bits), values) for _ in range(runs))
    cells = {pattern: runs * math.exp(log) for pattern, log in mechanism.log_masses(values).items()}
    statistic = math.fsum((seen[pattern] - expected) ** 2 / expected for pattern, expected in cells.items())
    assert seen.keys() <= cells.keys()
    assert chi2.sf(statistic, len(cells) - 1) > 1e-8


def _run(watch: Watch, values: tuple[int, ...]) -> tuple[bool, ...]:
    return tuple([watch.ask(value) for value in values if watch.left])
