"""Coins whose probabilities are known by bounds at any precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from jali.noise import BitSource
from jali.noise.bounds import Bounds
from jali.noise.enclosed import WORD, is_below

# Of more kinds than this, not every one gets bounds of its own before it is needed.
_BOUNDED = 1 << 10


def toss(
    kinds: NDArray[np.intp],
    bounds: Callable[[int, int], Bounds],
    bits: BitSource,
    *,
    word_bits: int = WORD,
) -> NDArray[np.bool_]:
    """Toss a coin for each entry of `kinds`, True with the exact probability of its kind.

    Args:
        kinds: The kind of each coin: 0, 1, 2, ..., of which no later one has a smaller probability.
        bounds: For a kind and a precision n, integers lo <= 2^n p <= hi that are a few units apart.
        bits: Where the random bits come from.
        word_bits: How many bits are drawn at a time, at most 64; the law does not depend on it.

    Guarantee:
        The coins are independent, and each is True with probability exactly p of its kind.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 4.
    """
    if not len(kinds):
        return np.zeros(0, np.bool_)
    most = int(kinds.max())
    step = most // _BOUNDED + 1
    # Bounds of every step-th kind and of the last: a kind between has its probability between.
    ends = [bounds(min(kind, most), word_bits) for kind in range(0, most + step, step)]
    top = (1 << word_bits) - 1
    lows = np.array([min(low, top) for low, _ in ends], np.uint64)
    highs = np.array([max(high, 1) - 1 for _, high in ends], np.uint64)
    words = bits.integers(len(kinds), word_bits)
    # A word w stands for the numbers in [w, w+1) / 2^word_bits: all below p if w < low, none if w >= high.
    coins = words < lows[kinds // step]
    for place in np.flatnonzero(~coins & (words <= highs[-(-kinds // step)])).tolist():
        kind = int(kinds[place])
        coins[place] = is_below(int(words[place]), partial(bounds, kind), bits, word_bits)
    return coins
