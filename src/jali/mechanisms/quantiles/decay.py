"""Sums that decay geometrically along an array, by doubling: without subtractions, and in few passes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.quantiles.scaled import Scaled, zeros


@dataclass(frozen=True, eq=False)
class Decay:
    """Bounds of exp(-rate i) for i = 0, 1, ..., each a product over the binary digits of i.

    Attributes:
        rate: A rational above 0.
        count: How many of them.

    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    rate: Fraction
    count: int

    @cached_property
    def steps(self) -> list[Scaled]:
        """Bounds of exp(-rate 2^k)."""
        return [Scaled.exp(self.rate * (1 << k)) for k in range(self.count.bit_length())]

    @cached_property
    def powers(self) -> Scaled:
        """Bounds of exp(-rate i)."""
        found = Scaled.of(np.ones(1))
        for step in self.steps:
            found = found.joined(found * step)
        return found[: self.count]

    def sums(self, masses: Scaled, length: int) -> Scaled:
        """Bound, for each place s, the sum of powers[i] masses[s + i] over i below `length`, at most `count`."""
        found, offset = zeros(len(masses)), 0
        blocks = self._blocks(masses, length)
        for k in reversed(range(length.bit_length())):
            if length >> k & 1:
                found = found + blocks[k].advanced(offset) * self.powers[offset]
                offset += 1 << k
        return found

    def _blocks(self, masses: Scaled, length: int) -> list[Scaled]:
        """Bound the same sums of lengths 1, 2, 4, ..., up to `length`."""
        found = [masses]
        for k in range(length.bit_length() - 1):
            found.append(found[-1] + found[-1].advanced(1 << k) * self.steps[k])
        return found
