"""Log-concave laws on 0, 1, 2, ... whose weights are known by bounds: rejection from steps that halve.

Let m be the mode, and let the weights right of it have fallen to a half after T integers and left of it after S.
The weights being log-concave, they have then fallen to 2^-j after j T and j S integers. A candidate picks one of
the S + T places around the mode, uniformly, and moves it away from the mode by j times S or T, where j tosses of a
fair coin showed heads in a row; it is kept with probability weight / (weight of the mode) 2^j, which is at most 1.
About half of all candidates are kept, whatever the law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from jali.noise.bits import BitSource, system_bits
from jali.noise.bounds import Bounds
from jali.noise.checks import size_of_sample
from jali.noise.enclosed import is_below
from jali.noise.uniform import uniform_below

_WORD = 64


class LogConcave(ABC):
    """Weights w(0), w(1), ... whose ratios w(n+1)/w(n) fall to below 1; a subclass is hashable and says which.

    No ratio may be exactly 1 or 1/2: the comparisons below would not end.

    Guarantee:
        Samples have exactly the law proportional to the weights if the bits are uniform and independent.
    Proof:
        docs/proofs/l_infinity.md, Lemma 2.
    """

    @abstractmethod
    def ratio(self, at: int, base: int, precision: int) -> Bounds:
        """Return lo <= 2**precision w(at)/w(base) <= hi, which close in as the precision grows."""

    def sample(self, size: int, *, bits: BitSource | None = None) -> list[int]:
        """Draw `size` independent integers."""
        source, size = system_bits() if bits is None else bits, size_of_sample(size)
        drawn: list[int] = []
        while len(drawn) < size:
            drawn += _round(self, 2 * (size - len(drawn)) + 2, source)
        return drawn[:size]


class _Peak(NamedTuple):
    """The mode, and how far left and right of it the weight is at most half of the mode's."""

    mode: int
    left: int
    right: int


def _round(law: LogConcave, count: int, bits: BitSource) -> list[int]:
    """Draw `count` candidates, and return those that are kept."""
    words = bits.integers(count, _WORD).tolist()
    return [
        place
        for (place, halvings), word in zip(_candidates(law, count, bits), words, strict=True)
        if _kept(law, place, halvings, word, bits)
    ]


def _candidates(law: LogConcave, count: int, bits: BitSource) -> Iterator[tuple[int, int]]:
    peak = _peak(law)
    offsets = uniform_below(peak.left + peak.right, count, bits=bits).tolist()
    heads = bits.integers(count, _WORD).tolist()
    for offset, word in zip(offsets, heads, strict=True):
        halvings = _heads_in_a_row(word, bits)
        if offset < peak.right:
            yield peak.mode + offset + halvings * peak.right, halvings
        else:
            yield peak.mode - 1 - (offset - peak.right) - halvings * peak.left, halvings


def _heads_in_a_row(word: int, bits: BitSource) -> int:
    """Count the zeros at the end of a word of fair bits, with more words if all of them are zeros."""
    count = 0
    while word == 0:
        count += _WORD
        word = int(bits.integers(1, _WORD)[0])
    return count + (word & -word).bit_length() - 1


def _kept(law: LogConcave, place: int, halvings: int, word: int, bits: BitSource) -> bool:
    return place >= 0 and is_below(word, partial(_chance, law, place, halvings), bits)


@lru_cache(maxsize=4096)
def _chance(law: LogConcave, place: int, halvings: int, precision: int) -> Bounds:
    return law.ratio(place, _peak(law).mode, precision + halvings)


@lru_cache(maxsize=256)
def _peak(law: LogConcave) -> _Peak:
    mode = _first(lambda n: not _exceeds(law, n + 1, n))
    right = 1 + _first(lambda t: not _exceeds(law, mode + 1 + t, mode, halvings=1))
    left = 1 + _first(lambda t: mode - 1 - t < 0 or not _exceeds(law, mode - 1 - t, mode, halvings=1))
    return _Peak(mode, left, right)


def _exceeds(law: LogConcave, at: int, base: int, halvings: int = 0) -> bool:
    """Tell whether w(at) > w(base) / 2**halvings, with as much precision as it takes."""
    precision = _WORD
    while True:
        lo, hi = law.ratio(at, base, precision + halvings)
        if lo > 1 << precision:
            return True
        if hi < 1 << precision:
            return False
        precision *= 2


def _first(holds: Callable[[int], bool]) -> int:
    """Return the least n >= 0 that satisfies a condition which holds from some n on."""
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
