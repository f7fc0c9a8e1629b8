"""Batch releases: patterns, thresholds, lattices, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.sensitivity import Sensitivity
from jali.mechanisms.sparse_vector.above_threshold import AboveThreshold
from jali.mechanisms.sparse_vector.sparse_vector import SparseVector
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
