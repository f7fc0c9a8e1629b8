from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
from tests.depth import thinned

from jali.lab.attacks import Facts, LinearProgram, Noise, simulator
from jali.lab.attacks.convex_attacks import LOSSES
from jali.lab.attacks.decoding import convex_limits
from jali.lab.attacks.decoding.convex_limits import ErrorLaw, find_error_law
from jali.lab.attacks.subsets.random_subsets import random_subsets


def _errors(text: str, n: int = 10_000) -> ErrorLaw:
    errors = find_error_law(Noise.of(text, n=n), n)
    assert errors is not None
    return errors


def _spread(loss: str, errors: ErrorLaw, ratio: float, size: float) -> float | None:
    if loss == "slab":
        return convex_limits.find_slab_spread(errors, ratio, 0.8 * size)
    return LOSSES[loss].limit(errors, ratio, size)


@pytest.mark.parametrize("power", [0, 1, 2])
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
    above = (cdf, spread * (z * cdf + pdf), spread**2 * ((1 + z * z) * cdf + z * pdf))[power]
    assert _errors(noise).beyond(line, power, spread=spread) == pytest.approx(2 * above.mean(), rel=1e-3)


def test_the_cut_is_that_of_a_normal_number() -> None:
    grid = np.linspace(0, 12, 1_200_001)
    for spread in (0.1, 0.7, 5.0, 1e3):
        cut, density = np.minimum(spread * grid, 1), scipy.stats.norm.pdf(grid)
        found = convex_limits.CutEstimate.at(spread)
        assert found.length**2 == pytest.approx(scipy.integrate.trapezoid(cut**2 * density, grid), rel=1e-6)
        assert found.pull == pytest.approx(scipy.integrate.trapezoid(grid * cut * density, grid), rel=1e-6)


@pytest.mark.parametrize("line", [0.05, 0.35, 2.0])
@pytest.mark.parametrize("noise", ["uniform:50", "laplace:30", "gaussian:40", "laplace:0.1", "uniform:0.1"])
def test_what_a_line_cuts_off_is_what_is_beyond_it(noise: str, line: float) -> None:
    """min(x, y)^2 = x^2 - (x - y)_+^2 - 2 y (x - y)_+."""
    errors, spread = _errors(noise), 0.2
    square, above = (errors.beyond(line, power, spread=spread) for power in (2, 1))
    whole = errors.beyond(0.0, 2, spread=spread)
    assert errors.mean_capped_square(line, spread=spread) == pytest.approx(
        whole - square - 2 * line * above, rel=2e-3
    )
    assert errors.within(line, spread=spread) == pytest.approx(1 - errors.beyond(line, 0, spread=spread), rel=2e-3)


@pytest.mark.parametrize(("noise", "least"), [("uniform", 1e9), ("laplace", 1e9), ("gaussian", 1e9)])
def test_beside_large_errors_a_line_keeps_its_digits(noise: str, least: float) -> None:
    """Errors that are as likely as any other exceed a line y but for 2 y f, and leave y^2 - 4 y^3 f / 3."""
    density = {"uniform": 0.5, "laplace": 0.5, "gaussian": 1 / math.sqrt(2 * math.pi)}[noise] / least
    errors = _errors(f"{noise}:{least}*sqrt(n)")
    assert errors.within(0.1, spread=0.3) == pytest.approx(0.2 * density, rel=1e-6)
    assert errors.mean_capped_square(0.1, spread=0.3) == pytest.approx(0.01, rel=1e-6)


@thinned(4)
@pytest.mark.parametrize("ratio", [0.5, 8.0])
@pytest.mark.parametrize("loss", ["absolute", "chebyshev", "feasible", "slab"])
@pytest.mark.parametrize("kind", ["gaussian", "laplace", "uniform"])
def test_more_noise_never_leaves_more_right_however_much_there_is(kind: str, loss: str, ratio: float) -> None:
    if loss == "feasible" and kind != "uniform":
        return
    shares = []
    for size in (1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3, 1e6, 1e9, 1e12):
        errors = _errors(f"{kind}:{size}*sqrt(n)")
        spread = _spread(loss, errors, ratio, size)
        shares += [] if spread is None else [convex_limits.find_share(spread)]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) >= 5
    assert 0.5 <= shares[-1] < 0.5 + 1e-7
    assert shares[-2] < 0.5 + 1e-5


