"""Sums of noises: bounds that hold, and that are not idle."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits

from jali.mechanisms.additive.cube_laws import CoordinateLaw, CubeLaw
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.intervals.linear_forms import (
    AffineForm,
    LinearFormLaw,
    NoiseBlocks,
    bound_linear_quantile,
    compute_linear_stddev,
    find_ratio_interval,
)
from jali.sampling import DiscreteGaussian, DiscreteLaplace

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
    width = bound_linear_quantile(coefficients, laws, 0.95)
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
        scales = [Fraction(100 * factor), *[Fraction(100)] * (count - 1)]
        bound = NoiseBlocks.of([DiscreteLaplaceLaw(scale) for scale in scales])
        tails.append(float(bound.tail([np.ones(1)] * count, np.array([900.0]))[0]))
    assert tails == sorted(tails, reverse=True)
    # 200,000 draws: five standard deviations of the frequency are below 0.006.
    assert tails[0] >= np.mean(total >= 900) - 0.006


def test_noise_of_no_size_exceeds_nothing() -> None:
    pair = NoiseBlocks.of([DiscreteLaplaceLaw(Fraction(10))] * 2)
    assert float(pair.tail([np.zeros(1), np.zeros(1)], np.ones(1))[0]) < 1e-300
    assert float(pair.tail([np.zeros(1), np.ones(1)], np.array([50.0]))[0]) == pytest.approx(
        math.exp(-4.9), rel=1e-6
    )


@pytest.mark.parametrize("gaussian", [False, True])
def test_ratio_intervals_cover(gaussian: bool) -> None:
    draws, laws = noises([40, 20], gaussian=gaussian)
    above, below = 3000 + draws[0].astype(float)[:5000], 1000 + draws[1].astype(float)[:5000]
    forms = AffineForm([1.0, 0.0], 0.0), AffineForm([0.0, 1.0], 0.0)
    for bounds in ((0.0, 10.0), (-math.inf, math.inf)):
        low, high = find_ratio_interval(*forms, laws, [above, below], confidence=0.95, bounds=bounds)
        # Below 0.93 has probability under 1e-9 for a true 0.95 over 5,000 draws.
        assert np.mean((low <= 3) & (high >= 3)) >= 0.93
        errors = np.quantile(np.abs(above / below - 3), 0.95)
        assert np.median(high - low) <= 1.2 * 2 * errors


def test_a_ratio_over_a_count_near_zero_says_nothing() -> None:
    _, laws = noises([40, 20], gaussian=False)
    values = [np.array([100.0, 100.0]), np.array([5.0, 100_000.0])]
    forms = AffineForm([1.0, 0.0], 0.0), AffineForm([0.0, 1.0], 0.0)
    low, high = find_ratio_interval(*forms, laws, values, confidence=0.95, bounds=(0.0, 10.0))
    assert (low[0], high[0]) == (0.0, 10.0)
    assert high[1] - low[1] < 0.01
    low, high = find_ratio_interval(*forms, laws, values, confidence=0.95, bounds=(-math.inf, math.inf))
    assert (low[0], high[0]) == (-math.inf, math.inf)


COORDINATE = CoordinateLaw(CubeLaw(3, Fraction(1, 60)), 1)
SEVERAL: list[list[LinearFormLaw]] = [
    [COORDINATE, DiscreteLaplaceLaw(Fraction(100))],
    [COORDINATE, DiscreteGaussianLaw(Fraction(150) ** 2)],
    [DiscreteGaussianLaw(Fraction(15) ** 2), COORDINATE],
    [DiscreteLaplaceLaw(Fraction(200)), DiscreteGaussianLaw(Fraction(30) ** 2)],
    [COORDINATE, COORDINATE],
    [COORDINATE, DiscreteLaplaceLaw(Fraction(100)), DiscreteGaussianLaw(Fraction(150) ** 2)],
]


def masses(law: LinearFormLaw) -> np.ndarray:
    """The exact masses, from -far to far."""
    far = law.bound_tail(1e-14)
    return np.exp([law.log_mass(x) for x in range(-far, far + 1)])


def exact_tail(laws: list[LinearFormLaw], t: int) -> float:
    """Pr[|sum of independent noises| >= t] by folding their masses."""
    total = np.ones(1)
    for law in laws:
        total = np.convolve(total, masses(law))
    middle = len(total) // 2
    return float(total[: middle - t + 1].sum() + total[middle + t :].sum())


@thinned(4)
@pytest.mark.parametrize("laws", SEVERAL, ids=lambda laws: "-".join(type(law).__name__[:12] for law in laws))
def test_noises_of_several_kinds_are_folded_tightly(laws: list[LinearFormLaw]) -> None:
    """The bound is above the exact tail, and at most 3 % (three kinds: 5 %) wider, and a few steps."""
    wide = 1.03 if len(laws) == 2 else 1.05
    ones = [1.0] * len(laws)
    for confidence in (0.9, 0.95, 0.999):
        width = bound_linear_quantile(ones, laws, confidence)
        assert exact_tail(laws, math.floor(width) + 1) <= 1 - confidence + 1e-12
        assert exact_tail(laws, math.floor(width / wide) - 4) > 1 - confidence


def test_four_kinds_share_the_threshold() -> None:
    cubes = [CoordinateLaw(CubeLaw(2, Fraction(1, scale)), 0) for scale in (20, 40, 80, 30)]
    width = bound_linear_quantile([1.0] * 4, cubes, 0.95)
    assert exact_tail(list(cubes), math.floor(width) + 1) <= 0.05
    assert width <= 4 * 5 * 80


def test_very_high_confidence_is_reached() -> None:
    laws: list[LinearFormLaw] = [COORDINATE, DiscreteLaplaceLaw(Fraction(100))]
    width = bound_linear_quantile([1.0, 1.0], laws, 1 - 1e-9)
    assert 2000 < width < 8000


def test_a_kind_without_a_part_in_the_form_does_not_matter() -> None:
    gaussian = DiscreteGaussianLaw(Fraction(50) ** 2)
    noises = NoiseBlocks.of([gaussian, COORDINATE, gaussian])
    t, nothing, one = np.array([40.0, 300.0]), np.zeros(2), np.ones(2)
    alone = NoiseBlocks.of([gaussian, gaussian]).tail([one, one], t)
    found = noises.tail([one, nothing, one], t)
    assert (alone <= found).all()
    assert (found <= 1.02 * alone).all()
    assert noises.tail([nothing, nothing, nothing], t).max() == 0.0
    assert noises.only([2, 1]).tail([one, nothing], t) == pytest.approx(noises.tail([one, nothing, nothing], t))
    partly = noises.tail([one, np.array([0.0, 1.0]), one], t)
    assert found[0] <= partly[0] <= 1.02 * found[0]
    assert partly[1] > found[1]


def test_a_place_that_comes_twice_is_of_another_draw() -> None:
    first, second = CoordinateLaw(CubeLaw(2, Fraction(1, 100)), 0), CoordinateLaw(CubeLaw(2, Fraction(1, 100)), 1)
    assert len(NoiseBlocks.of([first, second]).blocks) == 1
    assert len(NoiseBlocks.of([first, second, first]).blocks) == 2
    assert compute_linear_stddev([3.0, 4.0], [first, second]) == pytest.approx(5 * first.stddev)


@pytest.mark.parametrize("kind", ["cube", "mixed"])
def test_ratio_intervals_of_joint_noise_cover(kind: str) -> None:
    """Below 0.925 has probability under 1e-9 for a true 0.95 over 3,000 draws."""
    count, joint = 3000, LInfinity(sensitivity=20, epsilon=1, dimension=2)
    noise = joint.noise(count, 2, bits=SeededBits(8)).astype(float)
    laws: list[LinearFormLaw] = [CoordinateLaw(joint.cube, 0), CoordinateLaw(joint.cube, 1)]
    if kind == "mixed":
        laws[1] = DiscreteLaplaceLaw(Fraction(40))
        noise[:, 1] = DiscreteLaplace(Fraction(40)).sample(count, bits=SeededBits(9))
    above, below = 3000 + noise[:, 0], 1000 + noise[:, 1]
    forms = AffineForm([1.0, 0.0], 0.0), AffineForm([0.0, 1.0], 0.0)
    low, high = find_ratio_interval(*forms, laws, [above, below], confidence=0.95, bounds=(0.0, 10.0))
    covered = np.mean((low <= 3) & (high >= 3))
    assert covered >= 0.925
    assert np.median(high - low) <= 1.15 * 2 * np.quantile(np.abs(above / below - 3), 0.95)
