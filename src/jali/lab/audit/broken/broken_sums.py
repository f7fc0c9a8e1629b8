"""Sums of a stream, one item of which is changed: with noise missing, redrawn or charged once for many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from jali.lab.audit.broken.definition import BROKEN, CLAIM, Sampled, define_subject, level, one_above
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import LogMasses
from jali.mechanisms.workloads.linear_release import build_product_law
from jali.privacy import Adjacency, Pure
from jali.privacy.rationals import Number
from jali.streams import EveryItem

ITEMS, BLOCK = 10, 5
Pairs = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
_EPSILON = Fraction(4)
_LEFT_OUT = 1e-13
_STREAMS = (((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 1, 0)))


def charge_once(stream: Sequence[int]) -> LogMasses:
    """Add Laplace noise of scale 1/epsilon to every running sum, as if one sum were published."""
    return build_product_law(list(itertools.accumulate(stream)), DiscreteLaplaceLaw(1 / _EPSILON), 1)


def redraw_noise(stream: Sequence[int]) -> LogMasses:
    """Add the noise of a tree over three ticks, of two levels, and draw it again for every value that is read.

    The first two values are one node each, the third one is a node of two ticks and one of a single tick.
    """
    law = DiscreteLaplaceLaw(2 / _EPSILON)
    reach = law.bound_tail(_LEFT_OUT / 4) + 1
    one = {z: law.log_mass(z) for z in range(-reach, reach + 1)}
    first, second, third = itertools.accumulate(stream)
    tables = [
        [(first + z, log) for z, log in one.items()],
        [(second + z, log) for z, log in one.items()],
        [(third + z, log) for z, log in _sum_of_two(one, reach).items()],
    ]
    return {tuple(k for k, _ in row): sum(log for _, log in row) for row in itertools.product(*tables)}


def _sum_of_two(one: dict[int, float], reach: int) -> dict[int, float]:
    masses = {z: math.exp(log) for z, log in one.items()}
    pairs = {z: [masses[i] * masses[z - i] for i in masses if z - i in masses] for z in range(-reach, reach + 1)}
    return {z: math.log(math.fsum(found)) for z, found in pairs.items()}


def pad_items(items: Sequence[int]) -> LogMasses:
    """Take the height of the tree from the number of items, a power of two above it, and show how long it is."""
    length = 1 << (len(items) - 1).bit_length()
    law = DiscreteLaplaceLaw(length.bit_length() / _EPSILON)
    reach = law.bound_tail(_LEFT_OUT) + 1
    return {(length, sum(items) + z): law.log_mass(z) for z in range(-reach, reach + 1)}


def _register_exact(name: str, masses: Callable[[Sequence[int]], LogMasses], pairs: Pairs) -> Registration:
    return Registration(name, EveryItem, Pure(_EPSILON), Adjacency.ADD_REMOVE, pairs, masses)


EXACT: tuple[Registration, ...] = (
    _register_exact("running sums charged once", charge_once, _STREAMS),
    _register_exact("tree whose noise is redrawn for every value", redraw_noise, _STREAMS),
    _register_exact("tree padded to the private number of items", pad_items, (((1, 1), (1, 1, 1)),)),
)


def total(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Release the sum of all items with Laplace noise."""
    return sum(items) + random.laplace(scale=scale, size=(count, 1))


def running_sums(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Release every running sum, each with noise of its own."""
    return np.cumsum(items) + random.laplace(scale=scale, size=(count, len(items)))


def sums_of_noisy(items: Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Release every running sum of noisy items: each item has noise once."""
    noisy = np.asarray(items) + random.laplace(scale=scale, size=(count, len(items)))
    return noisy.cumsum(axis=1)


def smart_sums(
    items: Sequence[float], count: int, random: np.random.Generator, scale: float, block_scale: float
) -> Outputs:
    """Release running sums of noisy items, and at the end of each block start from the sums of whole blocks.

    An item is in one sum of a block and in one of the steps within it, so noise of scale 2/epsilon in both makes
    it epsilon-DP (Chan, Shi and Song 2011, section 3.2).
    """
    values = np.asarray(items, np.float64)
    steps = values + random.laplace(scale=scale, size=(count, len(items)))
    ends = len(items) // BLOCK
    blocks = values[: ends * BLOCK].reshape(ends, BLOCK).sum(axis=1)
    noisy = blocks + (random.laplace(scale=block_scale, size=(count, ends)) if block_scale else 0.0)
    starts = np.cumsum(np.broadcast_to(noisy, (count, ends)), axis=1)
    return _chain_blocks(steps, starts)


def _chain_blocks(steps: Outputs, starts: Outputs) -> Outputs:
    sums = np.empty_like(steps)
    for place in range(steps.shape[1]):
        block, rest = divmod(place + 1, BLOCK)
        if rest == 0:
            sums[:, place] = starts[:, block - 1]
        else:
            sums[:, place] = steps[:, place] + (sums[:, place - 1] if place else 0.0)
    return sums


@define_subject("partial sum with half of the noise missing", Adjacency.REPLACE_ONE, BROKEN)
def partial_sum_with_half_the_noise(epsilon: Number = CLAIM) -> Sampled:
    """Broken: noise of scale 1/(2 epsilon) on the sum loses 2 epsilon (Wang, Ding, Kifer and Zhang 2020)."""
    return Pure(epsilon), (one_above(ITEMS),), partial(total, scale=1 / (2 * float(Fraction(epsilon))))


@define_subject("smart sums with the noise of blocks missing", Adjacency.REPLACE_ONE, BROKEN)
def smart_sums_without_block_noise(epsilon: Number = CLAIM) -> Sampled:
    """Broken: the sums of whole blocks have no noise (Wang, Ding, Kifer and Zhang 2020)."""
    sampler = partial(smart_sums, scale=2 / float(Fraction(epsilon)), block_scale=0.0)
    return Pure(epsilon), (one_above(ITEMS),), sampler


@define_subject("prefix sums charged once", Adjacency.REPLACE_ONE, BROKEN)
def prefix_sums_charged_once(epsilon: Number = CLAIM) -> Sampled:
    """Broken: each of n running sums loses epsilon, since the first item is in all of them."""
    return Pure(epsilon), (one_above(ITEMS),), partial(running_sums, scale=1 / float(Fraction(epsilon)))


@define_subject("prefix sums of items that all change", Adjacency.REPLACE_ONE, BROKEN)
def sums_of_items_that_all_change(epsilon: Number = CLAIM) -> Sampled:
    """Broken where every item may change: n items of noise 1/epsilon each lose n epsilon (Bichsel et al. 2021)."""
    pairs = ((level(ITEMS), level(ITEMS, 0.0)),)
    return Pure(epsilon), pairs, partial(sums_of_noisy, scale=1 / float(Fraction(epsilon)))
