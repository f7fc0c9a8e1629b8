"""Bounds on the quantiles of weighted sums of noises, against exact convolutions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.intervals.weighted_sums import (
    WeightedTerm,
    bound_sum_quantile,
    bound_weighted_quantile,
    bound_weighted_quantile_by_moments,
)

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
    bound = bound_sum_quantile(np.array(whole, float), law, confidence)
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
    bound = bound_sum_quantile(np.full(1_000_000, 1e-3), law, 0.95)
    # Chernoff's bound of a normal variable: sqrt(2 ln 40) standard deviations instead of 1.96.
    assert bound == pytest.approx(math.sqrt(2 * math.log(40)) * law.stddev, rel=0.01)


def test_no_noise_means_no_error() -> None:
    assert bound_sum_quantile(np.zeros(5), LAWS[0], 0.95) == 0


NARROW, WIDE = DiscreteLaplaceLaw(Fraction(1, 2)), DiscreteLaplaceLaw(Fraction(6))
THIN, BELL = DiscreteGaussianLaw(Fraction(1, 20)), DiscreteGaussianLaw(Fraction(9))
# Whole coefficients, how many of each, and the law: sums on the integers, which can be listed.
SUMS: dict[str, list[tuple[int, int, Any]]] = {
    "one twice": [(1, 2, WIDE)],
    "one large, many small": [(20, 1, WIDE), (-1, 30, WIDE), (3, 1, NARROW)],
    "narrow": [(2, 1, NARROW), (-1, 1, NARROW), (1, 1, NARROW)],
    "bells": [(5, 1, BELL), (-1, 12, BELL), (2, 3, THIN)],
    "thin bells": [(2, 1, THIN), (1, 2, THIN)],
    "mixed": [(3, 2, BELL), (7, 1, NARROW), (-2, 4, WIDE)],
}


def tails(terms: list[tuple[int, int, Any]]) -> Any:
    """Return Pr[|Y| > t] for t = 0, 1, ..., by convolution of the listed laws."""
    total = np.ones(1)
    for coefficient, count, law in terms:
        reach = law.bound_tail(1e-15)
        one = np.zeros(2 * abs(coefficient) * reach + 1)
        one[:: abs(coefficient)] = [math.exp(law.log_mass(z)) for z in range(-reach, reach + 1)]
        for _ in range(count):
            total = np.convolve(total, one)
    middle = len(total) // 2
    return 2 * (total[middle + 1 :][::-1].cumsum()[::-1])


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("confidence", [0.3, 0.9, 0.95, 0.999])
def test_the_width_covers_and_is_hardly_wider_than_needed(name: str, confidence: float) -> None:
    beyond = tails(SUMS[name])
    least = int(np.flatnonzero(np.append(beyond, 0.0) <= 1 - confidence)[0])
    terms = [WeightedTerm(abs(float(c)), n, law) for c, n, law in SUMS[name]]
    width = bound_weighted_quantile(terms, confidence)
    assert width >= least - 1e-9
    # The smoothing costs two times 1/500 of the bound by moments; the chances set aside may cost one more step.
    slightly_more = int(np.flatnonzero(np.append(beyond, 0.0) <= (1 - confidence) * 0.998 - 2e-9)[0])
    assert width <= slightly_more + bound_weighted_quantile_by_moments(terms, 1 - confidence) / 249


def test_rare_events_are_bounded_by_moments() -> None:
    beyond = tails(SUMS["mixed"])
    width = bound_weighted_quantile([WeightedTerm(float(c), n, law) for c, n, law in SUMS["mixed"]], 1 - 1e-7)
    least = int(np.flatnonzero(beyond <= 1e-7)[0])
    assert least <= width <= 1.5 * least


@pytest.mark.parametrize("name", SUMS)
def test_moments_bound_every_tail(name: str) -> None:
    terms = [WeightedTerm(abs(float(c)), n, law) for c, n, law in SUMS[name]]
    beyond = tails(SUMS[name])
    for allowed in (0.5, 0.05, 1e-4, 1e-8):
        bound = bound_weighted_quantile_by_moments(terms, allowed)
        assert np.append(beyond, np.zeros(1))[min(int(bound), len(beyond))] <= allowed * (1 + 1e-6)


def test_a_single_noise_has_its_exact_width() -> None:
    assert bound_weighted_quantile([WeightedTerm(-0.5, 1, WIDE)], 0.95) == 0.5 * WIDE.quantile(0.95)
    assert bound_weighted_quantile([WeightedTerm(0.0, 5, WIDE)], 0.95) == 0.0


def test_noise_too_small_to_show_does_not_break_it() -> None:
    still = DiscreteLaplaceLaw(Fraction(1, 5000))
    width = bound_weighted_quantile([WeightedTerm(1.0, 1, WIDE), WeightedTerm(1.0, 9, still)], 0.95)
    assert WIDE.quantile(0.95) <= width <= WIDE.quantile(0.95) + 0.2
    assert bound_weighted_quantile([WeightedTerm(1.0, 9, still)], 0.95) <= 0.1


def test_a_confidence_must_be_between_0_and_1() -> None:
    with pytest.raises(MechanismError, match="confidence"):
        bound_weighted_quantile([WeightedTerm(1.0, 2, WIDE)], 1.0)
