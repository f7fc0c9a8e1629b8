"""Thresholds are the least that delta allows, ties counted, against high-precision sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.group_selection import split_delta
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.thresholds import (
    _bound_gaussian_sum,
    find_gaussian_coin,
    find_gaussian_threshold,
    find_laplace_coin,
    find_laplace_threshold,
)

DELTAS = [
    Fraction(9, 10),
    Fraction(1, 2),
    Fraction(1, 100),
    Fraction(1, 10**5),
    Fraction(1, 10**12),
    Fraction(1, 10**40),
]


def laplace_passes(scale: Fraction, threshold: int) -> mpmath.mpf:
    """Pr[1 + X >= threshold], summed."""
    q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    if threshold <= 1:
        return 1 - q ** (2 - threshold) / (1 + q)
    return (1 - q) / (1 + q) * mpmath.nsum(lambda j: q ** (threshold - 1 + j), [0, mpmath.inf])


def gaussian_passes(variance: Fraction, threshold: int) -> mpmath.mpf:
    """Pr[1 + X >= threshold], by plain summation."""
    v = mpmath.mpf(variance.numerator) / variance.denominator
    reach = int(40 * mpmath.sqrt(v)) + 40

    def f(x: int) -> mpmath.mpf:
        return mpmath.exp(-(x**2) / (2 * v))

    above = mpmath.fsum(f(x) for x in range(threshold - 1, threshold + reach))
    return above / (1 + 2 * mpmath.fsum(f(x) for x in range(1, reach)))


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(10, 7), Fraction(250)])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_laplace_threshold_is_the_least(scale: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(80):
        threshold = find_laplace_threshold(scale, delta)
        allowed = mpmath.mpf(delta.numerator) / delta.denominator
        assert threshold >= 1
        assert laplace_passes(scale, threshold) <= allowed
        assert threshold == 1 or laplace_passes(scale, threshold - 1) > allowed


@thinned(4)
@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(31, 2), Fraction(16), Fraction(900)])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_gaussian_threshold_is_the_least(variance: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(60):
        threshold = find_gaussian_threshold(variance, delta)
        allowed = mpmath.mpf(delta.numerator) / delta.denominator
        assert threshold >= 1
        assert gaussian_passes(variance, threshold) <= allowed
        assert threshold == 1 or gaussian_passes(variance, threshold - 1) > allowed


def spends_what_is_left(passes: Any, threshold: int, coin: Fraction, delta: Fraction) -> bool:
    """Whether the coin fits into delta, and one larger by 2^-63 would not."""
    allowed = mpmath.mpf(delta.numerator) / delta.denominator
    mass = passes(threshold - 1) - passes(threshold)
    left = allowed - passes(threshold) - mass * mpmath.mpf(coin.numerator) / coin.denominator
    return bool(0 <= left <= mass * mpmath.mpf(2) ** -63)


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(10, 7), Fraction(250)])
@pytest.mark.parametrize("delta", DELTAS[2:])
def test_the_laplace_coin_spends_what_a_whole_threshold_leaves(scale: Fraction, delta: Fraction) -> None:
    threshold, coin = find_laplace_threshold(scale, delta), find_laplace_coin(scale, delta)
    assert 0 <= coin < 1
    with mpmath.workdps(100):
        assert spends_what_is_left(lambda t: laplace_passes(scale, t), threshold, coin, delta)


@thinned(4)
@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(31, 2), Fraction(16), Fraction(900)])
@pytest.mark.parametrize("delta", DELTAS[2:])
def test_the_gaussian_coin_spends_what_a_whole_threshold_leaves(variance: Fraction, delta: Fraction) -> None:
    """Of the normaliser 20 digits are known where the variance is large: the coin is as close to the best."""
    threshold, coin = find_gaussian_threshold(variance, delta), find_gaussian_coin(variance, delta)
    assert 0 <= coin < 1
    with mpmath.workdps(100):
        assert spends_what_is_left(lambda t: gaussian_passes(variance, t), threshold, coin, delta)


def test_where_one_person_already_passes_there_is_no_coin() -> None:
    """So that no count below the least number of people is told."""
    assert (
        find_laplace_threshold(Fraction(1), Fraction(9, 10))
        == find_gaussian_threshold(Fraction(1), Fraction(9, 10))
        == 1
    )
    assert find_laplace_coin(Fraction(1), Fraction(9, 10)) == find_gaussian_coin(Fraction(1), Fraction(9, 10)) == 0
    bold = LaplaceThreshold(epsilon=1, delta="9/10", adjacency="add-remove", least_people=5)
    assert bold.least_told == bold.threshold == 5


@pytest.mark.parametrize("coin", [find_laplace_coin, find_gaussian_coin])
def test_next_to_no_noise_leaves_one_person_the_coin_of_delta(coin: Any) -> None:
    """Then 1 + noise is 1, one below a threshold of 2, and the coin is all there is: to 2^-64."""
    assert 0 <= Fraction(1, 1000) - coin(Fraction(1, 10**6), Fraction(1, 1000)) <= Fraction(1, 1 << 64)


@pytest.mark.parametrize("sigma", [2**13, 10**6])
def test_the_gaussian_threshold_of_wide_noise_is_valid_and_at_most_one_too_large(sigma: int) -> None:
    """Euler-Maclaurin: the sum from a is the integral plus f(a)/2 - f'(a)/12, to 1e-9 of itself here."""
    threshold = find_gaussian_threshold(Fraction(sigma**2), Fraction(1, 10**6))
    with mpmath.workdps(40):

        def passes(t: int) -> mpmath.mpf:
            a = mpmath.mpf(t - 1) / sigma
            density = mpmath.exp(-(a**2) / 2) / mpmath.sqrt(2 * mpmath.pi) / sigma
            return mpmath.erfc(a / mpmath.sqrt(2)) / 2 + density / 2 + a / sigma * density / 12

        assert passes(threshold - 2) > mpmath.mpf("1e-6")
        coin = float(find_gaussian_coin(Fraction(sigma**2), Fraction(1, 10**6)))
        assert passes(threshold) * (1 - coin) + passes(threshold - 1) * coin <= mpmath.mpf("1e-6")


