"""Releases of sparse vector: patterns, thresholds, lattices, refusals, and interactive runs up to the cut-off."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.noisy_threshold import Watch
from jali.mechanisms.sparse_vector import AboveThreshold, SparseVector
from jali.privacy.adjacency import Adjacency

FAR = 10**6


def test_the_first_value_far_above_is_found() -> None:
    mechanism = AboveThreshold(sensitivity=1, epsilon=1)
    assert mechanism.release([-FAR, -FAR, FAR, FAR]) == 2
    assert mechanism.release([-FAR, -FAR]) is None
    assert mechanism.release([]) is None


def test_answers_end_with_the_last_permitted_true() -> None:
    mechanism = SparseVector(cutoff=2, sensitivity=1, epsilon=1)
    assert mechanism.release([FAR, -FAR, FAR, FAR, -FAR]) == (True, False, True)
    assert mechanism.release([FAR, -FAR, -FAR]) == (True, False, False)
    assert mechanism.release([]) == ()


def test_values_are_compared_with_the_threshold_given() -> None:
    mechanism = SparseVector(cutoff=5, sensitivity=1, epsilon=1, epsilon_answers=1)
    released = mechanism.release([2 * FAR, 4 * FAR], threshold=3 * FAR)
    assert released[0] is None
    assert abs(released[1] - 4 * FAR) < 1000


def test_values_and_thresholds_beyond_64_bits_are_exact() -> None:
    huge = 1 << 100
    mechanism = SparseVector(cutoff=3, sensitivity=1, epsilon=1, epsilon_answers=1)
    low, high = mechanism.release([huge, huge + FAR], threshold=huge + FAR // 2)
    assert low is None
    assert abs(high - huge - FAR) < 1000


def test_no_mixture_of_integers_fails() -> None:
    mechanism = SparseVector(cutoff=9, sensitivity=1, epsilon=1)
    assert mechanism.release([1 << 63, -FAR]) == (True, False)
    assert mechanism.release([np.int64(-FAR), 1 << 70, np.uint64(1 << 63)]) == (False, True, True)
    assert mechanism.release(np.array([-FAR, FAR])) == (False, True)


def test_real_values_are_answered_on_the_lattice() -> None:
    mechanism = SparseVector(cutoff=3, sensitivity=0.5, epsilon=1, epsilon_answers=1, step=0.25)
    answers = mechanism.release([-1e6, 1e6, float("nan")], threshold=0.5)
    assert answers[0] is None
    assert answers[1] * 4 == int(answers[1] * 4)
    assert mechanism.threshold_scale == 2 / mechanism.threshold_epsilon


def test_a_sensitivity_brings_its_adjacency_and_whether_it_is_monotone() -> None:
    counts = Sensitivity(l1=7, l2=3, l_infinity=2, adjacency="add-remove", monotone=True)
    mechanism = AboveThreshold(sensitivity=counts, epsilon=1)
    assert mechanism.monotone
    assert mechanism.sensitivity == Fraction(2)
    assert mechanism.adjacency is Adjacency.ADD_REMOVE
    assert mechanism.query_scale == 2 / mechanism.query_epsilon
    assert mechanism.threshold_epsilon == Fraction(1, 2)


@pytest.mark.parametrize("adjacency", [None, "replace-one"])
def test_monotone_values_without_add_remove_are_refused(adjacency: str | None) -> None:
    with pytest.raises(MechanismError, match="monotone"):
        AboveThreshold(sensitivity=1, epsilon=1, monotone=True, adjacency=adjacency)
    with pytest.raises(MechanismError, match="monotone"):
        SparseVector(cutoff=2, sensitivity=1, epsilon=1, monotone=True, adjacency=adjacency)


def test_an_adjacency_that_contradicts_the_sensitivity_is_refused() -> None:
    counts = Sensitivity(l1=1, l2=1, l_infinity=1, adjacency="add-remove")
    with pytest.raises(MechanismError, match="adjacency"):
        AboveThreshold(sensitivity=counts, epsilon=1, adjacency="replace-one")


@pytest.mark.parametrize("bad", [1, None, "yes"])
def test_monotone_must_be_true_or_false(bad: Any) -> None:
    with pytest.raises(MechanismError, match="monotone"):
        AboveThreshold(sensitivity=1, epsilon=1, monotone=bad, adjacency="add-remove")


@pytest.mark.parametrize("bad", [["a"], [0.5], [[1, 2]], 3])
def test_values_of_a_wrong_type_are_refused(bad: Any) -> None:
    with pytest.raises(MechanismError):
        AboveThreshold(sensitivity=1, epsilon=1).release(bad)


def test_a_scale_that_cannot_be_sampled_is_refused_when_the_mechanism_is_made() -> None:
    with pytest.raises(MechanismError, match="scale"):
        SparseVector(cutoff=10**12, sensitivity=1, epsilon="1e-12")


def test_numeric_answers_use_noise_that_the_comparison_did_not() -> None:
    """At so large an epsilon_answers the value itself is told, while the value that was tested has much noise."""
    mechanism = SparseVector(cutoff=1, sensitivity=1, epsilon="1/100", epsilon_answers=1000)
    outcomes = mechanism.sample([0], 2000, bits=SeededBits(5))
    assert {outcome[0] for outcome in outcomes} == {None, 0}  # type: ignore[index]


@pytest.mark.parametrize("values", [np.ma.masked_array([1, 2], [True, False]), ["1"], [None], iter([1])])
def test_values_that_are_no_numbers_are_refused_by_type(values: Any) -> None:
    with pytest.raises(MechanismError, match="values must be numbers"):
        SparseVector(cutoff=1, sensitivity=1, epsilon=1).release(values)


FAR_AWAY = 10**6


def test_a_watch_refuses_after_the_cut_off_and_says_why() -> None:
    watch = SparseVector(cutoff=2, sensitivity=1, epsilon=1).start(threshold=FAR_AWAY)
    assert [watch.ask(v) for v in (0, 2 * FAR_AWAY, 0, 2 * FAR_AWAY)] == [False, True, False, True]
    assert watch.left == 0
    for _ in range(2):
        with pytest.raises(MechanismError, match="limit of positive answers is reached: 2 of 2"):
            watch.ask(0)


def test_answers_below_are_free() -> None:
    watch = AboveThreshold(sensitivity=1, epsilon=1).start()
    assert not any(watch.ask(-FAR_AWAY) for _ in range(500))
    assert (watch.left, watch.ask(FAR_AWAY), watch.left) == (1, True, 0)


def test_numeric_answers_are_none_below_and_near_the_value_above() -> None:
    watch = SparseVector(cutoff=2, sensitivity=1, epsilon=1, epsilon_answers=1).start(threshold=5)
    assert watch.ask(-FAR_AWAY) is None
    assert abs(watch.ask(FAR_AWAY) - FAR_AWAY) < 1000
    assert watch.left == 1


def test_every_start_is_a_run_of_its_own_with_the_whole_loss() -> None:
    mechanism = SparseVector(cutoff=1, sensitivity=1, epsilon=1, epsilon_answers="1/2")
    one, other = mechanism.start(), mechanism.start()
    assert one.ask(FAR_AWAY) is not None
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
                answers.append(watch.ask(FAR_AWAY))
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
