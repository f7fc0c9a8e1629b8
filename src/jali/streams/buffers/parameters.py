"""Good parameters of buffers: the decays and weights with the least error over a horizon."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from jali.mechanisms.workloads.workload import Floats
from jali.streams.buffers.norms import column_square, row_square

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
        columns = column_square(1 - gaps, weights_of(gaps, zero_gaps), horizon, ticks, separation)
        rows = row_square(*inverse_of(gaps, zero_gaps), horizon)
        away = np.maximum(first - _AWAY - odds[..., 0], 0) + np.maximum(odds[..., -1] - _AWAY, 0)
        return np.asarray(np.log(columns * rows) / 2 + _PRICE * away**2)

    free = np.full(2 * buffers, math.log(-first / (2 * buffers)))
    free[0] = first
    gaps, zero_gaps = _gaps(_log_odds(_newton(logarithm, free)))
    return 1 - gaps, weights_of(gaps, zero_gaps)


def weights_of(gaps: Floats, zero_gaps: Floats) -> Floats:
    """Return w_j = prod_i (theta_j - zero_i) / prod_(i != j) (theta_j - theta_i); gaps are 1 - theta, 1 - zero."""
    above = zero_gaps[..., None, :] - gaps[..., :, None]
    below = _others(gaps)
    return np.asarray((above / below).prod(-1))


def inverse_of(gaps: Floats, zero_gaps: Floats) -> tuple[Floats, Floats]:
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
