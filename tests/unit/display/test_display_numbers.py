"""Numbers and shares as people read them: what rounds to zero has no sign."""

from __future__ import annotations

import pytest

from jali.display.numbers import (
    draw_share_strip,
    show_amount,
    show_error,
    show_interval,
    show_key,
    show_number,
    show_share,
)


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (0.5, "50.0 %"), (0.99951, ">99.9 %"), (0.9994, "99.9 %"), (0.0004, "<0.1 %")],
)
def test_all_and_nothing_are_written_only_where_they_are_meant(share: float, shown: str) -> None:
    assert show_share(share) == shown


def test_a_strip_is_as_full_as_the_share_and_has_signs_in_their_places() -> None:
    assert draw_share_strip(0.4, {}, cells=10) == "████░░░░░░"
    assert draw_share_strip(1, {"a": 0.0, "b": 1.0}, cells=10) == "┃████████╏  ┃ a  ╏ b"


@pytest.mark.parametrize("value", [-0.0, -0.04, -1e-12])
def test_what_rounds_to_zero_has_no_sign(value: float) -> None:
    assert show_number(value, 1.2) == "0.0"
    assert show_interval((value, 2.4)) == "0.0 … 2.4"
    assert show_error(5.0, (value, 2.4)) == "0.0 … 2.4"


def test_a_negative_zero_is_zero_as_a_key_and_as_an_amount() -> None:
    assert (show_key(-0.0), show_amount(-0.0)) == ("0.0", "0")


def test_negative_numbers_keep_their_sign() -> None:
    assert (show_number(-0.06, 1.2), show_key(-0.5), show_amount(-3.0)) == ("-0.1", "-0.5", "-3")
