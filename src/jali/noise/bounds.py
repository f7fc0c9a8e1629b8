"""Rigorous integer bounds of exp(-x) at any precision, with integer arithmetic only."""

from __future__ import annotations

from fractions import Fraction

Bounds = tuple[int, int]


def exp_bounds(x: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision * exp(-x) <= hi for rational x >= 0, a few units apart at most.

    Proof:
        docs/proofs/bernoulli_exp.md, Lemma 1: a Taylor series of x/2^s, its error counted in units of the
        last place, then s squarings rounded outwards.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise.bounds import exp_bounds
        >>> exp_bounds(Fraction(1), 10)  # 1024/e is 376.7
        (376, 377)
    """
    if x == 0:
        return 1 << precision, 1 << precision
    if x >= precision + 2:  # e > 2, so that exp(-x) is below a quarter of the last place
        return 0, 1
    halvings = (x.numerator // x.denominator).bit_length() + 6
    work = precision + halvings + 16
    lo, hi = _taylor((x.numerator << work) // (x.denominator << halvings), work)
    for _ in range(halvings):
        lo, hi = lo * lo >> work, (hi * hi >> work) + 1
    return lo >> (work - precision), (hi >> (work - precision)) + 1


def _taylor(y: int, work: int) -> Bounds:
    """Bound 2**work * exp(-v) for every v in [y, y+1] / 2**work, where y < 2**(work-6)."""
    one = term = total = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * y >> work) // count
        total += -term if count & 1 else term
    slack = 4 * count + 4
    return total - slack, min(total + slack, one)
