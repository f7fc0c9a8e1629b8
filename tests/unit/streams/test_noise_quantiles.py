"""Quantiles of the noise in a value, against laws that are summed up exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import thinned

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.streams.noise_quantiles import value_quantile

REACH = 400
LAWS = [DiscreteLaplaceLaw(Fraction(4)), DiscreteGaussianLaw(Fraction(30))]


def masses(law: IndependentLaw) -> NDArray[np.float64]:
    """Return the probabilities of -REACH .. REACH, from the densities."""
    places = np.abs(np.arange(-REACH, REACH + 1, dtype=float))
    logs = -places / 4 if isinstance(law, DiscreteLaplaceLaw) else -(places**2) / 60
    return np.asarray(np.exp(logs) / np.exp(logs).sum())


def exact_sum(law: IndependentLaw, multiples: list[int]) -> NDArray[np.float64]:
    """Return the law of the sum of noises times whole numbers, around its middle."""
    total = np.ones(1)
    for multiple in multiples:
        stretched = np.zeros(2 * REACH * multiple + 1)
        stretched[::multiple] = masses(law)
        total = np.convolve(total, stretched)
    return total


@thinned(4)
@pytest.mark.parametrize("law", LAWS, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("multiples", [[1], [2, 1], [4, 2, 2, 1, 1, 1, 1], [6] * 9 + [3] * 5 + [2]])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_quantile_holds_and_is_nearly_exact(
    law: IndependentLaw, multiples: list[int], confidence: float
) -> None:
    bound = value_quantile(np.array(multiples) / 6, law, confidence)
    chances = exact_sum(law, multiples)
    middle = len(chances) // 2
    within = np.cumsum(np.concatenate([chances[middle : middle + 1], 2 * chances[middle + 1 :]]))
    least = int(np.argmax(within >= confidence)) / 6
    assert within[int(np.floor(6 * bound + 1e-9))] >= confidence - 1e-9
    assert bound <= 1.02 * least + 0.2


def test_signs_do_not_matter_and_no_noise_is_no_error() -> None:
    law = DiscreteLaplaceLaw(Fraction(10))
    assert value_quantile(np.array([1.0, -2.0]), law, 0.9) == value_quantile(np.array([2.0, 1.0]), law, 0.9)
    assert value_quantile(np.zeros(3), law, 0.9) == 0


def test_many_different_terms_are_bounded_by_their_moments() -> None:
    law = DiscreteGaussianLaw(Fraction(10**12))
    sizes = np.linspace(1, 2, 1000)
    spread = 1e6 * float(np.sqrt(sizes @ sizes))
    assert 1.95 * spread < value_quantile(sizes, law, 0.95) < 1.97 * spread


@pytest.mark.parametrize("scale", ["1e-9", "1e30"])
def test_extreme_scales_are_bounded_too(scale: str) -> None:
    bound = value_quantile(np.ones(20), DiscreteLaplaceLaw(Fraction(scale)), 0.95)
    assert 0 <= bound < 20 * float(scale) + 1