@thinned(4)
@pytest.mark.parametrize("sigma", [2**13, 2**13 + 4321, 10**6, 22_360_680])
@pytest.mark.parametrize("delta", ["0.49", "0.4", "0.3", "0.17", "0.159", "0.15", "0.1"])
def test_the_gaussian_threshold_of_wide_noise_below_one_sigma_is_valid_and_close(sigma: int, delta: str) -> None:
    """Euler-Maclaurin again; midpoints and chords are too large by less than 2^-25 of the tail."""
    threshold = find_gaussian_threshold(Fraction(sigma**2), Fraction(delta))
    with mpmath.workdps(40):

        def passes(t: int) -> mpmath.mpf:
            a = mpmath.mpf(t - 1) / sigma
            density = mpmath.exp(-(a**2) / 2) / mpmath.sqrt(2 * mpmath.pi) / sigma
            return mpmath.erfc(a / mpmath.sqrt(2)) / 2 + density / 2 + a / sigma * density / 12

        assert passes(threshold) <= mpmath.mpf(delta)
        assert passes(threshold - 2) > mpmath.mpf(delta) * (1 - mpmath.mpf(2) ** -25)


@thinned(4)
@pytest.mark.parametrize("start", [0, 1, 5000, 8100, 8191, 8192, 8193, 12_000])
@pytest.mark.parametrize("width", [2, 3, 64])
def test_blocks_bound_the_gaussian_sum_from_above_and_closely(start: int, width: int) -> None:
    """Every term by itself, from starts on both sides of one standard deviation."""
    variance = Fraction(8192**2 + 5)
    bound = _bound_gaussian_sum(variance, start, 160, width)
    v = float(variance)
    exact = math.fsum(math.exp(-(x**2) / (2 * v)) for x in range(start, 90_000))
    assert 1 - 1e-13 <= float(bound) / exact <= 1 + 8 * (width / 8192) ** 2


