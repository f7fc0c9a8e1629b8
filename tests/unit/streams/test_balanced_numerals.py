"""Balanced digits, and the sums of their sizes in closed form."""

from __future__ import annotations

import itertools
import math

import pytest

from jali.streams.balanced_numerals import best_radix, digit_sums, digits, levels_for, total_of_digits

RADICES = (3, 5, 7, 19, 101)


@pytest.mark.parametrize("radix", RADICES)
def test_digits_are_balanced_and_write_the_number(radix: int) -> None:
    for number in range(1, 500):
        found = digits(number, radix)
        assert sum(d * radix**i for i, d in enumerate(found)) == number
        assert all(abs(d) <= (radix - 1) // 2 for d in found)


@pytest.mark.parametrize("radix", RADICES)
def test_levels_are_as_many_as_the_longest_number_needs(radix: int) -> None:
    for horizon in range(1, 400):
        assert levels_for(horizon, radix) == max(len(digits(t, radix)) for t in range(1, horizon + 1))


@pytest.mark.parametrize("radix", RADICES)
def test_sums_of_digits_are_counted_and_totalled(radix: int) -> None:
    sizes = [sum(map(abs, digits(t, radix))) for t in range(1, 400)]
    for horizon, total in enumerate(itertools.accumulate(sizes), start=1):
        assert total_of_digits(horizon, radix) == total
    assert digit_sums(399, radix).tolist() == sizes


@pytest.mark.parametrize("horizon", [1, 2, 5, 30, 100, 365, 1024])
def test_no_radix_is_better_than_the_best(horizon: int) -> None:
    def squared(radix: int) -> float:
        sizes = [sum(map(abs, digits(t, radix))) for t in range(1, horizon + 1)]
        return levels_for(horizon, radix) ** 2 * math.fsum(sizes) / horizon

    radices = [*range(3, 102, 2), 2 * horizon + 1]
    assert squared(best_radix(horizon)) == min(map(squared, radices))


def test_the_radices_of_the_theorem_book_are_chosen() -> None:
    assert (best_radix(1024), levels_for(1024, 13)) == (13, 3)
    assert (best_radix(1 << 20), levels_for(1 << 20, 19)) == (19, 5)
