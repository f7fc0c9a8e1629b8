"""Which distances can have the largest discounted gap, where many are close: by divide and conquer.

Where one person's value is replaced, the smooth sensitivity is the largest (x_j - x_i) exp(-beta (j - i - 1)) over
the ranks i <= m <= j. As i grows, the best j never falls, so that the best j for the middle i splits the work in
two. A whole level of the splitting is done at once. Doubles only discard: what is near the best is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.statistics.ordered import Ordered
from jali.noise.doubles import LARGEST, exp_doubles

Doubles: TypeAlias = NDArray[np.float64]
Spans: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""From which to which left end, and from which to which right end."""

_KEPT = 1 - 2.0**-38  # doubles are within 2^-44 of the terms (docs/proofs/smooth_sensitivity.md, Theorem 6)
_STEEPEST = LARGEST - 1


def is_gentle(beta: Fraction, reach: int) -> bool:
    """Tell whether discounts up to a distance are within what doubles are proven for."""
    return beta * (reach + 1) <= _STEEPEST


def crest(column: Ordered, rank: int, reach: int, beta: Fraction) -> list[int]:
    """Return a few distances k, among them the one with the largest exp(-beta k) A(k).

    Args:
        column: The values.
        rank: The rank m of the statistic.
        reach: A distance that the largest term is not beyond; there is a gap within it.
        beta: How fast distance is discounted; gentle for this reach.
    """
    first, last = max(0, rank - reach - 1), min(len(column) + 1, rank + reach + 1)
    values = column.between(first, last)
    grows = np.flatnonzero(values[1:] > values[:-1])
    middle = rank - first
    lefts, rights = np.append(grows[grows < middle], middle), np.append(middle, grows[grows >= middle] + 1)
    return _Search(
        values[lefts],
        values[rights],
        _discounts(middle - lefts, beta),
        _discounts(rights - middle, beta),
        lefts,
        rights,
    ).distances()


def _discounts(steps: NDArray[np.intp], beta: Fraction) -> Doubles:
    return exp_doubles(steps.astype(np.float64) * float(beta))


@dataclass(frozen=True, eq=False)
class _Search:
    """Left and right ends that differ from their inner neighbours: values, discounts and ranks."""

    low: Marks
    high: Marks
    left_discount: Doubles
    right_discount: Doubles
    lefts: NDArray[np.intp]
    rights: NDArray[np.intp]

    def distances(self) -> list[int]:
        """Go down level by level; keep what is near the best."""
        ends = np.array([0]), np.array([len(self.low) - 1]), np.array([0]), np.array([len(self.high) - 1])
        spans: Spans = ends
        best, found, sizes = 0.0, [np.zeros(0, np.intp)], [np.zeros(0)]
        while len(spans[0]):
            middles = (spans[0] + spans[1]) // 2
            places, owners, terms, starts = self._terms(spans, middles)
            tops = np.maximum.reduceat(terms, starts)
            best = max(best, float(tops.max()))
            near = np.flatnonzero(terms >= (tops * _KEPT)[owners])
            hits = near[terms[near] >= best * _KEPT]
            found.append(self.rights[places[hits]] - self.lefts[middles[owners[hits]]] - 1)
            sizes.append(terms[hits])
            spans = self._below(spans, middles, places, near, starts, best)
        kept = np.concatenate(found)[np.concatenate(sizes) >= best * _KEPT]
        return [int(distance) for distance in np.unique(kept)]

    def _terms(
        self, spans: Spans, middles: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Doubles, NDArray[np.intp]]:
        """Weigh the middle left end of each span with all right ends: these, their spans, terms and starts."""
        lengths = spans[3] - spans[2] + 1
        starts = np.cumsum(lengths) - lengths
        owners = np.repeat(np.arange(len(lengths)), lengths)
        places = np.arange(len(owners)) + (spans[2] - starts)[owners]
        terms = (self.high[places] - self.low[middles][owners]).astype(np.float64)
        terms *= self.right_discount[places]
        terms *= self.left_discount[middles][owners]
        return places, owners, terms, starts

    def _below(
        self, spans: Spans, middles: NDArray[np.intp], places: NDArray[np.intp], near: NDArray[np.intp],
        starts: NDArray[np.intp], best: float,
    ) -> Spans:  # fmt: skip
        """Return the halves of all spans, without those whose largest possible term is too small."""
        ends = np.append(starts[1:], len(places))
        leftmost = places[near[np.searchsorted(near, starts)]]
        rightmost = places[near[np.searchsorted(near, ends) - 1]]
        a = np.concatenate((spans[0], middles + 1))
        b = np.concatenate((middles - 1, spans[1]))
        c = np.concatenate((spans[2], leftmost))
        d = np.concatenate((rightmost, spans[3]))
        some = a <= b
        a, b, c, d = a[some], b[some], c[some], d[some]
        limit = (self.high[d] - self.low[a]) * self.right_discount[c] * self.left_discount[b]
        open_ones = limit >= best * _KEPT
        return a[open_ones], b[open_ones], c[open_ones], d[open_ones]