def test_the_continuous_threshold_of_the_theorem_book_is_near() -> None:
    """1 + ln(1/(2 delta))/epsilon = 11.8197783 without ties; the discrete law needs the next integer but one."""
    continuous = 1 + mpmath.log(1 / mpmath.mpf("2e-5"))
    assert f"{float(continuous):.7f}" == "11.8197783"
    assert find_laplace_threshold(Fraction(1), Fraction(1, 10**5)) == 13
    with mpmath.workdps(30):
        assert laplace_passes(Fraction(1), 12) > mpmath.mpf("1e-5") > laplace_passes(Fraction(1), 13)


@pytest.mark.parametrize("keys", [1, 2, 7, 1000, 10**9])
@pytest.mark.parametrize("delta", [*DELTAS, Fraction(1, 10**200), 1 - Fraction(1, 10**30)])
def test_the_delta_of_each_key_is_rounded_down_by_next_to_nothing(keys: int, delta: Fraction) -> None:
    each = split_delta(delta, keys)
    with mpmath.workdps(400):
        exact = -mpmath.expm1(mpmath.log1p(-mpmath.mpf(delta.numerator) / delta.denominator) / keys)
        found = mpmath.mpf(each.numerator) / each.denominator
        assert exact * (1 - mpmath.mpf("1e-39")) <= found <= exact


def test_replace_one_doubles_the_noise_and_not_the_share_of_delta() -> None:
    add, move = (
        LaplaceThreshold(epsilon=1, delta=1e-6, max_keys=3, adjacency=a) for a in ("add-remove", "replace-one")
    )
    assert [add.scale, move.scale] == [Fraction(3), Fraction(6)]
    assert add.delta_each == move.delta_each == split_delta(Fraction(1, 10**6), 3)
    normal, moved = (
        GaussianThreshold(rho=1, delta=1e-6, max_keys=3, adjacency=a) for a in ("add-remove", "replace-one")
    )
    assert [normal.variance, moved.variance] == [Fraction(3, 2), Fraction(3)]


@pytest.mark.parametrize("mechanism", [LaplaceThreshold, GaussianThreshold], ids=lambda m: m.__name__)
@pytest.mark.parametrize("keys", [1, 20])
@pytest.mark.parametrize("confidence", [0.001, 0.5, 0.9, 0.9999])
def test_error_is_the_least_number_of_people_that_is_released_so_often(
    mechanism: type[LaplaceThreshold] | type[GaussianThreshold], keys: int, confidence: float
) -> None:
    loss: dict[str, Any] = {"epsilon" if mechanism is LaplaceThreshold else "rho": "1/2"}
    case = mechanism(**loss, delta="1e-4", max_keys=2, adjacency="add-remove")

    def all_released(people: int) -> float:
        least = case.threshold - people
        released = sum(mpmath.exp(case.law.log_mass(x)) for x in range(least, case.threshold + 400))
        by_coin = float(case.coin) * mpmath.exp(case.law.log_mass(least - 1))
        return (released + by_coin) ** keys  # type: ignore[no-any-return]

    people = case.error(confidence, keys=keys)
    assert all_released(people) >= confidence * (1 - 1e-12)
    assert people == 1 or all_released(people - 1) < confidence


def test_a_delta_of_one_or_more_or_of_next_to_nothing_is_refused() -> None:
    for bad in (1, 1.5, Fraction(1, 10**3000)):
        with pytest.raises(MechanismError, match="delta"):
            LaplaceThreshold(epsilon=1, delta=bad, adjacency="add-remove")
