"""Strategies for distribution functions: which sums of cells are measured, and how answers are read from them.

Statement:
    A strategy is a public integer matrix G over the cells of an axis. G x + z is released, with independent
    noises z of one law, and the running sums of x are read from it by least squares: linear forms of the
    measurements, without bias, whose variances and tails depend on G and on the law alone. Privacy depends on the
    columns of G only: cells that change by a vector d move the measurements by at most |d|_1 times the longest
    column, in L1 as in L2.
Proof:
    docs/proofs/running_counts.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_gaussian_quantile, bound_weighted_quantile
from jali.mechanisms.measurement import (
    Description,
    Measurement,
    MeasurementSensitivity,
    NoiseMeasurement,
    SparseCells,
    expand_cells,
)
from jali.mechanisms.workloads.count_tree import CountTree
from jali.mechanisms.workloads.factorization import compute_square_root, convolve, invert_series
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats, Places
from jali.privacy.event import Event
from jali.privacy.loss import Loss

# Coefficients are rounded up to so many parts of the largest: equal ones that differ in their last bits are one.
_PARTS = 1 << 20
# Doubles err by less than this part of such a step.
_DUST = 1e-6


class CellStrategy(ABC):
    """An integer matrix G over the cells, made for their running sums; no entry is negative."""

    # What it is called in stored plans, and its parameters.
    tag: ClassVar[str]
    stored_parts: ClassVar[str]

    cells: int

    @abstractmethod
    def measure(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return G x in Python integers, exactly."""

    @property
    @abstractmethod
    def measurements(self) -> int:
        """How many integers are measured."""

    @property
    @abstractmethod
    def column(self) -> tuple[int, int]:
        """The largest L1 norm of a column of G, and the largest squared L2 norm."""

    @property
    @abstractmethod
    def pair(self) -> tuple[int, int]:
        """The same of the difference of two columns, or of one alone: at least what it can be."""

    @property
    def unit(self) -> int:
        """What stands for 1 in G."""
        return 1

    @property
    @abstractmethod
    def sound(self) -> bool:
        """Whether it is one that could have been planned: a stored one need not be."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """What is measured, in words."""

    @property
    @abstractmethod
    def reach_of_cell(self) -> str:
        """In how many sums one cell is, in words."""

    @abstractmethod
    def running(self, measurements: NDArray[Any]) -> Floats:
        """Return the running sums that fit noisy measurements best."""

    @abstractmethod
    def variances(self) -> Floats:
        """Return the variances of the running sums for noise of variance 1."""

    @abstractmethod
    def width(self, place: int, law: IndependentLaw, confidence: float) -> float:
        """Return what the error of one running sum stays within, at least so often."""


@dataclass(frozen=True)
class TreeOfCells(CellStrategy):
    """The counts of a tree over the cells, level by level from the root down.

    Attributes:
        cells: How many cells there are.
        fanouts: The number of children of a node, from the root down; leaves beyond the cells count 0.
        root: Whether the total is measured.
    """

    tag: ClassVar[str] = "TreeOfCells"
    stored_parts: ClassVar[str] = "cells fanouts root"

    cells: int
    fanouts: tuple[int, ...]
    root: bool

    @cached_property
    def tree(self) -> CountTree:
        """The tree."""
        return CountTree(self.fanouts, self.root)

    @property
    def sound(self) -> bool:
        """Whether every node is split and the leaves are enough for the cells."""
        split = all(fanout >= 2 for fanout in self.fanouts)
        return isinstance(self.root, bool) and split and math.prod(self.fanouts) >= self.cells

    @property
    def meaning(self) -> str:
        """The shape of the tree."""
        shape = " x ".join(str(fanout) for fanout in self.fanouts)
        return f"the counts of a tree, {shape}{', and its total' if self.root else ''},"

    @property
    def reach_of_cell(self) -> str:
        """One node of each level."""
        levels = self.column[0]
        return f"in one node of each of {levels:,} level{'' if levels == 1 else 's'}"

    def measure(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Sum up the tree."""
        return self.tree.counts(cells.astype(object))

    @property
    def measurements(self) -> int:
        """The number of measured nodes."""
        return sum(self.tree.leaves // block for block in self.tree.blocks[self.tree.levels_measured])

    @property
    def column(self) -> tuple[int, int]:
        """A cell is in one node of each measured level."""
        levels = self.tree.depth + (1 if self.root else 0)
        return levels, levels

    @property
    def pair(self) -> tuple[int, int]:
        """Two cells are in two nodes of each level at most, and both in the root."""
        return 2 * self.tree.depth, 2 * self.tree.depth

    def running(self, measurements: NDArray[Any]) -> Floats:
        """Make the counts consistent, and add the leaves up."""
        leaves = self.tree.fit_leaves(self.tree.split(convert_to_doubles(measurements)))
        return np.cumsum(leaves[: self.cells])

    def variances(self) -> Floats:
        """Return the variances in closed form."""
        stops = np.arange(1, self.cells + 1)
        return self.tree.variances(np.zeros_like(stops), stops)

    def width(self, place: int, law: IndependentLaw, confidence: float) -> float:
        """Return the quantile of the exact law: that of a few different multiples of many noises."""
        prefix = np.concatenate([np.ones(place + 1), np.zeros(self.cells - place - 1)])
        return bound_weighted_quantile(_count_terms(self.tree.influence(prefix), law), confidence)


def _count_terms(coefficients: Floats, law: IndependentLaw) -> list[WeightedTerm]:
    """Count equal coefficients; what doubles leave where there should be none is left out."""
    sizes = np.abs(coefficients)
    step = float(sizes.max()) / _PARTS
    values, counts = np.unique(np.ceil(sizes[sizes > _DUST * step] / step - _DUST), return_counts=True)
    return [WeightedTerm(float(v * step), int(n), law) for v, n in zip(values, counts, strict=True)]


@dataclass(frozen=True)
class RootOfCells(CellStrategy):
    """The square root of summing, with columns of nearly equal length: G = T diag(s), for Gaussian noise.

    T has the rounded coefficients g_0 > g_1 > ... >= 0 of (1-x)^(-1/2) on its diagonals, s_j is the rounded
    inverse of the length of its column j.

    Attributes:
        cells: How many cells there are.
        grain: How many integer steps stand for 1 in T.
        scale: How many stand for 1 in s.
    """

    tag: ClassVar[str] = "RootOfCells"
    stored_parts: ClassVar[str] = "cells grain scale"

    cells: int
    grain: int
    scale: int

    @property
    def sound(self) -> bool:
        """Whether integers stand for 1."""
        return self.grain >= 1 and self.scale >= 1

    @property
    def meaning(self) -> str:
        """The square root, and how its columns are made alike."""
        return "the square root of summing, its columns made equally long,"

    @property
    def reach_of_cell(self) -> str:
        """One column."""
        return "in a column of length 1"

    @property
    def unit(self) -> int:
        """What stands for 1, the length of the columns, in G."""
        return self.grain * self.scale

    @cached_property
    def first(self) -> Places:
        """The first column of T."""
        return compute_square_root(self.cells, self.grain).first

    @cached_property
    def lengths(self) -> list[int]:
        """The squared lengths of the columns of T, exactly."""
        squares = [int(g) ** 2 for g in self.first]
        return [int(total) for total in np.cumsum(np.array(squares, dtype=object))[::-1]]

    @cached_property
    def factors(self) -> list[int]:
        """The numbers s, rounded down to integers of at least 1."""
        top = self.scale * self.grain
        return [max(1, math.isqrt(top * top // length)) for length in self.lengths]

    def measure(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Multiply and convolve, in integers."""
        scaled = np.array([int(x) * s for x, s in zip(cells.tolist(), self.factors, strict=True)], dtype=object)
        return convolve(self.first, scaled)[: self.cells].astype(object) if scaled.any() else scaled

    @property
    def measurements(self) -> int:
        """As many as cells."""
        return self.cells

    @cached_property
    def column(self) -> tuple[int, int]:
        """Both norms, exactly."""
        sums = np.cumsum(self.first.astype(object))[::-1]
        return (
            max(int(s * total) for s, total in zip(self.factors, sums, strict=True)),
            max(s * s * length for s, length in zip(self.factors, self.lengths, strict=True)),
        )

    @property
    def pair(self) -> tuple[int, int]:
        """No entry is negative, so that two columns are no further apart than if they did not overlap."""
        one, squared = self.column
        return 2 * one, 2 * squared

    @cached_property
    def _inverse(self) -> Floats:
        """The series 1 / g."""
        return invert_series(self.first.astype(np.float64))

    @cached_property
    def _steps(self) -> Floats:
        return 1 / np.array(self.factors, dtype=np.float64)

    def running(self, measurements: NDArray[Any]) -> Floats:
        """Solve G x = y and add up."""
        noisy = convert_to_doubles(measurements)
        return np.cumsum(np.convolve(self._inverse, noisy)[: self.cells] * self._steps)

    @cached_property
    def _rows(self) -> tuple[Floats, Floats]:
        """The sums of the squares, and of the sizes, of the coefficients with which noises enter each sum."""
        squares, sizes = np.zeros(self.cells), np.zeros(self.cells)
        for place in range(self.cells):
            enters = np.cumsum(self._inverse[: self.cells - place] * self._steps[place:])
            squares[place:] += enters**2
            sizes[place:] += np.abs(enters)
        return squares, sizes

    def variances(self) -> Floats:
        """Return sums of squares."""
        return self._rows[0]

    def width(self, place: int, law: IndependentLaw, confidence: float) -> float:
        """Return a normal quantile, and a little more for noise that is discrete."""
        assert isinstance(law, DiscreteGaussianLaw)
        squares, sizes = (float(sums[place]) for sums in self._rows)
        return bound_gaussian_quantile(
            squares * float(law.variance), sizes, math.log(2 / read_miss_probability(confidence))
        )


@dataclass(frozen=True)
class RunningSumsLaw:
    """The law of the running sums: a strategy, and the law of each noise."""

    strategy: CellStrategy
    law: IndependentLaw

    def running(self, noisy: Sequence[int]) -> Floats:
        """Return the running sums that fit noisy measurements best."""
        return self.strategy.running(np.array(noisy, dtype=object))

    def widths(self, confidence: float) -> Floats:
        """Return what the error of each running sum stays within, at least so often."""
        return np.array([self.width(place, confidence) for place in range(self.strategy.cells)])

    def width(self, place: int, confidence: float) -> float:
        """Return it of one of them."""
        return _bound_width(self.strategy, place, self.law, confidence)

    @property
    def stddevs(self) -> Floats:
        """The standard deviations of the running sums."""
        return np.sqrt(self.strategy.variances()) * self.law.stddev


@lru_cache(maxsize=1 << 14)
def _bound_width(strategy: CellStrategy, place: int, law: IndependentLaw, confidence: float) -> float:
    return strategy.width(place, law, confidence)


RUNNING_PAGE = "docs/proofs/running_counts.md (Hay, Rastogi, Miklau and Suciu 2010, Theorem 3)"


@dataclass(frozen=True)
class MeasuredCells(Measurement):
    """Noise on the sums of cells that a strategy measures."""

    tag: ClassVar[str] = "MeasuredCells"
    stored_parts: ClassVar[str] = "strategy noise"

    strategy: CellStrategy
    noise: NoiseMeasurement

    @property
    def loss(self) -> Loss:
        """That of the noise."""
        return self.noise.loss

    @property
    def law(self) -> RunningSumsLaw:
        """The law of the running sums, in integer units of weight."""
        return RunningSumsLaw(self.strategy, self.noise.law)

    @property
    def noise_law(self) -> Any:
        """That of the noise."""
        return self.law

    @property
    def each_law(self) -> Any:
        """The law of the noise of each sum."""
        return self.noise.law

    @property
    def cell_strategy(self) -> CellStrategy:
        """Which sums are measured."""
        return self.strategy

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return the loss of a move of the sums, which is as far as the columns of the matrix are long."""
        return self.noise.compute_event(sensitivity.measure_by(self.strategy))

    def derive_loss(self, event: Event) -> Loss:
        """Return the loss of the noise."""
        return self.noise.derive_loss(event)

    def describe(self) -> Description:
        """Name the noise and its scale, and the theorem of the strategy before that of the noise."""
        told = self.noise.describe()
        return Description(told.noun, told.norm, told.parameter, told.scale, (RUNNING_PAGE, *told.theorems))

    def release_cells(
        self,
        groups: Sequence[SparseCells],
        width: int,
        picks: int,  # noqa: ARG002 - all sums leave
    ) -> tuple[Any, ...]:
        """Add noise to what the strategy measures of each group."""
        cells = [np.array(expand_cells(group, width), dtype=object) for group in groups]
        exact = [int(x) for group in cells for x in self.strategy.measure(group)]
        noisy, size = self.noise.release_numbers(exact), self.strategy.measurements
        return tuple(tuple(noisy[i * size : (i + 1) * size]) for i in range(len(groups)))