@pytest.mark.parametrize(("kind", "density"), [("gaussian", 1 / math.sqrt(2 * math.pi)), ("laplace", 0.5)])
def test_the_least_sum_of_large_errors_is_as_good_as_a_median(kind: str, density: float) -> None:
    """The variance of a median of m is 1 / (4 f^2 m), and that of a bit is 4 times as much."""
    for size in (1e3, 1e6, 1e11):
        spread = convex_limits.find_absolute_spread(_errors(f"{kind}:{size}*sqrt(n)"), 8.0)
        assert spread == pytest.approx(size / (density * math.sqrt(8)), rel=1e-3)


@pytest.mark.parametrize("ratio", [3.0, 8.0])
@pytest.mark.parametrize("loss", ["absolute", "chebyshev", "slab", "feasible"])
def test_the_spread_is_where_the_comparison_is_least(loss: str, ratio: float) -> None:
    """By brute force: the objective of Gordon's problem at many lengths, over quantiles of e + |d| g / 2."""
    size, random = 0.7, np.random.default_rng(3)
    e, g = random.uniform(-size, size, 400_000), random.standard_normal(400_000)
    found = _spread(loss, _errors(f"uniform:{size}*sqrt(n)"), ratio, size)
    assert found is not None

    def objective(spread: float) -> float:
        cut = convex_limits.CutEstimate.at(spread)
        x = np.abs(e + cut.length / 2 * g)
        taken = cut.pull / (2 * math.sqrt(ratio))
        if loss == "slab":
            return math.sqrt(np.mean(np.maximum(x - 0.8 * size, 0) ** 2)) - taken
        if loss == "feasible":
            return float(np.mean(np.maximum(x - size, 0) ** 2)) - taken**2
        if loss == "chebyshev":
            return float(
                scipy.optimize.brentq(
                    lambda width: math.sqrt(np.mean(np.maximum(x - width, 0) ** 2)) - taken, 0, size + 10
                )
            )
        line = scipy.optimize.brentq(lambda line: math.sqrt(np.mean(np.minimum(x, line) ** 2)) - taken, 0, 50)
        return float(np.mean(np.maximum(x - line, 0)))

    least = objective(found)
    assert least <= min(objective(found * factor) for factor in (0.8, 0.95, 1.05, 1.25)) + 1e-6


@pytest.mark.parametrize("ratio", [1.0, 2.0, 8.0])
def test_little_normal_noise_has_the_spread_of_box_least_squares(ratio: float) -> None:
    """Bits at an edge, half of them, cost nothing: 4 s^2 / (m - n/2) (Thrampoulidis, Xu, Hassibi 2018)."""
    spread = convex_limits.find_slab_spread(_errors("gaussian:2"), ratio, 0.0)
    assert spread == pytest.approx(2 * 0.02 / math.sqrt(ratio - 0.5), rel=0.01)


def test_exact_answers_need_half_as_many_questions_as_people() -> None:
    for limit in (convex_limits.find_chebyshev_spread, convex_limits.find_absolute_spread):
        assert limit(_errors("none"), 0.45) is None
        spread = limit(_errors("none"), 0.55)
        assert spread is not None
        assert convex_limits.predict_share(spread, 10_000, 5_500).fraction == 1
        assert limit(_errors("none"), 0.0) is None


def test_the_largest_error_sees_edges_and_only_edges() -> None:
    """Twice the noise and twice the questions leave the spread alone, where many answers are near the bound."""
    once = convex_limits.find_chebyshev_spread(_errors("uniform:0.25*sqrt(n)"), 4.0)
    twice = convex_limits.find_chebyshev_spread(_errors("uniform:0.5*sqrt(n)"), 8.0)
    assert once == pytest.approx(twice, rel=1e-3)


@thinned(4)
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
    assert convex_limits.survives(share, 8.0) == survived
    for seed in range(3):
        random = np.random.default_rng(seed)
        bits, subsets = random.integers(0, 2, 96), random_subsets(768, 96, seed=seed + 50)
        answers = subsets.matvec(bits.astype(np.float64)) + np.where(random.random(768) < share, 96.0, 0.0)
        found = LinearProgram(seed=1).solve(subsets, answers, Noise("garbage", share))
        assert ((found > 0.5) == bits).all() == survived


def test_more_questions_survive_more_garbage_but_never_half() -> None:
    assert not convex_limits.survives(0.25, 1.0)
    assert convex_limits.survives(0.25, 4.0)
    assert convex_limits.survives(0.45, 50.0)
    assert not convex_limits.survives(0.5, 1000.0)
    assert convex_limits.survives(0.0, 1.0)
