"""The largest discounted sensitivity, and the double nearest to it, against mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.mechanisms.smooth.discounted_maximum import outweighs, peak
from jali.mechanisms.smooth.statistic import SmoothBound

SIZES = st.lists(st.integers(0, 2**60), min_size=1, max_size=60)
BETA = st.fractions("1/1000000", 10, max_denominator=10**6)


def discounted(distance: int, size: int | Fraction, beta: Fraction) -> mpmath.mpf:
    exponent = beta * distance
    return (
        mpmath.mpf(size.numerator)
        / size.denominator
        * mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
    )


@settings(max_examples=60 * DEPTH, deadline=None)
@given(SIZES, BETA)
def test_the_peak_is_the_largest_of_all(unordered: list[int], beta: Fraction) -> None:
    sizes = sorted(unordered)
    found = peak(sizes.__getitem__, len(sizes) - 1, beta)
    with mpmath.workdps(60):
        best = max(range(len(sizes)), key=lambda k: discounted(k, sizes[k], beta))
    assert found == (best, sizes[best]) or sizes[best] == 0 == found[1]


def test_a_peak_far_away_is_found_with_few_looks() -> None:
    seen = []

    def at(distance: int) -> int:
        seen.append(distance)
        return 1000 if distance < 300_000 else 10**9

    assert peak(at, 10**6, Fraction(1, 10**5)) == (300_000, 10**9)
    assert len(seen) < 80


def test_equal_steps_have_their_peak_where_the_derivative_vanishes() -> None:
    for denominator in (7, 100, 12_345):
        distance, size = peak(lambda k: k + 1, 10**6, Fraction(1, denominator))
        assert distance + 1 == size
        assert abs(distance + 1 - denominator) <= 1


def test_terms_that_differ_beyond_the_doubles_are_told_apart() -> None:
    with mpmath.workdps(120):
        size = int(mpmath.floor(mpmath.exp(30) * mpmath.mpf(2) ** 200))  # just below exp(30) times 2^200
    assert outweighs((0, 1 << 200), (30, size), Fraction(1))
    assert outweighs((30, size + 1), (0, 1 << 200), Fraction(1))
    assert not outweighs((0, 1 << 200), (30, size + 1), Fraction(1))
    assert not outweighs((3, 5), (3, 5), Fraction(1))
    assert not outweighs((3, 0), (5, 0), Fraction(1))
    assert outweighs((10**7, 1), (0, 0), Fraction(10))


@settings(max_examples=60 * DEPTH, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.fractions(0, 10**9)), min_size=1, max_size=4), BETA)
def test_the_double_is_the_nearest_one(terms: list[tuple[int, Fraction]], beta: Fraction) -> None:
    bound = SmoothBound(beta, tuple(terms))
    with mpmath.workprec(6000):
        exact = max(discounted(distance, size, beta) for distance, size in terms)
        low, high = bound.bounds(90)
        assert low <= exact * 2**90 <= high
        ratio = Fraction(int(mpmath.floor(exact * mpmath.mpf(2) ** 5900)), 2**5900)
    assert float(bound) == float(ratio)
