"""Draw integers by blocks of 2**shift: first the block, then a place in it.

An integer x is written x = head 2**shift + offset with 0 <= offset < 2**shift. The head is drawn by inversion
with the weight of the block's largest term (`ladder`), the offset is `shift` raw bits, and the pair is kept
with probability weight(x) / largest weight in the block, an exact draw of probability exp(-rational)
(`bernoulli`). Blocks are narrow against the scale, so that nearly every pair is kept, and 16 bits nearly always
suffice.

All paths are this one algorithm with other widths (`BitWidths`); no width changes the law. With shift 0 the head
is the value. Proof: docs/proofs/discrete_laplace_sampler.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.sampling.bernoulli import settle_exp
from jali.sampling.bits import BitSource, Words, system_bits
from jali.sampling.exp_bounds import Doubles
from jali.sampling.interval_bernoulli import Booleans
from jali.sampling.inversion import Indices, Ladder, Progression, build_ladder
from jali.sampling.parameters import size_of_sample

_BLOCK = 1 << 16
_BULK_FROM = 1 << 16  # a guide table costs about as much as so many draws without one
_UNKNOWN = -(1 << 15)


class BlockLaw(Protocol):
    """A law on the integers with weights exp(-a(|x|)), a convex, rational and increasing from a(0) = 0.

    The negative integers are x = -1 - y with y >= 0. In block k >= 0 of either side y runs over
    k 2**shift .. (k+1) 2**shift - 1, and `nearest` is the smallest |x| of the block.
    """

    def __hash__(self) -> int: ...

    def spread(self) -> int:
        """Return the integer part of the scale: narrow blocks are narrow against this."""

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents a(nearest) of the blocks: of x >= 0, and of x < 0 if there are any."""

    def tilt(self, nearest: int, offset: int) -> Fraction:
        """Return a(nearest + offset) - a(nearest)."""

    def tilt_doubles(self, nearest: Doubles, offset: Doubles) -> Doubles:
        """Return the same in double, within a relative error of 2**-50, if the arguments have 2**-52."""


@dataclass(frozen=True)
class BitWidths:
    """How many bits go where. Speed depends on a plan, the law does not.

    Args:
        fineness: The scale is 2**fineness to 2**(fineness+1) blocks wide, if it is not smaller.
        guide_bits: The first bits of a uniform number, looked up in a table; at most 16; 0 for no table.
        word_bits: The bits after which a uniform number is settled one by one, at most 64.
        depth: The ladder for words has rungs down to 2**-depth.
        guard: Further bits carried while rungs are computed.
    """

    fineness: int
    guide_bits: int
    word_bits: int
    depth: int
    guard: int = 24


BULK = BitWidths(fineness=5, guide_bits=16, word_bits=64, depth=64)
FEW = BitWidths(fineness=0, guide_bits=0, word_bits=64, depth=12)


