"""Bit sources for tests only: seeded, and scripted for the enumeration of every bit string.

The package itself has no way to fix its random bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jali.sampling.bits import Words

Outcome = TypeVar("Outcome", bound=Hashable)


class SeededBits:
    """Reproducible bits from a seed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.PCG64(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.random_raw(count)

    def integers(self, count: int, width: int) -> Words:
        if width == 0:
            return np.zeros(count, np.uint8)
        return self.words(count) >> np.uint64(64 - width)


class OutOfBitsError(Exception):
    """A script ended before the sampler had decided."""

    def __init__(self, missing: int) -> None:
        super().__init__(missing)
        self.missing = missing


class ScriptedBits:
    """A given finite string of bits, then `OutOfBitsError`."""

    def __init__(self, value: int, length: int) -> None:
        self._value = value
        self._left = length

    def words(self, count: int) -> NDArray[np.uint64]:
        return self.integers(count, 64).astype(np.uint64)

    def integers(self, count: int, width: int) -> Words:
        if count * width > self._left:
            raise OutOfBitsError(count * width - self._left)
        return np.array([self._take(width) for _ in range(count)], np.uint64)

    def _take(self, width: int) -> int:
        self._left -= width
        return self._value >> self._left & ((1 << width) - 1)


def enumerate_masses(
    run: Callable[[ScriptedBits], Outcome], depth: int
) -> tuple[dict[Outcome, Fraction], Fraction]:
    """Feed every bit string up to `depth` bits; return the exact mass of each outcome, and what is left."""
    # Whole numbers of strings of `depth` bits: sums of fractions would take longer than the samplers.
    strings: dict[Outcome, int] = defaultdict(int)
    undecided = 0
    pending = [(0, 0)]
    while pending:
        value, length = pending.pop()
        try:
            strings[run(ScriptedBits(value, length))] += 1 << (depth - length)
        except OutOfBitsError as end:
            if length + end.missing > depth:
                undecided += 1 << (depth - length)
            else:
                more = range(1 << end.missing)
                pending += [(value << end.missing | extra, length + end.missing) for extra in more]
    masses = {outcome: Fraction(count, 1 << depth) for outcome, count in strings.items()}
    return masses, Fraction(undecided, 1 << depth)
