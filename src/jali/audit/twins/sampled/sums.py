"""Sums of a stream, one item of which is changed by 1: with noise missing, or charged once for many."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.sampled.making import CLAIM, level, one_above, sampled
from jali.privacy import Adjacency, Pure
from jali.privacy.rationals import Number

ITEMS, BLOCK = 10, 5


def total(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Tell the sum of all items with Laplace noise."""
    return sum(items) + random.laplace(scale=scale, size=(count, 1))


def running_sums(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Tell every running sum, each with noise of its own."""
    return np.cumsum(items) + random.laplace(scale=scale, size=(count, len(items)))


def sums_of_noisy(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Tell every running sum of noisy items: each item has noise once."""
    noisy = np.asarray(items) + random.laplace(scale=scale, size=(count, len(items)))
    return noisy.cumsum(axis=1)


def smart_sums(
    items: Sequence[float], count: int, random: np.random.Generator, scale: float, block_scale: float
) -> Outputs:
    """Tell running sums of noisy items, and at the end of each block start from the sums of whole blocks.

    An item is in one sum of a block and in one of the steps within it, so noise of scale 2/epsilon in both makes
    it epsilon-DP (Chan, Shi and Song 2011, section 3.2).
    """
    values = np.asarray(items, np.float64)
    steps = values + random.laplace(scale=scale, size=(count, len(items)))
    ends = len(items) // BLOCK
    blocks = values[: ends * BLOCK].reshape(ends, BLOCK).sum(axis=1)
    noisy = blocks + (random.laplace(scale=block_scale, size=(count, ends)) if block_scale else 0.0)
    starts = np.cumsum(np.broadcast_to(noisy, (count, ends)), axis=1)
    return _chained(steps, starts)


def _chained(steps: Outputs, starts: Outputs) -> Outputs:
    sums = np.empty_like(steps)
    for place in range(steps.shape[1]):
        block, rest = divmod(place + 1, BLOCK)
        if rest == 0:
            sums[:, place] = starts[:, block - 1]
        else:
            sums[:, place] = steps[:, place] + (sums[:, place - 1] if place else 0.0)
    return sums


def partial_sum_with_half_the_noise(epsilon: Number = CLAIM) -> Subject:
    """Broken: noise of scale 1/(2 epsilon) on the sum loses 2 epsilon (Wang, Ding, Kifer and Zhang 2020)."""
    sampler = partial(total, scale=1 / (2 * float(Fraction(epsilon))))
    name, source = "partial sum with half of the noise missing", "sums:partial_sum_with_half_the_noise"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, (one_above(ITEMS),), sampler, source)


def smart_sums_without_block_noise(epsilon: Number = CLAIM) -> Subject:
    """Broken: the sums of whole blocks have no noise (Wang, Ding, Kifer and Zhang 2020)."""
    sampler = partial(smart_sums, scale=2 / float(Fraction(epsilon)), block_scale=0.0)
    name, source = "smart sums with the noise of blocks missing", "sums:smart_sums_without_block_noise"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, (one_above(ITEMS),), sampler, source)


def prefix_sums_charged_once(epsilon: Number = CLAIM) -> Subject:
    """Broken: each of n running sums loses epsilon, since the first item is in all of them."""
    sampler = partial(running_sums, scale=1 / float(Fraction(epsilon)))
    name, source = "prefix sums charged once", "sums:prefix_sums_charged_once"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, (one_above(ITEMS),), sampler, source)


def sums_of_items_that_all_change(epsilon: Number = CLAIM) -> Subject:
    """Broken where every item may change: n items of noise 1/epsilon each lose n epsilon (Bichsel et al. 2021)."""
    sampler = partial(sums_of_noisy, scale=1 / float(Fraction(epsilon)))
    pairs = ((level(ITEMS), level(ITEMS, 0.0)),)
    name, source = "prefix sums of items that all change", "sums:sums_of_items_that_all_change"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, pairs, sampler, source)
