"""Balls of doubles contain what they should, and decide nothing where nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jali.sampling.reals.balls import Ball, constant, of_words, where

_sizes = st.floats(-300, 300).map(lambda e: 10.0**e)
_doubles = st.builds(lambda size, sign: size * sign, _sizes, st.sampled_from([-1.0, 1.0])) | st.just(0.0)
_radii = st.floats(-320, 0).map(lambda e: 10.0**e) | st.just(0.0)
_ends = st.sampled_from([-1, 0, 1])


def _ball(centre: float, radius: float) -> Ball:
    return Ball(np.array([centre]), np.array([radius]))


def _member(ball: Ball, end: int) -> Fraction:
    return Fraction(float(ball.centre[0])) + end * Fraction(float(ball.radius[0]))


def _holds(ball: Ball, number: Fraction) -> bool:
    centre, radius = float(ball.centre[0]), float(ball.radius[0])
    if not math.isfinite(centre) or not math.isfinite(radius):
        return not (ball.above()[0] or ball.below()[0])
    return abs(Fraction(centre) - number) <= Fraction(radius)


@given(a=_doubles, ra=_radii, b=_doubles, rb=_radii, i=_ends, j=_ends)
@settings(max_examples=120, deadline=None)
def test_sums_products_and_quotients_contain_the_exact_ones(
    a: float, ra: float, b: float, rb: float, i: int, j: int
) -> None:
    x, y = _ball(a, ra * abs(a)), _ball(b, rb * abs(b))
    p, q = _member(x, i), _member(y, j)
    with np.errstate(all="ignore"):
        assert _holds(x + y, p + q)
        assert _holds(x - y, p - q)
        assert _holds(x * y, p * q)
        if q:
            assert _holds(x / y, p / q)
    assert _holds(-x, -p)


@given(x=st.floats(1e-19, 1.0), r=_radii, end=_ends)
@settings(max_examples=120, deadline=None)
def test_logarithms_contain_the_exact_ones_and_are_close(x: float, r: float, end: int) -> None:
    ball = _ball(x, min(r, 0.9) * x)
    number = _member(ball, end)
    with np.errstate(all="ignore"):
        fall = ball.fall()
    with mpmath.workdps(60):
        true = -mpmath.log(mpmath.mpf(number.numerator) / number.denominator)
        assert abs(true - fall.centre[0]) <= fall.radius[0]
    if r < 1e-16:
        assert fall.radius[0] < 2.0**-44


@given(t=st.floats(0, 100), r=st.floats(0, 2), end=_ends)
@settings(max_examples=120, deadline=None)
def test_exponentials_contain_the_exact_ones(t: float, r: float, end: int) -> None:
    ball = _ball(t, r)
    number = max(Fraction(0), _member(ball, end))
    decay = ball.decay()
    with mpmath.workdps(60):
        true = mpmath.exp(-mpmath.mpf(number.numerator) / number.denominator)
        assert abs(true - decay.centre[0]) <= decay.radius[0]


@pytest.mark.parametrize("t", [-1e-3, -1e-12, 0.0, 44.999, 45.0, 45.001, 1e6, 1e300])
def test_exponentials_at_the_ends_of_the_table_contain_the_exact_ones(t: float) -> None:
    ball = _ball(t, 2e-3)
    decay = ball.decay()
    for number in (max(t - 2e-3, 0.0), max(t, 0.0), t + 2e-3):
        with mpmath.workdps(60):
            assert abs(mpmath.exp(-mpmath.mpf(number)) - decay.centre[0]) <= decay.radius[0]


@pytest.mark.parametrize("guess", [lambda x: np.log(x) + 1e-9, lambda x: x * np.nan, lambda x: x - x - np.inf])
def test_a_logarithm_that_the_library_gets_wrong_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, guess: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> None:
    wrong = guess(np.array([0.3]))
    monkeypatch.setattr(np, "log", lambda x: wrong)
    with np.errstate(all="ignore"):
        assert not np.isfinite(_ball(0.3, 0.0).fall().radius[0])


@pytest.mark.parametrize("slip", [-1.3e-14, -3e-15, 3e-15, 1.3e-14])
def test_a_logarithm_that_is_nearly_right_is_believed_as_far_as_it_is_proven(
    monkeypatch: pytest.MonkeyPatch, slip: float
) -> None:
    guess = np.log(np.array([0.3])) + slip
    monkeypatch.setattr(np, "log", lambda x: guess)
    fall = _ball(0.3, 0.0).fall()
    with mpmath.workdps(60):
        assert abs(-mpmath.log(mpmath.mpf(0.3)) - fall.centre[0]) <= fall.radius[0] < 2.0**-44


@pytest.mark.parametrize("x", [0.0, -1.0, 1.5, 1e-30, np.inf, np.nan])
def test_a_logarithm_out_of_range_is_unknown_and_so_is_all_that_follows(x: float) -> None:
    with np.errstate(all="ignore"):
        unknown = _ball(x, 0.0).fall()
        later = [unknown, unknown * 2 + 1, constant(Fraction(1)) / unknown.decay(), unknown.decay(), -unknown]
    for ball in later:
        assert not ball.above()[0]
        assert not ball.below()[0]


def test_a_divisor_that_may_be_zero_leaves_the_quotient_unknown() -> None:
    with np.errstate(all="ignore"):
        for divisor in (_ball(0.0, 0.0), _ball(1.0, 1.0), _ball(-1e-9, 1e-8)):
            quotient = _ball(1.0, 0.0) / divisor
            assert not (quotient.above() | quotient.below())[0]


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(10**400), Fraction(-1, 10**400), Fraction(2**53 + 1)])
def test_constants_of_any_size_are_contained_or_unknown(number: Fraction) -> None:
    ball = constant(number)
    assert _holds(Ball(np.atleast_1d(ball.centre), np.atleast_1d(ball.radius)), number)


def test_words_become_balls_that_are_their_cells() -> None:
    words = np.array([0, 1, 2**52 - 1, 2**51 + 12345], np.uint64)
    ball = of_words(words)
    for word, centre, radius in zip(words.tolist(), ball.centre.tolist(), ball.radius.tolist(), strict=True):
        assert Fraction(centre) - Fraction(radius) == Fraction(word, 2**52)
        assert Fraction(centre) + Fraction(radius) == Fraction(word + 1, 2**52)


def test_where_takes_each_place_from_its_own_ball() -> None:
    mixed = where(np.array([True, False]), constant(Fraction(1)), constant(Fraction(2)))
    assert mixed.centre.tolist() == [1.0, 2.0]
