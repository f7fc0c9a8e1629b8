"""Numbers in balanced digits: t = sum d_i k^i with |d_i| <= (k-1)/2 for an odd radix k.

Statement:
    Let r_0 = t and r_(i+1) = floor((r_i + (k-1)/2) / k): the number t / k^(i+1), rounded to the nearest. Then
    d_i = r_i - k r_(i+1) are the balanced digits of t, and no others are.
Proof:
    docs/proofs/balanced_digits.md, Lemma 1.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from jali.numbers.search import least_integer

# Radices beyond the least that reaches the horizon with so many digits are hardly ever better; a few are tried.
_TRIED = 4


def levels_for(horizon: int, radix: int) -> int:
    """Return how many digits the numbers up to a horizon have: the least h with (k^h - 1) / 2 >= horizon."""
    levels, reached = 1, radix
    while reached // 2 < horizon:
        levels, reached = levels + 1, reached * radix
    return levels


def digits(number: int, radix: int) -> list[int]:
    """Return the digits of one number, lowest first.

    Example:
        >>> digits(14, 3)  # -1 - 3 - 9 + 27
        [-1, -1, -1, 1]
    """
    found = []
    while number:
        above = (number + radix // 2) // radix
        found.append(number - radix * above)
        number = above
    return found


def digit_sums(horizon: int, radix: int) -> NDArray[np.int64]:
    """Return the sum of the sizes of the digits of 1, 2, ..., horizon."""
    numbers = np.arange(1, horizon + 1)
    sums = np.zeros_like(numbers)
    for _ in range(levels_for(horizon, radix)):
        above = (numbers + radix // 2) // radix
        sums += np.abs(numbers - radix * above)
        numbers = above
    return sums


def total_of_digits(horizon: int, radix: int) -> int:
    """Return the sum of the sizes of all digits of 1, 2, ..., horizon, in closed form.

    Statement:
        With p = k^i, r_i is the floor of (t + (p-1)/2) / p: each value above 0 is taken by p numbers in a row, the
        last perhaps by fewer. Digit i is the lowest digit of r_i, and its size repeats with period k.
    """
    total, power = 0, 1
    for _ in range(levels_for(horizon, radix)):
        whole, rest = divmod(horizon + power // 2 + 1, power)
        total += power * _sizes_below(whole, radix) + rest * min(whole % radix, -whole % radix)
        power *= radix
    return total


def _sizes_below(count: int, radix: int) -> int:
    """Return the sum of the sizes of the lowest digits of 0, 1, ..., count - 1."""
    periods, rest = divmod(count, radix)
    half = radix // 2
    begun = (
        rest * (rest - 1) // 2 if rest <= half else half * (half + 1) - (radix - rest) * (radix - rest + 1) // 2
    )
    return periods * half * (half + 1) + begun


@lru_cache(maxsize=256)
def best_radix(horizon: int) -> int:
    """Return the radix with the least h^2 times the mean sum of digits: proportional to the mean squared error.

    Example:
        >>> best_radix(1 << 20)
        19
    """
    least = [_least_radix(horizon, levels) for levels in range(1, horizon.bit_length() + 2)]
    tried = {radix + 2 * more for radix in least for more in range(_TRIED)}
    return min(sorted(tried), key=lambda k: levels_for(horizon, k) ** 2 * total_of_digits(horizon, k))


def _least_radix(horizon: int, levels: int) -> int:
    """Return the least odd k of at least 3 with (k^levels - 1) / 2 >= horizon, by halving."""
    return 2 * least_integer(lambda half: (2 * half + 1) ** levels // 2 >= horizon, 0, horizon) + 1
