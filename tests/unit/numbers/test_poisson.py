"""Poisson sums against 40-digit incomplete gamma functions of another library."""

from __future__ import annotations

import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]

from jali.numbers.poisson import below, mass, shortfall

COUNTS = [1, 2, 3, 15, 16, 17, 50, 170, 171, 1000, 100_000]
PLACES = [0.0, 1e-9, 0.3, 0.95, 1.0, 1.0 + 1e-9, 1.1, 2.0]


def gamma_tail(order: int, place: float) -> mpf:
    return mp.gammainc(order, mpf(place), mp.inf, regularized=True)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("place", PLACES)
def test_sums_are_the_incomplete_gamma_functions(count: int, place: float) -> None:
    mean = count * place
    with mp.workdps(40):
        first, second = gamma_tail(count, mean), gamma_tail(count + 1, mean)
        assert below(count, mean) == pytest.approx(float(first), rel=1e-11, abs=1e-300)
        assert shortfall(count, mean) == pytest.approx(
            float(second - mpf(mean) / count * first), rel=1e-11, abs=1e-300
        )


@pytest.mark.parametrize("count", [0, *COUNTS, 10**6, 10**9])
@pytest.mark.parametrize("place", [0.9, 0.999, 1.0, 1.001, 1.1])
def test_masses_keep_their_digits_where_the_count_is_large(count: int, place: float) -> None:
    mean = max(count, 1) * place
    with mp.workdps(40):
        exact = mp.exp(count * mp.log(mpf(mean)) - mpf(mean) - mp.loggamma(count + 1))
        assert mass(count, mean) == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


def test_nothing_happens_at_mean_0() -> None:
    assert mass(0, 0.0) == 1
    assert mass(3, 0.0) == 0
    assert below(1, 0.0) == 1
    assert shortfall(5, 0.0) == 1
