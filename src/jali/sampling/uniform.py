"""Draw uniform integers, from raw bits or by rejection, and uniform subsets of 0 .. n-1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.sampling.bits import BitSource, system_bits
from jali.sampling.parameters import size_of_sample

_WORD = 64
_BLOCK = 1 << 14


def uniform_below(bound: int, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
    """Draw `size` independent integers, uniform on 0 .. bound - 1: int64, or Python ints for a wide bound.

    Args:
        bound: At least 1.
        size: How many.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        Each value has probability exactly 1/bound.
    Proof:
        docs/proofs/l_infinity.md, Lemma 1: as many bits as bound - 1 has, kept if they are below the bound.

    Example:
        >>> from jali.sampling.uniform import uniform_below
        >>> uniform_below(1, 3)
        array([0, 0, 0])
    """
    if bound < 1:
        raise MechanismError("parameter-below-one", value=bound, name="bound")
    source, missing = system_bits() if bits is None else bits, size_of_sample(size)
    width, kept = (bound - 1).bit_length(), [np.zeros(0, np.int64)]
    while missing:
        # At least half of all candidates are kept; a few more than are missing save a round.
        drawn = _words(missing if width == 0 else missing + missing // 8 + 1, width, source)
        drawn = drawn[drawn < bound][:missing]
        missing -= len(drawn)
        kept.append(drawn)
    return np.concatenate(kept)


def uniform_below_each(bounds: NDArray[Any], *, bits: BitSource | None = None) -> NDArray[Any]:
    """Draw an integer for each bound b, uniform on 0 .. b - 1: int64, or Python ints for wide bounds.

    Args:
        bounds: A one-dimensional array of integers, at least 1.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The integers are independent and each value has probability exactly 1/b.
    Proof:
        docs/proofs/l_infinity.md, Lemma 1: the rest of a word modulo b, for words below a multiple of b.

    Example:
        >>> import numpy as np
        >>> from jali.sampling.uniform import uniform_below_each
        >>> uniform_below_each(np.array([1, 1]))
        array([0, 0])
    """
    source = system_bits() if bits is None else bits
    if len(bounds) and bounds.min() < 1:
        raise MechanismError("parameter-below-one", value=bounds.min(), name="bounds")
    if len(bounds) and bounds.max() > 1 << _WORD - 2:
        return np.array([uniform_below(int(b), 1, bits=source)[0] for b in bounds.tolist()], object)
    drawn = np.empty(len(bounds), np.int64)
    for start in range(0, len(bounds), _BLOCK):
        drawn[start : start + _BLOCK] = _below_each(bounds[start : start + _BLOCK], source)
    return drawn


def _below_each(bounds: NDArray[Any], bits: BitSource) -> NDArray[np.int64]:
    drawn, missing = np.empty(len(bounds), np.int64), np.arange(len(bounds))
    while len(missing):
        found, kept = _rests(bounds[missing].astype(np.uint64), bits)
        drawn[missing[kept]] = found[kept]
        missing = missing[~kept]
    return drawn


def _rests(bounds: NDArray[np.uint64], bits: BitSource) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a word modulo each bound, and whether the word is below the last multiple of it that is a word."""
    top = np.uint64((1 << _WORD) - 1)
    words = bits.integers(len(bounds), _WORD).astype(np.uint64)
    kept = words <= top - (top - bounds + np.uint64(1)) % bounds
    return (words % bounds).astype(np.int64), kept


def _words(count: int, width: int, bits: BitSource) -> NDArray[Any]:
    if width < _WORD:
        return bits.integers(count, width).astype(np.int64)
    high = _words(count, width - 32, bits).astype(object)
    wide: NDArray[Any] = (high << 32) | bits.integers(count, 32).astype(object)
    return wide


def uniform_subsets(count: int, among: int, rows: int, *, bits: BitSource | None = None) -> NDArray[Any]:
    """Draw `rows` independent subsets of `count` of the numbers 0 .. among - 1, each in rising order.

    Guarantee:
        Every subset of that size has the same probability.
    Proof:
        docs/proofs/conditioned_laplace.md, Lemma 2: the first distinct values of uniform draws.

    Example:
        >>> from jali.sampling.uniform import uniform_subsets
        >>> uniform_subsets(2, 2, 3).tolist()
        [[0, 1], [0, 1], [0, 1]]
    """
    source = system_bits() if bits is None else bits
    if count * count <= 4 * among:
        return _distinct_rows(count, among, rows, source)
    return np.array([_subset(count, among, source) for _ in range(rows)]).reshape(rows, count)


def _distinct_rows(count: int, among: int, rows: int, bits: BitSource) -> NDArray[Any]:
    """Draw rows of values and keep those whose values are distinct: a good share where values are few."""
    kept: list[NDArray[Any]] = [np.zeros((0, count), np.int64)]
    while rows:
        drawn = np.sort(uniform_below(among, rows * count, bits=bits).reshape(rows, count), axis=1)
        drawn = drawn[(drawn[:, 1:] != drawn[:, :-1]).all(axis=1)]
        rows -= len(drawn)
        kept.append(drawn)
    return np.concatenate(kept)


def _subset(count: int, among: int, bits: BitSource) -> NDArray[Any]:
    """Draw values until so many distinct ones are there; of a large share, draw what is left out."""
    if 2 * count > among:
        return np.delete(np.arange(among), _subset(among - count, among, bits))
    chosen: NDArray[Any] = np.zeros(0, np.int64)
    while len(chosen) < count:
        # Never more than are missing: every value drawn so far is among the first distinct ones.
        fresh = uniform_below(among, count - len(chosen), bits=bits)
        chosen = np.unique(np.concatenate([chosen, fresh]))
    return chosen
