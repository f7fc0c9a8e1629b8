"""Smooth bounds: the largest of a few local sensitivities at a distance, each discounted by its distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.noise.bounds import Bounds, exp_bounds

_FIRST = 128


@dataclass(frozen=True)
class SmoothBound:
    """The real number S = max over (k, a) in `terms` of a exp(-beta k), known at any precision.

    Attributes:
        beta: How fast distance is discounted, above 0.
        terms: Pairs of a distance k >= 0 and a local sensitivity a >= 0; at least one. Terms that cannot be the
            largest may be left out.

    Example:
        >>> bound = SmoothBound(Fraction(1, 10), ((0, Fraction(10)), (9, Fraction(100))))
        >>> round(float(bound), 7)
        40.656966
    """

    beta: Fraction
    terms: tuple[tuple[int, Fraction], ...]

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise MechanismError("smooth-beta-not-positive", beta=self.beta)

    def bounds(self, precision: int) -> Bounds:
        """Return integers lo <= 2**precision S <= hi that close in as the precision grows."""
        ends = [self._term(distance, size, precision) for distance, size in self.terms]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def _term(self, distance: int, size: Fraction, precision: int) -> Bounds:
        extra = math.ceil(size).bit_length()
        low, high = exp_bounds(self.beta * distance, precision + extra)
        unit = size.denominator << extra
        return low * size.numerator // unit, -(-high * size.numerator // unit)

    def __float__(self) -> float:
        """Return the double nearest to S."""
        precision = _FIRST
        while True:
            low, high = (float(Fraction(end, 1 << precision)) for end in self.bounds(precision))
            if low == high:
                return low
            precision *= 2
