"""The powers of exp(-beta) in integers, to compare many discounted terms that doubles cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jali.noise.bounds import exp_bounds

_PRECISION = 192


class Ladder:
    """exp(-beta s) for s = 0, ..., most, each from below and within `slack` units of 2^-192.

    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 6.

    Example:
        >>> Ladder(Fraction(1, 10), 9).leaders([10, 100, 25], [0, 9, 9], [0, 0, 1])
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
