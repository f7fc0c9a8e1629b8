"""Counts with somebody and without."""

from __future__ import annotations

import numpy as np
import pytest

from jali.lab import attacks
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.subsets.subset_operators import WithAndWithout


@pytest.mark.parametrize("people", [1, 2, 5, 8])
def test_each_pair_of_subsets_differs_by_its_person_alone(people: int) -> None:
    dense = np.array(list(WithAndWithout(people).rows()), int)
    np.testing.assert_array_equal(dense[0::2] - dense[1::2], np.eye(people))
    assert people < 3 or len(np.unique(dense, axis=0)) == 2 * people


@pytest.mark.parametrize(("people", "questions"), [(1, 2), (2, 4), (9, 18), (9, 5)])
def test_products_are_those_of_the_rows(people: int, questions: int) -> None:
    subsets, random = WithAndWithout(people, questions), np.random.default_rng(1)
    dense, x, y = np.array(list(subsets.rows()), float), random.normal(size=people), random.normal(size=questions)
    np.testing.assert_allclose(subsets.matvec(x), dense @ x, atol=1e-12)
    np.testing.assert_allclose(subsets.rmatvec(y), dense.T @ y, atol=1e-12)


def test_exact_answers_give_every_bit_though_no_set_is_small() -> None:
    assert min(row.sum() for row in WithAndWithout(100).rows()) == 50
    assert attacks.Difference().run(attacks.simulator(n=100, seed=2)).fraction == 1


@pytest.mark.parametrize("kind", ["uniform:1", "laplace:1", "gaussian:1", "geometric:0.7"])
def test_the_law_of_two_noises_holds(kind: str) -> None:
    result = attacks.Difference().run(attacks.simulator(n=20_000, noise=kind, seed=3))
    assert result.predicted is not None
    assert result.fraction == pytest.approx(result.predicted, abs=0.0175)  # five standard deviations


def test_one_noise_instead_of_two_would_be_noticed() -> None:
    result = attacks.Difference().run(attacks.simulator(n=20_000, noise="geometric:0.7", seed=3))
    alone = attacks.Singletons().predict(attacks.Facts(1, Noise("geometric", 0.7), 1))
    assert alone is not None
    assert abs(result.fraction - alone.fraction) > 0.0175


def test_rounded_answers_have_no_law() -> None:
    assert attacks.Difference().run(attacks.simulator(n=64, noise="rounding:5", seed=4)).predicted is None
