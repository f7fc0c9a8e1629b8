"""Searches end on the side where the condition holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.errors import CatalogError
from jali.privacy.planning.plan_table import align, amount, write_number
from jali.privacy.planning.safe_search import MOST, best_of, least, most


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.floats(1e-100, 1e100), st.floats(1e-3, 1e3))
def test_the_least_number_is_found_from_above(threshold: float, start: float) -> None:
    found = least(lambda x: x >= threshold, start)
    assert threshold <= found <= threshold * (1 + 2e-14)


def test_a_condition_that_never_holds_is_refused() -> None:
    with pytest.raises(CatalogError, match="delta is too small"):
        least(lambda _: False)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.integers(0, 2 * MOST))
def test_the_most_is_the_last_that_holds_up_to_a_thousand_million(threshold: int) -> None:
    assert most(lambda k: k <= threshold) == min(threshold, MOST)


def test_of_equal_costs_the_first_is_taken() -> None:
    assert best_of([3.0, 2.0, 2.0 * (1 - 1e-12), 5.0]) == 1
    assert best_of([-5.0, -7.0]) == 1
    assert best_of([0.0, 0.0]) == 0


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.floats(1e-8, 1e12))
def test_an_amount_is_never_shown_smaller_than_it_is(value: float) -> None:
    shown = float(amount(value).replace(",", ""))
    assert value * (1 - 2e-9) <= shown <= value * 1.0011


def test_amounts_of_every_size_are_readable() -> None:
    assert [
        amount(x) for x in (0.0, 1e-15, 1.23401e-13, 0.00012341, 999.96, 1234567.1, 2.0001e9, float("inf"))
    ] == [
        "0",
        "1e-15",
        "1.235e-13",
        "0.0001235",
        "1,000",
        "1,234,568",
        "2.001e+09",
        "inf",
    ]
    assert [write_number(x) for x in (0.1, 100.0, 1234567.0)] == ["0.1", "100", "1,234,567"]
    assert [write_number(x) for x in (1e30, 1e-30)] == ["1e+30", "1e-30"]


def test_columns_stand_under_their_headings() -> None:
    assert align(("by", "n"), [("a", "10"), ("long", "9")]).splitlines() == ["by     n", "a     10", "long   9"]
