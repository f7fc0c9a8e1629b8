"""The law of noisy max with Laplace noise of scale 1, by quadrature between the kinks of its densities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.selection.permute_and_flip import missing
from jali.mechanisms.selection.quadrature import log_sum, on_panels
from jali.noise.doubles import Doubles

_ORDER = 32
_REACH = 50.0  # exp(-50) is below the rounding of doubles
_LN2 = math.log(2)
_POWERS = np.arange(1.0, 61.0)  # series in exp(-y)/2 <= 1/2: what is left out is 2**-60 of the first term


def laplace_race_law(x: Doubles) -> Doubles:
    """Return ln Pr[noise_i - x_i is the largest] for each i, given exponents of which the least is 0.

    Candidate i wins with the integral of f(v + x_i) times the product of F(v + x_j) over all others j. Between
    neighbouring kinks -x_j the integrand is smooth; it varies near the kinks only, so that the middle of a long
    piece is one panel. On a piece, candidates on the one side of it enter by their number and their sum, those on
    the other side by 60 power sums: time grows with the number of different scores, half a second for 3,000.

    Proof:
        docs/proofs/noisy_max.md, Law by quadrature.
    """
    gaps, back, counts = np.unique(x, return_inverse=True, return_counts=True)
    field = _Field.of(gaps, counts)
    pieces = np.array([field.moments(piece) for piece in range(len(gaps))])
    # Behind candidate i: on pieces left of its kink the others' product is all there is.
    left_of = np.append(pieces[1:, 0], field.log_far_left)
    behind = np.logaddexp.accumulate(left_of[::-1])[::-1]
    shifts = gaps[:, None] * _POWERS
    ahead = np.logaddexp.accumulate(pieces[:, 1:] + shifts) - shifts - _LN2 * _POWERS
    return np.logaddexp(behind, log_sum(ahead.T))[back]


@dataclass(frozen=True, eq=False)
class _Field:
    """The candidates as seen from the pieces between their kinks; piece q ends at kink -gaps[q] on its left.

    Attributes:
        gaps: The different exponents, in rising order.
        nearer: How many candidates have a smaller exponent than gaps[q].
        sums: The sum of gaps[q-1] - x over those.
        powers: For m = 1 .. 60, the sum of exp(-m (x - gaps[q])) over all others.
        candidates: How many there are.
    """

    gaps: Doubles
    nearer: NDArray[np.intp]
    sums: Doubles
    powers: Doubles
    candidates: int

    @classmethod
    def of(cls, gaps: Doubles, counts: NDArray[np.intp]) -> _Field:
        """Sum up the candidates to either side of each piece; no sum has terms of both signs."""
        steps, nearer = np.diff(gaps), np.append(0, np.cumsum(counts))
        sums = np.append([0.0, 0.0], np.cumsum(nearer[1:-1] * steps))
        powers = np.empty((len(gaps), len(_POWERS)))
        powers[-1] = counts[-1]
        for q in range(len(gaps) - 2, -1, -1):
            powers[q] = counts[q] + np.exp(-steps[q] * _POWERS) * powers[q + 1]
        return cls(gaps, nearer, sums, powers, int(nearer[-1]))

    @property
    def log_far_left(self) -> float:
        """The integral of the product left of all kinks: ln of exp(-sum) 2**-d / d."""
        return float(-self.sums[-1] - self.candidates * _LN2 - math.log(self.candidates))

    def moments(self, q: int) -> Doubles:
        """Return ln of the integral over piece q of exp(-m t) times the product, t = v + gaps[q], m = 0 .. 60."""
        right = math.inf if q == 0 else self.gaps[q] - self.gaps[q - 1]
        parts = [self._integrals(q, *part) for part in _parts(right, self.candidates)]
        return log_sum(np.array(parts))

    def _integrals(self, q: int, base: float, edges: Doubles) -> Doubles:
        """Integrate over t = base + offset; offsets from the right end of the piece are kept as they are."""
        offsets, log_weights = on_panels(edges, _ORDER)
        t = base + offsets
        decays = -t[:, None] * _POWERS
        logs = log_weights - np.exp(decays - _LN2 * _POWERS) @ (self.powers[q] / _POWERS)
        if q:
            u = offsets if base else offsets - (self.gaps[q] - self.gaps[q - 1])
            logs += self.nearer[q] * (u - _LN2) - self.sums[q]
        return log_sum(np.column_stack([logs, logs[:, None] + decays]))


def _parts(length: float, candidates: int) -> Iterator[tuple[float, Doubles]]:
    """Yield, for a piece of this length, an end of it and the edges of panels, as offsets from there."""
    reach = math.ceil(_REACH + math.log(candidates))
    leftward = _growing(1 / candidates, 3 * reach)
    if length > 3 * reach:
        yield 0.0, np.arange(reach + 1.0)
        if length < math.inf:
            yield length, np.array([reach - length, -float(reach)])
            yield length, -leftward[leftward <= reach][::-1]
    else:
        yield length, -np.append(leftward[leftward < length], length)[::-1]


def _growing(finest: float, end: int) -> Doubles:
    """Return edges from 0 to `end` whose panels double until they have length 1.

    The integrand is log-concave and its logarithm falls at a rate of 1 at most to the right, but of one for each
    candidate to the left: where a panel is too long for it there, next to nothing is left.
    """
    doubling = finest * 2.0 ** np.arange(math.ceil(-math.log2(finest)))
    return np.array([0.0, *doubling.tolist(), *range(1, end + 1)])


def missing_laplace(x: float, candidates: int) -> float:
    """Return the chance to miss the best of several candidates when all others are x scales below it.

    It is the integral of f(v) (1 - F(v + x)**others), all of it above 0, so that small chances are exact too.
    """
    others, half = candidates - 1, math.exp(-x) / 2
    below = half * (1 - 0.5**others / candidates)  # v < -x
    above = missing(half, candidates) / 2  # v > 0
    return below + above + _missing_between(x, others)


def _missing_between(x: float, others: int) -> float:
    """Return half of the integral over w in [0, x] of exp(w - x) (1 - (1 - exp(-w)/2)**others)."""
    if x == 0:
        return 0.0
    w, log_weights = on_panels(np.linspace(0, x, math.ceil(x) + 1), _ORDER)
    return -math.fsum(np.exp(log_weights + w - x) * np.expm1(others * np.log1p(-np.exp(-w) / 2))) / 2
