"""Make the answers of a batch agree: fit common cells to all releases that speak of the same rows.

Counts of rows over one relation, by whatever keys, bins and conditions, are sums of the cells of one partition;
so are sums of one expression. One vector of cells is fitted to all of them, and every number is read from it:
totals equal the sums of their parts, nested conditions and distribution functions are monotone, and no count is
below 0. Rows that have none of the declared keys of a question are cells of their own. They are taken to be empty
unless the released numbers speak clearly against it: a total is then the sum of its groups.

Statement:
    Released are y_b = G_b P_b x + noise, where P_b sums cells into the numbers of release b. The cells x minimise
    the sum over b of |y_b - G_b P_b x|^2 / v_b, v_b being the variance of the noise. The steps of the search are
    x_c - gradient_c / m_c with m = |A|' V^-1 |A| 1: diag(m) is above the matrix of the quadratic form, so that no
    step increases it; Nesterov's acceleration starts again whenever it would.
Proof:
    docs/proofs/batches.md, Theorem 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.ir.aggregates import Categories, CountRows, SumValues
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.relations import Relation, split_conditions
from jali.numbers.search import greatest_integer
from jali.planner.batch.batch_plan import BatchPlan
from jali.planner.batch.common_cells import NO_KEY, CellCount, CellPlaces, CommonCells, find_common_cells
from jali.planner.measured_query import MeasuredQuery
from jali.planner.plan import Plan

Floats: TypeAlias = NDArray[np.float64]
_STEPS = 3000
_ENOUGH = 1e-6
# The search runs after payment: it may take so much work, in cells of releases, and takes so many steps at least.
_WORK, _FEWEST = 1 << 30, 50
# Several releases are looked at as one matrix of up to so many numbers.
_FEW, _DENSE = 8, 1 << 22
# Sums of cells must be exact in doubles, so that totals equal sums to the last digit.
_BITS = 52
_FINEST = 20


@dataclass(frozen=True)
class ReleaseBlock:
    """One release as a linear form of the cells.

    Attributes:
        places: In which of its numbers each cell counts; -1 for none.
        values: What was released: one row for each group.
        variance: That of the noise of each number.
        matrix: What was measured of the numbers of a group; None for the numbers themselves.
        size: How many numbers there are.
    """

    places: NDArray[np.int64]
    values: Floats
    variance: float
    matrix: Floats | None
    size: int

    def sums(self, cells: NDArray[Any]) -> Floats:
        """Return the numbers of the cells; exact where all sums of them are whole numbers below 2^53."""
        return np.asarray(np.bincount(self.places + 1, weights=cells, minlength=self.size + 1)[1:], np.float64)

    def forward(self, cells: Floats) -> Floats:
        """Return what would be released without noise."""
        sums = self.sums(cells)
        return sums if self.matrix is None else (sums.reshape(-1, self.matrix.shape[1]) @ self.matrix.T).ravel()

    def back(self, residuals: Floats, matrix: Floats | None) -> Floats:
        """Return the transpose of `forward` at residuals, over the variance."""
        each = residuals if matrix is None else (residuals.reshape(-1, matrix.shape[0]) @ matrix).ravel()
        return np.where(self.places >= 0, each[self.places], 0.0) / self.variance


def fit_cells(
    blocks: Sequence[ReleaseBlock],
    allowed: NDArray[np.bool_],
    *,
    positive: bool,
    start: Floats | None = None,
    steps: int = _STEPS,
) -> Floats:
    """Return the cells of least squares; those that are not allowed are 0."""
    scale, slope = _steps(blocks, allowed.size), _slope(blocks, allowed.size)
    cells = np.zeros(allowed.size) if start is None else start
    ahead, momentum = cells, 1.0
    for _ in range(min(steps, max(_FEWEST, _WORK // (len(blocks) * allowed.size)))):
        moved = np.where(allowed, ahead - slope(ahead) / scale, 0.0)
        found = np.maximum(moved, 0.0) if positive else moved
        change = found - cells
        if np.sum((ahead - found) * scale * change) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = found + (momentum - 1) / following * change
        cells, momentum = found, following
        if np.max(np.abs(change) * np.sqrt(scale), initial=0.0) < _ENOUGH:
            break
    return cells


def _steps(blocks: Sequence[ReleaseBlock], size: int) -> Floats:
    found = np.full(size, 1e-300)
    for block in blocks:
        inside = np.abs(block.matrix) if block.matrix is not None else None
        ones = ReleaseBlock(block.places, block.values, block.variance, inside, block.size)
        found += ones.back(ones.forward(np.ones(size)), inside)
    return found


def _slope(blocks: Sequence[ReleaseBlock], size: int) -> Callable[[Floats], Floats]:
    """Return the gradient as a function of the cells: by one matrix of all releases where it is small enough."""
    if len(blocks) < _FEW or size * sum(block.values.size for block in blocks) > _DENSE:
        return lambda cells: gradient(blocks, cells)
    weights = np.concatenate([np.full(block.values.size, block.variance**-0.5) for block in blocks])
    matrix = np.concatenate([_rows(block) for block in blocks]) * weights[:, None]
    values = np.concatenate([block.values for block in blocks]) * weights
    return lambda cells: np.asarray((matrix @ cells - values) @ matrix, np.float64)


def _rows(block: ReleaseBlock) -> Floats:
    """Return a release as the rows of a matrix over the cells."""
    sums: Floats = (block.places == np.arange(block.size)[:, None]).astype(np.float64)
    if block.matrix is None:
        return sums
    groups = sums.reshape(-1, block.matrix.shape[1], sums.shape[1])
    return np.asarray(np.einsum("ij,gjc->gic", block.matrix, groups).reshape(-1, sums.shape[1]), np.float64)


def gradient(blocks: Sequence[ReleaseBlock], cells: Floats) -> Floats:
    """Return half of the gradient of the sum of squares."""
    found = np.zeros(cells.size)
    for block in blocks:
        found += block.back(block.forward(cells) - block.values, block.matrix)
    return found


def distance(blocks: Sequence[ReleaseBlock], cells: Floats) -> float:
    """Return the sum of squares, in units of the variances."""
    return float(sum(np.sum((b.forward(cells) - b.values) ** 2) / b.variance for b in blocks))


def round_to_lattice(cells: Floats) -> tuple[Floats, int]:
    """Return whole numbers of a power of two that sum without rounding, and how many bits that is below 1."""
    whole = float(np.abs(cells).sum()) + 1
    bits = min(_FINEST, _BITS - int(np.ceil(np.log2(whole))))
    return np.asarray(np.round(np.ldexp(cells, bits)), np.float64), bits


# Released integers of each plan: per level and release one entry for each group.
Noisy: TypeAlias = Sequence[Sequence[Sequence[Any]]]
# The numbers of a release that were made to agree: by plan and release, one entry for each group.
ConsistentNumbers: TypeAlias = dict[tuple[int, int], tuple[Any, ...]]

MOST_CELLS = 20_000
# Five standard deviations: rows without a declared key are believed in only beyond this.
_CLEAR = 25.0
_FIRST_STEPS = 100
# So many members that would make too many cells are passed over before a cluster is closed.
_PASSED_OVER = 3


@dataclass(frozen=True)
class ClusterMember:
    """A release that can be made to agree with others.

    Attributes:
        plan, release: Where it stands.
        family: What it is a sum of, over which rows: only sums of the same can agree.
        counted: Which of them.
        worth: What one integer of it is worth.
    """

    plan: int
    release: int
    family: object
    rows: Relation
    counted: CellCount
    worth: Fraction
    positive: bool


@dataclass(frozen=True)
class ReleaseCluster:
    """Releases that agree, and their common cells."""

    members: tuple[ClusterMember, ...]
    partition: CommonCells


def find_clusters(batch: BatchPlan) -> tuple[ReleaseCluster, ...]:
    """Return the releases that are made to agree, in clusters whose cells are not too many."""
    if not batch.agree:
        return ()
    families: dict[object, list[ClusterMember]] = {}
    same: dict[Expression, Expression] = {}
    for place, plan in enumerate(batch.plans):
        for member in list_members(plan, place):
            families.setdefault(member.family, []).append(_sharing(member, same))
    return tuple(found for family in families.values() for found in _cluster_family(family))


def _sharing(member: ClusterMember, same: dict[Expression, Expression]) -> ClusterMember:
    """Let members whose conditions are equal have the same ones: a long one is then looked at once."""
    conditions = tuple(same.setdefault(one, one) for one in member.counted.conditions)
    return replace(member, counted=replace(member.counted, conditions=conditions))


def list_members(plan: Plan, place: int) -> Iterator[ClusterMember]:
    """Return the releases of a plan that are sums over cells."""
    if plan.selection is not None or len(plan.levels) > 1:
        return
    for release, (part, index) in enumerate(plan.levels[0].releases):
        found = _build_member(part, index)
        if found is not None:
            row = part.aggregation.resolution(CountRows())
            worth = Fraction(1, row) if part.draws else plan.levels[0].worth(release)
            yield replace(found, plan=place, release=release, worth=worth)


def _build_member(part: MeasuredQuery, index: int) -> ClusterMember | None:
    aggregation = part.aggregation
    base, conditions = split_conditions(aggregation.source)
    weights = aggregation.weights
    bound = weights and (weights.max_rows, weights.resolution, weights.norm, weights.by, conditions)
    rows = base, bound
    if part.draws:
        axis = part.draws[index].axis
        if part.draws[index].kind not in ("cells", "running") or not isinstance(axis, Categories):
            return None
        value, inner = _conditional(axis.keys.expression)
        counted = CellCount((*aggregation.keys, replace(axis.keys, expression=value)), (*conditions, *inner))
        return ClusterMember(0, 0, (rows, "count"), base, counted, Fraction(1), positive=True)
    measure = aggregation.measures[index]
    if isinstance(measure, CountRows):
        present = () if measure.present is None else (measure.present,)
        counted = CellCount(aggregation.keys, conditions, present)
        return ClusterMember(0, 0, (rows, "count"), base, counted, Fraction(1), positive=True)
    if isinstance(measure, SumValues) and measure.missing is None:
        value, inner = _conditional(measure.value)
        counted = CellCount(aggregation.keys, (*conditions, *inner))
        family = rows, replace(measure, value=value)
        return ClusterMember(0, 0, family, base, counted, Fraction(1), positive=measure.least >= 0)
    return None


def _conditional(value: Expression) -> tuple[Expression, tuple[Expression, ...]]:
    """Return an expression without the conditions that make it NULL, and these."""
    found: tuple[Expression, ...] = ()
    while isinstance(value, Call) and value.function == "case" and len(value.arguments) == 3:
        condition, inner, otherwise = value.arguments
        if otherwise != Literal(None):
            break
        found, value = (*found, condition), inner
    return value, found


def _cluster_family(family: list[ClusterMember]) -> list[ReleaseCluster]:
    """Put members together as long as their cells are few enough; who has nobody to agree with is left out."""
    found: list[list[ClusterMember]] = []
    rest = family if _partition(family).cells <= MOST_CELLS else _lean(family)
    while rest:
        home, rest = _fill_cluster(rest)
        found.append(home)
    return [
        ReleaseCluster(tuple(one), _partition(one)) for one in found if len(one) > 1 or one[0].counted.size > 1
    ]


def _lean(family: list[ClusterMember]) -> list[ClusterMember]:
    """Leave out the conditions that all members share: cells of the rows that satisfy them are as good."""
    shared = set.intersection(*({id(one) for one in member.counted.conditions} for member in family))
    kept = [tuple(one for one in member.counted.conditions if id(one) not in shared) for member in family]
    pairs = zip(family, kept, strict=True)
    return [replace(member, counted=replace(member.counted, conditions=own)) for member, own in pairs]


def _fill_cluster(members: list[ClusterMember]) -> tuple[list[ClusterMember], list[ClusterMember]]:
    """Return a cluster of the first members and the rest; a few that do not fit in are passed over."""
    home, aside, rest = members[:1], list[ClusterMember](), members[1:]
    for _ in range(_PASSED_OVER):
        most = _most(home, rest)
        home, aside, rest = home + rest[:most], aside + rest[most : most + 1], rest[most + 1 :]
    return home, aside + rest


def _most(home: list[ClusterMember], rest: list[ClusterMember]) -> int:
    """Return how many of the rest can join: more members never have fewer cells."""

    def fit(count: int) -> bool:
        return _partition(home + rest[:count]).cells <= MOST_CELLS

    return len(rest) if not rest or fit(len(rest)) else greatest_integer(fit, 0, len(rest))


def _partition(group: Sequence[ClusterMember]) -> CommonCells:
    return find_common_cells([member.counted for member in group], group[0].rows)


def make_consistent(batch: BatchPlan, noisy: Sequence[Noisy]) -> ConsistentNumbers:
    """Return the numbers of all releases that were made to agree. Post-processing of what was released."""
    found: ConsistentNumbers = {}
    for cluster in find_clusters(batch):
        if cluster.partition.cells <= MOST_CELLS:
            found |= _make_cluster_consistent(batch, cluster, noisy)
    return found


def _make_cluster_consistent(
    batch: BatchPlan, cluster: ReleaseCluster, noisy: Sequence[Noisy]
) -> ConsistentNumbers:
    places = _distinct(cluster)
    blocks = [
        _block(batch.plans[member.plan], member, row, noisy[member.plan][0][member.release])
        for member, row in zip(cluster.members, places, strict=True)
    ]
    positive = all(member.positive for member in cluster.members)
    cells, bits = round_to_lattice(_fit_releases(blocks, list(places == NO_KEY), positive=positive))
    return {
        (member.plan, member.release): _numbers(member, block.sums(cells), bits, batch)
        for member, block in zip(cluster.members, blocks, strict=True)
    }


def _distinct(cluster: ReleaseCluster) -> NDArray[np.int64]:
    """Return where each cell counts, for each release; cells that no release tells apart are one."""
    look = CellPlaces(cluster.partition)
    every = np.array([look.of(member.counted) for member in cluster.members])
    return np.unique(every, axis=1)


def _block(plan: Plan, member: ClusterMember, places: NDArray[np.int64], released: Sequence[Any]) -> ReleaseBlock:
    part, index = plan.levels[0].releases[member.release]
    mechanism = part.mechanisms[index]
    worth = float(member.worth)
    flat = [x for one in released for x in one] if part.draws else list(released)
    matrix, strategy = None, mechanism.cell_strategy
    if strategy is not None:
        ones = np.eye(strategy.cells, dtype=np.int64).astype(object)
        matrix = np.array([strategy.measure(row) for row in ones], dtype=float).T
    values = np.array([float(x) for x in flat]) * worth
    variance = max((float(mechanism.each_law.stddev) * worth) ** 2, 1e-12)
    return ReleaseBlock(np.maximum(places, -1), values, variance, matrix, member.counted.size)


def _fit_releases(
    blocks: Sequence[ReleaseBlock], outside: Sequence[NDArray[np.bool_]], *, positive: bool
) -> NDArray[Any]:
    """Fit the cells, first without rows that have no declared key, then with those that there clearly are."""
    doubtful = {mask.tobytes(): mask for mask in outside if mask.any()}
    kept = list(doubtful.values())
    allowed = ~np.any(kept, axis=0) if kept else np.ones(blocks[0].places.size, dtype=bool)
    cells = fit_cells(blocks, allowed, positive=positive)
    off = distance(blocks, cells)
    everything = np.ones_like(allowed)
    if not kept or off - distance(blocks, _look(blocks, everything, cells, positive=positive)) < _CLEAR:
        return cells
    for mask in list(kept):
        others = [one for one in kept if one is not mask]
        wider = ~np.any(others, axis=0) if others else everything
        tried = _look(blocks, wider, cells, positive=positive)
        if off - distance(blocks, tried) >= _CLEAR:
            cells = fit_cells(blocks, wider, positive=positive, start=tried)
            off, kept = distance(blocks, cells), others
    return cells


def _look(
    blocks: Sequence[ReleaseBlock], allowed: NDArray[np.bool_], cells: NDArray[Any], *, positive: bool
) -> NDArray[Any]:
    """Return about where more cells lead: the first steps tell whether it is far."""
    return fit_cells(blocks, allowed, positive=positive, start=cells, steps=_FIRST_STEPS)


def _numbers(member: ClusterMember, sums: NDArray[Any], bits: int, batch: BatchPlan) -> tuple[Any, ...]:
    """Return the numbers of each group, in integer units of what was released."""
    unit = Fraction(2) ** -bits / member.worth
    part, _ = batch.plans[member.plan].levels[0].releases[member.release]
    flat = [int(x) * unit for x in sums.tolist()]
    if not part.draws:
        return tuple(flat)
    size = len(member.counted.keys[-1].values or ())
    return tuple(tuple(flat[i : i + size]) for i in range(0, len(flat), size))
