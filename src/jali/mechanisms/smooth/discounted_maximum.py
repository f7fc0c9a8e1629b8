"""Find the largest term exp(-beta k) a(k) of a sequence without computing all of its terms.

There is one search for sequences whose terms cost much (`peak`, `largest_terms`) and one for sequences that are
known as arrays (`largest_in_array`). Terms that doubles cannot tell apart are compared in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def smooth_bound(at: Callable[[int], int | Fraction], most: int, beta: Fraction, unit: Fraction) -> SmoothBound:
    """Return max over k >= 0 of exp(-beta k) at(k) times a unit."""
    distance, size = peak(at, most, beta)
    return SmoothBound(beta, ((distance, size * unit),))


def peak(at: Callable[[int], int | Fraction], most: int, beta: Fraction) -> Term:
    """Return the k with the largest exp(-beta k) at(k), and at(k).

    Args:
        at: Sensitivities at distance 0, 1, ...: at least 0, none below the one before.
        most: From here on they do not grow.
        beta: How fast distance is discounted, above 0.

    Guarantee:
        The term is the largest one, exactly: every comparison is settled by integers.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 5.

    Example:
        >>> peak(lambda k: (10, 10, 100)[min(k, 2)], 2, Fraction(1))
        (2, 100)
    """
    best, spans = _bracket_peak(at, most, beta)
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
    _, spans = _bracket_peak(at, most, beta)
    return spans[-1][1][0] if spans else 0


def largest(terms: Iterable[Term], beta: Fraction) -> Term:
    """Return the largest of some terms."""
    return reduce(lambda one, other: _larger(one, other, beta), terms)


def outweighs(first: Term, second: Term, beta: Fraction) -> bool:
    """Tell whether one term a exp(-beta k) is larger than another, exactly.

    Two such terms above 0 are equal only if both distances and both sizes are, as exp of a rational other than 0
    is irrational; so ever finer bounds decide.
    """
    (near, a), (far, b) = first, second
    if near == far or a == 0 or b == 0:
        return a > b
    return _exceeds(a, b, beta * (far - near)) if near < far else not _exceeds(b, a, beta * (near - far))


def _exceeds(a: int | Fraction, b: int | Fraction, x: Fraction) -> bool:
    """Tell whether a > b exp(-x), for a, b and x above 0."""
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
    at: Callable[[int], int | Fraction], most: int, beta: Fraction
) -> tuple[Term, list[tuple[Term, Term]]]:
    """Look at the distances 0, 1, 3, 7, ... until nothing further away can be the largest."""
    last: Term = (0, at(0))
    best, spans = last, []
    ceiling = at(most)
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


_CLOSE = 1e-9  # far above what doubles lose in a logarithm, so that no term that may be the largest is left out


def largest_terms(at: Callable[[int], Fraction], beta: Fraction, most: int, limit: Fraction) -> SmoothBound:
    """Return max over k <= most of exp(-beta k) at(k), exactly.

    Args:
        at: Never falls as k grows, and is never above `limit`.
        beta: How fast distance is discounted.
        most: From here on the sequence no longer grows.
        limit: Its largest value.
    """
    search = _TermSearch(at, beta)
    for low, high in _double_distances(most):
        if search.bound(low, limit) < search.least:
            break
        search.look(high)
        search.split(low, high)
    distance, size = largest(search.terms, beta)
    return SmoothBound(beta, ((distance, Fraction(size)),))


def _double_distances(most: int) -> Iterator[tuple[int, int]]:
    low, high = 0, min(1, most)
    while low < high:
        yield low, high
        low, high = high, min(2 * high, most)


class _TermSearch:
    """The terms seen so far, and the logarithm of the largest."""

    def __init__(self, at: Callable[[int], Fraction], beta: Fraction) -> None:
        self._at, self._beta = at, beta
        self._seen: dict[int, Fraction] = {}
        self._best = -math.inf
        self.look(0)

    def look(self, distance: int) -> None:
        size = self._seen[distance] = self._at(distance)
        self._best = max(self._best, self.bound(distance, size))

    def bound(self, distance: int, size: Fraction) -> float:
        """Return the logarithm of a term."""
        if not size:
            return -math.inf
        return math.log(size.numerator) - math.log(size.denominator) - float(self._beta * distance)

    @property
    def least(self) -> float:
        """What a term must have to matter."""
        return self._best - _CLOSE * (1 + abs(self._best)) if self._best > -math.inf else -math.inf

    def split(self, low: int, high: int) -> None:
        """Look between two distances, wherever the value at the further one would matter at the nearer one."""
        open_ranges = [(low, high)]
        while open_ranges:
            low, high = open_ranges.pop()
            if high - low < 2 or not self._matters(low + 1, self._seen[high]):
                continue
            middle = (low + high) // 2
            self.look(middle)
            open_ranges += [(middle, high), (low, middle)]

    def _matters(self, distance: int, size: Fraction) -> bool:
        return size > 0 and self.bound(distance, size) >= self.least

    @property
    def terms(self) -> tuple[tuple[int, Fraction], ...]:
        found = sorted((k, a) for k, a in self._seen.items() if self._matters(k, a))
        return tuple(found) or ((0, self._seen[0]),)
