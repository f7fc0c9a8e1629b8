"""Many secrets, one after the other: each counts once, and what is said of all of them holds for all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from jali.errors import CatalogError
from jali.lab.attacks import Hadamard, Singletons, database, evidence, simulator
from jali.lab.attacks.evidence import find_student_mass, find_student_quantile
from jali.lab.attacks.staging import stage
from jali.privacy import Adjacency


def test_one_secret_is_not_counted_fifty_times() -> None:
    """The guesses would be one guess, and its bound on epsilon false in one of four cases."""
    kept = database(n=1, epsilon=1, seed=1)
    with pytest.raises(
        CatalogError, match="is given more than once, but each trial needs its own secret"
    ) as refused:
        Singletons(people=1).repeat([kept] * 50)
    assert refused.value.remedy
    with pytest.raises(CatalogError, match="more than once"):
        Singletons().repeat(kept for _ in range(2))


def test_new_oracles_may_take_the_place_of_old_ones_in_memory() -> None:
    result = Singletons().repeat(simulator(n=2, noise="geometric:1", seed=seed) for seed in range(300))
    assert (result.trials, result.guessed) == (300, 600)


def test_oracles_that_cannot_be_referred_to_weakly_are_told_apart_too() -> None:
    class Slotted:
        __slots__ = ("inner",)

        def __init__(self, seed: int) -> None:
            self.inner = simulator(n=4, seed=seed)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def ask(self, subsets: Any) -> Any:
            return self.inner.ask(subsets)

    oracles: list[Any] = [Slotted(1), Slotted(2)]
    assert Singletons().repeat(oracles).trials == 2
    with pytest.raises(CatalogError, match="more than once"):
        Singletons().repeat([*oracles, oracles[0]])


def test_nothing_to_attack_is_refused() -> None:
    with pytest.raises(CatalogError, match="The target is missing"):
        Hadamard().repeat([])


def test_the_ceiling_is_that_of_the_largest_loss() -> None:
    result = Singletons().repeat([database(n=1, epsilon=2, seed=1), database(n=1, epsilon=1, seed=2)])
    assert result.spent == Fraction(2)
    assert result.ceiling == pytest.approx(evidence.ceiling(2, Adjacency.REPLACE_ONE))


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 10, 400])
def test_student_s_law_is_the_known_one(degrees: int) -> None:
    for t in (0.1, 1.0, 3.0):
        assert find_student_mass(degrees, t) == pytest.approx(2 * scipy.stats.t.cdf(t, degrees) - 1, rel=1e-9)
    for confidence in (0.5, 0.95, 0.999):
        assert find_student_quantile(degrees, confidence) == pytest.approx(
            scipy.stats.t.ppf((1 + confidence) / 2, degrees)
        )
    assert find_student_quantile(100_000, 0.95) == pytest.approx(1.96, abs=1e-3)


def test_shares_that_scatter_widen_the_interval_and_others_do_not() -> None:
    shares = [0.5, 0.9, 0.6, 0.8]
    low, high = scipy.stats.t.interval(0.95, 3, np.mean(shares), scipy.stats.sem(shares))
    assert evidence.interval_of_mean(shares) == pytest.approx((max(0, low), min(1, high)))
    calm = stage("hadamard", n=64, noise="gaussian:4", trials=3, seed=1).run()
    assert calm.interval == evidence.interval(calm.right, calm.guessed)
    # Of 64 bits with 3 answers, nearly all are right or wrong together.
    wild = stage("hadamard", n=64, noise="rounding:64", trials=40, seed=1).run()
    assert len(wild.rights) == 40
    assert sum(wild.rights) == wild.right
    narrow = evidence.interval(wild.right, wild.guessed)
    between = evidence.interval_of_mean([right / 64 for right in wild.rights])
    assert wild.interval == (min(narrow[0], between[0]), max(narrow[1], between[1]))


def test_the_interval_of_scattered_shares_covers_their_mean() -> None:
    """Seeded; 400 samples of 8 shares: Student's interval misses 5 %, and 9 % only with probability 0.0004."""
    random = np.random.default_rng(5)
    missed = 0
    for _ in range(400):
        low, high = evidence.interval_of_mean((0.7 + 0.05 * random.standard_normal(8)).tolist())
        missed += not low <= 0.7 <= high
    assert 4 <= missed <= 36
    assert math.isclose(missed / 400, 0.05, abs_tol=0.05)
