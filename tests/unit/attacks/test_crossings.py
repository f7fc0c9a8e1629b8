"""The probabilities behind singletons, averaging and differences, against numerical sums and integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jali.attacks.laws.crossings import crossing, difference_crossing
from jali.attacks.noises import Noise

_GRID = np.linspace(-60, 60, 240_001)


def _density(noise: Noise) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    x, size = _GRID, noise.size
    if noise.kind == "uniform":
        density = (np.abs(x) <= size) / (2 * size)
    elif noise.kind == "laplace":
        density = np.exp(-np.abs(x) / size) / (2 * size)
    else:
        density = np.exp(-((x / size) ** 2) / 2) / (size * math.sqrt(2 * math.pi))
    return np.asarray(density)


@pytest.mark.parametrize("noise", [Noise("uniform", 0.7), Noise("laplace", 1.5), Noise("gaussian", 2.0)], ids=str)
def test_continuous_noise_crosses_the_half_as_often_as_its_density_says(noise: Noise) -> None:
    step = _GRID[1] - _GRID[0]
    assert crossing(noise) == pytest.approx(_density(noise)[_GRID > 0.5].sum() * step, abs=1e-3)


@pytest.mark.parametrize("noise", [Noise("uniform", 0.7), Noise("laplace", 1.5), Noise("gaussian", 2.0)], ids=str)
def test_the_difference_of_two_crosses_it_as_often_as_their_convolution_says(noise: Noise) -> None:
    coarse = slice(None, None, 40)
    density = _density(noise)[coarse]
    step = float(_GRID[40] - _GRID[0])
    both = np.convolve(density, density, mode="same") * step
    assert difference_crossing(noise) == pytest.approx(both[_GRID[coarse] > 0.5].sum() * step, abs=0.02)


@pytest.mark.parametrize("scale", [0.3, 1.0, 8.0])
def test_discrete_noise_crosses_it_as_often_as_the_sum_of_its_masses_says(scale: float) -> None:
    k = np.arange(-400, 401)
    mass = np.exp(-np.abs(k) / scale)
    mass /= mass.sum()
    same = float((mass * mass).sum())
    assert crossing(Noise("geometric", scale)) == pytest.approx(mass[k >= 1].sum(), rel=1e-12)
    assert difference_crossing(Noise("geometric", scale)) == pytest.approx((1 - same) / 2, rel=1e-12)
    assert Noise("geometric", scale).stddev == pytest.approx(math.sqrt((mass * k * k).sum()), rel=1e-12)


def test_exact_answers_never_cross_it_and_where_no_law_is_known_nothing_is_said() -> None:
    assert (
        crossing(Noise("none")) == crossing(Noise("laplace", 0)) == difference_crossing(Noise("geometric", 0)) == 0
    )
    assert crossing(Noise("garbage", 0.1)) is None
    assert difference_crossing(Noise("rounding", 5)) is None
