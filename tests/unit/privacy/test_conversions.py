"""The conversion from zCDP: against the theory's numbers, and against 50-digit arithmetic of another library."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf  # type: ignore[import-untyped]

from jali.privacy import Budget, Filter, largest_rho
from jali.privacy.conversions import _largest_rho


def least_log_delta(rho: Fraction, epsilon: Fraction) -> mpf:
    """Minimise Corollary 13 of Canonne, Kamath and Steinke over the order a, at 50 digits.

    The derivative of ln delta in a is (2a-1) rho - epsilon + ln(1 - 1/a), which increases with a: bisect it.
    """
    rho_, epsilon_ = mpf(rho.numerator) / rho.denominator, mpf(epsilon.numerator) / epsilon.denominator

    def slope(a: mpf) -> mpf:
        return (2 * a - 1) * rho_ - epsilon_ + mp.log1p(-1 / a)

    low, high = mpf(1), mpf(2)
    while slope(high) < 0:
        high *= 2
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    a = high
    return (a - 1) * (a * rho_ - epsilon_) - mp.log(a - 1) + a * mp.log1p(-1 / a)


def log_delta(rho: float, epsilon: float, order: float) -> float:
    """Corollary 13 of Canonne, Kamath and Steinke, at one order."""
    return (order - 1) * (order * rho - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)


@pytest.mark.parametrize("precision", [3, 6, 28, 100])
def test_the_conversion_does_not_depend_on_the_decimal_context_of_the_caller(precision: int) -> None:
    here = largest_rho(Fraction(7, 5), Fraction(1, 10**7))
    _largest_rho.cache_clear()
    with decimal.localcontext(decimal.Context(prec=precision)):
        assert largest_rho(Fraction(7, 5), Fraction(1, 10**7)) == here


def test_the_minimum_of_the_reference_is_a_minimum() -> None:
    with mp.workdps(50):
        least = least_log_delta(Fraction(1, 2), Fraction(5))
        grid = min(log_delta(0.5, 5.0, 1 + k / 1000) for k in range(1, 20_000))
        assert float(least) <= grid + 1e-12
        assert float(least) == pytest.approx(grid, abs=1e-6)


def test_the_numbers_of_the_theory() -> None:
    """THEORY section 4: rho = 0.5 at delta = 1e-6 gives epsilon 5.22154 (the simple bound gives 5.75652)."""
    rho = largest_rho(Fraction("5.22154"), Fraction(1, 10**6))
    assert float(rho) == pytest.approx(0.5, abs=2e-6)
    assert (
        largest_rho(Fraction("5.2215"), Fraction(1, 10**6))
        < Fraction(1, 2)
        < largest_rho(Fraction("5.2216"), Fraction(1, 10**6))
    )
    simple = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
    assert simple == pytest.approx(5.75652, abs=1e-5)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=10_000),
    st.integers(3, 300),
    st.integers(1, 9),
)
def test_the_returned_rho_keeps_the_bound_and_a_billionth_more_does_not(
    epsilon: Fraction, power: int, digit: int
) -> None:
    delta = Fraction(digit, 10**power)
    rho = largest_rho(epsilon, delta)
    assert rho > 0
    with mp.workdps(50):
        goal = mp.log(mpf(delta.numerator)) - mp.log(mpf(delta.denominator))
        assert least_log_delta(rho, epsilon) <= goal
        assert least_log_delta(rho * (1 + Fraction(1, 10**9)), epsilon) > goal


def test_without_delta_there_is_no_rho() -> None:
    assert largest_rho(Fraction(10), Fraction(0)) == 0
    assert Filter(Budget(10)).rho == 0


def test_more_epsilon_or_more_delta_affords_more_rho() -> None:
    rhos = [largest_rho(Fraction(e), Fraction(1, 10**6)) for e in (1, 2, 3, 10)]
    assert rhos == sorted(set(rhos))
    rhos = [largest_rho(Fraction(1), Fraction(1, 10**k)) for k in (12, 9, 6, 3)]
    assert rhos == sorted(set(rhos))


def test_the_conversion_is_never_better_than_exact_gaussian_noise() -> None:
    """THEORY section 4: Gaussian noise of rho = 0.5 is really (4.886554117, 1e-6)-DP; any proof must pay more."""
    assert largest_rho(Fraction("4.886554117"), Fraction(1, 10**6)) < Fraction(1, 2)
