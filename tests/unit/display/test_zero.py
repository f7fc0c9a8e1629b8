"""What rounds to zero is shown without a sign, in every place where numbers are shown."""

from __future__ import annotations

import pytest

from jali.display.numbers import show_amount, show_error, show_interval, show_key, show_number


@pytest.mark.parametrize("value", [-0.0, -0.04, -1e-12])
def test_what_rounds_to_zero_has_no_sign(value: float) -> None:
    assert show_number(value, 1.2) == "0.0"
    assert show_interval((value, 2.4)) == "0.0 … 2.4"
    assert show_error(5.0, (value, 2.4)) == "0.0 … 2.4"


def test_a_negative_zero_is_zero_as_a_key_and_as_an_amount() -> None:
    assert (show_key(-0.0), show_amount(-0.0)) == ("0.0", "0")


def test_negative_numbers_keep_their_sign() -> None:
    assert (show_number(-0.06, 1.2), show_key(-0.5), show_amount(-3.0)) == ("-0.1", "-0.5", "-3")
