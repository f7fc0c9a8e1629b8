"""Make the noisy tables of several grouping sets consistent by least squares.

A question with GROUPING SETS, ROLLUP or CUBE has one noisy table for each set of key columns. Two tables both
measure what their common columns say, with different noise. Averaged with weights by their precision, all tables
become sums of one another, and no cell is less precise than it was.

Statement:
    Table S, over the columns S with K_S cells, has independent noise of variance v_S in every cell. The estimate
    of all tables by least squares weighs what table S says about common columns by a_S = 1/(v_S K_S), whatever
    these columns are. For every set I that is an intersection of grouping sets let t_I be the average, with these
    weights, of the tables over I that follow from all S with I in S, and let r_I be t_I less what intersections
    inside I say. Table T is the sum of r_I K_I / K_T over all I in T.
Proof:
    docs/proofs/grouping_sets.md, Theorem 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.intervals.linear_forms import GroupValues, IndependentLaw
from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_weighted_quantile
from jali.mechanisms.workloads.linear_release import convert_to_doubles

Axes: TypeAlias = frozenset[int]
# More intersections than this are no question that somebody reads.
_MOST = 4096
# Variances are cut to this range, so that no ratio of them overflows: weights may be anything above 0.
_LEAST, _LARGEST = 1e-200, 1e200
_STEPS = 200
# Shares are whole multiples of one over this; what is smaller is not worth its own noise.
_FINENESS = 1 << 12


def make_consistent(
    sizes: Sequence[int],
    sets: Sequence[Sequence[int]],
    tables: Sequence[NDArray[Any] | None],
    variances: Sequence[float],
) -> list[GroupValues]:
    """Return the tables of all grouping sets, so that all agree: the least-squares estimate.

    Args:
        sizes: How many keys each column has.
        sets: The columns of each grouping set, by number, rising.
        tables: The noisy cells of each, in the order of a C array over its columns; of any shape, which is kept.
        variances: The variance of the noise in each cell of each; infinite for a table that was not measured,
            which can be None and is computed from the others.

    Guarantee:
        Any two tables have the same sums over their common columns; unbiased, and of all linear unbiased estimates
        the one with the least variance in every cell.
    Proof:
        docs/proofs/grouping_sets.md, Theorem 1.

    Example:
        >>> tables = [np.array([10, 20]), np.array([33])]
        >>> [table.tolist() for table in make_consistent([2], [(0,), ()], tables, [1.0, 1.0])]
        [[11.0, 21.0], [32.0]]
    """
    averages = Averages.of(sizes, sets, variances)
    return averages.tables(tables)


def compute_widths(
    sizes: Sequence[int], sets: Sequence[Sequence[int]], laws: Sequence[IndependentLaw | None], confidence: float
) -> list[float]:
    """Return for each set how far its interval reaches to either side: no further than its own noise would need.

    Guarantee:
        The interval of `compute_intervals` covers the exact cell with at least this confidence, cell by cell.
    Proof:
        docs/proofs/grouping_sets.md, Theorem 2.
    """
    averaged = compute_averaged_widths(sizes, sets, laws, confidence)
    return [min(one, other) for one, other in zip(averaged, _compute_own_widths(laws, confidence), strict=True)]


def compute_intervals(
    sizes: Sequence[int],
    sets: Sequence[Sequence[int]],
    tables: Sequence[NDArray[Any] | None],
    laws: Sequence[IndependentLaw | None],
    confidence: float,
) -> list[tuple[GroupValues, GroupValues]]:
    """Return the lower and upper ends for every cell, about the estimate or about the set's own noisy cells.

    Which of the two is decided by the laws, not by the values. An interval about the noisy cells is widened to
    hold the estimate, which is what the answer shows.

    Guarantee:
        Each covers its exact cell with at least this confidence.
    Proof:
        docs/proofs/grouping_sets.md, Theorem 2.
    """
    estimates = make_consistent(sizes, sets, tables, list_variances(laws))
    averaged = compute_averaged_widths(sizes, sets, laws, confidence)
    found = []
    for estimate, table, wide, own in zip(
        estimates, tables, averaged, _compute_own_widths(laws, confidence), strict=True
    ):
        if table is None or wide <= own:
            found.append((estimate - wide, estimate + wide))
        else:
            cells = convert_to_doubles(np.asarray(table).ravel()).reshape(estimate.shape)
            found.append((np.minimum(cells - own, estimate), np.maximum(cells + own, estimate)))
    return found


def compute_averaged_widths(
    sizes: Sequence[int], sets: Sequence[Sequence[int]], laws: Sequence[IndependentLaw | None], confidence: float
) -> list[float]:
    """Return what the estimate of a cell of each set stays within, with this confidence.

    Guarantee:
        A cell of `make_consistent`, with the variances of these laws, is off by more with a probability of at most
        1 - confidence.
    Proof:
        docs/proofs/grouping_sets.md, Theorem 2 and Lemma 2.

    Example:
        >>> from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
        >>> law = DiscreteLaplaceLaw(Fraction(10))
        >>> widths = compute_averaged_widths([4], [(0,), ()], [law, law], 0.95)
        >>> law.quantile(0.95), [round(width, 1) for width in widths]
        (30, [26.1, 26.1])
    """
    averages = Averages.of(sizes, sets, list_variances(laws))
    found: dict[Axes, float] = {}
    for axes in averages.question.sets:
        if axes not in found:
            terms = [WeightedTerm(c, count, _require_law(laws[i])) for i, c, count in averages.coefficients(axes)]
            found[axes] = bound_weighted_quantile(terms, confidence)
    return [found[axes] for axes in averages.question.sets]


def compute_stddevs(
    sizes: Sequence[int], sets: Sequence[Sequence[int]], variances: Sequence[float]
) -> list[float]:
    """Return the standard deviation of the estimates of each set's cells.

    Example:
        >>> [round(value, 3) for value in compute_stddevs([2], [(0,), ()], [1.0, 1.0])]
        [0.816, 0.816]
    """
    averages = Averages.of(sizes, sets, variances)
    return [math.sqrt(averages.variance(axes)) for axes in averages.question.sets]


def choose_shares(
    sizes: Sequence[int], sets: Sequence[Sequence[int]], power: Fraction, *, every: bool = False
) -> list[Fraction]:
    """Return the part of the loss that each set's noise should have; they sum to 1.

    Args:
        sizes: How many keys each column has.
        sets: The columns of each grouping set.
        power: 1/3 for Laplace noise, whose variance falls with the square of epsilon, and 1/2 for Gaussian noise,
            whose variance falls with rho.
        every: Whether every set is measured. Otherwise a set may have the share 0: it is then best computed from
            the others, and its loss is better spent on them.

    Guarantee:
        With every set measured, in proportion to K^power for K cells: the least total variance of all cells before
        averaging. Otherwise the total variance after averaging is no more than with these, up to the rounding of
        shares to 1/4096; for the power 1/2 it is the least there is.
    Proof:
        docs/proofs/grouping_sets.md, Theorem 3.

    Example:
        >>> [str(share) for share in choose_shares([10, 10], [(0, 1), (0,), (1,), ()], Fraction(1, 3))]
        ['1', '0', '0', '0']
    """
    if not 0 < power <= Fraction(1, 2):
        raise MechanismError("power-out-of-range", power=power)
    question = GroupingSets.of(sizes, sets)
    ideal = np.array([question.cells(axes) ** float(power) for axes in question.sets])
    if every:
        return _round_shares(ideal / ideal.sum(), np.ones(len(ideal), dtype=bool))
    return _LossSplit.of(question, 1 / float(power) - 1).best(ideal)


def list_variances(laws: Sequence[IndependentLaw | None]) -> list[float]:
    """Return the variances that weigh tables with these noises; infinite where there is none."""
    return [math.inf if law is None else law.stddev**2 for law in laws]


@dataclass(frozen=True)
class GroupingSets:
    """The key columns of a question, by number and size, and its grouping sets.

    Example:
        >>> [sorted(axes) for axes in GroupingSets.of([2, 3, 4], [(0, 1), (1, 2)]).meets]
        [[1], [0, 1], [1, 2]]
    """

    sizes: tuple[int, ...]
    sets: tuple[Axes, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Sequence[Sequence[int]]) -> GroupingSets:
        """Check and take sizes and sets."""
        if not sets or any(list(axes) != sorted(set(axes)) for axes in sets):
            raise MechanismError("grouping-sets-malformed")
        if any(not 0 <= axis < len(sizes) for axes in sets for axis in axes):
            raise MechanismError("grouping-sets-columns-wrong", last=len(sizes) - 1)
        if any(size < 1 for size in sizes):
            raise MechanismError("grouping-sets-sizes-wrong")
        return cls(tuple(sizes), tuple(frozenset(axes) for axes in sets))

    def cells(self, axes: Iterable[int]) -> int:
        """Return how many cells a table over these columns has."""
        return math.prod(self.sizes[axis] for axis in axes)

    def shape(self, axes: Axes) -> list[int]:
        """Return the shape of a table that has all columns, of length 1 where it says nothing about one."""
        return [size if axis in axes else 1 for axis, size in enumerate(self.sizes)]

    @cached_property
    def meets(self) -> tuple[Axes, ...]:
        """All intersections of grouping sets, small ones first; the sets are among them."""
        found: set[Axes] = set()
        for axes in self.sets:
            found |= {axes} | {axes & other for other in found}
            if len(found) > _MOST:
                raise MechanismError("grouping-sets-too-many")
        return tuple(sorted(found, key=lambda axes: (len(axes), sorted(axes))))

    @cached_property
    def signs(self) -> Mapping[Axes, Mapping[Axes, int]]:
        """The Möbius function: for each I the factors of averages over all J in I that leave what only I says."""
        return {whole: self._signs(whole) for whole in self.meets}

    def _signs(self, whole: Axes) -> Mapping[Axes, int]:
        found: dict[Axes, int] = {}
        for part in reversed([axes for axes in self.meets if axes <= whole]):
            found[part] = int(part == whole) - sum(sign for other, sign in found.items() if part < other)
        return {part: sign for part, sign in found.items() if sign}

    def freedom(self, meet: Axes) -> int:
        """Return the dimension of what an intersection says beyond those inside it."""
        return sum(sign * self.cells(part) for part, sign in self.signs[meet].items())


@dataclass(frozen=True)
class Averages:
    """How much each table counts where several say the same: a_S, one over variance times cells."""

    question: GroupingSets
    weights: tuple[float, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Sequence[Sequence[int]], variances: Sequence[float]) -> Averages:
        """Check the variances and weigh by them."""
        question = GroupingSets.of(sizes, sets)
        if len(variances) != len(question.sets) or not all(v >= 0 for v in variances):
            raise MechanismError("grouping-sets-variances-wrong")
        weights = [
            0.0 if math.isinf(v) else 1 / (min(max(v, _LEAST), _LARGEST) * question.cells(axes))
            for v, axes in zip(variances, question.sets, strict=True)
        ]
        found = cls(question, tuple(weights))
        if not all(found.total_weights[axes] for axes in question.sets):
            raise MechanismError("grouping-sets-table-uncovered")
        return found

    @cached_property
    def total_weights(self) -> Mapping[Axes, float]:
        """The weights of all tables that say something about an intersection, summed."""
        pairs = list(zip(self.question.sets, self.weights, strict=True))
        return {meet: math.fsum(w for axes, w in pairs if meet <= axes) for meet in self.question.meets}

    def tables(self, tables: Sequence[NDArray[Any] | None]) -> list[GroupValues]:
        """Return the estimates, each in the shape of its table."""
        laid = {i: self._lay_out(i, table) for i, table in enumerate(tables) if self.weights[i]}
        parts = {meet: self._part(meet, laid) for meet in self.question.meets}
        shapes = [
            np.shape(table) if table is not None else tuple(self.question.sizes[axis] for axis in sorted(axes))
            for table, axes in zip(tables, self.question.sets, strict=True)
        ]
        return [self._sum(axes, parts).reshape(s) for axes, s in zip(self.question.sets, shapes, strict=True)]

    def _lay_out(self, index: int, table: NDArray[Any] | None) -> GroupValues:
        axes = self.question.sets[index]
        if table is None or np.size(table) != self.question.cells(axes):
            raise MechanismError("grouping-sets-cells-wrong", index=index, cells=self.question.cells(axes))
        return convert_to_doubles(np.asarray(table).ravel()).reshape(self.question.shape(axes))

    def _part(self, meet: Axes, laid: Mapping[int, GroupValues]) -> GroupValues:
        """Return r_I: the average of what all tables say about an intersection, less what smaller ones do."""
        mean = np.zeros(self.question.shape(meet))
        for index, table in laid.items():
            axes = self.question.sets[index]
            if meet <= axes:
                mean += (
                    self.weights[index]
                    / self.total_weights[meet]
                    * table.sum(axis=_sort_axes(axes - meet), keepdims=True)
                )
        part = np.zeros_like(mean)
        for smaller, sign in self.question.signs[meet].items():
            part += sign * mean.mean(axis=_sort_axes(meet - smaller), keepdims=True)
        return part

    def _sum(self, axes: Axes, parts: Mapping[Axes, GroupValues]) -> GroupValues:
        table = np.zeros(self.question.shape(axes))
        for meet, part in parts.items():
            if meet <= axes:
                table += part / self.question.cells(axes - meet)
        return table

    def variance(self, axes: Axes) -> float:
        """Return the variance of each cell of a set: the sum of freedom / (K^2 A) over the intersections in it."""
        cells = self.question.cells(axes)
        inside = [meet for meet in self.question.meets if meet <= axes]
        return math.fsum(self.question.freedom(meet) / self.total_weights[meet] for meet in inside) / cells**2

    def coefficients(self, target: Axes) -> list[tuple[int, float, int]]:
        """Return what a cell of a set is made of: the table, the coefficient, and how many cells have it."""
        return [
            (index, c, count)
            for index, axes in enumerate(self.question.sets)
            if self.weights[index]
            for c, count in self._coefficients(target, axes, self.weights[index]).items()
        ]

    def _coefficients(self, target: Axes, source: Axes, weight: float) -> Counter[float]:
        """Distinguish the cells of one table by the intersections on which they agree with the wanted cell."""
        heights = self._heights(target, target & source)
        found: Counter[float] = Counter()
        for agreed, count in self._agreements(target & source, frozenset(heights)).items():
            value = weight * math.fsum(heights[meet] for meet in agreed)
            found[value] += count * self.question.cells(source - target)
        return found

    def _heights(self, target: Axes, common: Axes) -> Mapping[Axes, float]:
        """Return h_J: what a cell adds, per weight, to each cell that agrees with it on J."""
        found: dict[Axes, float] = {}
        for meet in self.question.meets:
            if meet <= common:
                for smaller, sign in self.question.signs[meet].items():
                    found[smaller] = found.get(smaller, 0.0) + sign / self.total_weights[meet]
        return {part: height / self.question.cells(target - part) for part, height in found.items()}

    def _agreements(self, common: Axes, meets: frozenset[Axes]) -> Counter[frozenset[Axes]]:
        """Count the cells over common columns by the intersections on which they agree with one cell."""
        found = Counter({meets: 1})
        for axis in common:
            without = Counter[frozenset[Axes]]()
            for agreed, count in found.items():
                without[frozenset(meet for meet in agreed if axis not in meet)] += count * (
                    self.question.sizes[axis] - 1
                )
            found += without
        return found


@dataclass(frozen=True)
class _LossSplit:
    """The total variance of all cells, as a function of the shares: sum of needs / (tells @ shares^order)."""

    needs: GroupValues
    tells: GroupValues
    order: float
    largest: NDArray[np.bool_]

    @classmethod
    def of(cls, question: GroupingSets, order: float) -> _LossSplit:
        inside = np.array([[meet <= axes for axes in question.sets] for meet in question.meets], dtype=float)
        tells = inside / np.array([question.cells(axes) for axes in question.sets], dtype=float)
        needs = tells.sum(axis=1) * np.array([question.freedom(meet) for meet in question.meets])
        # Of equal sets one is enough.
        largest = [
            not any(axes < other for other in question.sets) and axes not in question.sets[:i]
            for i, axes in enumerate(question.sets)
        ]
        return cls(needs, tells, order, np.array(largest))

    def total(self, split: GroupValues) -> float:
        return float((self.needs / (self.tells @ split**self.order)).sum())

    def best(self, ideal: GroupValues) -> list[Fraction]:
        """Return the better of the shares found and of the plain rule."""
        plain = ideal / ideal.sum()
        found = self._descend(plain) if self.order <= 1 else self._grow(plain)
        candidates = [_round_shares(found, self.largest), _round_shares(plain, np.ones(len(plain), dtype=bool))]
        return min(candidates, key=lambda split: self.total(np.array(split, dtype=float)))

    def _grow(self, plain: GroupValues) -> GroupValues:
        """Measure the largest sets only, then add the set that helps most while one does."""
        best = self._descend(np.where(self.largest, plain, 0.0))
        while True:
            wider = [(best > 0) | (np.arange(len(plain)) == i) for i in np.flatnonzero(best == 0)]
            tried = [self._descend(np.where(measured, plain, 0.0)) for measured in wider]
            better = min(tried, key=self.total, default=best)
            if self.total(better) >= self.total(best) * (1 - 1e-6):
                return best
            best = better

    def _descend(self, split: GroupValues) -> GroupValues:
        """Multiply each share by a power of what more of it would save, again and again: the total never grows.

        Proof:
            docs/proofs/grouping_sets.md, Theorem 3.
        """
        for _ in range(_STEPS):
            saved = self.tells.T @ (self.needs / (self.tells @ split**self.order) ** 2)
            split = split * (split ** (self.order - 1) * saved) ** (1 / (self.order + 1))
            split = split / split.sum()
        return split


def _round_shares(split: GroupValues, measured: NDArray[np.bool_]) -> list[Fraction]:
    """Return fractions that sum to 1, none of them 0 where a set must be measured."""
    whole = [
        max(int(must), round(share * _FINENESS)) for share, must in zip(split.tolist(), measured, strict=True)
    ]
    return [Fraction(part, sum(whole)) for part in whole]


def _compute_own_widths(laws: Sequence[IndependentLaw | None], confidence: float) -> list[float]:
    return [math.inf if law is None else float(law.quantile(confidence)) for law in laws]


def _require_law(law: IndependentLaw | None) -> IndependentLaw:
    if law is None:
        raise MechanismError("table-not-measured")
    return law


def _sort_axes(axes: Axes) -> tuple[int, ...]:
    return tuple(sorted(axes))
