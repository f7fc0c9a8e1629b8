"""The simulator's answers: exact counts, and errors of the law it states."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from jali.errors import CatalogError
from jali.lab.attacks import Noise, simulator
from jali.lab.attacks.noise_models import KINDS
from jali.lab.attacks.oracles.simulator import ERRORS
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.lab.attacks.subsets.random_subsets import random_subsets

N = 1 << 14
LAWS: dict[str, Callable[[float], object]] = {
    "uniform": lambda size: stats.uniform(-size, 2 * size),
    "gaussian": lambda size: stats.norm(0, size),
    "laplace": lambda size: stats.laplace(0, size),
    "rounding": lambda size: stats.uniform(-size / 2, size),
}


def errors(noise: str, *, seed: int = 1, n: int = N) -> NDArray[np.float64]:
    """Return the errors of n answers, by exact answers about the same secret."""
    rows = HadamardRows(n)
    exact = simulator(n=n, seed=seed).ask(rows)
    return np.asarray(simulator(n=n, noise=noise, seed=seed).ask(rows) - exact)


def test_every_kind_of_noise_can_be_simulated() -> None:
    assert set(ERRORS) == set(KINDS)


def test_without_noise_the_counts_are_exact() -> None:
    oracle = simulator(n=40, seed=2)
    subsets = random_subsets(100, 40, seed=3)
    by_hand = [int(oracle.secret.bits[row].sum()) for row in subsets.rows()]
    assert oracle.ask(subsets).tolist() == by_hand


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
def test_noise_of_size_0_is_none(kind: str) -> None:
    assert not errors(f"{kind}:0", n=256).any()


# Rounding is smooth only if the counts spread over several multiples that are no whole numbers themselves.
@pytest.mark.parametrize(
    ("kind", "size"), [("uniform", 30), ("gaussian", 30), ("laplace", 30), ("rounding", 31.4)]
)
def test_the_errors_have_the_stated_law_and_no_other(kind: str, size: float) -> None:
    seen = errors(f"{kind}:{size}")[1:]
    accepted = stats.kstest(seen, LAWS[kind](size).cdf)  # type: ignore[attr-defined]
    assert accepted.pvalue > 1e-3
    for wrong in (0.7, 1.3):
        assert stats.kstest(seen, LAWS[kind](wrong * size).cdf).pvalue < 1e-9  # type: ignore[attr-defined]


def test_geometric_errors_have_the_discrete_laplace_law_and_no_other() -> None:
    seen = errors("geometric:3")
    assert np.array_equal(seen, np.round(seen))

    def chi_square(scale: float) -> float:
        values = np.arange(-12, 13)
        law = stats.dlaplace.pmf(values, 1 / scale)
        counts = np.array([(seen == value).sum() for value in values])
        law, counts = np.append(law, 1 - law.sum()), np.append(counts, N - counts.sum())
        return float(stats.chisquare(counts, N * law).pvalue)

    assert chi_square(3) > 1e-3
    assert chi_square(3 * 0.7) < 1e-9
    assert chi_square(3 * 1.3) < 1e-9


@pytest.mark.parametrize("noise", ["uniform:30", "gaussian:30", "laplace:30", "geometric:30", "rounding:31.4"])
def test_the_stated_standard_deviation_is_that_of_the_errors(noise: str) -> None:
    seen, stated = errors(noise), Noise.of(noise, n=N).stddev
    assert stated is not None
    fourth = float((seen**4).mean())
    chance = math.sqrt((fourth - stated**4) / N) / (2 * stated)
    assert abs(float(np.sqrt((seen**2).mean())) - stated) < 4 * chance
    assert abs(float(seen.mean())) < 4 * stated / math.sqrt(N)


@pytest.mark.parametrize("noise", ["none", "uniform:5", "rounding:7", "rounding:0.3", "worst:5"])
def test_no_error_exceeds_the_stated_bound_and_some_come_close(noise: str) -> None:
    seen, bound = np.abs(errors(noise, n=1024)), Noise.of(noise, n=1024).bound
    assert bound is not None
    assert seen.max() <= bound + 1e-9
    assert noise == "rounding:0.3" or seen.max() >= 0.8 * bound


def test_rounded_answers_are_the_nearest_multiples() -> None:
    rows = HadamardRows(1024)
    answers = simulator(n=1024, noise="rounding:7", seed=4).ask(rows)
    exact = simulator(n=1024, seed=4).ask(rows)
    multiples = np.arange(0, 1100, 7)
    nearest = multiples[np.abs(multiples[:, None] - exact).argmin(axis=0)]
    assert np.array_equal(answers, nearest)


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_the_stated_share_of_answers_is_made_up_and_the_others_are_exact(share: float) -> None:
    rows = HadamardRows(N)
    answers = simulator(n=N, noise=f"garbage:{share}", seed=6).ask(rows)
    made_up = answers != simulator(n=N, seed=6).ask(rows)
    assert abs(made_up.mean() - share) <= 4 * math.sqrt(share * (1 - share) / N)
    assert stats.kstest(answers[made_up], stats.uniform(0, N).cdf).pvalue > 1e-3


def test_a_seed_repeats_secret_and_errors_and_another_does_not() -> None:
    rows = HadamardRows(256)
    first, again, other = (simulator(n=256, noise="laplace:2", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.ask(rows), again.ask(rows))
    assert not np.array_equal(first.secret.bits, other.secret.bits)
    assert not np.array_equal(first.ask(rows), first.ask(rows))


def test_the_secret_has_its_prior() -> None:
    bits = simulator(n=N, prior=0.2, seed=1).secret.bits
    assert abs(bits.mean() - 0.2) < 4 * math.sqrt(0.16 / N)


@pytest.mark.parametrize(("n", "prior"), [(0, 0.5), (-3, 0.5), (8, 0.0), (8, 1.0)])
def test_a_secret_needs_people_and_a_chance(n: int, prior: float) -> None:
    with pytest.raises(CatalogError):
        simulator(n=n, prior=prior)


def test_it_counts_no_loss_and_never_refuses() -> None:
    oracle = simulator(n=8, noise="uniform:1", seed=1)
    assert oracle.spent() is None
    assert oracle.refusal() is None
    assert oracle.adjacency is None
    assert oracle.mark(oracle.secret.bits) == 8
