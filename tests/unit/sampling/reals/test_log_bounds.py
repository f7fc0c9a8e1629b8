"""Logarithms, exponentials and powers: integer bounds against values of mpmath with 400 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.sampling.reals.log_bounds import growth_bounds, log_bounds, power_bounds

_DIGITS = 400
_wholes = st.one_of(st.integers(1, 50), st.integers(1, 2**200))
_precisions = st.integers(0, 300)


def _encloses(bounds: tuple[int, int], value: mpmath.mpf, precision: int) -> bool:
    scaled = mpmath.ldexp(value, precision)
    return bool(bounds[0] <= scaled <= bounds[1])


@given(numerator=_wholes, denominator=_wholes, precision=_precisions)
@settings(max_examples=150, deadline=None)
def test_logarithms_are_enclosed_within_two_units(numerator: int, denominator: int, precision: int) -> None:
    bounds = log_bounds(numerator, denominator, precision)
    with mpmath.workdps(_DIGITS):
        assert _encloses(bounds, mpmath.log(mpmath.mpf(numerator) / denominator), precision)
    assert bounds[1] - bounds[0] <= 2


@pytest.mark.parametrize("precision", [0, 1, 7, 64, 1000])
@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("power", [0, 1, 30, 3000])
def test_logarithms_beside_a_power_of_two_are_enclosed(precision: int, extra: int, power: int) -> None:
    numerator = max(1, (1 << power) + extra)
    for ratio in ((numerator, 1), (1, numerator), (numerator, 1 << power)):
        bounds = log_bounds(*ratio, precision)
        with mpmath.workdps(2 * _DIGITS + 1000):
            assert _encloses(bounds, mpmath.log(mpmath.mpf(ratio[0]) / ratio[1]), precision)
        assert bounds[1] - bounds[0] <= 2


@given(low=st.fractions(-60, 60), width=st.fractions(0, 2), precision=_precisions)
@settings(max_examples=120, deadline=None)
def test_exponentials_of_either_sign_are_enclosed(low: Fraction, width: Fraction, precision: int) -> None:
    bounds = growth_bounds(low, low + width, precision)
    with mpmath.workdps(_DIGITS):
        for x in (low, low + width):
            assert _encloses(bounds, mpmath.exp(mpmath.mpf(x.numerator) / x.denominator), precision)
        if width == 0:
            assert bounds[1] - bounds[0] <= 4


@given(
    numerator=st.integers(1, 2**70),
    more=st.integers(0, 2**70),
    exponent=st.fractions(-20, 20).filter(lambda x: x != 0),
    precision=_precisions,
)
@settings(max_examples=120, deadline=None)
def test_powers_are_enclosed_to_a_relative_unit(
    numerator: int, more: int, exponent: Fraction, precision: int
) -> None:
    bounds = power_bounds(numerator, numerator + more, exponent, precision)
    with mpmath.workdps(_DIGITS + 300):
        base = mpmath.mpf(numerator) / (numerator + more)
        value = base ** (mpmath.mpf(exponent.numerator) / exponent.denominator)
        assert _encloses(bounds, value, precision)
        assert bounds[1] - bounds[0] <= value + 6


def test_zero_to_a_power_above_zero_is_zero() -> None:
    assert power_bounds(0, 8, Fraction(3, 2), 20) == (0, 0)
