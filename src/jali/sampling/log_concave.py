"""Draw from log-concave laws on 0, 1, 2, ... whose weights are known by bounds, by rejection.

Let m be the mode, and let the weights right of it have fallen to a half after T integers and left of it after S.
The weights being log-concave, they have then fallen to 2^-j after j T and j S integers. A candidate picks one of
the S + T places around the mode, uniformly, and moves it away from the mode by j times S or T, where j tosses of a
fair coin showed heads in a row; it is kept with probability weight / (weight of the mode) 2^j, which is at most 1.
About half of all candidates are kept, whatever the law. Doubles with a proven error decide nearly all of them at
once; where they do not, or a law has none, the probability gets more digits and the draw more bits until they
part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jali.numbers.search import least_integer_near
from jali.sampling.bits import BitSource, Words, system_bits
from jali.sampling.exp_bounds import Bounds, Doubles
from jali.sampling.interval_bernoulli import Booleans, is_below
from jali.sampling.parameters import size_of_sample
from jali.sampling.uniform import uniform_below

_WORD = 64
_NARROW = 1 << 61  # twice a place below this, and one more, is a machine integer


class Peak(NamedTuple):
    """The mode, and how far left and right of it the weight is at most half of the mode's."""

    mode: int
    left: int
    right: int


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

    def ratio_doubles(self, at: NDArray[Any], base: int) -> tuple[Doubles, float]:  # noqa: ARG002 - none is known
        """Return w(at)/w(base) in double for many places, nan where unknown, and twice the relative error.

        Known ratios are at least 2**-900. Only speed depends on which are known.
        """
        return np.full(len(at), np.nan), 0.0

    def near_peak(self) -> Peak:
        """Return about where the peak is: the search for it begins there."""
        return Peak(0, 1, 1)

    def sample(self, size: int, *, bits: BitSource | None = None) -> list[int]:
        """Draw `size` independent integers."""
        drawn: list[int] = self.draw(size, bits=bits).tolist()
        return drawn

    def draw(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the same as an array: int64, or Python ints if one of them is wide."""
        source, missing = system_bits() if bits is None else bits, size_of_sample(size)
        kept: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        while missing:
            found = _round(self, 2 * missing + 2, source)[:missing]
            missing -= len(found)
            kept.append(found)
        return np.concatenate(kept)


def _round(law: LogConcave, count: int, bits: BitSource) -> NDArray[Any]:
    """Draw `count` candidates, and return those that are kept."""
    words = bits.integers(count, _WORD)
    places, halvings = _candidates(_peak(law), count, bits)
    return places[_draw_kept(law, places, halvings, words, bits)]


def _candidates(peak: Peak, count: int, bits: BitSource) -> tuple[NDArray[Any], NDArray[np.int64]]:
    offsets = uniform_below(peak.left + peak.right, count, bits=bits)
    halvings = _count_leading_ones(bits.integers(count, _WORD), bits)
    furthest = peak.mode + (int(halvings.max(initial=0)) + 1) * max(peak.left, peak.right)
    wide = furthest >= _NARROW
    offsets = offsets.astype(object) if wide else offsets
    steps: NDArray[Any] = halvings.astype(object) if wide else halvings
    above = peak.mode + offsets + steps * peak.right
    below = peak.mode - 1 - (offsets - peak.right) - steps * peak.left
    return np.where(offsets < peak.right, above, below), halvings


def _count_leading_ones(words: Words, bits: BitSource) -> NDArray[np.int64]:
    """Count the zeros at the end of words of fair bits, with more words where all of them are zeros."""
    words = words.astype(np.uint64)
    lowest = words & (~words + np.uint64(1))
    counts = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1  # exact: a power of 2
    for place in np.flatnonzero(words == 0).tolist():
        counts[place] = _WORD + _count_leading_ones(bits.integers(1, _WORD), bits)[0]
    return counts


def _draw_kept(
    law: LogConcave, places: NDArray[Any], halvings: NDArray[np.int64], words: Words, bits: BitSource
) -> Booleans:
    """Draw what is kept or rejected: doubles first, then integers where in doubt."""
    possible = np.asarray(places >= 0, np.bool_)
    chances, margin = law.ratio_doubles(np.where(possible, places, 0), _peak(law).mode)
    coins, doubtful = _compare(words, np.ldexp(chances, halvings), margin)
    coins &= possible
    for place in np.flatnonzero(doubtful & possible).tolist():
        chance = partial(_bound_probability, law, int(places[place]), int(halvings[place]))
        coins[place] = is_below(int(words[place]), chance, bits, _WORD)
    return coins


def _compare(words: Words, chances: Doubles, margin: float) -> tuple[Booleans, Booleans]:
    """Return which uniform numbers are below their probabilities, and of which this is not yet known.

    Proof:
        docs/proofs/l_infinity.md, Lemma 4.
    """
    uniform = words * 2.0**-_WORD
    margins = chances * margin + 2.0 ** (1 - _WORD)
    below = uniform < chances - margins
    return below, below == (uniform > chances + margins)


@lru_cache(maxsize=4096)
def _bound_probability(law: LogConcave, place: int, halvings: int, precision: int) -> Bounds:
    return law.ratio(place, _peak(law).mode, precision + halvings)


@lru_cache(maxsize=256)
def _peak(law: LogConcave) -> Peak:
    near = law.near_peak()
    mode = least_integer_near(lambda n: not _exceeds(law, n + 1, n), near.mode)
    right = 1 + least_integer_near(lambda t: not _exceeds(law, mode + 1 + t, mode, halvings=1), near.right - 1)
    left = 1 + least_integer_near(
        lambda t: mode - 1 - t < 0 or not _exceeds(law, mode - 1 - t, mode, halvings=1), near.left - 1
    )
    return Peak(mode, left, right)


def _exceeds(law: LogConcave, at: int, base: int, halvings: int = 0) -> bool:
    """Return whether w(at) > w(base) / 2**halvings, with as much precision as it takes."""
    precision = _WORD
    while True:
        lo, hi = law.ratio(at, base, precision + halvings)
        if lo > 1 << precision:
            return True
        if hi < 1 << precision:
            return False
        precision *= 2
