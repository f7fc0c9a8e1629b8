"""Coins whose probabilities are known by bounds at any precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from jali.noise import BitSource
from jali.noise.bounds import Bounds
from jali.noise.enclosed import WORD, is_below


def toss(
    kinds: NDArray[np.intp],
    bounds: Callable[[int, int], Bounds],
    bits: BitSource,
    *,
    word_bits: int = WORD,
) -> NDArray[np.bool_]:
    """Toss a coin for each entry of `kinds`, True with the exact probability of its kind.

    Args:
        kinds: The kind of each coin: 0, 1, 2, ...
        bounds: For a kind and a precision n, integers lo <= 2^n p <= hi that are a few units apart.
        bits: Where the random bits come from.
        word_bits: How many bits are drawn at a time, at most 64; the law does not depend on it.

    Guarantee:
        The coins are independent, and each is True with probability exactly p of its kind.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 4.
    """
    ends = [bounds(kind, word_bits) for kind in range(int(kinds.max(initial=-1)) + 1)]
    last = (1 << word_bits) - 1
    lows = np.array([min(low, last) for low, _ in ends], np.uint64)
    highs = np.array([max(high, 1) - 1 for _, high in ends], np.uint64)
    words = bits.integers(len(kinds), word_bits)
    # A word w stands for the numbers in [w, w+1) / 2^word_bits: all below p if w < low, none if w >= high.
    coins = words < lows[kinds]
    for place in np.flatnonzero(~coins & (words <= highs[kinds])).tolist():
        kind = int(kinds[place])
        coins[place] = is_below(int(words[place]), partial(bounds, kind), bits, word_bits)
    return coins