class Sampled:
    """Gives a law its `sample`."""

    def sample(self: BlockLaw, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers: int64, or Python ints if one of them does not fit.

        Args:
            size: How many.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        size = size_of_sample(size)
        source = system_bits() if bits is None else bits
        return (_bulk_sampler if size >= _BULK_FROM else _small_sampler)(self).sample(size, source)


class BlockSampler:
    """Draws from one law by one plan.

    Args:
        law: What to draw.
        plan: How.
    """

    def __init__(self, law: BlockLaw, plan: BitWidths) -> None:
        self.law = law
        self.plan = plan
        self.shift = max(0, law.spread().bit_length() - 1 - plan.fineness)
        self.series = law.series(self.shift)
        self._deep: dict[int, Ladder] = {}

    def sample(self, size: int, bits: BitSource) -> NDArray[Any]:
        """Draw `size` independent integers."""
        values: NDArray[Any] = np.empty(size, np.int64)
        start = 0
        while start < size:
            found = self._draw_kept(min(_BLOCK, size - start), bits)
            if found.dtype == object != values.dtype:
                values = values.astype(object)
            values[start : start + len(found)] = found
            start += len(found)
        return values

    def _draw_kept(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw about `count` candidates and return at most `count` that are kept."""
        if self.shift == 0:
            return self.heads(bits.integers(count, self.plan.guide_bits).astype(np.intp), bits)
        heads, offsets, rejected = self.candidates(count + (count >> self.plan.fineness) + 4, bits)
        return _without(_join(heads, offsets, self.shift), rejected, count)

    def candidates(self, count: int, bits: BitSource) -> tuple[Indices, Words, NDArray[np.intp]]:
        """Draw `count` heads and offsets, and return which of them are to be rejected."""
        cells = bits.integers(count, self.plan.guide_bits).astype(np.intp)
        coins = bits.integers(count, self.plan.guide_bits)
        offsets = bits.integers(count, self.shift)
        heads = self._guide.heads.take(cells).astype(np.int64)
        rest = np.flatnonzero(coins >= self._guide.sure.take(cells))
        heads[rest] = known = self.heads(cells[rest], bits)
        kept = self.keep(known, offsets[rest], coins[rest], bits)
        return heads, offsets, rest[~kept]

    def heads(self, cells: NDArray[np.intp], bits: BitSource) -> Indices:
        """Complete the heads of uniform numbers that begin with the given guide cells."""
        guess = self._guide.heads.take(cells)
        unknown = np.flatnonzero(guess == _UNKNOWN)
        heads = guess.astype(np.int64)
        if len(unknown):
            words = self._extend_cells(cells[unknown], bits)
            indices, doubtful = self._ladder.locate_all(words)
            for place in doubtful.tolist():
                indices[place] = self._settle(int(words[place]), bits)
            heads[unknown] = self._restore_signs(indices)
        return heads

    def keep(self, heads: Indices, offsets: Words, coins: Words, bits: BitSource) -> Booleans:
        """Draw what is kept or rejected; their first guide bits are given."""
        negative = heads < 0
        blocks = np.where(negative, ~heads, heads)
        mask = offsets.dtype.type((1 << self.shift) - 1)
        away = np.where(negative, offsets ^ mask, offsets)
        nearest = blocks * 2.0**self.shift + negative
        x = self.law.tilt_doubles(nearest, away.astype(np.float64))

        def exact(place: int) -> Fraction:
            start = (int(blocks[place]) << self.shift) + bool(negative[place])
            return self.law.tilt(start, int(away[place]))

        return settle_exp(self._extend_cells(coins, bits), self.plan.word_bits, x, exact, bits)

    def _extend_cells(self, cells: NDArray[Any], bits: BitSource) -> Words:
        """Append fresh bits to guide cells until they are words."""
        missing = self.plan.word_bits - self.plan.guide_bits
        fresh = bits.integers(len(cells), missing)
        return fresh if missing == self.plan.word_bits else cells.astype(np.uint64) << np.uint64(missing) | fresh

    def _settle(self, word: int, bits: BitSource) -> int:
        """Find the index of a uniform number that begins with `word`, with as many more bits as it takes."""
        step = width = self.plan.word_bits
        while (index := self._ladder_of(width).locate(word)) is None:
            word = word << step | int(bits.integers(1, step)[0])
            width += step
        return index

    def _ladder_of(self, width: int) -> Ladder:
        if width not in self._deep:
            self._deep[width] = build_ladder(self.series, width, width, self.plan.guard)
        return self._deep[width]

    def _restore_signs(self, indices: Indices) -> Indices:
        """Turn indices 0, 1, 2, 3, ... into heads 0, -1, 1, -2, ... for a two-sided law."""
        return indices if len(self.series) == 1 else indices >> 1 ^ -(indices & 1)

    @cached_property
    def _ladder(self) -> Ladder:
        return build_ladder(self.series, self.plan.word_bits, self.plan.depth, self.plan.guard)

    @cached_property
    def _guide(self) -> _Guide:
        width = self.plan.guide_bits
        if width == 0:
            return _Guide(np.array([_UNKNOWN], np.int16), np.zeros(1, np.uint16))
        cells = np.arange(1 << width, dtype=np.uint64)
        indices, unknown = self._ladder.locate_all(cells, self.plan.word_bits - width)
        sure = np.fromiter(self._sure(int(indices.max())), np.uint16).take(indices)
        kind = np.int16 if indices.max() < -_UNKNOWN else np.int64
        heads: NDArray[Any] = self._restore_signs(indices).astype(kind)
        heads[unknown], sure[unknown] = _UNKNOWN, 0
        return _Guide(heads, sure)

    def _sure(self, last: int) -> Iterator[int]:
        """For each index, count the first draws that keep any offset of its block: 1 - x <= exp(-x)."""
        furthest, cells = (1 << self.shift) - 1, 1 << self.plan.guide_bits
        for index in range(last + 1):
            block, negative = divmod(index, len(self.series))
            x = self.law.tilt((block << self.shift) + negative, furthest)
            yield min(max(0, int((1 - x) * cells)), cells - 1)


@dataclass(frozen=True)
class _Guide:
    """What the first bits decide.

    Args:
        heads: The head of each cell, or _UNKNOWN if a rung of the ladder passes through the cell.
        sure: A candidate is surely kept if its draw is below this; 0 in unknown cells.
    """

    heads: NDArray[np.signedinteger[Any]]
    sure: NDArray[np.uint16]


@lru_cache(maxsize=16)
def _bulk_sampler(law: BlockLaw) -> BlockSampler:
    return BlockSampler(law, BULK)


@lru_cache(maxsize=256)
def _small_sampler(law: BlockLaw) -> BlockSampler:
    return BlockSampler(law, FEW)


def _without(values: NDArray[Any], rejected: NDArray[np.intp], count: int) -> NDArray[Any]:
    """Drop the rejected values, and return at most `count` of the others.

    If there are enough, the holes among the first `count` are filled with values from behind: which value
    goes where depends on the rejections only, and these say nothing about the values that are kept.
    """
    holes = rejected[: np.searchsorted(rejected, count)]
    behind = np.delete(np.arange(count, len(values)), rejected[len(holes) :] - count)
    if len(behind) < len(holes):
        return np.delete(values, rejected)
    values[holes] = values[behind[: len(holes)]]
    return values[:count]


def _join(heads: Indices, offsets: Words, shift: int) -> NDArray[Any]:
    """Return heads 2**shift + offsets, as Python ints if int64 is too narrow; uses up the heads."""
    limit = 1 << (63 - shift)
    if len(heads) and (heads.max() >= limit or heads.min() < -limit):
        wide: NDArray[Any] = (heads.astype(object) << shift) + offsets.astype(object)
        return wide
    heads <<= shift
    heads |= offsets.view(np.int64) if offsets.dtype == np.uint64 else offsets
    return heads
