"""Find the largest discounted gap between order statistics by divide and conquer.

Where one person's value is replaced, the smooth sensitivity of an order statistic or a trimmed mean is the largest
(x_j - x_i) exp(-beta s) over the ranks i <= l and j >= r, s = (l - i) + (j - r), up to a factor. As i grows, the
best j never falls, so that the best j for the middle i splits the work in two. A whole level of the splitting is
done at once, in parts. Doubles only discard; what they cannot distinguish, integers compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.smooth.discounted_maximum import DiscountPowers, Term, largest_of_near_ties
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn
from jali.sampling.exp_bounds import LARGEST, exp_doubles

Doubles: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]
RankSpans: TypeAlias = NDArray[np.intp]
"""Four rows: from which to which left end, and from which to which right end."""

_KEPT = 1 - 2.0**-38  # doubles are within 2^-44 of the terms (docs/proofs/smooth_sensitivity.md, Theorem 6)
_STEEPEST = LARGEST - 1
_PART = 1 << 18  # pairs weighed at a time, or one left end with all its right ends
_SPARE = 2  # times as many pairs in a level as there are without ties


def doubles_suffice(beta: Fraction, reach: int) -> bool:
    """Return whether discounts up to so many steps are within what doubles are proven for."""
    return beta * reach <= _STEEPEST


def largest_discounted_gap(
    column: LazySortedColumn, inner: tuple[int, int], reach: int, beta: Fraction
) -> Term | None:
    """Return the largest term: its steps s and its gap. None, in theory, if too many are too close.

    Args:
        column: The values.
        inner: The ranks l <= r.
        reach: So many steps the largest term is not beyond; there is a gap within them.
        beta: How fast steps are discounted; gentle for this reach.
    """
    first, last = max(0, inner[0] - reach), min(len(column) + 1, inner[1] + reach)
    values = column.between(first, last)
    left, right = inner[0] - first, inner[1] - first
    lefts = np.append(np.flatnonzero(values[1 : left + 1] > values[:left]), left)
    rights = np.append(right, np.flatnonzero(values[right + 1 :] > values[right:-1]) + right + 1)
    return _GapSearch(values[lefts], values[rights], left - lefts, rights - right, reach, beta).term()


class _GapSearch:
    """Left and right ends that differ from their inner neighbours: values, and steps from the inner ranks."""

    def __init__(
        self, low: Places, high: Places, before: Places, behind: Places, reach: int, beta: Fraction
    ) -> None:
        self._low, self._high, self._before, self._behind = low, high, before, behind
        self._reach, self._beta = reach, beta
        self._left_discount, self._right_discount = (
            exp_doubles(steps.astype(np.float64) * float(beta)) for steps in (before, behind)
        )
        self._best = 0.0
        self._found: list[tuple[Doubles, Places, Places]] = []

    @cached_property
    def _ladder(self) -> DiscountPowers:
        return DiscountPowers(self._beta, self._reach)

    def term(self) -> Term | None:
        """Go down level by level; then compare what is near the best."""
        spans = np.array([[0], [len(self._low) - 1], [0], [len(self._high) - 1]])
        while spans.shape[1]:
            if int((spans[3] - spans[2] + 1).sum()) > _SPARE * (len(self._low) + len(self._high)):
                return None
            spans = np.concatenate([self._halves(part) for part in _parts(spans)], axis=1)
        weights, sizes, steps = (np.concatenate(rows) for rows in zip(*self._found, strict=True))
        kept = (weights >= self._best * _KEPT) & (steps <= self._reach)
        return largest_of_near_ties(sizes[kept].tolist(), steps[kept].tolist(), self._beta)

    def _halves(self, spans: RankSpans) -> RankSpans:
        """Weigh the middle left end of each span with all right ends, and split the spans there."""
        middles = (spans[0] + spans[1]) // 2
        places, owners, terms, starts = self._terms(spans, middles)
        tops = np.maximum.reduceat(terms, starts)
        self._best = max(self._best, float(tops.max()))
        near = np.flatnonzero(terms >= (tops * _KEPT)[owners])
        if len(near) > len(middles):
            near = near[self._sharper(places[near], middles[owners[near]])]
        hits = near[terms[near] >= self._best * _KEPT]
        left, right = middles[owners[hits]], places[hits]
        steps = self._before[left] + self._behind[right]
        self._found.append((terms[hits], self._high[right] - self._low[left], steps))
        ends = np.append(starts[1:], len(places))
        leftmost = places[near[np.searchsorted(near, starts)]]
        rightmost = places[near[np.searchsorted(near, ends) - 1]]
        return self._open(spans, middles, leftmost, rightmost)

    def _terms(self, spans: RankSpans, middles: Places) -> tuple[Places, Places, Doubles, Places]:
        """Return the right ends of all spans, the spans they belong to, their terms, and where spans start."""
        lengths = spans[3] - spans[2] + 1
        starts = np.cumsum(lengths) - lengths
        owners = np.repeat(np.arange(len(lengths)), lengths)
        places = np.arange(len(owners)) + (spans[2] - starts)[owners]
        terms = (self._high[places] - self._low[middles][owners]).astype(np.float64)
        terms *= self._right_discount[places]
        terms *= self._left_discount[middles][owners]
        return places, owners, terms, starts

    def _sharper(self, right: Places, left: Places) -> list[int]:
        """Settle right ends that are too close for doubles, for each left end."""
        sizes = (self._high[right] - self._low[left]).tolist()
        return self._ladder.leaders(sizes, self._behind[right].tolist(), left.tolist())

    def _open(self, spans: RankSpans, middles: Places, leftmost: Places, rightmost: Places) -> RankSpans:
        """Return the halves of all spans, without those whose largest possible term is too small."""
        a = np.concatenate((spans[0], middles + 1))
        b = np.concatenate((middles - 1, spans[1]))
        c = np.concatenate((spans[2], leftmost))
        d = np.concatenate((rightmost, spans[3]))
        halves: RankSpans = np.stack((a, b, c, d))[:, a <= b]
        a, b, c, d = halves
        limit = (self._high[d] - self._low[a]) * self._right_discount[c] * self._left_discount[b]
        return halves[:, limit >= self._best * _KEPT]


def _parts(spans: RankSpans) -> Iterator[RankSpans]:
    """Yield the spans, a few at a time."""
    ends = np.cumsum(spans[3] - spans[2] + 1)
    cuts = np.flatnonzero(np.diff(ends // _PART)) + 1
    yield from np.split(spans, cuts, axis=1)
