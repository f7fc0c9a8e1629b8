"""The lattice point nearest to a real number: against rationals, and many at once against one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import thinned
from tests.seeded import SeededBits

from jali.sampling.bits import Words
from jali.sampling.exp_bounds import Bounds, exp_bounds
from jali.sampling.reals import (
    Law,
    Real,
    cauchy_law,
    gaussian_law,
    laplace_law,
    laplace_log_normal_law,
    nearest,
    nearest_sample,
    poly_place_law,
    polynomial_law,
    student_t_law,
)
from jali.sampling.reals import lattice_points as sampling
from jali.sampling.reals.balls import Ball
from jali.sampling.reals.laplace_log_normal import StretchedReal

_LAWS = [
    cauchy_law(),
    student_t_law(4),
    polynomial_law(Fraction(5, 4)),
    polynomial_law(Fraction(3)),
    poly_place_law(Fraction(7, 3)),
    gaussian_law(),
    laplace_law(),
    laplace_log_normal_law(Fraction(3, 4)),
]
_SCALES: list[Callable[[int], Bounds]] = [
    lambda n: (3 << n, 3 << n),
    lambda n: exp_bounds(Fraction(5), n),
    lambda n: (10**6 * exp_bounds(Fraction(1, 3), n)[0], 10**6 * exp_bounds(Fraction(1, 3), n)[1]),
    lambda n: (10**30 << n, 10**30 << n),
    lambda n: ((1 << n) // 10**30, (1 << n) // 10**30 + 1),
    lambda n: (2**2000 << n, 2**2000 << n),
]


class _Rational(Real):
    """A number that is a rational, enclosed with some slack."""

    def __init__(self, number: Fraction, slack: int) -> None:
        self._number = number
        self._slack = slack

    def bounds(self, precision: int) -> Bounds:
        scaled = self._number * 2**precision
        return floor(scaled) - self._slack, floor(scaled) + 1 + self._slack


@given(
    value=st.fractions(-100, 100, max_denominator=50),
    scale=st.fractions(0, 1000, max_denominator=99),
    number=st.fractions(-50, 50, max_denominator=10**6),
    slack=st.integers(0, 9),
    precision=st.sampled_from([1, 5, 32]),
)
@settings(max_examples=150, deadline=None)
def test_the_nearest_point_is_that_of_the_exact_number(
    value: Fraction, scale: Fraction, number: Fraction, slack: int, precision: int
) -> None:
    exact = value + scale * number + Fraction(1, 2)
    if exact.denominator == 1 and scale:
        return  # enclosures never part a number that is on the edge; such numbers have probability 0

    def bounds(n: int) -> Bounds:
        scaled = scale * 2**n
        return floor(scaled), floor(scaled) + (scaled.denominator > 1)

    assert nearest(value, bounds, _Rational(number, slack), precision=precision) == floor(exact)


def test_no_noise_at_scale_zero_even_on_the_edge() -> None:
    assert nearest(Fraction(7, 2), lambda n: (0, 0), _Rational(Fraction(1, 3), 3)) == 4


@given(
    x=st.fractions(-30, 30, max_denominator=10**4),
    y=st.fractions(-6, 6, max_denominator=10**4),
    sigma=st.fractions(0, 5, max_denominator=100),
    precision=st.integers(1, 200),
)
@settings(max_examples=120, deadline=None)
def test_a_stretched_number_is_enclosed(x: Fraction, y: Fraction, sigma: Fraction, precision: int) -> None:
    low, high = StretchedReal(_Rational(x, 2), _Rational(y, 2), sigma).bounds(precision)
    with mpmath.workdps(120):
        exponent = sigma * y
        true = (
            mpmath.mpf(x.numerator)
            / x.denominator
            * mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        )
        assert low <= mpmath.ldexp(true, precision) <= high
        limit = 4 + (1 + abs(x)) * (1 + sigma) * mpmath.exp(abs(float(exponent)) + 1)
        assert high - low <= limit


@thinned(4)
@pytest.mark.parametrize("law", _LAWS, ids=lambda law: repr(law)[:40])
@pytest.mark.parametrize("scale", range(len(_SCALES)))
def test_many_points_at_once_are_those_of_their_own_numbers(law: Law, scale: int) -> None:
    """Every point that doubles decide is the point that integers find for the same number."""
    value = Fraction(10**25, 3)
    size = 15 if scale == 5 else 150
    draws = law.draws(size, SeededBits(21))
    fast = sampling._block(value, _SCALES[scale], draws)
    assert fast == [nearest(value, _SCALES[scale], draws.real(place)) for place in range(size)]


def test_points_beside_an_edge_are_left_to_integers() -> None:
    """Where a ball touches an integer no floor is certain; beside it, it is."""
    near = np.array([1.0, 1.0 + 2.0**-52, 1.0 - 2.0**-53, 1.0 + 2.0**-30, 2.0**51, np.nan, np.inf])
    with np.errstate(all="ignore"):
        floors, sure = sampling._floors(Ball(near, np.full(7, 2.0**-52)))
    assert sure.tolist() == [False, False, False, True, False, False, False]
    assert floors[3] == 1.0


@pytest.mark.parametrize("law", _LAWS, ids=lambda law: repr(law)[:40])
def test_a_sample_is_the_same_when_doubles_decide_nothing(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points and rounding settled by integers alone agree with the first bits' verdict in doubles."""
    value, scale = Fraction(2, 7), _SCALES[0]
    fast = nearest_sample(value, scale, law, 60, _Counted(22))
    monkeypatch.setattr(Ball, "above", lambda ball: np.zeros(np.shape(ball.centre), np.bool_))
    monkeypatch.setattr(Ball, "below", lambda ball: np.zeros(np.shape(ball.centre), np.bool_))
    assert nearest_sample(value, scale, law, 60, _Counted(22)) == fast


class _Counted(SeededBits):
    """Bits of which those that refine a point, two words at a time, come from a stream of their own."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._aside = SeededBits(seed + 1000)

    def integers(self, count: int, width: int) -> Words:
        return self._aside.integers(count, width) if count == 2 else super().integers(count, width)


def test_a_sample_has_the_size_that_was_asked_for() -> None:
    for size in (0, 1, 2**14 + 3):
        assert len(nearest_sample(Fraction(0), _SCALES[0], laplace_law(), size, SeededBits(23))) == size
