"""Uniform points of the unit square, known by ever smaller cells."""

from __future__ import annotations

from jali.noise.bits import BitSource


class Point:
    """A uniform point (U, V) of the unit square, of which more bits are drawn on demand.

    What is known at any time is that U lies in [u, u+1] / 2**known, and V in [v, v+1] / 2**known.

    Args:
        bits: Where the random bits come from.
        word_bits: How many bits each coordinate gets at a time, 1 to 64.
        u: The first bits of U, if some are known.
        v: The first bits of V.
        known: How many bits are known.
    """

    __slots__ = ("_bits", "_word", "known", "u", "v")

    def __init__(self, bits: BitSource, word_bits: int, u: int = 0, v: int = 0, known: int = 0) -> None:
        self._bits = bits
        self._word = word_bits
        self.u, self.v, self.known = u, v, known
        if not known:
            self.refine()

    def refine(self) -> None:
        """Draw further bits of both coordinates."""
        more = self._bits.integers(2, self._word)
        self.u = self.u << self._word | int(more[0])
        self.v = self.v << self._word | int(more[1])
        self.known += self._word
