"""The two ways to exp(-x): rigorous integers and proven doubles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.distribution.exact_laws import mpmath

from jali.sampling.exp_bounds import LARGEST, MARGIN, compare_exp, exp_bounds, exp_doubles


def _exp(x: Fraction) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)


rationals = st.one_of(
    st.fractions(min_value=0, max_value=60, max_denominator=10**30),
    st.fractions(min_value=0, max_value=Fraction(1, 10**12), max_denominator=10**40),
    st.integers(0, 500).map(Fraction),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(x=rationals, precision=st.integers(1, 400))
def test_integer_bounds_enclose_exp_tightly(x: Fraction, precision: int) -> None:
    lo, hi = exp_bounds(x, precision)
    exact = _exp(x) * mpmath.mpf(2) ** precision
    assert 0 <= lo <= exact <= hi <= (1 << precision) + 1
    assert hi - lo <= 2


@pytest.mark.parametrize("precision", [1, 64, 3000])
def test_exp_of_zero_and_of_very_much_are_bounded(precision: int) -> None:
    assert exp_bounds(Fraction(0), precision) == (1 << precision, 1 << precision)
    assert exp_bounds(Fraction(10**30), precision) == (0, 1)


def test_doubles_err_by_less_than_the_lemma_says() -> None:
    rng = np.random.default_rng(1)
    grid = np.arange(0, int(LARGEST) * 64 + 1) / 64
    x = np.concatenate(
        [
            rng.uniform(0, LARGEST, 3000),
            rng.uniform(0, 1 / 32, 1000),
            2.0 ** -rng.uniform(0, 1000, 300),
            grid[::8],
            np.nextafter(grid[8::8], 0),
            [0.0, 5e-324, LARGEST],
        ]
    )
    worst = 0.0
    for argument, computed in zip(x.tolist(), exp_doubles(x).tolist(), strict=True):
        exact = mpmath.exp(-mpmath.mpf(argument))
        worst = max(worst, float(abs(mpmath.mpf(computed) - exact) / exact))
    assert worst < 2.0**-51


@pytest.mark.parametrize("width", [4, 16, 53, 64])
def test_doubles_never_decide_wrongly_and_seldom_doubt(width: int) -> None:
    """Words are taken at the very edge of the doubtful zone, where a wrong bound would show."""
    rng = np.random.default_rng(width)
    exact = [Fraction(int(n), 10**17) for n in rng.integers(0, 46 * 10**17, 400)]
    zone = max(1, int(MARGIN * 2.0**width))
    top = (1 << width) - 1
    for x in exact:
        middle = int(_exp(x) * mpmath.mpf(2) ** width)
        near = [middle + shift for shift in (-2 * zone, -zone, -2, -1, 0, 1, 2, zone, 2 * zone)]
        words = [min(max(word, 0), top) for word in near]
        doubles = np.full(len(words), float(x))
        below, doubtful = compare_exp(np.array(words, np.uint64), doubles, width)
        for place in set(range(len(words))) - set(doubtful.tolist()):
            assert words[place] != middle  # this word holds numbers on both sides
            assert bool(below[place]) == (words[place] < middle)
    many = rng.integers(0, 1 << width, 10_000, np.uint64)
    _, doubtful = compare_exp(many, rng.uniform(0, 3, 10_000), width)
    assert len(doubtful) <= (0 if width > 50 else 10_000 * 8 / 2**width)


def test_an_exponent_off_by_the_allowed_error_is_still_decided_rightly() -> None:
    for x in (Fraction(1, 3), Fraction(31), Fraction(449, 10)):
        middle = int(_exp(x) * mpmath.mpf(2) ** 64)
        for factor in (1 - 2.0**-50, 1 + 2.0**-50):
            words = np.array([max(middle - 1, 0), middle, middle + 1], np.uint64)
            below, doubtful = compare_exp(words, np.full(3, float(x) * factor), 64)
            assert doubtful.tolist() == [0, 1, 2]
            assert not below.any()
