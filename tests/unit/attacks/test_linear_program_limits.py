from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from jali.attacks import Facts, LinearProgram, Noise, simulator
from jali.attacks.convex import limits
from jali.attacks.convex.tails import Errors, errors_of
from jali.attacks.subsets.listed import random_subsets


def _errors(text: str, n: int = 10_000) -> Errors:
    errors = errors_of(Noise.of(text, n=n), n)
    assert errors is not None
    return errors


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(
    ("noise", "law"),
    [
        ("uniform:50", scipy.stats.uniform(-0.5, 1.0)),
        ("laplace:30", scipy.stats.laplace(0, 0.3)),
        ("gaussian:40", scipy.stats.norm(0, 0.4)),
    ],
)
def test_tails_are_those_of_the_noise_and_a_normal_part(noise: str, law: object, power: int) -> None:
    """Checked by the quantiles of the noise, and the tail of a normal law, which is known."""
    line, spread = 0.35, 0.2
    quantiles = law.ppf((np.arange(100_000) + 0.5) / 100_000)  # type: ignore[attr-defined]
    z = (quantiles - line) / spread
    cdf, pdf = scipy.stats.norm.cdf(z), scipy.stats.norm.pdf(z)
    above = spread * (z * cdf + pdf) if power == 1 else spread**2 * ((1 + z * z) * cdf + z * pdf)
    assert _errors(noise).beyond(line, power, spread=spread) == pytest.approx(2 * above.mean(), rel=1e-3)


def test_the_cut_is_that_of_a_normal_number() -> None:
    grid = np.linspace(0, 12, 1_200_001)
    for spread in (0.1, 0.7, 5.0):
        cut, density = np.minimum(spread * grid, 1), scipy.stats.norm.pdf(grid)
        found = limits.Cut.at(spread)
        assert found.length**2 == pytest.approx(scipy.integrate.trapezoid(cut**2 * density, grid), rel=1e-6)
        assert found.pull == pytest.approx(scipy.integrate.trapezoid(grid * cut * density, grid), rel=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 8.0])
def test_little_normal_noise_has_the_spread_of_box_least_squares(ratio: float) -> None:
    """Bits at an edge, half of them, cost nothing: 4 s^2 / (m - n/2) (Thrampoulidis, Xu, Hassibi 2018)."""
    spread = limits.slab(_errors("gaussian:2"), ratio, 0.0)
    assert spread == pytest.approx(2 * 0.02 / math.sqrt(ratio - 0.5), rel=0.01)


def test_exact_answers_need_half_as_many_questions_as_people() -> None:
    for limit in (limits.chebyshev, limits.absolute):
        assert limit(_errors("none"), 0.45) is None
        spread = limit(_errors("none"), 0.55)
        assert spread is not None
        assert limits.prediction(spread).fraction == 1
        assert limit(_errors("none"), 0.0) is None


def test_the_largest_error_sees_edges_and_only_edges() -> None:
    """Twice the noise and twice the questions leave the spread alone, where many answers are near the bound."""
    once = limits.chebyshev(_errors("uniform:0.25*sqrt(n)"), 4.0)
    twice = limits.chebyshev(_errors("uniform:0.5*sqrt(n)"), 8.0)
    assert once == pytest.approx(twice, rel=1e-3)


@pytest.mark.parametrize(
    ("loss", "noise", "questions"),
    [
        ("chebyshev", "uniform:sqrt(n)", 512),
        ("chebyshev", "uniform:0.5*sqrt(n)", 128),
        ("absolute", "laplace:0.5*sqrt(n)", 256),
        ("absolute", "gaussian:0.5*sqrt(n)", 128),
        ("feasible", "uniform:sqrt(n)", 512),
        ("feasible", "uniform:0.25*sqrt(n)", 32),
    ],
)
def test_the_share_of_right_bits_is_the_limit(loss: str, noise: str, questions: int) -> None:
    """Seeded; 24 secrets of 64 bits, within 4 standard errors of their mean, and two tenths of a percent."""
    shares = []
    for seed in range(24):
        attack = LinearProgram(loss=loss, questions=questions, seed=seed + 1000)
        shares.append(attack.run(simulator(n=64, noise=noise, seed=seed)).fraction)
    prediction = attack.predict(Facts(64, Noise.of(noise, n=64), questions))
    assert prediction is not None
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert abs(np.mean(shares) - prediction.fraction) < 4 * error + 0.002


@pytest.mark.parametrize(("share", "survived"), [(0.36, True), (0.52, False)])
def test_garbage_on_one_side_is_survived_up_to_the_transition(share: float, survived: bool) -> None:
    assert limits.survives(share, 8.0) == survived
    for seed in range(3):
        random = np.random.default_rng(seed)
        bits, subsets = random.integers(0, 2, 96), random_subsets(768, 96, seed=seed + 50)
        answers = subsets.matvec(bits.astype(np.float64)) + np.where(random.random(768) < share, 96.0, 0.0)
        found = LinearProgram(seed=1).solve(subsets, answers, Noise("garbage", share))
        assert ((found > 0.5) == bits).all() == survived


def test_more_questions_survive_more_garbage_but_never_half() -> None:
    assert not limits.survives(0.25, 1.0)
    assert limits.survives(0.25, 4.0)
    assert limits.survives(0.45, 50.0)
    assert not limits.survives(0.5, 1000.0)
    assert limits.survives(0.0, 1.0)
