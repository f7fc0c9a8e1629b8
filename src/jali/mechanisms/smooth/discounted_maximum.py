"""Find the largest term exp(-beta k) a(k) of a sequence without computing all of its terms.

There is one search for sequences whose terms cost much (`peak`) and one for sequences that are known as arrays
(`largest_in_array`). Terms that doubles cannot distinguish are compared in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np

from jali.mechanisms.lattice import Marks
from jali.mechanisms.smooth.statistic import SmoothBound
from jali.sampling.exp_bounds import exp_bounds, exp_doubles

Term: TypeAlias = tuple[int, int | Fraction]
"""A distance k and a sensitivity a: together a exp(-beta k)."""

_FIRST_DISTANCE = 64
_STEEPEST = Fraction(10**300)  # larger ones are no doubles


def smooth_bound(
    at: Callable[[int], int | Fraction],
    most: int,
    beta: Fraction,
    unit: Fraction,
    limit: Fraction | None = None,
) -> SmoothBound:
    """Return max over k >= 0 of exp(-beta k) at(k) times a unit; the arguments are those of `peak`."""
    distance, size = peak(at, most, beta, limit)
    return SmoothBound(beta, ((distance, size * unit),))


def peak(at: Callable[[int], int | Fraction], most: int, beta: Fraction, limit: Fraction | None = None) -> Term:
    """Return the k with the largest exp(-beta k) at(k), and at(k).

    Args:
        at: Sensitivities at distance 0, 1, ...: at least 0, none below the one before.
        most: From here on they do not grow.
        beta: How fast distance is discounted, above 0.
        limit: What no sensitivity exceeds; that at `most` if not given.

    Guarantee:
        The term is the largest one, exactly: every comparison is settled by integers.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 5.

    Example:
        >>> peak(lambda k: (10, 10, 100)[min(k, 2)], 2, Fraction(1))
        (2, 100)
    """
    best, spans = _bracket_peak(at, most, beta, at(most) if limit is None else limit)
    heap: list[tuple[float, Term, Term]] = []
    for span in spans:
        _push(heap, beta, *span)
    while heap:
        _, left, right = heappop(heap)
        if not outweighs((left[0] + 1, right[1]), best, beta):
            continue
        middle = (left[0] + right[0]) // 2
        term = (middle, at(middle))
        best = _larger(best, term, beta)
        _push(heap, beta, left, term)
        _push(heap, beta, term, right)
    return best


def horizon(at: Callable[[int], int | Fraction], most: int, beta: Fraction) -> int:
    """Return a distance beyond which no term is the largest."""
    _, spans = _bracket_peak(at, most, beta, at(most))
    return spans[-1][1][0] if spans else 0


def largest(terms: Iterable[Term], beta: Fraction) -> Term:
    """Return the largest of some terms."""
    return reduce(lambda one, other: _larger(one, other, beta), terms)


def outweighs(first: Term, second: Term, beta: Fraction) -> bool:
    """Return whether one term a exp(-beta k) is larger than another, exactly.

    Two such terms above 0 are equal only if both distances and both sizes are, as exp of a rational other than 0
    is irrational; so ever finer bounds decide.
    """
    (near, a), (far, b) = first, second
    if near == far or a == 0 or b == 0:
        return a > b
    return _exceeds(a, b, beta * (far - near)) if near < far else not _exceeds(b, a, beta * (near - far))


def _exceeds(a: int | Fraction, b: int | Fraction, x: Fraction) -> bool:
    """Return whether a > b exp(-x), for a, b and x above 0."""
    if a >= b:
        return True
    precision = _FIRST_DISTANCE
    while True:
        low, high = exp_bounds(x, precision)
        if a * (1 << precision) > b * high:
            return True
        if a * (1 << precision) < b * low:
            return False
        precision *= 2


def _bracket_peak(
    at: Callable[[int], int | Fraction], most: int, beta: Fraction, ceiling: int | Fraction
) -> tuple[Term, list[tuple[Term, Term]]]:
    """Look at the distances 0, 1, 3, 7, ... until nothing further away can be the largest."""
    last: Term = (0, at(0))
    best, spans = last, []
    while last[0] < most and outweighs((last[0] + 1, ceiling), best, beta):
        distance = min(2 * last[0] + 1, most)
        term = (distance, at(distance))
        spans.append((last, term))
        best, last = _larger(best, term, beta), term
    return best, spans


def _larger(first: Term, second: Term, beta: Fraction) -> Term:
    return second if outweighs(second, first, beta) else first


def _push(heap: list[tuple[float, Term, Term]], beta: Fraction, left: Term, right: Term) -> None:
    """Note a span that has distances inside and grows: first those whose largest possible term is largest.

    Doubles set the order only, so that their errors do no harm.
    """
    if right[0] - left[0] > 1 and right[1] > left[1]:
        heappush(heap, (float(min(beta, _STEEPEST)) * left[0] - math.log(right[1]), left, right))


_PRECISION = 192


class DiscountPowers:
    """exp(-beta s) for s = 0, ..., most, each from below and within `slack` units of 2^-192.

    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 6.

    Example:
        >>> DiscountPowers(Fraction(1, 10), 9).leaders([10, 100, 25], [0, 9, 9], [0, 0, 1])
        [1, 2]
    """

    def __init__(self, beta: Fraction, most: int) -> None:
        low, high = exp_bounds(beta, _PRECISION)
        rung = 1 << _PRECISION
        self._rungs = [rung]
        for _ in range(most):
            rung = rung * low >> _PRECISION
            self._rungs.append(rung)
        self._slack = most * (high - low + 1)

    def leaders(self, sizes: Sequence[int], steps: Sequence[int], groups: Sequence[int]) -> list[int]:
        """Return the places of the terms that may be the largest of their group, and hardly any others."""
        rungs, slack = self._rungs, self._slack
        terms = [size * rungs[step] for size, step in zip(sizes, steps, strict=True)]
        best: dict[int, int] = {}
        for group, term in zip(groups, terms, strict=True):
            if term >= best.get(group, 0):
                best[group] = term
        rows = enumerate(zip(sizes, terms, groups, strict=True))
        return [place for place, (size, term, group) in rows if term + size * slack >= best[group]]


_FADED = 43  # sizes are at most 2^60, which is below exp(43)
_KEPT = 1 - 2.0**-42  # doubles are within 2^-45 of the terms


def largest_in_array(sizes: Marks, beta: Fraction) -> Term:
    """Return the k with the largest exp(-beta k) sizes[k], and sizes[k].

    Args:
        sizes: At least 0, at most 2^60, none below the one before.
        beta: How fast distance is discounted, above 0.

    Guarantee:
        The term is the largest one, exactly.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 6.

    Example:
        >>> largest_in_array(np.array([0, 10, 10, 100]), Fraction(1))
        (3, 100)
    """
    first = int(np.searchsorted(sizes, 1))
    some = sizes[first : first + math.floor(_FADED / beta) + 1]
    if not len(some):
        return 0, 0
    terms = exp_doubles(np.arange(len(some), dtype=np.float64) * float(min(beta, Fraction(_FADED))))
    terms *= some
    near = np.flatnonzero(terms >= terms.max() * _KEPT)
    distance, size = largest_of_near_ties(some[near].tolist(), (near - near[0]).tolist(), beta)
    return distance + first + int(near[0]), size


def largest_of_near_ties(sizes: list[int], steps: list[int], beta: Fraction) -> Term:
    """Return the largest of some terms that are close to each other."""
    if len(sizes) > 1:
        places = DiscountPowers(beta, max(steps)).leaders(sizes, steps, [0] * len(sizes))
        sizes, steps = [sizes[place] for place in places], [steps[place] for place in places]
    return largest(zip(steps, sizes, strict=True), beta)
