"""What releases that are declared together fail by at an epsilon below their sum: a batch may be charged so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.signal import fftconvolve
from tests.loss.laws import Doubles

# Losses are put on a grid of so many parts of epsilon, in a way that makes delta larger: the finer, the less.
PARTS = 3000, 48_000
# What convolutions by Fourier transforms may take from delta.
_ROUNDING = 1e-12


def delta_of_rho(rho: float, epsilon: float) -> float:
    """Return a delta at epsilon of a pair that is rho-zCDP.

    For every order a > 1, delta = exp((a-1)(a rho - epsilon)) / (a-1) (1 - 1/a)^a holds (Canonne, Kamath and
    Steinke 2020, Proposition 12 and Corollary 13); the least of many orders is taken.
    """
    if rho == 0:
        return 0.0
    b = np.exp(np.linspace(-20, 20, 20_001))
    a = b + 1
    logs = b * (a * rho - epsilon) - np.log(b) - a * np.log1p(1 / b)
    return float(np.exp(np.minimum(logs.min(), 0.0)))


def delta_of_sum(
    pieces: Sequence[tuple[Fraction, Fraction]],
    epsilons: Sequence[float],
    epsilon: float,
    parts: int = PARTS[0],
) -> float:
    """Return a delta at epsilon of releases whose losses are fixed beforehand: their laws are added up.

    The loss ln(P/Q) of discrete Laplace noise Z of scale b on one number that moves by m is (|Z - m| - |Z|)/b; a
    vector that moves by m in the L1 norm loses no more, as likelihood ratios of shifts are monotone (Neyman and
    Pearson; Dong, Roth and Su 2022, Section 3). An epsilon-DP pair loses no more than randomized response: epsilon
    with probability e^epsilon/(1 + e^epsilon), otherwise -epsilon (Kairouz, Oh and Viswanath 2015, Theorem 3.1).
    Independent losses add, and delta is the mean of max(0, 1 - e^(epsilon - loss)) (Dwork and Rothblum 2016;
    Sommer, Meiser and Mohammadi 2019). Every law is symmetric in its two inputs: one direction is enough.

    Losses between two points of a grid are put on both, so that P and Q keep their masses there: from these two
    outcomes the original ones can be drawn, so that delta does not fall (Doroshenko et al. 2022).

    Args:
        pieces: For each release by Laplace noise how far it moves, and the scale.
        epsilons: The epsilon of each other release.
        epsilon: Where the delta is wanted.
        parts: Of how many parts of epsilon the grid is.
    """
    step, law, first = epsilon / parts, np.ones(1), 0
    found = [_laplace(float(move), float(scale), step) for move, scale in pieces]
    for start, one in found + [_response(each, step) for each in epsilons]:
        law, first = np.maximum(fftconvolve(law, one), 0), first + start
    losses = (first + np.arange(len(law))) * step
    above = losses > epsilon
    return float(np.sum(law[above] * -np.expm1(epsilon - losses[above]))) + _ROUNDING


def _laplace(move: float, scale: float, step: float) -> tuple[int, Doubles]:
    """Return the law of the loss on a grid, and the number of the first point."""
    last = math.ceil(move / scale / step)
    points: Doubles = step * np.arange(-last - 1, last + 1, dtype=np.float64)
    # Under P: loss > x where Z < (move - x scale) / 2, for x in [-move/scale, move/scale). Under Q it is mirrored.
    over = _below(np.ceil((move - points * scale) / 2), scale)
    over[points < -move / scale] = 1.0
    over[points >= move / scale] = 0.0
    over_q = 1 - _below(np.floor((move + points * scale) / 2) + 1, scale)
    over_q[points < -move / scale] = 1.0
    over_q[points >= move / scale] = 0.0
    return -last - 1, _on_grid(points, over[:-1] - over[1:], over_q[:-1] - over_q[1:], step)


def _on_grid(points: Doubles, p: Doubles, q: Doubles, step: float) -> Doubles:
    """Put what lies between two neighbouring points on these, such that P and Q keep their masses."""
    upper = np.clip((p - q * np.exp(points[:-1])) / -math.expm1(-step), 0.0, p)
    law = np.zeros(len(points))
    law[:-1] += p - upper
    law[1:] += upper
    return law


def _below(bounds: Doubles, scale: float) -> Doubles:
    """Return Pr[Z < n] for discrete Laplace noise."""
    q = math.exp(-1 / scale)
    left = np.exp((np.minimum(bounds, 1) - 1) / scale) / (1 + q)
    right = 1 - np.exp(-np.maximum(bounds, 1) / scale) / (1 + q)
    return np.where(bounds <= 0, left, right)


def _response(epsilon: float, step: float) -> tuple[int, Doubles]:
    """Return the law of the loss of randomized response on a grid, and the number of the first point."""
    last = math.ceil(epsilon / step)
    points: Doubles = step * np.arange(-last - 1, last + 1, dtype=np.float64)
    p, q, up = np.zeros(len(points) - 1), np.zeros(len(points) - 1), 1 / (1 + math.exp(-epsilon))
    # Losses lie in (point, next point].
    for loss, mass in ((epsilon, up), (-epsilon, 1 - up)):
        place = int(np.searchsorted(points, loss, "left")) - 1
        p[place] += mass
        q[place] += mass * math.exp(-loss)
    return -last - 1, _on_grid(points, p, q, step)
