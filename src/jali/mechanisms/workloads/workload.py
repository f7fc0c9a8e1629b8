"""Workloads of linear queries on a histogram, described without writing a matrix."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError, settle
from jali.mechanisms.base import read_natural
from jali.mechanisms.global_sensitivity import Root, Sensitivity
from jali.privacy.adjacency import Adjacency

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
# A matrix, or the list of all ranges, is written out up to so many entries.
_WRITTEN = 1 << 25


class Workload(ABC):
    """Linear queries with coefficients 0 and 1 over the cells of a histogram.

    Every person is in one cell. Joining or leaving (add-remove) moves one cell by 1; being replaced (replace-one)
    moves one cell by +1 and another by -1, so that the total stays what it is.
    """

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells the histogram has."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many answers there are."""

    @abstractmethod
    def answers(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return all answers, exactly if the histogram is of integers."""

    @abstractmethod
    def weights(self, answer: int) -> Floats:
        """Return one query as a vector over the cells."""

    @abstractmethod
    def counted(self) -> Floats:
        """Return how many cells each answer sums."""

    @abstractmethod
    def moved(self, adjacency: Adjacency) -> int:
        """Return how many answers one person can move, each by 1."""

    def matrix(self) -> Places:
        """Return the queries as rows of a matrix; for few cells."""
        refuse_large_matrix(self.size * self.cells)
        columns = [self.answers(unit) for unit in np.eye(self.cells, dtype=np.int64)]
        return np.stack(columns, axis=1)

    def sensitivity(self, adjacency: str | Adjacency) -> Sensitivity:
        """Return how far the answers of neighbouring histograms are apart."""
        relation = Adjacency.of(adjacency)
        moved = max(1, self.moved(relation))
        return Sensitivity(
            l1=moved,
            l2=Root(moved),
            l_infinity=1,
            adjacency=relation,
            monotone=relation is Adjacency.ADD_REMOVE,
        )


class IntervalWorkload(Workload):
    """Sums over intervals of consecutive cells."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[Places, Places]:
        """The first cell of every interval, and the first cell after it."""

    @abstractmethod
    def energy(self, block: int) -> float:
        """Return the sum over all queries w of |P w|^2, where P averages over consecutive blocks of cells.

        The cells are thought of as continued without end; this is what the error of a hierarchy is made of.
        """

    def answers(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return differences of prefix sums."""
        sums = compute_prefix_sums(histogram)
        starts, stops = self.bounds
        return np.asarray(sums[stops] - sums[starts])

    def weights(self, answer: int) -> Floats:
        """Return one query as a vector over the cells."""
        start, stop = self.interval(answer)
        row = np.zeros(self.cells)
        row[start:stop] = 1.0
        return row

    def interval(self, answer: int) -> tuple[int, int]:
        """Return the first cell of one interval, and the first cell after it."""
        starts, stops = self.bounds
        return int(starts[answer]), int(stops[answer])

    def counted(self) -> Floats:
        """Return the lengths of the intervals."""
        starts, stops = self.bounds
        return np.asarray(stops - starts, dtype=np.float64)


def compute_energies(starts: NDArray[Any], stops: NDArray[Any], block: int) -> Floats:
    """Return |P w|^2 for each interval: lengths, less what the blocks at both ends average away.

    Proof:
        docs/proofs/hierarchy.md, Lemma 2.
    """
    length = np.asarray(stops - starts, dtype=np.float64)
    lost = _compute_end_loss(starts % block, block) + _compute_end_loss(stops % block, block)
    return np.where(starts // block == stops // block, length * length / block, length - lost)


def compute_prefix_sums(histogram: NDArray[Any]) -> NDArray[Any]:
    """Return 0, x_1, x_1 + x_2, ...: exactly, in Python integers where int64 could overflow."""
    array = np.asarray(histogram)
    if array.dtype.kind in "iub" and array.size and _find_largest(array) * array.size >= 1 << 62:
        array = array.astype(object)
    return np.concatenate([array[:1] * 0, np.cumsum(array)])


@dataclass(frozen=True)
class Histogram(IntervalWorkload):
    """Every cell of a histogram.

    Example:
        >>> Histogram(4).sensitivity("replace-one").l1
        Fraction(2, 1)
    """

    cells: int = 0

    def __init__(self, cells: int) -> None:
        object.__setattr__(self, "cells", read_natural(cells, "cells"))

    @property
    def size(self) -> int:
        """One answer for each cell."""
        return self.cells

    @property
    def bounds(self) -> tuple[Places, Places]:
        """Intervals of one cell."""
        starts = np.arange(self.cells)
        return starts, starts + 1

    def answers(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the histogram."""
        return np.asarray(histogram)

    def moved(self, adjacency: Adjacency) -> int:
        """One cell, or two under replace-one."""
        return 1 if adjacency is Adjacency.ADD_REMOVE else min(2, self.cells)

    def energy(self, block: int) -> float:
        """Each cell keeps 1/block."""
        return self.cells / block


@dataclass(frozen=True)
class Thresholds(IntervalWorkload):
    """The cumulative counts: how many are in the first cell, the first two, ..., all of them.

    Example:
        >>> Thresholds(4).answers(np.array([3, 1, 2, 0]))
        array([3, 4, 6, 6])
    """

    cells: int = 0

    def __init__(self, cells: int) -> None:
        object.__setattr__(self, "cells", read_natural(cells, "cells"))

    @property
    def size(self) -> int:
        """One answer for each cell."""
        return self.cells

    @property
    def bounds(self) -> tuple[Places, Places]:
        """Intervals from the first cell on."""
        stops = np.arange(1, self.cells + 1)
        return np.zeros_like(stops), stops

    def moved(self, adjacency: Adjacency) -> int:
        """All answers; under replace-one all but the last, which is the total."""
        return self.cells if adjacency is Adjacency.ADD_REMOVE else self.cells - 1

    def energy(self, block: int) -> float:
        """Sum j - r(B-r)/B over the prefixes of length j, where r = j mod B."""
        n = self.cells
        return n * (n + 1) / 2 - _sum_end_losses(n, block)


@dataclass(frozen=True)
class Ranges(IntervalWorkload):
    """All n(n+1)/2 intervals of consecutive cells.

    Example:
        >>> Ranges(3).answers(np.array([1, 10, 100]))
        array([  1,  11, 111,  10, 110, 100])
    """

    cells: int = 0

    def __init__(self, cells: int) -> None:
        object.__setattr__(self, "cells", read_natural(cells, "cells"))

    @property
    def size(self) -> int:
        """n(n+1)/2."""
        return self.cells * (self.cells + 1) // 2

    @property
    def bounds(self) -> tuple[Places, Places]:
        """All pairs of ends, by their first cell."""
        refuse_large_matrix(self.size)
        starts, stops = np.triu_indices(self.cells)
        return starts, stops + 1

    def interval(self, answer: int) -> tuple[int, int]:
        """Count back from the last range: the last k starts have k(k+1)/2 ranges."""
        left = self.size - 1 - answer
        starts = (math.isqrt(8 * left + 1) - 1) // 2
        return self.cells - 1 - starts, self.cells - (left - starts * (starts + 1) // 2)

    def moved(self, adjacency: Adjacency) -> int:  # noqa: ARG002 - the same for both, but for one cell alone
        """(n+1)^2 / 4, rounded down: the ranges through the middle; also those between two cells apart."""
        return (self.cells + 1) ** 2 // 4

    def energy(self, block: int) -> float:
        """Sum over all pairs of ends, of which those within one block are counted apart."""
        n, whole, rest = self.cells, *divmod(self.cells + 1, block)
        apart = n * (n + 1) * (n + 2) / 6 - n * _sum_end_losses(n, block)
        return apart + whole * _sum_same_block(block, block) + _sum_same_block(rest, block)


@dataclass(frozen=True)
class Marginals(Workload):
    """Marginal tables over sets of attributes; the histogram has one cell for each combination of values.

    Args:
        shape: How many values each attribute has; the cells are in the order of a C array of this shape.
        sets: The attributes of each marginal, by number.

    Example:
        >>> Marginals((2, 2), [(0,), (1,)]).answers(np.array([1, 2, 3, 4]))
        array([3, 7, 4, 6])
    """

    shape: tuple[int, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()

    def __init__(self, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> None:
        sizes = tuple(read_natural(size, "shape", least=2) for size in _read_row(shape, "shape", "(2, 3, 4)"))
        rows = [
            _read_row(attributes, "sets", "[(0, 1), (2,)]")
            for attributes in _read_row(sets, "sets", "[(0, 1), (2,)]")
        ]
        chosen = tuple(tuple(sorted({read_natural(i, "sets", least=0) for i in row})) for row in rows)
        if not chosen or any(i >= len(sizes) for attributes in chosen for i in attributes):
            raise MechanismError("marginals-sets-wrong")
        object.__setattr__(self, "shape", sizes)
        object.__setattr__(self, "sets", tuple(dict.fromkeys(chosen)))

    @property
    def cells(self) -> int:
        """The number of combinations of values."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """The cells of all marginals."""
        return sum(self.entries(attributes) for attributes in self.sets)

    def entries(self, attributes: tuple[int, ...]) -> int:
        """Return how many cells one marginal has."""
        return math.prod(self.shape[i] for i in attributes)

    def table(self, histogram: NDArray[Any], attributes: tuple[int, ...]) -> NDArray[Any]:
        """Return one marginal as a table."""
        others = tuple(i for i in range(len(self.shape)) if i not in attributes)
        array = np.asarray(histogram)
        if array.dtype.kind in "iub":
            roomy = not array.size or _find_largest(array) * array.size < 1 << 62
            array = array.astype(np.int64 if roomy else object)
        return np.asarray(array.reshape(self.shape).sum(axis=others), dtype=array.dtype)

    def answers(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return all marginals, one after another."""
        return np.concatenate([self.table(histogram, attributes).ravel() for attributes in self.sets])

    def weights(self, answer: int) -> Floats:
        """Return the cells that add to one cell of one marginal."""
        marks = np.zeros(self.size)
        marks[answer] = 1.0
        cells, start = np.zeros(self.shape), 0
        for attributes in self.sets:
            table = marks[start : start + self.entries(attributes)]
            cells += self.spread(table, attributes)
            start += table.size
        return cells.ravel()

    def counted(self) -> Floats:
        """Return how many cells add to each cell of a marginal."""
        return np.asarray(self.answers(np.ones(self.cells)), dtype=np.float64)

    def spread(self, table: NDArray[Any], attributes: tuple[int, ...]) -> NDArray[Any]:
        """Give a table over some attributes the axes of the whole, of length 1 where it has none."""
        axes = [size if i in attributes else 1 for i, size in enumerate(self.shape)]
        return np.asarray(table).reshape(axes)

    def moved(self, adjacency: Adjacency) -> int:
        """One cell of each marginal; under replace-one two, but for the total, which does not move."""
        if adjacency is Adjacency.ADD_REMOVE:
            return len(self.sets)
        return 2 * sum(1 for attributes in self.sets if attributes)

    def closure(self) -> tuple[tuple[int, ...], ...]:
        """Return every subset of every set, small ones first."""
        found = {
            part for whole in self.sets for k in range(len(whole) + 1) for part in itertools.combinations(whole, k)
        }
        return tuple(sorted(found, key=lambda part: (len(part), part)))


def read_workload(value: object) -> Workload:
    """Return `value` if it is a workload; refuse it by name otherwise."""
    if not isinstance(value, Workload):
        raise MechanismError("workload-wrong", value=settle(value))
    return value


def read_interval_workload(value: object) -> IntervalWorkload:
    """Return `value` if it is a workload of intervals; refuse it by name otherwise."""
    if not isinstance(value, IntervalWorkload):
        raise MechanismError("workload-not-linear", value=settle(value))
    return value


def refuse_large_matrix(entries: int) -> None:
    """Refuse to write out what would fill the memory."""
    if entries > _WRITTEN:
        raise MechanismError("workload-too-large")


def _read_row(value: Any, name: str, example: str) -> tuple[Any, ...]:
    """Return the items of a sequence, or refuse what is none."""
    if isinstance(value, str | bytes) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise MechanismError("workload-not-a-sequence", name=name, value=value, example=example)
    return tuple(value)


def _find_largest(array: NDArray[Any]) -> int:
    return max(abs(int(array.min())), abs(int(array.max())), 1)


def _compute_end_loss(rest: NDArray[Any], block: int) -> Floats:
    return np.asarray(rest * (block - rest) / block)


def _sum_end_losses(cells: int, block: int) -> float:
    """Return the sum of r(B-r)/B over r = j mod B, j = 0 .. cells."""
    whole, rest = divmod(cells + 1, block)
    return whole * _sum_partial_block(block, block) + _sum_partial_block(rest, block)


def _sum_partial_block(count: int, block: int) -> float:
    """Return the sum of r(B-r)/B over r < count."""
    c = count
    return c * (c - 1) / 2 - c * (c - 1) * (2 * c - 1) / (6 * block)


def _sum_same_block(count: int, block: int) -> float:
    """Return what pairs of ends among `count` places of one block keep, less what was counted for them apart."""
    p = count
    kept = p * p * (p - 1) * (p + 1) / (12 * block)
    return kept - (p - 1) * p * (p + 1) / 6 + (p - 1) * _sum_partial_block(p, block)
