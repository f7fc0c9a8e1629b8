"""The law of noisy max with Laplace noise of scale 1, by quadrature between the kinks of its densities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from jali.mechanisms.selection.permute_and_flip import missing
from jali.mechanisms.selection.quadrature import log_sum, on_panels
from jali.noise.doubles import Doubles

_ORDER = 32
_REACH = 50.0  # exp(-50) is below the rounding of doubles
_LN2 = math.log(2)


def laplace_race_law(x: Doubles) -> Doubles:
    """Return ln Pr[noise_i - x_i is the largest] for each i, given exponents of which the least is 0.

    Candidate i wins with the integral of f(v + x_i) times the product of F(v + x_j) over all others j. Between
    neighbouring kinks -x_j the integrand is smooth; it varies near the kinks only, so that the middle of a long
    piece is one panel. For d different scores this takes about 500 d^2 evaluations.
    """
    gaps, back, counts = np.unique(x, return_inverse=True, return_counts=True)
    pieces = [_piece(base, offsets, gaps, counts) for base, offsets in _pieces(gaps, len(x))]
    return np.asarray(log_sum(np.array(pieces)))[back]


def _piece(base: float, edges: Doubles, gaps: Doubles, counts: np.ndarray) -> Doubles:
    """Integrate over v = offset - base, for all candidates at once."""
    offsets, log_weights = on_panels(edges, _ORDER)
    relative = np.array([float(Fraction(gap) - Fraction(base)) for gap in gaps.tolist()])
    y = offsets[:, None] + relative
    logs = _log_distribution(y)
    return log_sum((log_weights + logs @ counts)[:, None] - logs - np.abs(y) - _LN2)


def _pieces(gaps: Doubles, candidates: int) -> Iterator[tuple[float, Doubles]]:
    """Yield, for each piece of the line, an x that its offsets are counted from, and the edges of its panels."""
    reach = math.ceil(_REACH + math.log(candidates))
    whole = np.arange(reach + 1.0)
    leftward = _growing(1 / candidates, 3 * reach)
    yield gaps[-1], -leftward[::-1]
    yield gaps[0], whole
    for right, left in zip(gaps[:-1].tolist(), gaps[1:].tolist(), strict=True):
        length = left - right
        if length > 3 * reach:
            yield right, -leftward[leftward <= reach][::-1]
            yield right, np.array([reach - length, -float(reach)])
            yield left, whole
        else:
            yield right, -np.append(leftward[leftward < length], length)[::-1]


def _growing(finest: float, end: int) -> Doubles:
    """Return edges from 0 to `end` whose panels double until they have length 1.

    The integrand is log-concave and its logarithm falls at a rate of 1 at most to the right, but of one for each
    candidate to the left: where a panel is too long for it there, next to nothing is left.
    """
    doubling = finest * 2.0 ** np.arange(math.ceil(-math.log2(finest)))
    return np.array([0.0, *doubling.tolist(), *range(1, end + 1)])


def _log_distribution(y: Doubles) -> Doubles:
    """Return ln F(y), where F(y) is exp(y)/2 below 0 and 1 - exp(-y)/2 above."""
    return np.where(y < 0, y - _LN2, np.log1p(-np.exp(-np.abs(y)) / 2))


def missing_laplace(x: float, candidates: int) -> float:
    """Return the chance to miss the best of several candidates when all others are x scales below it."""
    others, half = candidates - 1, math.exp(-x) / 2
    # The best has noise -v: below -x, where the others' F is exp(.)/2; between -x and 0; above 0.
    below = 2.0 * half * (0.5**candidates) / candidates
    above = (1 - missing(half, candidates)) / 2
    return max(0.0, 1 - below - above - _between(x, others))


def _between(x: float, others: int) -> float:
    """Return half of exp(-x) times the integral over [0, x] of exp(w) (1 - exp(-w)/2)**others."""
    if x == 0:
        return 0.0
    w, log_weights = on_panels(np.linspace(0, x, math.ceil(x) + 1), _ORDER)
    return math.fsum(np.exp(log_weights + w - x + others * np.log1p(-np.exp(-w) / 2))) / 2
