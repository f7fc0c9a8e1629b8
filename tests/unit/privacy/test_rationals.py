"""What a person writes is what is charged: numbers are read exactly, and shown without rounding up."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.errors import CatalogError
from jali.numbers.exact import below
from jali.privacy import decimal, rational
from jali.privacy.rationals import positive


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (1.5e300, Fraction(15 * 10**299)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 2 ", Fraction(2)),
        ("1e-30", Fraction(1, 10**30)),
        (3, Fraction(3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (-0.5, Fraction(-1, 2)),
        (0, Fraction(0)),
    ],
)
def test_a_number_is_read_as_it_is_written(written: Any, read: Fraction) -> None:
    assert rational(written, "epsilon") == read


# Beyond 1e300 a number is refused: nobody means it.
@settings(deadline=None)
@given(st.one_of(st.just(0.0), st.floats(1e-300, 1e300), st.floats(-1e300, -1e-300)))
def test_a_float_stands_for_the_decimal_text_that_python_prints(value: float) -> None:
    assert rational(value, "epsilon") == Fraction(repr(value))
    assert float(rational(value, "epsilon")) == value


@pytest.mark.parametrize(
    "written",
    [
        math.nan,
        math.inf,
        -math.inf,
        True,
        False,
        None,
        [],
        1j,
        b"1",
        "",
        "one",
        "nan",
        "inf",
        "1/0",
        "0x10",
        "1e999999999",
        "1e-999999999",
        "1e301",
        1e301,
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("1e500"),
        "9" * 401,
    ],
)
def test_what_is_not_a_finite_number_of_human_size_is_refused_by_name(written: Any) -> None:
    with pytest.raises(CatalogError, match=r"epsilon is (not a finite|beyond the range of) number") as refusal:
        rational(written, "epsilon")
    assert refusal.value.remedy


@pytest.mark.parametrize("written", [0, -1, "0", "-1/3", -1e-300])
def test_a_loss_must_be_above_zero(written: Any) -> None:
    with pytest.raises(CatalogError, match="epsilon must be above 0"):
        positive(written, "epsilon")


fractions = st.builds(
    lambda top, bottom, power: Fraction(top, bottom) * Fraction(10) ** power,
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.integers(-40, 40),
)


@settings(deadline=None)
@given(fractions)
def test_a_shown_number_never_exceeds_the_number(value: Fraction) -> None:
    shown = Fraction(decimal(value))
    assert shown <= value
    assert shown > value * (1 - Fraction(1, 10**5))


@settings(deadline=None)
@given(fractions)
def test_rounding_down_keeps_six_digits(value: Fraction) -> None:
    rounded = below(value)
    assert rounded <= value < rounded * (1 + Fraction(1, 10**5))


def test_rounding_down_makes_nothing_of_what_is_not_positive() -> None:
    assert below(Fraction(0)) == 0
    assert below(Fraction(-1, 3)) == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(2, 3), "0.666666"),
        (Fraction(1, 10), "0.1"),
        (Fraction(3), "3"),
        (Fraction(999_999_999, 10**9), "0.999999"),
        (Fraction(1, 10**6), "1e-06"),
        (Fraction(0), "0"),
        (Fraction(-2, 3), "-0.666666"),
    ],
)
def test_numbers_are_shown_short(value: Fraction, shown: str) -> None:
    assert decimal(value) == shown


@pytest.mark.parametrize("text", ["1e9_999_999_999", "1e-9_999_999_999", "1E+1_000"])
def test_an_exponent_written_with_underscores_is_sized_too(text: str) -> None:
    with pytest.raises(CatalogError, match="beyond the range"):
        rational(text)
