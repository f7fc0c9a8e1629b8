"""The distance at which a discounted sensitivity is largest, found without a look at every distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from typing import TypeAlias

from jali.mechanisms.smooth.bound import SmoothBound
from jali.noise.bounds import exp_bounds

Term: TypeAlias = tuple[int, int | Fraction]
"""A distance k and a sensitivity a: together a exp(-beta k)."""

_FIRST = 64
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
    best, spans = _doubling(at, most, beta)
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
    _, spans = _doubling(at, most, beta)
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
    precision = _FIRST
    while True:
        low, high = exp_bounds(x, precision)
        if a * (1 << precision) > b * high:
            return True
        if a * (1 << precision) < b * low:
            return False
        precision *= 2


def _doubling(
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
