"""The noise an attacker knows: how it is read, and how often it carries a count across the half."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.attacks.noise_models import KINDS, Noise, find_crossing, find_difference_crossing


def test_a_noise_is_read_with_its_size() -> None:
    assert Noise.of("uniform:16", n=64) == Noise("uniform", 16)
    assert Noise.of("gaussian: 0.5 * sqrt(n)", n=64) == Noise("gaussian", 4)
    assert Noise.of("laplace:sqrt(n)", n=64) == Noise("laplace", 8)
    assert Noise.of("none", n=64) == Noise("none")
    assert Noise.of(Noise("uniform", 3), n=64) == Noise("uniform", 3)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again(kind: str) -> None:
    noise = Noise(kind, 0.0 if kind == "none" else 0.25)
    assert Noise.of(str(noise), n=7) == noise


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("uniform:-1", "must be 0 or more"),
        ("gaussian:-2*sqrt(n)", "must be 0 or more"),
        ("uniform:nan", "must be 0 or more"),
        ("uniform:inf", "must be 0 or more"),
        ("uniform", "cannot be read"),
        ("uniform:", "cannot be read"),
        ("uniform:much", "cannot be read"),
        ("uniform:two*sqrt(n)", "cannot be read"),
        ("pink:3", "There is no noise 'pink'"),
        ("garbage:1.5", "at most 1"),
    ],
)
def test_bad_noise_is_refused_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(CatalogError, match=said) as refused:
        Noise.of(text, n=64)
    assert refused.value.remedy


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7, 10, math.sqrt(2), 7.3])
def test_rounding_moves_whole_numbers_as_far_as_it_says(step: float) -> None:
    """All of them up to a multiple of the step and of its double, or of nearly that."""
    counts = np.arange(14_600)[: int(14_600 // (2 * step) * 2 * step)]
    errors = np.round(counts / step) * step - counts
    assert Noise("rounding", step).stddev == pytest.approx(math.sqrt(np.mean(errors**2)), rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("size", [1e-320, 1e-101, 1.1e15, 1e300])
def test_sizes_that_doubles_cannot_add_to_counts_are_refused(size: float) -> None:
    with pytest.raises(CatalogError, match="its size must be 0, or from 1e-100 to 1e"):
        Noise("uniform", size)


def test_moments_and_bounds_are_those_of_the_laws() -> None:
    assert Noise("uniform", 3).stddev == pytest.approx(math.sqrt(3))
    assert Noise("laplace", 3).stddev == pytest.approx(3 * math.sqrt(2))
    assert Noise("gaussian", 3).stddev == 3
    assert (Noise("uniform", 3).bound, Noise("rounding", 10).bound, Noise("worst", 2).bound) == (3, 5, 2)
    assert Noise("gaussian", 3).bound is None
    assert Noise("worst", 2).stddev is None


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
    assert find_crossing(noise) == pytest.approx(_density(noise)[_GRID > 0.5].sum() * step, abs=1e-3)


@pytest.mark.parametrize("noise", [Noise("uniform", 0.7), Noise("laplace", 1.5), Noise("gaussian", 2.0)], ids=str)
def test_the_difference_of_two_crosses_it_as_often_as_their_convolution_says(noise: Noise) -> None:
    coarse = slice(None, None, 40)
    density = _density(noise)[coarse]
    step = float(_GRID[40] - _GRID[0])
    both = np.convolve(density, density, mode="same") * step
    assert find_difference_crossing(noise) == pytest.approx(both[_GRID[coarse] > 0.5].sum() * step, abs=0.02)


@pytest.mark.parametrize("scale", [0.3, 1.0, 8.0])
def test_discrete_noise_crosses_it_as_often_as_the_sum_of_its_masses_says(scale: float) -> None:
    k = np.arange(-400, 401)
    mass = np.exp(-np.abs(k) / scale)
    mass /= mass.sum()
    same = float((mass * mass).sum())
    assert find_crossing(Noise("geometric", scale)) == pytest.approx(mass[k >= 1].sum(), rel=1e-12)
    assert find_difference_crossing(Noise("geometric", scale)) == pytest.approx((1 - same) / 2, rel=1e-12)
    assert Noise("geometric", scale).stddev == pytest.approx(math.sqrt((mass * k * k).sum()), rel=1e-12)


def test_exact_answers_never_cross_it_and_where_no_law_is_known_nothing_is_said() -> None:
    assert (
        find_crossing(Noise("none"))
        == find_crossing(Noise("laplace", 0))
        == find_difference_crossing(Noise("geometric", 0))
        == 0
    )
    assert find_crossing(Noise("garbage", 0.1)) is None
    assert find_difference_crossing(Noise("rounding", 5)) is None
