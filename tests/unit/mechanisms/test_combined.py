"""Sums of noises: bounds that hold, and that are not idle."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.mechanisms.combined import Form, Noises, linear_quantile, ratio_interval
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.noise import DiscreteGaussian, DiscreteLaplace

DRAWS = 200_000


@pytest.mark.parametrize("sigma", [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 3, 10, 40, 63])
def test_the_discrete_gaussian_lies_within_one_of_the_normal(sigma: float) -> None:
    law = DiscreteGaussianLaw(Fraction(sigma) ** 2)
    for m in range(1, int(8 * sigma) + 3):
        beyond = law.tail(m - 1) / 2
        assert 0.5 * math.erfc(m / (sigma * math.sqrt(2))) <= beyond * (1 + 1e-9)
        assert beyond <= 0.5 * math.erfc((m - 1) / (sigma * math.sqrt(2))) * (1 + 1e-9)


def noises(
    scales: list[int], *, gaussian: bool
) -> tuple[list[np.ndarray], list[DiscreteLaplaceLaw | DiscreteGaussianLaw]]:
    bits = SeededBits(7)
    if gaussian:
        samplers = [DiscreteGaussian(Fraction(s) ** 2) for s in scales]
        return [s.sample(DRAWS, bits=bits) for s in samplers], [
            DiscreteGaussianLaw(Fraction(s) ** 2) for s in scales
        ]
    draws = [DiscreteLaplace(Fraction(s)).sample(DRAWS, bits=bits) for s in scales]
    return draws, [DiscreteLaplaceLaw(Fraction(s)) for s in scales]


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scales", [[50], [50, 50], [50, 7], [50, 49], [30, 20, 10], [9, 9, 9, 9]])
def test_the_quantile_of_a_sum_covers_and_is_tight(scales: list[int], gaussian: bool) -> None:
    """With 200,000 draws a coverage below 0.947 has probability under 1e-8 for a true 0.95."""
    draws, laws = noises(scales, gaussian=gaussian)
    coefficients = [1.0, -2.0, 0.5, 1.5][: len(scales)]
    total = sum(c * x for c, x in zip(coefficients, draws, strict=True))
    width = linear_quantile(coefficients, laws, 0.95)
    covered = float(np.mean(np.abs(total) <= width))
    assert covered >= 0.947
    needed = float(np.quantile(np.abs(total), 0.95))
    assert width <= (1.0 if len(scales) == 1 else 1.15) * needed + sum(map(abs, coefficients))


@pytest.mark.parametrize("count", [2, 5, 12, 13])
def test_tails_grow_with_every_scale_and_are_never_below_the_truth(count: int) -> None:
    """Equal scales are the hard case of the closed form; the truth is a convolution of many draws."""
    draws, _ = noises([100] * count, gaussian=False)
    total = np.abs(sum(draws))
    tails = []
    for factor in (1.0, 0.99, 0.9, 0.5):
        bound = Noises((100.0 * factor, *[100.0] * (count - 1)), gaussian=False)
        tails.append(float(bound.tail([np.ones(1)] * count, np.array([900.0]))[0]))
    assert tails == sorted(tails, reverse=True)
    # 200,000 draws: five standard deviations of the frequency are below 0.006.
    assert tails[0] >= np.mean(total >= 900) - 0.006


def test_noise_of_no_size_exceeds_nothing() -> None:
    pair = Noises((10.0, 10.0), gaussian=False)
    assert float(pair.tail([np.zeros(1), np.zeros(1)], np.ones(1))[0]) < 1e-300
    assert float(pair.tail([np.zeros(1), np.ones(1)], np.array([50.0]))[0]) == pytest.approx(
        math.exp(-4.9), rel=1e-6
    )


@pytest.mark.parametrize("gaussian", [False, True])
def test_ratio_intervals_cover(gaussian: bool) -> None:
    draws, laws = noises([40, 20], gaussian=gaussian)
    above, below = 3000 + draws[0].astype(float)[:5000], 1000 + draws[1].astype(float)[:5000]
    forms = Form([1.0, 0.0], 0.0), Form([0.0, 1.0], 0.0)
    for bounds in ((0.0, 10.0), (-math.inf, math.inf)):
        low, high = ratio_interval(*forms, laws, [above, below], confidence=0.95, bounds=bounds)
        # Below 0.93 has probability under 1e-9 for a true 0.95 over 5,000 draws.
        assert np.mean((low <= 3) & (high >= 3)) >= 0.93
        errors = np.quantile(np.abs(above / below - 3), 0.95)
        assert np.median(high - low) <= 1.2 * 2 * errors


def test_a_ratio_over_a_count_near_zero_says_nothing() -> None:
    _, laws = noises([40, 20], gaussian=False)
    values = [np.array([100.0, 100.0]), np.array([5.0, 100_000.0])]
    forms = Form([1.0, 0.0], 0.0), Form([0.0, 1.0], 0.0)
    low, high = ratio_interval(*forms, laws, values, confidence=0.95, bounds=(0.0, 10.0))
    assert (low[0], high[0]) == (0.0, 10.0)
    assert high[1] - low[1] < 0.01
    low, high = ratio_interval(*forms, laws, values, confidence=0.95, bounds=(-math.inf, math.inf))
    assert (low[0], high[0]) == (-math.inf, math.inf)
