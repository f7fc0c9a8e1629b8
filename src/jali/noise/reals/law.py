"""What a law of real numbers is: it can be drawn one by one, or many at once, exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from jali.noise.bits import BitSource
from jali.noise.reals.balls import WIDTH, Ball
from jali.noise.reals.real import Real


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
