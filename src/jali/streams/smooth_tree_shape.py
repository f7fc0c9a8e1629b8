"""The leaves of a smooth tree: words with so many zeros and so many ones, in the order of their values.

Ticks are put at these leaves one after the other, and only nodes at the end of a zero are counted. From one leaf
to the next a word P 0 1...1 0...0 becomes P 1 0...0 1...1: the node P 0 is completed, and P 1 is entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.streams.tree_sensitivity import TickRun, TreeLevel

# No word is longer: so many leaves are more than ticks that can pass.
LONGEST = 64
# Runs of so many ticks are looked up.
_BLOCK = 1 << 12


@dataclass(frozen=True)
class SmoothShape:
    """All words of some zeros and ones.

    Attributes:
        zeros: In how many counts a tick is, at most.
        ones: How many counts a value adds up, at most.
    """

    zeros: int
    ones: int

    @property
    def leaves(self) -> int:
        """How many words there are; one more than the ticks that can pass."""
        return comb(self.zeros + self.ones, self.zeros)

    def spans(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return, for each tick after `start` up to `stop`, how many ticks the node covers that it completes."""
        return _join(_parts(self.zeros, self.ones, start, stop, 0))

    def stays(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return, for each tick after `start` up to `stop`, for how many ticks that node is used."""
        return _join(_parts(self.zeros, self.ones, start, stop, 1))

    def levels(self, ticks: int) -> Iterator[TreeLevel]:
        """Yield the nodes that end in the first, second ... zero and are completed within some ticks.

        The leaf after the last tick is in one node of each level: this one is not completed, all before it are.
        """
        zeros, ones, place, rest = self.zeros, self.ones, 0, ticks
        while zeros:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
                yield TreeLevel(place, min(place, comb(zeros + self.ones, self.ones)))
            else:
                ones, place, rest = ones - 1, place + left, rest - left

    def run(self, ticks: int, tick: TickRun) -> TickRun:
        """Put a run of ticks together of single ones, with the counts that are completed within it."""
        whole: dict[tuple[int, int], TickRun] = {}

        def node(zeros: int, ones: int) -> TickRun:
            if (zeros, ones) not in whole:
                whole[zeros, ones] = _node(zeros, ones, tick, node)
            return whole[zeros, ones]

        zeros, ones, rest = self.zeros, self.ones, ticks
        found = TickRun.empty(len(tick.table) - 1, tick.table.shape[1], tick.power)
        while rest:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
            else:
                found, ones, rest = found.then(node(zeros - 1, ones).with_count()), ones - 1, rest - left
        return found

    def count_in_use(self, tick: int) -> int:
        """Return how many nodes are used after a tick: the ones of the next word, but for its last ones."""
        zeros, ones, rest, found = self.zeros, self.ones, tick, 0
        while rest:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
            else:
                ones, rest, found = ones - 1, rest - left, found + 1
        return found


def find_best_shape(ticks: int, power: int) -> SmoothShape:
    """Return the shape with enough leaves for which ones times a power of the zeros are least.

    A person in one tick is in as many counts as there are zeros. The variance of each noise grows with their
    number for Gaussian noise, and with its square for Laplace noise.
    """
    shapes = [_least_ones(ticks, zeros) for zeros in range(1, LONGEST)]
    return min(_wide_enough(shapes, ticks), key=lambda shape: (shape.ones * shape.zeros**power, shape.zeros))


def find_balanced_shape(ticks: int) -> SmoothShape:
    """Return the shape with enough leaves that has as many ones as zeros."""
    return _wide_enough([SmoothShape(half, half) for half in range(1, LONGEST // 2 + 1)], ticks)[0]


def _wide_enough(shapes: list[SmoothShape], ticks: int) -> list[SmoothShape]:
    found = [shape for shape in shapes if shape.leaves > ticks]
    if not found:
        raise MechanismError("horizon-too-long", longest=comb(LONGEST, LONGEST // 2), ticks=ticks, name="horizon")
    return found


def _least_ones(ticks: int, zeros: int) -> SmoothShape:
    """Return the shape with so many zeros and the fewest ones that has enough leaves; else the longest words."""
    shapes = [SmoothShape(zeros, ones) for ones in range(1, LONGEST - zeros + 1)]
    return next((shape for shape in shapes if shape.leaves > ticks), shapes[-1])


def _node(zeros: int, ones: int, tick: TickRun, node: Callable[[int, int], TickRun]) -> TickRun:
    """Put the run of a node together of its children: the left one has a count, if there is a right one."""
    if not zeros or not ones:
        return tick
    return node(zeros - 1, ones).with_count().then(node(zeros, ones - 1))


def _parts(zeros: int, ones: int, start: int, stop: int, item: int) -> Iterator[NDArray[np.int64]]:
    """Yield spans (item 0) or stays (item 1) of the ticks that enter a new leaf below a node."""
    if start >= stop or not zeros or not ones:
        return
    left = comb(zeros - 1 + ones, ones)
    if comb(zeros + ones, zeros) <= _BLOCK:
        yield _block(zeros, ones)[item, start:stop]
        return
    yield from _parts(zeros - 1, ones, start, min(stop, left - 1), item)
    if start < left <= stop:
        yield np.array([(left, comb(zeros + ones - 1, zeros))[item]])
    yield from _parts(zeros, ones - 1, max(0, start - left), stop - left, item)


@lru_cache(maxsize=4096)
def _block(zeros: int, ones: int) -> NDArray[np.int64]:
    """Return spans and stays of all ticks that enter a new leaf below a node."""
    if not zeros or not ones:
        return np.zeros((2, 0), np.int64)
    middle = np.array([[comb(zeros - 1 + ones, ones)], [comb(zeros + ones - 1, zeros)]])
    return np.concatenate([_block(zeros - 1, ones), middle, _block(zeros, ones - 1)], axis=1)


def _join(parts: Iterator[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts])
