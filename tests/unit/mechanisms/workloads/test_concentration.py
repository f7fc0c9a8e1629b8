"""Bounds on the tails of sums, against exact convolutions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import thinned

from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.concentration import sum_quantile

LAWS = (
    DiscreteLaplaceLaw(Fraction(1, 3)),
    DiscreteLaplaceLaw(Fraction(2)),
    DiscreteLaplaceLaw(Fraction(5)),
    DiscreteGaussianLaw(Fraction(1, 5)),
    DiscreteGaussianLaw(Fraction(12)),
)


def exact_quantile(whole: list[int], law: Any, confidence: float) -> int:
    """Return the quantile of |sum c_i X_i| for integer coefficients, by convolution."""
    reach = 30 * math.ceil(law.stddev) + 10
    total = np.ones(1)
    for c in whole:
        spread = np.zeros(2 * abs(c) * reach + 1)
        spread[:: abs(c)] = [math.exp(law.log_mass(z)) for z in range(-reach, reach + 1)]
        total = np.convolve(total, spread)
    middle = len(total) // 2
    inside = total[middle] + np.concatenate([[0.0], np.cumsum(total[middle + 1 :] + total[middle - 1 :: -1])])
    return int(np.flatnonzero(inside >= confidence)[0])


@thinned(4)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("whole", [[1], [1, 1], [3, 1, -2], [1] * 20, [1] * 15 + [4]])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
def test_the_bound_holds_and_is_not_far_off(law: Any, whole: list[int], confidence: float) -> None:
    bound = sum_quantile(np.array(whole, float), law, confidence)
    wanted = exact_quantile(whole, law, confidence)
    assert bound >= wanted - 1e-9
    if confidence > 0.9:
        assert bound <= 1.6 * wanted + 3 * max(map(abs, whole)) + 3 * law.stddev
    if len(whole) == 1:
        assert bound == wanted


def test_the_moment_generating_function_of_the_discrete_laplace_law_is_as_stated() -> None:
    _check_moments(mpmath.mpf(2), mpmath.mpf("0.3"))
    _check_moments(mpmath.mpf("0.5"), mpmath.mpf("1.7"))


def _check_moments(scale: Any, s: Any) -> None:
    q = mpmath.exp(-1 / scale)
    terms = mpmath.nsum(lambda x: q ** abs(x) * mpmath.exp(s * x), [-mpmath.inf, mpmath.inf])
    closed = 1 / (1 - (mpmath.sinh(s / 2) / mpmath.sinh(1 / (2 * scale))) ** 2)
    assert mpmath.almosteq((1 - q) / (1 + q) * terms, closed, rel_eps=mpmath.mpf("1e-12"))


def test_millions_of_small_coefficients_tend_to_the_normal_law() -> None:
    law = DiscreteLaplaceLaw(Fraction(5))
    bound = sum_quantile(np.full(1_000_000, 1e-3), law, 0.95)
    # Chernoff's bound of a normal variable: sqrt(2 ln 40) standard deviations instead of 1.96.
    assert bound == pytest.approx(math.sqrt(2 * math.log(40)) * law.stddev, rel=0.01)


def test_no_noise_means_no_error() -> None:
    assert sum_quantile(np.zeros(5), LAWS[0], 0.95) == 0
