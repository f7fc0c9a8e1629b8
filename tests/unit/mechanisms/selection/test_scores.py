"""Scores are read exactly, whatever they come as, and nothing about their values is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.mechanisms.selection.scores import FAR, Exponents, Scores, read_scores, round_up_to_steps


def fractions(scores: Scores) -> list[Fraction]:
    return [int(item) * scores.unit for item in scores.integers]


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64, np.bool_])
def test_integer_arrays_are_read_without_a_copy_into_python(kind: type) -> None:
    scores = read_scores(np.array([1, 0, 1], kind))
    assert scores.integers.dtype == np.int64
    assert fractions(scores) == [1, 0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [2**63 - 1, -(2**63)],
        [2**64, -1],
        [10**30, 0, -(10**30)],
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([10**40, 3], object),
    ],
)
def test_wide_integers_never_overflow(values: Any) -> None:
    scores = read_scores(values)
    whole = [int(value) for value in values]
    assert fractions(scores) == whole
    assert [int(gap) for gap in scores.gaps()] == [max(whole) - value for value in whole]
    assert scores.exponents(Fraction(1, 7)).exact(1) == Fraction(max(whole) - whole[1], 7)


def test_fractions_share_a_denominator() -> None:
    scores = read_scores([Fraction(1, 3), Fraction(1, 4), Fraction(-3, 2), 2, np.int64(3), Fraction(1, 7)])
    assert fractions(scores) == [Fraction(1, 3), Fraction(1, 4), Fraction(-3, 2), 2, 3, Fraction(1, 7)]
    assert scores.unit == Fraction(1, 84)


def test_what_is_no_finite_number_counts_as_zero() -> None:
    odd = [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-Infinity"), 1]
    assert fractions(read_scores(odd, Fraction(1))) == [0, 0, 0, 0, 1]
    read = read_scores(np.array([math.nan, math.inf, -math.inf, 0.3]), Fraction(1, 4))
    assert fractions(read) == [0, 0, 0, Fraction(1, 4)]
    assert fractions(read_scores([math.nan, Fraction(1, 2)], Fraction(1, 4))) == [0, Fraction(1, 2)]


def test_decimals_of_any_exponent_are_read_at_once_and_in_order() -> None:
    """An exponent is data: it may neither hang nor turn a large score into a small one."""
    texts = ["-1e999999", "-1e400", "-1", "0", "1e-999999", "1e-300", "1", "1e400", "1e999999"]
    scores = fractions(read_scores([Decimal(text) for text in texts], Fraction(1, 8)))
    assert scores == sorted(scores)
    assert scores[-2] == 10**400


def test_numbers_read_alike_whatever_their_type_and_keep_their_distances() -> None:
    """Beyond 10^5000 all kinds are clamped, and what is far below a step is rounded like anything else."""
    big, small = 10**5000, Fraction(1, 10**6000)
    one = read_scores([Decimal("2E5000"), big], Fraction(1))
    assert fractions(one) == fractions(read_scores([2 * big, Fraction(big)], Fraction(1))) == [big, big]
    near = [Decimal("9" * 1000 + "E-6000"), Decimal("1E-5000")]
    read = read_scores(near, small).integers.tolist()
    assert read[1] - read[0] == 1


def test_decimals_need_a_step_as_floats_do() -> None:
    with pytest.raises(MechanismError, match="scores must be exact: integers or Fractions, not Decimal"):
        read_scores([Decimal("0.5"), 1])


def test_a_decimal_zero_is_zero_whatever_its_exponent() -> None:
    assert fractions(read_scores([Decimal("0E+6000"), Decimal("-0E-6000"), 1], Fraction(1))) == [0, 0, 1]


def test_long_doubles_are_rounded_once() -> None:
    """Scores exactly 1 apart stay within one step of 1: rounding to a double first would make it two."""
    wide = np.longdouble
    below, above = wide(0.5) - wide(2) ** -54, wide(1.5) - wide(2) ** -54
    for scores in (np.array([below, above]), [below, above]):
        read = read_scores(scores, Fraction(1)).integers.tolist()
        assert read[1] - read[0] == 1


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], "m8[s]"),
        np.array(["2026-01-01"], "M8[D]"),
        np.ma.masked_array([1, 2], [False, True]),
        np.ones(2, complex),
    ],
)
def test_times_masked_and_complex_arrays_are_refused(values: Any) -> None:
    with pytest.raises(MechanismError, match="scores must be numbers"):
        read_scores(values)


@pytest.mark.parametrize("values", [["a"], ["1"], {"a": 5, "b": 0}, {1, 2}, [b"1"], "12"])
def test_text_mappings_and_sets_are_refused_by_type(values: Any) -> None:
    with pytest.raises(MechanismError, match="scores"):
        read_scores(values)


@pytest.mark.parametrize("values", [[0.5, 1.0], np.array([1.0]), [1, 0.5], [np.float32(1)]])
def test_floats_without_a_step_are_refused_by_type(values: Any) -> None:
    with pytest.raises(MechanismError, match="step="):
        read_scores(values)


@pytest.mark.parametrize(
    "values", [[], np.array([], np.int64), 5, "123", np.zeros((2, 2), int), [None], [1j], [[1]]]
)
def test_what_is_no_list_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(MechanismError, match="scores"):
        read_scores(values)


@pytest.mark.parametrize("step", ["1/4", "1/3", "7/10", "1e-9", "1e-30", "1e20"])
def test_floats_are_rounded_as_exact_arithmetic_rounds_them(step: str) -> None:
    """Halves of steps, their neighbours among doubles, and sizes from 5e-324 to 1e308."""
    lattice, random = Fraction(step), np.random.default_rng(20_261_115)
    halves = (random.integers(-99, 99, 300) + 0.5) * float(lattice)
    sizes = random.normal(0, 1, 50) * 10.0 ** random.integers(-320, 307, 50)
    beside = [np.nextafter(halves, 9e99), np.nextafter(halves, -9e99)]
    values = np.concatenate(
        [halves, *beside, random.normal(0, 1e3, 300), sizes, [0.0, -0.0, 5e-324, 1e308, -1e308]]
    )
    wanted = [math.floor(Fraction(value) / lattice + Fraction(1, 2)) for value in values.tolist()]
    assert [int(item) for item in read_scores(values, lattice).integers] == wanted
    assert [int(item) for item in read_scores(values.tolist(), lattice).integers] == wanted


def test_rounding_keeps_the_direction_and_at_most_the_sensitivity_in_steps() -> None:
    random, step = np.random.default_rng(7), Fraction(3, 10)
    before = random.normal(0, 5, 2000)
    moved = before + random.random(2000) * 0.7
    lower, upper = (read_scores(values, step).integers for values in (before, moved))
    assert (upper >= lower).all()
    apart = max(Fraction(b) - Fraction(a) for a, b in zip(before.tolist(), moved.tolist(), strict=True))
    assert (upper - lower).max() * step <= round_up_to_steps(apart, step)
    assert round_up_to_steps(Fraction(7, 10), step) == Fraction(9, 10)
    assert round_up_to_steps(Fraction(7, 10), None) == Fraction(7, 10)


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(10**40 + 1, 3 * 10**41), Fraction(10) ** 400])
@pytest.mark.parametrize("values", [[0, 3, 7, 10**9], [0, 1, 10**25], [2**62, -(2**62), 0]])
def test_exponents_in_double_keep_the_error_that_the_coins_allow(rate: Fraction, values: list[int]) -> None:
    exponents = read_scores(values).exponents(rate)
    for place, double in enumerate(exponents.doubles.tolist()):
        exact = exponents.exact(place)
        if exact <= FAR:
            assert abs(Fraction(double) - exact) <= exact / 2**50
        else:
            assert FAR * (1 - 2.0**-50) <= double <= exact * (1 + Fraction(1, 2**50))


def test_listed_exponents_are_what_was_listed() -> None:
    listed = [Fraction(1, 3), Fraction(0), Fraction(10) ** 500]
    exponents = Exponents.from_list(listed)
    assert [exponents.exact(place) for place in range(len(exponents))] == listed
    assert exponents.doubles.tolist() == [1 / 3, 0.0, FAR]


def test_a_candidate_can_be_taken_out() -> None:
    rest = read_scores([5, 9, 7]).without(1)
    assert fractions(rest) == [5, 7]
    assert rest.below_best(0) == 2
