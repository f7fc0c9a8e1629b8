"""Broken twins of continual counters. They take generated data only."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from jali.audit.registry import Registration
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.mechanisms.mechanism import LogMasses
from jali.mechanisms.workloads.linear import product_law
from jali.privacy import Adjacency, Pure
from jali.streams import EveryItem

Pairs = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
_EPSILON = Fraction(4)
_LEFT_OUT = 1e-13
_STREAMS = (((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 1, 0)))


def charged_once(stream: Sequence[int]) -> LogMasses:
    """Add Laplace noise of scale 1/epsilon to every running sum, as if one sum were published."""
    return product_law(list(itertools.accumulate(stream)), DiscreteLaplaceLaw(1 / _EPSILON), 1)


def redrawn(stream: Sequence[int]) -> LogMasses:
    """Add the noise of a tree over three ticks, of two levels, and draw it anew for every value that is read.

    The first two values are one node each, the third one is a node of two ticks and one of a single tick.
    """
    law = DiscreteLaplaceLaw(2 / _EPSILON)
    reach = law.reach(_LEFT_OUT / 4) + 1
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


def padded(items: Sequence[int]) -> LogMasses:
    """Take the height of the tree from the number of items, a power of two above it, and show how long it is."""
    length = 1 << (len(items) - 1).bit_length()
    law = DiscreteLaplaceLaw(length.bit_length() / _EPSILON)
    reach = law.reach(_LEFT_OUT) + 1
    return {(length, sum(items) + z): law.log_mass(z) for z in range(-reach, reach + 1)}


def _twin(name: str, masses: Callable[[Sequence[int]], LogMasses], pairs: Pairs) -> Registration:
    return Registration(name, EveryItem, Pure(_EPSILON), Adjacency.ADD_REMOVE, pairs, masses)


TWINS: tuple[Registration, ...] = (
    _twin("running sums charged once", charged_once, _STREAMS),
    _twin("tree whose noise is redrawn for every value", redrawn, _STREAMS),
    _twin("tree padded to the private number of items", padded, (((1, 1), (1, 1, 1)),)),
)
