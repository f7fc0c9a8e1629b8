"""Choose decays and weights of buffers with the least error over a horizon, from norms in closed form.

The norms are of Toeplitz matrices whose coefficients are sums of powers, computed in O(d^2 log n) steps. Every
term is positive and enters by sums and products only. So doubles lose no digits by cancelling, and integers that
are rounded up at every product give an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats

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


def _multiply_rounding_up(left: Any, right: Any) -> Any:
    return -(-(left * right) >> _PLACES)


IN_DOUBLES = Arithmetic(1.0, lambda left, right: left * right)
# Integers in units of 2^-160: products are rounded up.
ROUNDED_UP = Arithmetic(1 << _PLACES, _multiply_rounding_up)


def column_square(
    decays: Numbers, weights: Numbers, horizon: int, ticks: int, separation: int, numbers: Arithmetic = IN_DOUBLES
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
    passed, passed_sums, passed_squares = _sum_pairs(times(before, decays), ticks, numbers)
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
    sums = geometric(IN_DOUBLES.outer(poles, poles), ticks, IN_DOUBLES)[1]
    return (IN_DOUBLES.outer(residues, residues) * sums).sum((-2, -1))


def row_sum(residues: Numbers, poles: Numbers, ticks: int) -> Any:
    """Return sum_(k<n) b_k."""
    return (residues * geometric(poles, ticks, IN_DOUBLES)[1]).sum(-1)


def mean_row_square(residues: Numbers, poles: Numbers, ticks: int) -> Any:
    """Return the mean over the rows t = 1 .. n of sum_(k<t) b_k^2."""
    _, sums, earlier = geometric(IN_DOUBLES.outer(poles, poles), ticks, IN_DOUBLES)
    return (IN_DOUBLES.outer(residues, residues) * (earlier + sums)).sum((-2, -1)) / ticks


def geometric(ratios: Numbers, count: int, numbers: Arithmetic = IN_DOUBLES) -> tuple[Numbers, Numbers, Numbers]:
    """Return r^m, S_m = 1 + r + ... + r^(m-1) and S_0 + ... + S_(m-1), by doubling m."""
    times = numbers.times
    power, sums, earlier, so_far = np.full_like(ratios, numbers.one), ratios * 0, ratios * 0, 0
    for digit in format(count, "b"):
        earlier = earlier + so_far * sums + times(power, earlier)
        sums, power, so_far = sums + times(power, sums), times(power, power), 2 * so_far
        if digit == "1":
            earlier, sums, power, so_far = earlier + sums, sums + power, times(power, ratios), so_far + 1
    return power, sums, earlier


def _sum_pairs(ratios: Numbers, count: int, numbers: Arithmetic) -> tuple[Numbers, Numbers, Numbers]:
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


def round_up_to_places(values: tuple[Fraction, ...]) -> Numbers:
    """Return rationals as integers in units of 2^-160, rounded up."""
    return np.array([-(-(v.numerator << _PLACES) // v.denominator) for v in values], dtype=object)


def read_places(value: int) -> Fraction:
    """Return what an integer in units of 2^-160 stands for."""
    return Fraction(int(value), 1 << _PLACES)


# Newton's method: a step of each parameter for differences, the longest step, how often, and when it is enough.
_STEP, _LONGEST, _TIMES, _ENOUGH = 1e-3, 1.0, 100, 1e-7
# Neighbouring decays are at least so far apart in log odds, so that weights keep their digits.
_APART = 1e-2
# Where a buffer is of no use its log odds would run away: what lies further out than this has a price.
_AWAY, _PRICE = 3.0, 1e-4


@lru_cache(maxsize=256)
def best_parameters(horizon: int, ticks: int, separation: int, buffers: int) -> tuple[Floats, Floats]:
    """Return decays and weights that make column norm times largest row norm small, for a pattern of ticks.

    The decays and the zeros of the generating function alternate, 1 > theta_1 > zero_1 > theta_2 > ... > 0: the
    log odds of 1 - theta and 1 - zero start somewhere and have steps above 0.01, whose logarithms are free.
    Newton's method moves these, from steps that are all alike. All parameters are private; these err little.
    """
    first = -math.log(max(2.0, horizon / 2.0))

    def logarithm(free: Floats) -> Floats:
        odds = _log_odds(free)
        gaps, zero_gaps = _gaps(odds)
        columns = column_square(1 - gaps, weights_from_gaps(gaps, zero_gaps), horizon, ticks, separation)
        rows = row_square(*inverse_from_gaps(gaps, zero_gaps), horizon)
        away = np.maximum(first - _AWAY - odds[..., 0], 0) + np.maximum(odds[..., -1] - _AWAY, 0)
        return np.asarray(np.log(columns * rows) / 2 + _PRICE * away**2)

    free = np.full(2 * buffers, math.log(-first / (2 * buffers)))
    free[0] = first
    gaps, zero_gaps = _gaps(_log_odds(_newton(logarithm, free)))
    return 1 - gaps, weights_from_gaps(gaps, zero_gaps)


def weights_from_gaps(gaps: Floats, zero_gaps: Floats) -> Floats:
    """Return w_j = prod_i (theta_j - zero_i) / prod_(i != j) (theta_j - theta_i); gaps are 1 - theta, 1 - zero."""
    above = zero_gaps[..., None, :] - gaps[..., :, None]
    below = _others(gaps)
    return np.asarray((above / below).prod(-1))


def inverse_from_gaps(gaps: Floats, zero_gaps: Floats) -> tuple[Floats, Floats]:
    """Return residues A_0 .. A_d and poles 1, zero_1 .. zero_d of 1/((1-x) c(x)) = sum_i A_i / (1 - pole_i x)."""
    above = gaps[..., None, :] - zero_gaps[..., :, None]
    first = (gaps / zero_gaps).prod(-1)[..., None]
    others = -(above / _others(zero_gaps)).prod(-1) / zero_gaps
    poles = np.concatenate([np.ones_like(first), 1 - zero_gaps], axis=-1)
    return np.concatenate([first, others], axis=-1), poles


def _others(gaps: Floats) -> Floats:
    """Return theta_j - theta_i for i != j, and 1 for i = j."""
    return np.asarray(gaps[..., None, :] - gaps[..., :, None] + np.eye(gaps.shape[-1]))


def _log_odds(free: Floats) -> Floats:
    """Return numbers that begin with the first and go up by more than 0.01 each."""
    steps = np.concatenate([free[..., :1], _APART + np.exp(free[..., 1:])], axis=-1)
    return np.asarray(np.cumsum(steps, axis=-1))


def _gaps(log_odds: Floats) -> tuple[Floats, Floats]:
    """Return 1 - theta and 1 - zero, which alternate."""
    gaps = 1 / (1 + np.exp(-log_odds))
    return gaps[..., 0::2], gaps[..., 1::2]


def _newton(function: Callable[[Floats], Floats], place: Floats) -> Floats:
    """Go down from a place: Newton's step along each direction of the curvature, shortened until it helps."""
    value = float(function(place))
    for _ in range(_TIMES):
        slope, curvature = _differences(function, place)
        sizes, directions = np.linalg.eigh(curvature)
        step = -directions @ (directions.T @ slope / np.maximum(np.abs(sizes), 1e-4))
        step *= min(1.0, _LONGEST / float(np.abs(step).max() or 1.0))
        tried = place + step * 0.5 ** np.arange(20)[:, None]
        values = function(tried)
        least = int(np.argmin(values))
        if not values[least] < value - _ENOUGH:
            return place if not values[least] < value else tried[least]
        place, value = tried[least], float(values[least])
    return place


def _differences(function: Callable[[Floats], Floats], place: Floats) -> tuple[Floats, Floats]:
    """Return slope and curvature by central differences, of one call with all places."""
    size = len(place)
    moves = _STEP * np.eye(size)
    pairs = moves[:, None, :] + moves[None, :, :]
    crossed = moves[:, None, :] - moves[None, :, :]
    tried = np.concatenate([moves, -moves, *pairs, *-pairs, *crossed, *-crossed])
    values = function(place + tried)
    slope = (values[:size] - values[size : 2 * size]) / (2 * _STEP)
    square = size * size
    plus, minus, cross, other = values[2 * size :].reshape(4, square)
    curvature = (plus + minus - cross - other).reshape(size, size) / (4 * _STEP**2)
    return slope, (curvature + curvature.T) / 2
