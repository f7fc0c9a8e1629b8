"""Searches: their ends are on the sides that they promise, and as close as can be."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jali.numbers.search import (
    bisect,
    bisect_each,
    bracket,
    bracket_around,
    golden_section,
    greatest_integer,
    least_integer,
    least_integer_near,
)

_WHOLE = st.integers(-(10**30), 10**30)
_POSITIVE = st.floats(1e-6, 1e6)


@given(_WHOLE, st.integers(1, 10**30), st.integers(0, 10**30))
def test_the_least_and_the_greatest_integer_are_on_either_side_of_the_turn(low: int, up: int, beyond: int) -> None:
    turn = low + up
    assert least_integer(lambda n: n >= turn, low, turn + beyond) == turn
    assert greatest_integer(lambda n: n < turn, low, turn + beyond) == turn - 1


@given(st.integers(1, 10**30), st.integers(1, 10**30))
def test_known_ends_are_never_asked_and_few_others_are(up: int, beyond: int) -> None:
    asked: list[int] = []
    least_integer(lambda n: asked.append(n) or n >= up, 0, up + beyond)  # type: ignore[func-returns-value]
    assert all(0 < n < up + beyond for n in asked)
    assert len(asked) <= (up + beyond).bit_length()


def test_without_room_the_integers_are_the_ends() -> None:
    def ask(_: int) -> bool:
        raise AssertionError

    assert least_integer(ask, 4, 5) == 5
    assert greatest_integer(ask, 4, 5) == greatest_integer(ask, 4, 4) == 4


@given(st.integers(-5, 10**12), st.integers(0, 10**12), st.integers(-5, 0))
def test_a_search_around_a_guess_finds_the_turn_wherever_the_guess_is(turn: int, near: int, first: int) -> None:
    assert least_integer_near(lambda n: n >= turn, near, first=first) == max(turn, first)


@given(st.integers(1, 10**30))
def test_a_bracket_is_a_doubling_around_the_turn(turn: int) -> None:
    low, high = bracket(lambda n: n >= turn, 0, 1)
    assert low < turn <= high
    assert high == 1 or high == 2 * low


def test_a_bracket_that_does_not_hold_up_to_its_most_ends_above_it() -> None:
    low, high = bracket(lambda n: False, 0, 1, most=100)
    assert (low, high) == (64, 128)


@given(_POSITIVE, _POSITIVE)
def test_a_bracket_around_a_start_holds_at_its_upper_end_only(turn: float, start: float) -> None:
    low, high = bracket_around(lambda x: x >= turn, start, least=1e-9, most=1e9)
    assert low < turn <= high == 2 * low


def test_a_bracket_around_a_start_says_where_there_is_no_turn() -> None:
    assert bracket_around(lambda x: False, 1.0, least=1e-3, most=1e3)[1] > 1e3
    assert bracket_around(lambda x: True, 1.0, least=1e-3, most=1e3)[0] <= 1e-3


@given(_POSITIVE, st.floats(0, 1))
def test_the_ends_of_a_bisection_are_on_their_sides(turn: float, share: float) -> None:
    low, high = bisect(lambda x: x >= turn, 0.0, turn + share)
    assert high == turn
    assert low == math.nextafter(turn, 0)


@given(st.fractions(0, 1), st.integers(0, 60))
def test_rationals_are_halved_exactly(turn: Fraction, steps: int) -> None:
    low, high = bisect(lambda x: x > turn, Fraction(-1), Fraction(3), steps=steps)
    assert low <= turn < high
    assert high - low == Fraction(4, 2**steps)


@given(_POSITIVE, st.floats(1e-12, 0.1))
def test_a_bisection_ends_where_its_ends_are_close(turn: float, part: float) -> None:
    low, high = bisect(lambda x: x >= turn, 0.0, 1e6, close=lambda low, high: high - low <= part * high)
    assert low < turn <= high <= turn * (1 + 2 * part)


def test_a_bisection_ends_where_doubles_end() -> None:
    assert bisect(lambda x: x > 0, 0.0, 1.0) == (0.0, math.nextafter(0, 1))


@given(_POSITIVE)
def test_the_middle_may_be_another_one(turn: float) -> None:
    low, high = bisect(
        lambda x: x >= turn,
        1e-7,
        1e7,
        close=lambda low, high: high <= low * 1.01,
        middle=lambda low, high: math.sqrt(low * high),
    )
    assert low < turn <= high <= low * 1.01


@given(st.lists(_POSITIVE, min_size=1, max_size=5), st.booleans())
def test_arrays_are_bisected_entry_by_entry_in_either_direction(turns: list[float], down: bool) -> None:
    turn, wide = np.array(turns), np.full(len(turns), 2e6)
    low, high = bisect_each(
        lambda x: (x <= turn) if down else (x >= turn), *((wide, -wide) if down else (-wide, wide)), steps=80
    )
    assert (abs(high - turn) <= 1e-9).all()
    assert ((high <= turn) & (turn < low) if down else (low < turn) & (turn <= high)).all()


@given(st.floats(-50, 50), st.booleans())
def test_a_golden_section_finds_the_bottom_of_a_valley(bottom: float, fresh: bool) -> None:
    valley = golden_section(lambda x: abs(x - bottom), -60.0, 70.0, steps=60, fresh=fresh)
    assert valley.value <= 1e-6
    assert valley.value == abs(valley.at - bottom)
    assert valley.high - valley.low == pytest.approx(130 * ((5**0.5 - 1) / 2) ** 60, rel=1e-2)


@given(st.floats(-50, 50), st.integers(1, 60))
def test_a_golden_section_asks_inside_once_a_step_and_once_more(bottom: float, steps: int) -> None:
    asked: list[float] = []

    def value(x: float) -> float:
        asked.append(x)
        return (x - bottom) ** 2

    golden_section(value, -60.0, 70.0, steps=steps)
    assert len(asked) == steps + 1
    assert all(-60 < x < 70 for x in asked)


def test_a_golden_section_ends_where_its_ends_are_close() -> None:
    valley = golden_section(lambda x: (x - 2) ** 2, 0.0, 10.0, close=lambda low, high: high - low < 1e-3)
    assert 1e-4 < valley.high - valley.low < 1e-3


def test_a_golden_section_is_as_exact_as_its_numbers() -> None:
    valley = golden_section(lambda x: abs(x - Decimal("0.1")), Decimal(0), Decimal(1), steps=100)
    assert valley.value < Decimal("1e-20")
