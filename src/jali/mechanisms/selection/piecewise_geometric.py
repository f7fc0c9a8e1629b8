"""Draw from masses that fall geometrically along pieces, exactly, without listing the points.

A piece is proposed with an integer weight that is at least its true weight; a point in the piece is proposed
uniformly, or block by block with probabilities 1/2, 1/4, ...; one exact Bernoulli draw then corrects the proposal
to the mass of that very point. Doubles serve to make the integer weights only: where they are too large time is
lost, and that they are never too small is proven.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.sampling import BitSource
from jali.sampling.exp_bounds import exp_bounds, exp_doubles

Doubles: TypeAlias = NDArray[np.float64]
Exponents: TypeAlias = NDArray[np.int64]
Whole: TypeAlias = NDArray[Any]
Scaled: TypeAlias = tuple[Doubles, Exponents]
Point: TypeAlias = tuple[int, int]

GRAIN = 40
_ENOUGH = 60  # bits that a sum of integer weights may have
_GUARD = 16
_SAFE = 1 << 62
_LONGEST = 2.0**50  # exponents above this are as good as this
_SLACK = 1 + 2.0**-30
_LOWER = 1 - 2.0**-46
_LOG2E = 1.4426950408889634
_LN2 = 0.6931471805599453


class RandomDigits:
    """Uniform random integers of any number of bits, from a source of words.

    Args:
        bits: The source.
        ahead: How many words to fetch at a time; 0 to fetch just the bits that are asked for.
    """

    def __init__(self, bits: BitSource, ahead: int = 0) -> None:
        self._bits = bits
        self._ahead = ahead
        self._held = 0
        self._left = 0

    def take(self, width: int) -> int:
        """Return an integer, uniform on 0 .. 2**width - 1."""
        if not self._ahead:
            return self._fetch(width)
        while self._left < width:
            fresh = int.from_bytes(self._bits.words(self._ahead).tobytes(), "little")
            self._held |= fresh << self._left
            self._left += 64 * self._ahead
        taken = self._held & ((1 << width) - 1)
        self._held >>= width
        self._left -= width
        return taken

    def _fetch(self, width: int) -> int:
        value = 0
        while width > 0:
            part = min(width, 64)
            value = value << part | int(self._bits.integers(1, part)[0])
            width -= part
        return value

    def below(self, limit: int) -> int:
        """Return an integer, uniform on 0 .. limit - 1."""
        assert limit > 0, "There is no integer below this limit."
        width = (limit - 1).bit_length()
        while (value := self.take(width)) >= limit:
            pass
        return value

    def draw_geometric(self) -> int:
        """Return j = 0, 1, 2, ... with probability 1/2, 1/4, 1/8, ..."""
        count = 0
        while self.take(1):
            count += 1
        return count

    def draw_bernoulli(self, factor: Fraction, exponent: Fraction, word: int = 32) -> bool:
        """Return True with probability exactly factor * exp(-exponent), which is at most 1."""
        uniform, width = self.take(word), word
        while True:
            precision = width + _GUARD + max(0, factor.numerator.bit_length() - factor.denominator.bit_length())
            low, high = exp_bounds(exponent, precision)
            unit = factor.denominator << (precision - width)
            if (uniform + 1) * unit <= factor.numerator * low:
                return True
            if uniform * unit >= factor.numerator * high:
                return False
            uniform, width = uniform << word | self.take(word), width + word


@dataclass(frozen=True, eq=False)
class PiecewiseGeometric:
    """The law with mass m(p, o) exp(-unit (tops[p] + slopes[p] o)) at point o = 0, 1, ... of piece p.

    Args:
        unit: A rational above 0.
        tops: For each piece, an integer at least 0.
        slopes: For each piece, an integer at least 0.
        lengths: For each piece, how many points it has, at least 1; 0 for an endless one, whose slope is above 0.
        caps: For each piece, (f, e) with m(p, o) <= f 2**e for all its points; none if all m(p, o) are 1.
        multiplicity: m(p, o), an integer at least 0; 1 if not given.
        grain: How finely pieces are weighed, in bits; the law does not depend on it.

    Guarantee:
        `draw` has exactly this law.
    Proof:
        docs/proofs/interval_exponential.md, Theorem 1.
    """

    unit: Fraction
    tops: Whole
    slopes: Whole
    lengths: Whole
    caps: Scaled | None = None
    multiplicity: Callable[[int, int], int] | None = None
    grain: int = GRAIN

    def draw(self, digits: RandomDigits) -> Point:
        """Draw a piece and a point in it."""
        while (point := self.attempt(digits)) is None:
            pass
        return point

    def attempt(self, digits: RandomDigits, word: int = 32) -> Point | None:
        """Propose a point and draw whether to keep it; None if it is not accepted."""
        piece = bisect_right(self._sums, digits.below(self._sums[-1]))
        weight = self._sums[piece] - (self._sums[piece - 1] if piece else 0)
        block, length = int(self._blocks[piece]), int(self.lengths[piece])
        if uniform := (length != 0 and length <= 2 * block):
            skipped, offset, count = 0, digits.below(length), length
        else:
            skipped = digits.draw_geometric()
            offset, count = skipped * block + digits.below(block), 2 * block
        if not uniform and 0 < length <= offset:
            return None
        copies = 1 if self.multiplicity is None else self.multiplicity(piece, offset)
        factor = _shift(copies * count, weight, self._shift + skipped)
        exponent = self.unit * (int(self.tops[piece]) + int(self.slopes[piece]) * offset)
        return (piece, offset) if digits.draw_bernoulli(factor, exponent, word) else None

    @cached_property
    def _blocks(self) -> Whole:
        """For each piece the least b with unit * slope * b >= 1; its whole length if it is level."""
        steep = narrow(np.maximum(self.slopes, 1), self.unit.numerator) * self.unit.numerator
        blocks = -(
            -narrow(np.full(len(steep), 1, np.int64), self.unit.denominator) * self.unit.denominator // steep
        )
        return np.where(self.slopes == 0, self.lengths, blocks)

    @cached_property
    def _weights(self) -> tuple[list[int], int]:
        """Integers w and a shift s with w[p] >= 2**s * (count of p) * (cap of p) * exp(-unit tops[p])."""
        twice = 2 * narrow(self._blocks, 2)
        counts = np.where((self.lengths == 0) | (self.lengths > twice), twice, self.lengths)
        mantissas, exponents = scale_integers(counts)
        for factors, powers in (_bound_exp(self.unit, self.tops), *([self.caps] if self.caps else [])):
            mantissas, exponents = mantissas * factors, exponents + powers
        grain = min(self.grain, _ENOUGH - len(self.tops).bit_length())
        shift = grain - int(exponents.max())
        raised = np.ldexp(mantissas * _SLACK, np.maximum(exponents + shift, -_ENOUGH).astype(np.intc))
        return np.ceil(raised).astype(np.int64).tolist(), shift

    @cached_property
    def _sums(self) -> list[int]:
        return list(accumulate(self._weights[0]))

    @property
    def _shift(self) -> int:
        return self._weights[1]


def narrow(integers: Whole, factor: int = 1) -> Whole:
    """Return integers as int64 if they fit even when multiplied by `factor`, as Python ints otherwise."""
    ends = (integers.min(), integers.max()) if len(integers) else ()
    largest = max([1, *(abs(int(end)) for end in ends)]) * max(1, abs(factor))
    return integers.astype(np.int64 if largest < _SAFE else object)


def _shift(numerator: int, denominator: int, shift: int) -> Fraction:
    return Fraction(numerator << max(shift, 0), denominator << max(-shift, 0))


def scale_integers(integers: Whole) -> Scaled:
    """Return (f, e) with f 2**e within a relative error of 2**-53 of integers above 0."""
    if integers.dtype != object:
        mantissas, exponents = np.frexp(integers.astype(np.float64))
        return mantissas, exponents.astype(np.int64)
    pairs = [_frexp(number) for number in integers.tolist()]
    return np.array([m for m, _ in pairs], np.float64), np.array([e for _, e in pairs], np.int64)


def _frexp(number: int) -> tuple[float, int]:
    shift = max(0, number.bit_length() - 60)
    mantissa, exponent = math.frexp(number >> shift)
    return mantissa, exponent + shift


def _bound_exp(unit: Fraction, tops: Whole) -> Scaled:
    """Return (f, e) with exp(-unit top) <= f 2**e (1 + 2**-50), where f is in (0.25, 1]."""
    low = np.minimum(bound_products(unit, tops), _LONGEST)
    whole = np.floor(low * _LOG2E)
    return exp_doubles(np.maximum(0.0, low - whole * _LN2)), -whole.astype(np.int64)


def bound_products(unit: Fraction, tops: Whole) -> Doubles:
    """Return doubles at or below unit * top / (1 + 2**-47), close to it where it matters."""
    if tops.dtype != object and 2.0**-900 < unit < 2.0**900:
        return tops.astype(np.float64) * float(unit) * _LOWER
    most, numerator, denominator = int(_LONGEST) << 10, unit.numerator << 10, unit.denominator
    exact = [min(most, top * numerator // denominator) for top in tops.tolist()]
    return np.array(exact, np.float64) * (2.0**-10 * _LOWER)
