"""Column and row norms of Toeplitz matrices whose coefficients are sums of powers, in O(d^2 log n) steps.

Every term is positive and enters by sums and products only. So doubles lose no digits by cancelling, and integers
that are rounded up at every product give an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
# Places after the point of numbers that are rounded up.
_PLACES = 160


@dataclass(frozen=True)
class Arithmetic:
    """How numbers are multiplied, and what is 1."""

    one: Any
    times: Callable[[Any, Any], Any]

    def outer(self, left: Numbers, right: Numbers) -> Numbers:
        """Return all products of two vectors, along the last axes."""
        return np.asarray(self.times(left[..., :, None], right[..., None, :]))


def _rounded_up(left: Any, right: Any) -> Any:
    return -(-(left * right) >> _PLACES)


DOUBLES = Arithmetic(1.0, lambda left, right: left * right)
# Integers in units of 2^-160: products are rounded up.
ABOVE = Arithmetic(1 << _PLACES, _rounded_up)


def column_square(
    decays: Numbers, weights: Numbers, horizon: int, ticks: int, separation: int, numbers: Arithmetic = DOUBLES
) -> Any:
    """Return the squared length of a sum of columns of the matrix with coefficients 1, sum_j w_j theta_j^(k-1).

    The columns are the first, and those b, 2b, ... further on.

    Args:
        decays: theta; in any number of sets, the last axis is that of the buffers.
        weights: w, all of them positive.
        horizon: The number n of rows.
        ticks: The number p of columns that are summed.
        separation: How far they are apart, b.
        numbers: Doubles, or integers that are rounded up.

    Proof:
        docs/proofs/buffered_toeplitz.md, Lemma 2.
    """
    times = numbers.times
    before = geometric(decays, separation - 1, numbers)[0]
    passed, passed_sums, passed_squares = _paired(times(before, decays), ticks, numbers)
    pairs = numbers.outer(decays, decays)
    full = geometric(pairs, separation - 1, numbers)[1]
    last = geometric(pairs, horizon - 1 - (ticks - 1) * separation, numbers)[1]
    entering = times(weights, before)
    at_entries = 2 * times(entering, passed_sums).sum(-1) + ticks * numbers.one
    at_entries = at_entries + times(numbers.outer(entering, entering), passed_squares).sum((-2, -1))
    between = times(full, passed_squares) + times(last, numbers.outer(passed, passed))
    return at_entries + times(numbers.outer(weights, weights), between).sum((-2, -1))


def row_square(residues: Numbers, poles: Numbers, ticks: int) -> Any:
    """Return sum_(k<n) b_k^2 for b_k = sum_i A_i rho_i^k: the largest squared row norm of n rows."""
    sums = geometric(DOUBLES.outer(poles, poles), ticks, DOUBLES)[1]
    return (DOUBLES.outer(residues, residues) * sums).sum((-2, -1))


def row_sum(residues: Numbers, poles: Numbers, ticks: int) -> Any:
    """Return sum_(k<n) b_k."""
    return (residues * geometric(poles, ticks, DOUBLES)[1]).sum(-1)


def mean_row_square(residues: Numbers, poles: Numbers, ticks: int) -> Any:
    """Return the mean over the rows t = 1 .. n of sum_(k<t) b_k^2."""
    _, sums, earlier = geometric(DOUBLES.outer(poles, poles), ticks, DOUBLES)
    return (DOUBLES.outer(residues, residues) * (earlier + sums)).sum((-2, -1)) / ticks


def geometric(ratios: Numbers, count: int, numbers: Arithmetic = DOUBLES) -> tuple[Numbers, Numbers, Numbers]:
    """Return r^m, S_m = 1 + r + ... + r^(m-1) and S_0 + ... + S_(m-1), by doubling m."""
    times = numbers.times
    power, sums, earlier, so_far = np.full_like(ratios, numbers.one), ratios * 0, ratios * 0, 0
    for digit in format(count, "b"):
        earlier = earlier + so_far * sums + times(power, earlier)
        sums, power, so_far = sums + times(power, sums), times(power, power), 2 * so_far
        if digit == "1":
            earlier, sums, power, so_far = earlier + sums, sums + power, times(power, ratios), so_far + 1
    return power, sums, earlier


def _paired(ratios: Numbers, count: int, numbers: Arithmetic) -> tuple[Numbers, Numbers, Numbers]:
    """Return S_m of each ratio, S_0 + ... + S_(m-1), and sum_(i<m) S_i(r) S_i(r') of all pairs, by doubling m."""
    times, outer = numbers.times, numbers.outer
    power, sums, earlier, so_far = np.full_like(ratios, numbers.one), ratios * 0, ratios * 0, 0
    pairs = outer(sums, sums)
    for digit in format(count, "b"):
        mixed = outer(sums, times(power, earlier))
        pairs = (
            pairs + so_far * outer(sums, sums) + mixed + mixed.swapaxes(-1, -2) + times(outer(power, power), pairs)
        )
        earlier = earlier + so_far * sums + times(power, earlier)
        sums, power, so_far = sums + times(power, sums), times(power, power), 2 * so_far
        if digit == "1":
            pairs = pairs + outer(sums, sums)
            earlier, sums, power, so_far = earlier + sums, sums + power, times(power, ratios), so_far + 1
    return sums, earlier, pairs


def above(values: tuple[Fraction, ...]) -> Numbers:
    """Return rationals as integers in units of 2^-160, rounded up."""
    return np.array([-(-(v.numerator << _PLACES) // v.denominator) for v in values], dtype=object)


def rational(value: int) -> Fraction:
    """Return what an integer in units of 2^-160 stands for."""
    return Fraction(int(value), 1 << _PLACES)
