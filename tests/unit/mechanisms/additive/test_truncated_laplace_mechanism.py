"""Truncated Laplace noise: the true delta, the least support, the moments."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.additive.truncated_laplace_mechanism import (
    TruncatedLaplace,
    TruncatedLaplaceLaw,
    find_least_limit,
)
from jali.sampling.discrete_laplace import TruncatedDiscreteLaplace as Sampler

CASES = [
    (1, "1", "1e-6"),
    (4, "1/2", "1e-3"),
    (7, "2", "1/10"),
    (3, "1/50", "2/5"),
    (1, "1", "49/100"),
    (2, "5", "1e-30"),
]


def true_delta(epsilon: Fraction, period: int, limit: int) -> mpmath.mpf:
    """The largest hockey-stick divergence over all shifts, from the masses as they are defined."""
    rate = mpmath.mpf(epsilon.numerator) / epsilon.denominator / period
    weights = {z: mpmath.exp(-rate * abs(z)) for z in range(-limit, limit + 1)}
    total = mpmath.fsum(weights.values())
    factor = mpmath.exp(rate * period)

    def beyond(shift: int) -> mpmath.mpf:
        gaps = (w - factor * weights.get(z - shift, 0) for z, w in weights.items())
        return mpmath.fsum(gap for gap in gaps if gap > mpmath.mpf(10) ** -60) / total

    return max(beyond(sign * shift) for shift in range(1, period + 1) for sign in (1, -1))


@pytest.mark.parametrize(("period", "epsilon", "delta"), CASES)
def test_the_support_is_the_least_whose_true_delta_is_small_enough(period: int, epsilon: str, delta: str) -> None:
    with mpmath.workdps(80):
        limit = find_least_limit(Fraction(epsilon), Fraction(delta), period)
        wanted = mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
        assert true_delta(Fraction(epsilon), period, limit) <= wanted
        if limit > period - 1:
            assert true_delta(Fraction(epsilon), period, limit - 1) > wanted


def test_a_fine_lattice_has_the_support_of_the_continuous_mechanism() -> None:
    for epsilon, delta in ((1, "1e-6"), (3, "1e-9"), (Fraction(1, 10), "1/100")):
        e = float(epsilon)
        continuous = math.log1p(math.expm1(e) / (2 * float(Fraction(delta)))) / e
        limit = TruncatedLaplace(sensitivity=10**9, epsilon=epsilon, delta=delta).limit
        assert limit / 10**9 == pytest.approx(continuous, rel=1e-8)


@pytest.mark.parametrize(("scale", "limit"), [("1", 14), ("100", 1), ("100", 35), ("3/7", 60), ("5", 0)])
def test_moments_and_tails_are_those_of_the_mass_function(scale: str, limit: int) -> None:
    law = TruncatedLaplaceLaw(Fraction(scale), limit)
    rate = float(1 / Fraction(scale))
    weights = [math.exp(-rate * abs(x)) for x in range(-limit, limit + 1)]
    total = math.fsum(weights)
    sizes = [abs(x) for x in range(-limit, limit + 1)]
    assert law.mean_magnitude == pytest.approx(
        math.fsum(s * w for s, w in zip(sizes, weights, strict=True)) / total, rel=1e-12
    )
    square = math.fsum(s * s * w for s, w in zip(sizes, weights, strict=True)) / total
    assert law.stddev == pytest.approx(math.sqrt(square), rel=1e-12)
    for threshold in range(-1, limit + 3):
        beyond = math.fsum(w for s, w in zip(sizes, weights, strict=True) if s > threshold) / total
        assert law.tail(threshold) == pytest.approx(beyond, rel=1e-12, abs=1e-300)
        assert math.exp(law.log_mass(threshold)) == pytest.approx(
            math.exp(-rate * abs(threshold)) / total if abs(threshold) <= limit else 0
        )


def test_wide_noise_keeps_its_digits() -> None:
    wide = TruncatedLaplace(sensitivity=2**59, epsilon="1/2", delta="2/5")
    a = math.log1p(math.expm1(0.5) / 0.8) / 0.5
    plain = (2 - (2 + a) * math.exp(-a / 2)) / -math.expm1(-a / 2)
    assert wide.expected_error() / 2**59 == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(("scale", "limit"), [(Fraction(10), 40), (Fraction(10), 4), (Fraction(1, 3), 2)])
def test_samples_stay_inside_and_have_the_expected_size(scale: Fraction, limit: int) -> None:
    """Within six standard errors: a false alarm below 1e-8."""
    law = TruncatedLaplaceLaw(scale, limit)
    sizes = np.abs(Sampler(scale, limit).sample(50_000, bits=SeededBits(11)))
    assert sizes.max() <= limit
    spread = math.sqrt(law.stddev**2 - law.mean_magnitude**2)
    assert abs(sizes.mean() - law.mean_magnitude) < 6 * spread / math.sqrt(50_000)


def test_bad_deltas_are_refused_by_name() -> None:
    for bad in ("1/2", 1, 0, -1, "x"):
        with pytest.raises(JaliError, match="delta"):
            TruncatedLaplace(sensitivity=1, epsilon=1, delta=bad)
    with pytest.raises(JaliError, match="limit"):
        Sampler(Fraction(1), -1)
