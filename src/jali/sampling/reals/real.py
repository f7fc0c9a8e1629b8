"""Real numbers known by bounds of any precision, and the laws that they are drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Bounds
from jali.sampling.reals.balls import WIDTH, Ball

Enclosure: TypeAlias = Callable[[int], Bounds]
"""For a precision n, integers lo <= 2**n z <= hi that close in on the real number z as n grows."""

_FIRST = 32


class Real(ABC):
    """A random real number, of which ever more is drawn as ever more is asked.

    Two calls of `bounds` are about the same number: what was drawn once stays.
    """

    @abstractmethod
    def bounds(self, precision: int) -> Bounds:
        """Return integers lo <= 2**precision z <= hi; the gap (hi - lo) / 2**precision tends to 0."""


def nearest(value: Fraction, scale: Enclosure, real: Real, *, precision: int = _FIRST) -> int:
    """Return floor(value + scale * z + 1/2) for a real number z, exactly.

    Args:
        value: A rational.
        scale: Bounds of a real number at or above 0.
        real: The random number z.
        precision: How many binary digits to begin with, at least 1; the result does not depend on it.

    Guarantee:
        The result is the rounding of the ideal real number: if `real` has a law exactly, the result has the law of
        its image exactly. It ends with probability 1, as z has no atoms where the scale is above 0.
    Proof:
        docs/proofs/reals.md, Theorem 1.
    """
    shifted = value + Fraction(1, 2)
    while True:
        low, high = scale(precision)
        least, most = real.bounds(precision)
        products = (low * least, low * most, high * least, high * most)
        unit = 1 << 2 * precision
        bottom = (shifted.numerator * unit + min(products) * shifted.denominator) // (unit * shifted.denominator)
        top = (shifted.numerator * unit + max(products) * shifted.denominator) // (unit * shifted.denominator)
        if bottom == top:
            return bottom
        precision *= 2


@dataclass(frozen=True, eq=False)
class Draws:
    """Many random numbers: enclosures in doubles, and each of them as precisely as wanted.

    Attributes:
        balls: Where the numbers lie.
        real: Gives the number at a place; what was drawn of it stays.
    """

    balls: Ball
    real: Callable[[int], Real]


class Law(ABC):
    """A law of real numbers, symmetric about 0, without atoms."""

    @abstractmethod
    def draw(self, bits: BitSource, *, word_bits: int = WIDTH) -> Real:
        """Draw one number.

        Args:
            bits: Where the random bits come from.
            word_bits: How many bits are drawn at a time, 1 to 64; the law does not depend on it.
        """

    @abstractmethod
    def draws(self, size: int, bits: BitSource) -> Draws:
        """Draw many independent numbers."""
