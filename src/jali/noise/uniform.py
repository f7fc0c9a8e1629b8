"""Uniform integers: raw bits, and rejection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.noise.bits import BitSource, system_bits
from jali.noise.checks import size_of_sample

_WORD = 64


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
        >>> from jali.noise.uniform import uniform_below
        >>> uniform_below(1, 3)
        array([0, 0, 0])
    """
    if bound < 1:
        raise MechanismError(f"bound must be at least 1, not {bound}.")
    source, missing = system_bits() if bits is None else bits, size_of_sample(size)
    width, kept = (bound - 1).bit_length(), [np.zeros(0, np.int64)]
    while missing:
        # At least half of all candidates are kept; a few more than are missing save a round.
        drawn = _words(missing if width == 0 else missing + missing // 8 + 1, width, source)
        drawn = drawn[drawn < bound][:missing]
        missing -= len(drawn)
        kept.append(drawn)
    return np.concatenate(kept)


def _words(count: int, width: int, bits: BitSource) -> NDArray[Any]:
    if width < _WORD:
        return bits.integers(count, width).astype(np.int64)
    high = _words(count, width - 32, bits).astype(object)
    wide: NDArray[Any] = (high << 32) | bits.integers(count, 32).astype(object)
    return wide
