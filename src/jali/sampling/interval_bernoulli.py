"""Draw exact Booleans whose probability is known by bounds of any precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Bounds

Booleans: TypeAlias = NDArray[np.bool_]
WORD = 64
_GUARD = 32


def draw_booleans(
    bounds: Callable[[int], Bounds], size: int, bits: BitSource, width: int | None = None
) -> Booleans:
    """Draw `size` independent Booleans of one probability p.

    Args:
        bounds: For a precision n, integers lo <= 2**n p <= hi that close in as n grows.
        size: How many.
        bits: Where the random bits come from.
        width: How many bits are drawn at a time, at most 64; the law does not depend on it.

    Guarantee:
        Each draw is True with probability exactly p.
    Proof:
        docs/proofs/bernoulli_exp.md, Theorem 1.
    """
    width = WORD if width is None else width
    lo, hi = bounds(width + _GUARD)
    sure = lo >> _GUARD  # words below this one are certainly True
    none = -(-hi >> _GUARD)  # words from this one on are certainly False
    words: NDArray[Any] = bits.integers(size, width)
    top = (1 << width) - 1
    coins = words < sure if sure <= top else np.ones(size, np.bool_)
    if sure < none:
        for place in np.flatnonzero((words >= sure) & (words <= min(none - 1, top))).tolist():
            coins[place] = is_below(int(words[place]), bounds, bits, width)
    return np.asarray(coins)


def is_below(word: int, bounds: Callable[[int], Bounds], bits: BitSource, width: int | None = None) -> bool:
    """Return whether a uniform number is below a probability p.

    Args:
        word: Its first `width` bits.
        bounds: For a precision n, integers lo <= 2**n p <= hi that close in as n grows.
        bits: Where further bits come from, `width` at a time.
        width: How many bits are known; 64 if not given.

    Guarantee:
        The answer is True with probability exactly p if the bits are uniform and independent.
    Proof:
        docs/proofs/bernoulli_exp.md, Refinement.
    """
    known = step = WORD if width is None else width
    while True:
        lo, hi = bounds(known + _GUARD)
        if (word + 1) << _GUARD <= lo:
            return True
        if word << _GUARD >= hi:
            return False
        word = word << step | int(bits.integers(1, step)[0])
        known += step
