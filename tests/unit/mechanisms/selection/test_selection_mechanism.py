"""Scales at the ends of what doubles hold, and how many candidates an error is about."""

from __future__ import annotations

import inspect
import math
from functools import partial
from typing import Any

import pytest

from jali.errors import MechanismError
from jali.mechanisms.base import Mechanism
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.generalised_exponential import GeneralisedExponential
from jali.mechanisms.selection.gumbel_top_k import GumbelTopK
from jali.mechanisms.selection.interval_exponential import IntervalExponential
from jali.mechanisms.selection.joint_top_k import JointTopK
from jali.mechanisms.selection.noisy_max import NoisyMax
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip


def generalised(*, sensitivity: Any, epsilon: Any) -> GeneralisedExponential:
    return GeneralisedExponential(sensitivities=[sensitivity, sensitivity], epsilon=epsilon)


COUNTING: tuple[Any, ...] = (
    Exponential,
    PermuteAndFlip,
    NoisyMax,
    partial(NoisyMax, noise="laplace"),
    partial(GumbelTopK, k=2),
    partial(JointTopK, k=2, adjacency="add-remove"),
)
MAKERS: tuple[Any, ...] = (*COUNTING, partial(IntervalExponential, low=0, high=5, step=1), generalised)
every_maker = pytest.mark.parametrize("make", MAKERS, ids=range(len(MAKERS)))


@every_maker
def test_noise_beyond_all_doubles_is_refused(make: Any) -> None:
    with pytest.raises(MechanismError, match="sensitivity/epsilon"):
        make(sensitivity="1e300", epsilon="1e-300")


@every_maker
@pytest.mark.parametrize(
    ("sensitivity", "epsilon"), [("1e-300", "1e300"), ("1e300", "1e300"), ("1e200", "1e-90"), ("1e-300", "1e-300")]
)
def test_errors_of_extreme_parameters_are_doubles_above_zero(make: Any, sensitivity: str, epsilon: str) -> None:
    """The first scale is below all doubles: its error is rounded up, not down to 0."""
    mechanism: Mechanism = make(sensitivity=sensitivity, epsilon=epsilon)
    assert 0 < mechanism.error(0.9) < math.inf


@pytest.mark.parametrize("make", COUNTING, ids=range(len(COUNTING)))
def test_an_error_without_candidates_is_about_few_of_them_and_the_docstring_says_so(make: Any) -> None:
    mechanism = make(sensitivity=1, epsilon=1)
    few = mechanism.k + 1 if hasattr(mechanism, "k") else 2
    assert mechanism.error(0.9) == mechanism.error(0.9, candidates=few) < mechanism.error(0.9, candidates=few + 1)
    for text in (inspect.getdoc(type(mechanism)), inspect.getdoc(type(mechanism).error)):
        assert text is not None
        assert "candidates" in text
        assert "grow" in text


@pytest.mark.parametrize("make", COUNTING, ids=range(len(COUNTING)))
@pytest.mark.parametrize("candidates", [10**400, 0, 2.5, "3", True])
def test_impossible_numbers_of_candidates_are_refused_by_name(make: Any, candidates: Any) -> None:
    with pytest.raises(MechanismError, match="candidates"):
        make(sensitivity=1, epsilon=1).error(0.9, candidates=candidates)
