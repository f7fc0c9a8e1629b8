"""Agreement: which releases of a batch speak of the same rows, and the numbers that fit all of them.

Counts of rows over one relation, by whatever keys, bins and conditions, are sums of the cells of one partition; so
are sums of one expression. One vector of cells is fitted to all of them, and every number is read from it: totals
equal the sums of their parts, nested conditions and distribution functions are monotone, and no count is below 0.

Rows that have none of the declared keys of a question are cells of their own. They are taken to be empty unless
the released numbers speak clearly against it: a total is then the sum of its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.numbers.search import greatest_integer
from jali.planner.batch.least_squares import Block, distance, fitted, on_lattice
from jali.planner.batch.partition import NO_KEY, Counted, Partition, partition_of
from jali.planner.batch.places import Places
from jali.planner.batch.plan import BatchPlan
from jali.planner.batch.weigh_together import base_of
from jali.planner.part import Part
from jali.planner.plan import Plan
from jali.query.aggregation import Categories, CountRows, SumValues
from jali.query.nodes import Call, Expression, Literal
from jali.query.relation import Relation

# Released integers of each plan: per level and release one entry for each group.
Noisy: TypeAlias = Sequence[Sequence[Sequence[Any]]]
# The numbers of a release that were made to agree: by plan and release, one entry for each group.
Agreed: TypeAlias = dict[tuple[int, int], tuple[Any, ...]]

MOST_CELLS = 20_000
# Five standard deviations: rows without a declared key are believed in only beyond this.
_CLEAR = 25.0
_FIRST_STEPS = 100
# So many members that would make too many cells are passed over before a cluster is closed.
_PASSED_OVER = 3


@dataclass(frozen=True)
class Member:
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
    counted: Counted
    worth: Fraction
    positive: bool


@dataclass(frozen=True)
class Cluster:
    """Releases that agree, and their common cells."""

    members: tuple[Member, ...]
    partition: Partition


def clusters(batch: BatchPlan) -> tuple[Cluster, ...]:
    """Return the releases that are made to agree, in clusters whose cells are not too many."""
    if not batch.agree:
        return ()
    families: dict[object, list[Member]] = {}
    same: dict[Expression, Expression] = {}
    for place, plan in enumerate(batch.plans):
        for member in members(plan, place):
            families.setdefault(member.family, []).append(_sharing(member, same))
    return tuple(found for family in families.values() for found in _clusters(family))


def _sharing(member: Member, same: dict[Expression, Expression]) -> Member:
    """Let members whose conditions are equal have the same ones: a long one is then looked at once."""
    conditions = tuple(same.setdefault(one, one) for one in member.counted.conditions)
    return replace(member, counted=replace(member.counted, conditions=conditions))


def members(plan: Plan, place: int) -> Iterator[Member]:
    """Return the releases of a plan that are sums over cells."""
    if plan.selection is not None or len(plan.levels) > 1:
        return
    for release, (part, index) in enumerate(plan.levels[0].releases):
        found = _member(part, index)
        if found is not None:
            worth = Fraction(1, _resolution(part)) if part.draws else plan.levels[0].worth(release)
            yield replace(found, plan=place, release=release, worth=worth)


def _resolution(part: Part) -> int:
    return part.aggregation.resolution(CountRows())


def _member(part: Part, index: int) -> Member | None:
    aggregation = part.aggregation
    base, conditions = base_of(aggregation.source)
    weights = aggregation.weights
    bound = weights and (weights.max_rows, weights.resolution, weights.norm, weights.by, conditions)
    rows = base, bound
    if part.draws:
        axis = part.draws[index].axis
        if part.draws[index].kind not in ("cells", "running") or not isinstance(axis, Categories):
            return None
        value, inner = _conditional(axis.keys.expression)
        counted = Counted((*aggregation.keys, replace(axis.keys, expression=value)), (*conditions, *inner))
        return Member(0, 0, (rows, "count"), base, counted, Fraction(1), positive=True)
    measure = aggregation.measures[index]
    if isinstance(measure, CountRows):
        present = () if measure.present is None else (measure.present,)
        counted = Counted(aggregation.keys, conditions, present)
        return Member(0, 0, (rows, "count"), base, counted, Fraction(1), positive=True)
    if isinstance(measure, SumValues) and measure.missing is None:
        value, inner = _conditional(measure.value)
        counted = Counted(aggregation.keys, (*conditions, *inner))
        family = rows, replace(measure, value=value)
        return Member(0, 0, family, base, counted, Fraction(1), positive=measure.least >= 0)
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


def _clusters(family: list[Member]) -> list[Cluster]:
    """Put members together as long as their cells are few enough; who has nobody to agree with is left out."""
    found: list[list[Member]] = []
    rest = family if _partition(family).cells <= MOST_CELLS else _lean(family)
    while rest:
        home, rest = _filled(rest)
        found.append(home)
    return [Cluster(tuple(one), _partition(one)) for one in found if len(one) > 1 or one[0].counted.size > 1]


def _lean(family: list[Member]) -> list[Member]:
    """Leave out the conditions that all members share: cells of the rows that satisfy them are as good."""
    shared = set.intersection(*({id(one) for one in member.counted.conditions} for member in family))
    kept = [tuple(one for one in member.counted.conditions if id(one) not in shared) for member in family]
    pairs = zip(family, kept, strict=True)
    return [replace(member, counted=replace(member.counted, conditions=own)) for member, own in pairs]


def _filled(members: list[Member]) -> tuple[list[Member], list[Member]]:
    """Return a cluster of the first members and the rest; a few that do not fit in are passed over."""
    home, aside, rest = members[:1], list[Member](), members[1:]
    for _ in range(_PASSED_OVER):
        most = _most(home, rest)
        home, aside, rest = home + rest[:most], aside + rest[most : most + 1], rest[most + 1 :]
    return home, aside + rest


def _most(home: list[Member], rest: list[Member]) -> int:
    """Return how many of the rest can join: more members never have fewer cells."""

    def fit(count: int) -> bool:
        return _partition(home + rest[:count]).cells <= MOST_CELLS

    return len(rest) if not rest or fit(len(rest)) else greatest_integer(fit, 0, len(rest))


def _partition(group: Sequence[Member]) -> Partition:
    return partition_of([member.counted for member in group], group[0].rows)


def agreed(batch: BatchPlan, noisy: Sequence[Noisy]) -> Agreed:
    """Return the numbers of all releases that were made to agree. Post-processing of what was released."""
    found: Agreed = {}
    for cluster in clusters(batch):
        if cluster.partition.cells <= MOST_CELLS:
            found |= _agreed(batch, cluster, noisy)
    return found


def _agreed(batch: BatchPlan, cluster: Cluster, noisy: Sequence[Noisy]) -> Agreed:
    places = _distinct(cluster)
    blocks = [
        _block(batch.plans[member.plan], member, row, noisy[member.plan][0][member.release])
        for member, row in zip(cluster.members, places, strict=True)
    ]
    positive = all(member.positive for member in cluster.members)
    cells, bits = on_lattice(_fitted(blocks, list(places == NO_KEY), positive=positive))
    return {
        (member.plan, member.release): _numbers(member, block.sums(cells), bits, batch)
        for member, block in zip(cluster.members, blocks, strict=True)
    }


def _distinct(cluster: Cluster) -> NDArray[np.int64]:
    """Return where each cell counts, for each release; cells that no release tells apart are one."""
    look = Places(cluster.partition)
    every = np.array([look.of(member.counted) for member in cluster.members])
    return np.unique(every, axis=1)


def _block(plan: Plan, member: Member, places: NDArray[np.int64], released: Sequence[Any]) -> Block:
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
    return Block(np.maximum(places, -1), values, variance, matrix, member.counted.size)


def _fitted(blocks: Sequence[Block], outside: Sequence[NDArray[np.bool_]], *, positive: bool) -> NDArray[Any]:
    """Fit the cells, first without rows that have no declared key, then with those that there clearly are."""
    doubtful = {mask.tobytes(): mask for mask in outside if mask.any()}
    kept = list(doubtful.values())
    allowed = ~np.any(kept, axis=0) if kept else np.ones(blocks[0].places.size, dtype=bool)
    cells = fitted(blocks, allowed, positive=positive)
    off = distance(blocks, cells)
    everything = np.ones_like(allowed)
    if not kept or off - distance(blocks, _look(blocks, everything, cells, positive=positive)) < _CLEAR:
        return cells
    for mask in list(kept):
        others = [one for one in kept if one is not mask]
        wider = ~np.any(others, axis=0) if others else everything
        tried = _look(blocks, wider, cells, positive=positive)
        if off - distance(blocks, tried) >= _CLEAR:
            cells = fitted(blocks, wider, positive=positive, start=tried)
            off, kept = distance(blocks, cells), others
    return cells


def _look(
    blocks: Sequence[Block], allowed: NDArray[np.bool_], cells: NDArray[Any], *, positive: bool
) -> NDArray[Any]:
    """Return about where more cells lead: the first steps tell whether it is far."""
    return fitted(blocks, allowed, positive=positive, start=cells, steps=_FIRST_STEPS)


def _numbers(member: Member, sums: NDArray[Any], bits: int, batch: BatchPlan) -> tuple[Any, ...]:
    """Return the numbers of each group, in integer units of what was released."""
    unit = Fraction(2) ** -bits / member.worth
    part, _ = batch.plans[member.plan].levels[0].releases[member.release]
    flat = [int(x) * unit for x in sums.tolist()]
    if not part.draws:
        return tuple(flat)
    size = len(member.counted.keys[-1].values or ())
    return tuple(tuple(flat[i : i + size]) for i in range(0, len(flat), size))
