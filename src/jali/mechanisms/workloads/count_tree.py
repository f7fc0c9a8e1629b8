"""Trees of counts over consecutive cells, their consistent estimates and the exact variances of these."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats, IntervalWorkload, compute_energies

# Trees of at most so many levels have their fan-outs bettered, from so many starts.
_REFINED_DEPTH = 7
_STARTS = 4


@dataclass(frozen=True)
class CountTree:
    """A tree whose nodes of one level all have the same number of children.

    Args:
        fanouts: The number of children of a node, from the root down. The leaves are at least the cells; what is
            more is padding, whose counts are 0 and are measured like the others.
        root: Whether the total is measured.
        pinned: Whether the total is public, so that it has no noise and is not measured.
    """

    fanouts: tuple[int, ...]
    root: bool
    pinned: bool = False

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return math.prod(self.fanouts)

    @property
    def depth(self) -> int:
        """How many levels are below the root."""
        return len(self.fanouts)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """How many leaves are below a node of each level, from the root down."""
        sizes = [1]
        for fanout in reversed(self.fanouts):
            sizes.append(sizes[-1] * fanout)
        return tuple(reversed(sizes))

    @cached_property
    def levels_measured(self) -> slice:
        """The levels that are measured."""
        return slice(0 if self.root else 1, None)

    def sums(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the counts of all nodes, level by level from the root down, in the type of the cells."""
        levels = [np.concatenate([cells, np.zeros(self.leaves - len(cells), cells.dtype)])]
        for fanout in reversed(self.fanouts):
            levels.append(levels[-1].reshape(-1, fanout).sum(axis=1))
        return levels[::-1]

    def counts(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return the measured counts as one array."""
        return np.concatenate(self.sums(cells)[self.levels_measured])

    def split(self, measurements: Floats) -> list[Floats]:
        """Turn an array of measured counts back into levels, from the root down; zeros where none was measured."""
        levels = [] if self.root else [np.zeros(1)]
        start = 0
        for block in self.blocks[self.levels_measured]:
            width = self.leaves // block
            levels.append(measurements[start : start + width])
            start += width
        return levels

    def fit_leaves(self, levels: list[Floats], total: float | None = None) -> Floats:
        """Return the leaves of the tree that fits noisy counts best, by weighted least squares.

        Up the tree, every node takes the best mix of its own count and its children's sum; down the tree, what
        is missing to the parent's value is shared equally by the children.

        Proof:
            docs/proofs/hierarchy.md, Lemma 3, after Hay et al. 2010, Theorem 3.
        """
        mixed = [levels[-1]]
        for fanout, share, level in zip(
            reversed(self.fanouts), reversed(self._shares), reversed(levels[:-1]), strict=True
        ):
            below = mixed[-1].reshape(-1, fanout).sum(axis=1)
            mixed.append(below + share * (level - below))
        top = mixed.pop()
        value = top if total is None else np.array([float(total)])
        for fanout in self.fanouts:
            children = mixed.pop().reshape(-1, fanout)
            missing = value - children.sum(axis=1)
            value = (children + (missing / fanout)[:, None]).ravel()
        return value

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        """The weight of a node's own count against its children's sum, for each level above the leaves."""
        shares, variance = [], 1.0
        for level, fanout in reversed(list(enumerate(self.fanouts))):
            below = fanout * variance
            own = level > 0 or self.root
            shares.append(below / (1 + below) if own else 0.0)
            variance = below / (1 + below) if own else below
        return tuple(reversed(shares))

    @cached_property
    def _modes(self) -> tuple[tuple[int, float], ...]:
        """Blocks, and by how much the variance grows with the energy of a query in blocks of that size."""
        precisions = [float(sum(self.blocks[level:])) for level in range(self.depth + 1)]
        if not self.root:
            precisions[0] -= self.blocks[0]
        inverse = [1 / p for p in precisions]
        if self.pinned:
            inverse[0] = 0.0
        steps = [a - b for a, b in zip(inverse, [*inverse[1:], 0.0], strict=True)]
        return tuple(zip(self.blocks, steps, strict=True))

    def variances(self, starts: NDArray[Any], stops: NDArray[Any]) -> Floats:
        """Return the variance of the consistent estimate of each interval, in units of the noise's variance.

        Proof:
            docs/proofs/hierarchy.md, Theorem 2.
        """
        terms = (step * compute_energies(starts, stops, block) for block, step in self._modes)
        return np.maximum(sum(terms, np.zeros(len(starts))), 0.0)

    def total_variance(self, workload: IntervalWorkload) -> float:
        """Return the sum of the variances over a workload, in closed form."""
        return max(0.0, math.fsum(step * workload.energy(block) for block, step in self._modes))

    def influence(self, weights: Floats) -> Floats:
        """Return the coefficients of the measured counts in the consistent estimate of one query."""
        padded = np.concatenate([weights, np.zeros(self.leaves - len(weights))])
        zeros = [np.zeros(self.leaves // block) for block in self.blocks[:-1]]
        solved = self.fit_leaves([*zeros, padded], total=0.0 if self.pinned else None)
        return np.concatenate(self.sums(solved)[self.levels_measured])


def find_best_shape(cells: int, cost: Callable[[tuple[int, ...]], float]) -> tuple[int, ...]:
    """Return fan-outs of low cost: the best even ones of every depth, then bettered two levels at a time."""
    even = sorted((cost(fanouts), fanouts) for fanouts in list_shapes(cells))
    return min(_improve_shape(cells, found, fanouts, cost) for found, fanouts in even[:_STARTS])[1]


def _improve_shape(
    cells: int, found: float, fanouts: tuple[int, ...], cost: Callable[[tuple[int, ...]], float]
) -> tuple[float, tuple[int, ...]]:
    """Follow the best change until none helps; each step lowers the cost, so there is an end."""
    if len(fanouts) > _REFINED_DEPTH:
        return found, fanouts
    while True:
        least, changed = min(
            ((cost(other), other) for other in _list_changes(cells, fanouts)), default=(found, fanouts)
        )
        if least >= found * (1 - 1e-9):
            return found, fanouts
        found, fanouts = least, changed


def _list_changes(cells: int, fanouts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield fan-outs with one level changed and another made to fit the cells."""
    for i, j in itertools.permutations(range(len(fanouts)), 2):
        for size in {fanouts[i] - 1, fanouts[i] + 1, fanouts[i] // 2, 2 * fanouts[i], 3 * fanouts[i] // 2}:
            others = size * math.prod(b for k, b in enumerate(fanouts) if k not in {i, j})
            fitted = -(-cells // others) if others > 0 else 0
            if size >= 2 and fitted >= 2:
                changed = list(fanouts)
                changed[i], changed[j] = size, fitted
                yield tuple(changed)


def list_shapes(cells: int) -> Iterator[tuple[int, ...]]:
    """Yield fan-outs worth comparing: for each depth the most even ones with enough leaves, either way up."""
    for depth in range(1, max(2, cells.bit_length() + 1)):
        wide = _round_root_up(cells, depth)
        if wide < 2 and cells > 1:
            return
        narrow = 0
        while wide > 2 and narrow < depth and (wide - 1) ** (narrow + 1) * wide ** (depth - narrow - 1) >= cells:
            narrow += 1
        even = (wide,) * (depth - narrow) + (wide - 1,) * narrow
        yield even
        if even != even[::-1]:
            yield even[::-1]


def _round_root_up(value: int, degree: int) -> int:
    """Return the least integer whose power is at least `value`."""
    guess: int = max(1, round(float(value) ** (1 / degree)) - 1)
    while guess**degree < value:
        guess += 1
    return guess
