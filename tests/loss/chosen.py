"""Groups that are chosen by their people: with what probability a group is shown, and what a choice fails by.

Groups are shown independently of each other, each by a law of its number of people alone. Probabilities are
decimals of eighty digits: a delta is a small difference of numbers that are nearly equal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

# The probabilities with which one group is shown in the first run and in the second.
Pair: TypeAlias = tuple[Decimal, Decimal]

DIGITS = Context(prec=80)
_ONE, _NONE = Decimal(1), Decimal(0)


def decimal(value: Fraction | float | int) -> Decimal:
    """Return a number to eighty digits."""
    exact = Fraction(value)
    return DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def hockey_stick(pairs: Iterable[Pair], epsilon: Decimal) -> Decimal:
    """Return the least delta at epsilon of choosing groups: the larger one of both directions, exactly.

    delta = sum over all sets S of max(0, P(S) - e^epsilon Q(S)), where P and Q are products over the groups, each
    of which is shown with probability p or q (Kasiviswanathan and Smith 2014; the definition of (epsilon,
    delta)-DP at the set where P is the larger). Groups of equal pairs count by how many of them are shown; a group
    that does not change does not count.
    """
    with localcontext(DIGITS):
        changed = Counter((p, q) for p, q in pairs if p != q)
        if any({p, q} == {_NONE, _ONE} for p, q in changed):
            return _ONE
        growth, sets = epsilon.exp(), [_shown(p, q, many) for (p, q), many in changed.items()]
        there = back = _NONE
        for cells in product(*sets):
            one, other = _ONE, _ONE
            for p, q, _ in cells:
                one, other = one * p, other * q
            ways = math.prod(number for _, _, number in cells)
            there += ways * max(_NONE, one - growth * other)
            back += ways * max(_NONE, other - growth * one)
        return max(there, back)


def _shown(p: Decimal, q: Decimal, many: int) -> list[tuple[Decimal, Decimal, int]]:
    """Return with what chances certain k of so many groups are shown and no others, and how many such sets."""
    return [
        (_power(p, k) * _power(1 - p, many - k), _power(q, k) * _power(1 - q, many - k), math.comb(many, k))
        for k in range(many + 1)
    ]


def _power(base: Decimal, exponent: int) -> Decimal:
    return base**exponent if exponent else _ONE


def any_of(chances: Iterable[Decimal]) -> Decimal:
    """Return the probability that one of several independent events happens, or more of them."""
    with localcontext(DIGITS):
        none = _ONE
        for chance in chances:
            none *= 1 - chance
        return 1 - none


@dataclass(frozen=True)
class Threshold:
    """A group is shown if its noisy count reaches a threshold, or by a coin if it is one below."""

    noise: str
    width: Fraction
    least: int
    coin: Fraction

    def shown(self, people: int) -> Decimal:
        """Return Pr[people + Z >= least] + coin Pr[people + Z = least - 1], Z the noise."""
        beyond = self.least - people
        with localcontext(DIGITS):
            one = _tail(self.noise, self.width, beyond)
            both = _tail(self.noise, self.width, beyond - 1)
            return one + decimal(self.coin) * (both - one)


@lru_cache(maxsize=4096)
def _tail(noise: str, width: Fraction, beyond: int) -> Decimal:
    """Return Pr[Z >= beyond]; both laws are symmetric."""
    with localcontext(DIGITS):
        if beyond <= 0:
            return 1 - _tail(noise, width, 1 - beyond)
        return _laplace_tail(width, beyond) if noise == "laplace" else _gaussian_tail(width, beyond)


def _laplace_tail(scale: Fraction, beyond: int) -> Decimal:
    """Return q^n / (1 + q) with q = exp(-1/scale): a geometric series of the mass (1-q)/(1+q) q^|z|."""
    return (-decimal(beyond / scale)).exp() / (1 + (-decimal(1 / scale)).exp())


def _gaussian_tail(variance: Fraction, beyond: int) -> Decimal:
    """Return the sum of exp(-z^2 / (2 variance)) over z >= n, over that of all z: term after term."""
    half = decimal(1 / (2 * variance))
    return _sum_from(half, beyond) / (1 + 2 * _sum_from(half, 1))


def _sum_from(half: Decimal, start: int) -> Decimal:
    """Add exp(-z^2 half) for z = start, start + 1, ... until nothing is added; ratios fall by one factor."""
    term, step, fall = (-half * start**2).exp(), (-half * (2 * start + 1)).exp(), (-2 * half).exp()
    total = _NONE
    while total + term != total:
        total += term
        term, step = term * step, step * fall
    return total
