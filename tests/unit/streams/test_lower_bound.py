"""The lower bound of all factorizations, against singular values and factorizations themselves."""

from __future__ import annotations

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.streams import Participation, ToeplitzRoot, lower_bound

ONCE = Participation(adjacency="add-remove")


@pytest.mark.parametrize("horizon", [1, 2, 3, 17, 200])
def test_it_is_the_mean_of_the_singular_values_of_summing(horizon: int) -> None:
    summing = np.tril(np.ones((horizon, horizon)))
    assert lower_bound(horizon) == pytest.approx(np.linalg.svd(summing, compute_uv=False).mean(), rel=1e-12)


@pytest.mark.parametrize(("horizon", "bound"), [(8, 1.4383752), (1024, 2.909584), (1 << 20, 5.114611)])
def test_known_bounds_are_reproduced(horizon: int, bound: float) -> None:
    assert lower_bound(horizon) == pytest.approx(bound, abs=6e-7)


@pytest.mark.parametrize("horizon", [1, 2, 10, 300])
def test_no_factorization_is_below_it(horizon: int) -> None:
    summing = np.tril(np.ones((horizon, horizon)))
    generator = np.random.default_rng(horizon)
    strategies = [np.eye(horizon), summing, np.eye(horizon) + 0.1 * generator.random((horizon, horizon))]
    for strategy in strategies:
        unit = strategy / np.linalg.norm(strategy, axis=0).max()
        rows = summing @ np.linalg.inv(unit)
        assert np.sqrt((rows**2).sum() / horizon) >= lower_bound(horizon) * (1 - 1e-12)
    root = ToeplitzRoot(horizon=horizon, rho="1/2", person=ONCE)
    assert lower_bound(horizon) <= root.rms * (1 + 1e-9) <= root.largest * (1 + 2e-9)


def test_a_horizon_that_is_no_number_of_ticks_is_refused() -> None:
    with pytest.raises(MechanismError, match="horizon"):
        lower_bound(0)
