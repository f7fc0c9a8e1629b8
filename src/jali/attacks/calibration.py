"""Whether an attack knows how good it is: the share of right bits among those it is equally sure of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from jali.attacks import evidence
from jali.attacks.arrays import Bits, Doubles
from jali.attacks.oracle import Opponent

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Bits that an attack is about equally sure of.

    Attributes:
        place: Which tenth of the confidences it is, from 0.
        stated: The sum of the probabilities of being right that the confidences amount to.
        right: How many of the bits are right.
        guessed: How many bits there are.
    """

    place: int
    stated: float
    right: int
    guessed: int

    @property
    def claim(self) -> float:
        """The probability of being right that the attack states, on average."""
        return self.stated / self.guessed

    @property
    def fraction(self) -> float:
        """The share of right bits."""
        return self.right / self.guessed

    @property
    def interval(self) -> tuple[float, float]:
        """An interval for the probability of a right guess, at 95 %."""
        return evidence.interval(self.right, self.guessed)


def by_confidence(opponent: Opponent, bits: Bits, confidence: Doubles) -> tuple[Bin, ...]:
    """Mark the bits of each tenth of the confidences.

    An opponent says of a guess how many bits are right, and nothing of single bits. With the bits of a bin flipped
    that number falls by those that were right and rises by those that were wrong: it changes by size - 2 right.
    Where marks are not counts of bits there are no bins.
    """
    total = opponent.mark(bits)
    places = np.minimum((BINS * confidence).astype(np.int64), BINS - 1)
    bins = []
    for place in np.unique(places):
        inside = places == place
        size = int(np.count_nonzero(inside))
        flipped = opponent.mark(np.where(inside, 1 - bits, bits).astype(bits.dtype))
        stated = float((1 + confidence[inside]).sum() / 2)
        bins.append(Bin(int(place), stated, (total - flipped + size) // 2, size))
    return tuple(bins) if sum(one.right for one in bins) == total else ()


def together(runs: Iterable[tuple[Bin, ...]]) -> tuple[Bin, ...]:
    """Add up the bins of several secrets."""
    every = sorted((one for run in runs for one in run), key=lambda one: one.place)
    grouped = [(place, list(found)) for place, found in groupby(every, key=lambda one: one.place)]
    return tuple(
        Bin(place, sum(b.stated for b in found), sum(b.right for b in found), sum(b.guessed for b in found))
        for place, found in grouped
    )
