"""Solve integer programs whose unknowns are how many people have each combination of traits.

Published tables are constraints. Exact tables are met by their solutions and by no other block: `find_solutions`
lists the blocks that agree with them, whether there is only one, and what they have in common. Private tables
contradict each other: there the likeliest people minimize the weighted sum of violations.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jali.lab.attacks.arrays import Bits, Doubles, Members, import_scipy
from jali.lab.attacks.attack_base import Progress, silent
from jali.lab.attacks.tables.published_tables import (
    AGE,
    CODES,
    LIKELIHOOD,
    OLDEST,
    CellStatistic,
    TableRelease,
    list_commonest,
    round_mean,
)

# Ages beyond 100 are unheard of in the population, and possible all the same.
_RARE = 1e-12


def build_constraints(release: TableRelease) -> IntegerProgram:
    """Return the program whose solutions are exactly the blocks about which these exact tables would be published.

    Of several it takes the likeliest one.
    """
    program = IntegerProgram(most=release.people, cost=-np.log(LIKELIHOOD + _RARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        if told.count is None:
            program.require(told.cell.members.astype(np.float64), high=release.threshold - 1)
        else:
            _add_statistic(program, told, int(told.count))
    return program


def _add_statistic(program: IntegerProgram, told: CellStatistic, count: int) -> None:
    members = told.cell.members.astype(np.float64)
    program.require(members, low=count, high=count)
    if told.mean is not None:
        low, high = _find_totals(told.mean, count)
        program.require(members * AGE, low=low, high=high)
    if told.median is not None:
        _require_median(program, told, told.median, count)
    if told.mean is not None and told.median is not None:
        program.require(
            members * _find_impossible_ages(told.median, _find_totals(told.mean, count), count), high=0
        )


def _find_impossible_ages(median: float, totals: tuple[int, int], count: int) -> Members:
    """Return the ages that would make the total too large, or too small, with the others as the median allows.

    The constraints say so too, but only in whole people; a solver starts with fractions of them.
    """
    others = (count - 1) // 2 * median
    young, old = totals[0] - others - count // 2 * OLDEST, totals[1] - others
    return np.asarray(((median < AGE) & (old < AGE)) | ((median > AGE) & (young > AGE)))


def _find_totals(mean: float, count: int) -> tuple[int, int]:
    """Return the least and the largest sum of ages whose mean is rounded to this one."""
    about = range(math.floor(count * (mean - 0.06)), math.ceil(count * (mean + 0.06)) + 1)
    totals = [total for total in about if round_mean(total, count) == mean]
    return totals[0], totals[-1]


def _require_median(program: IntegerProgram, told: CellStatistic, median: float, count: int) -> None:
    """Require a median: at least half of the people on either side, who are counted on both if they are at it.

    An odd number has a person in the middle, counted twice. In an even number the two in the middle are equally
    far from the median; how far is an unknown of its own.
    """
    members = told.cell.members.astype(np.float64)
    least = (count + 1) // 2
    program.require(members * (median >= AGE), low=least)
    program.require(members * (median <= AGE), low=least)
    if count % 2 == 0:
        _require_middle_pair(program, told, round(2 * median), count)


def _require_middle_pair(program: IntegerProgram, told: CellStatistic, twice: int, count: int) -> None:
    """Require the two people in the middle of an even number to be at the same distance from the median.

    Distances are doubled, to be whole. Unknowns within[d] say whether the two are at most d away: nobody is at a
    distance d unless they are, and where within[d] is the first to be 1, someone is at d on either side. At
    distance 0 half of the people and one more are on either side, counted with those at the median.
    """
    members = told.cell.members.astype(np.float64)
    distance = 2 * AGE - twice
    before: dict[int, float] = {}
    for away in range(twice % 2, min(twice, 2 * OLDEST - twice) + 1, 2):
        within = program.add_unknown()
        first = {within: -1.0} | before
        needed = count // 2 + 1 if away == 0 else 1
        for side in (distance <= 0, distance >= 0) if away == 0 else (distance == -away, distance == away):
            program.require(members * side, low=0, extra={number: needed * sign for number, sign in first.items()})
        program.require(members * (np.abs(distance) == away), high=0, extra={within: -count})
        program.require(np.zeros(len(AGE)), high=0, extra={within: -1.0} | before)
        before = {within: 1.0}
    program.require(np.zeros(len(AGE)), low=1, high=1, extra=before)


# What is found in the first steps is good enough where everything is a guess; the rest of the search takes long.
_MOST_NODES = 20


def find_likeliest_people(release: TableRelease) -> Bits:
    """Return the different people who are likeliest in view of noisy tables, counted by combination.

    Noise with a scale of 1/w makes an answer that is off by d people exp(-w d) times as likely, and everybody is
    as likely as in the population before: the largest product is the least weighted sum of violations, a linear
    program in integers. The mean m says that the ages differ from m by 0 in all, a median that as many people are
    on either side of it: neither needs to know the true count.
    """
    weight = release.weight or 0.0
    program = IntegerProgram(most=1, cost=-np.log(LIKELIHOOD + _RARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        for people, target in _list_aims(told):
            off = program.add_unknown(most=np.inf, cost=weight, whole=False)
            program.require(people, low=target, extra={off: 1.0})
            program.require(people, high=target, extra={off: -1.0})
    try:
        found = program.solve(nodes=_MOST_NODES)
    except TimeoutError:
        found = None
    return list_commonest(release.people) if found is None else found


def _list_aims(told: CellStatistic) -> Iterator[tuple[Doubles, float]]:
    """Return weighted sums over the people with what they should be, in units of a person's contribution."""
    members = told.cell.members.astype(np.float64)
    if told.count is not None:
        yield members, told.count
    if told.mean is not None:
        yield members * (AGE - told.mean) / (OLDEST / 2), 0.0
    if told.median is not None:
        yield members * np.sign(AGE - told.median) / 2, 0.0


Extra: TypeAlias = Mapping[int, float]
_FREE = np.inf
# What scipy's milp says then.
_INFEASIBLE = 2


class IntegerProgram:
    """Linear constraints in integers, solved by HiGHS.

    The first unknowns are people; `unknown` adds others, such as the choice of a median.
    """

    def __init__(self, *, most: int, cost: Doubles | None = None) -> None:
        """Allow at most this many people of each combination, at a cost for each."""
        self._most = [float(most)] * len(CODES)
        self._cost = [0.0] * len(CODES) if cost is None else [float(one) for one in cost]
        self._whole = [1] * len(CODES)
        self._columns: list[Bits] = []
        self._values: list[Doubles] = []
        self._low: list[float] = []
        self._high: list[float] = []

    @property
    def variables(self) -> int:
        """How many unknowns there are."""
        return len(self._most)

    @property
    def constraints(self) -> int:
        """How many constraints there are."""
        return len(self._low)

    def copy(self) -> IntegerProgram:
        """Return a program to add constraints to, which leaves this one as it is."""
        copied = copy.copy(self)
        copied.__dict__ = {name: list(value) for name, value in self.__dict__.items()}
        return copied

    def add_unknown(self, *, most: float = 1.0, cost: float = 0.0, whole: bool = True) -> int:
        """Add an unknown from 0 to `most`, and return its number."""
        self._most.append(most)
        self._cost.append(cost)
        self._whole.append(int(whole))
        return self.variables - 1

    def require(
        self, people: Doubles, *, low: float = -_FREE, high: float = _FREE, extra: Extra | None = None
    ) -> None:
        """Require a weighted sum over the people, and over other unknowns, to lie between two ends."""
        extra = extra or {}
        inside = np.flatnonzero(people)
        self._columns.append(np.concatenate([inside, np.array(list(extra), np.int64)]))
        self._values.append(np.concatenate([people[inside], np.array(list(extra.values()), np.float64)]))
        self._low.append(low)
        self._high.append(high)

    def replace_costs(self, cost: Extra) -> None:
        """Make these costs the only ones."""
        self._cost = [cost.get(number, 0.0) for number in range(self.variables)]

    def solve(self, *, seconds: float = _FREE, nodes: int | None = None) -> Bits | None:
        """Return the cheapest people, counted by combination; None if it is proved that there are none.

        Args:
            seconds: After this time the best people so far are returned; without any, it is a `TimeoutError`.
            nodes: The same after this many nodes of the search.
        """
        optimize = import_scipy("optimize")
        found = optimize.milp(
            np.array(self._cost),
            integrality=np.array(self._whole),
            bounds=optimize.Bounds(0, np.array(self._most)),
            constraints=optimize.LinearConstraint(self._build_matrix(), self._low, self._high),
            options={"time_limit": seconds} | ({} if nodes is None else {"node_limit": nodes}),
        )
        if found.x is None and found.status != _INFEASIBLE:
            raise TimeoutError(found.message)
        return None if found.x is None else np.rint(found.x[: len(CODES)]).astype(np.int64)

    def _build_matrix(self) -> object:
        starts = np.cumsum([0, *(len(columns) for columns in self._columns)])
        entries = (np.concatenate(self._values), np.concatenate(self._columns), starts)
        return import_scipy("sparse").csr_array(entries, shape=(self.constraints, self.variables))


@dataclass(frozen=True, eq=False)
class Solutions:
    """What is known about the solutions of a program.

    Attributes:
        blocks: Some of them, all different, the likeliest first; people are counted by combination.
        complete: Whether these are all.
        determined: The people who are in every solution, listed or not, counted by combination.
    """

    blocks: tuple[Bits, ...]
    complete: bool
    determined: Bits

    @property
    def unique(self) -> bool:
        """Whether it is proved that there is no second one."""
        return self.complete and len(self.blocks) == 1


class SearchTime:
    """A time for several searches together."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def solve(self, program: IntegerProgram) -> Bits | None:
        """Solve a program in the time that is left; a `TimeoutError` if there is none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return program.solve(seconds=left)


def find_solutions(
    program: IntegerProgram, people: int, *, limit: int, seconds: float = np.inf, progress: Progress = silent
) -> Solutions | None:
    """Find what all solutions have in common, and list solutions up to a limit; None if there is none.

    A search that takes too long, with all before it, proves nothing; if even the first one does, it is a
    `TimeoutError`.
    """
    patience = SearchTime(seconds)
    progress("solving")
    first = patience.solve(program)
    if first is None:
        return None
    try:
        blocks, common = _find_common_people(program, first, people, patience, progress)
    except TimeoutError:
        return Solutions((first,), complete=False, determined=np.zeros_like(first))
    if len(blocks) == 1:
        return Solutions((first,), complete=True, determined=common)
    blocks, complete = _list_more(program, blocks, people, limit, patience, progress)
    return Solutions(tuple(blocks), complete, common)


def _find_common_people(
    program: IntegerProgram, first: Bits, people: int, patience: SearchTime, progress: Progress
) -> tuple[list[Bits], Bits]:
    """Return what all solutions have in common, and different solutions that show that it is not more.

    Each time a solution is sought that misses as many as possible of the people that all had so far: it differs
    from all of them. When none misses any, the search is over, and that is the proof.
    """
    blocks, common = [first], first
    while common.any():
        progress(f"looking for solution {len(blocks) + 1}")
        other = patience.solve(_require_missing(program, common, people, cheapest=False))
        if other is None:
            break
        blocks.append(other)
        common = np.minimum(common, other)
    return blocks, common


def _list_more(
    program: IntegerProgram, blocks: list[Bits], people: int, limit: int, patience: SearchTime, progress: Progress
) -> tuple[list[Bits], bool]:
    """List solutions, each different from those before, and say whether these are all."""
    for block in blocks:
        program = _require_missing(program, block, people)
    while len(blocks) < limit:
        progress(f"looking for solution {len(blocks) + 1} of {limit} at most")
        try:
            other = patience.solve(program)
        except TimeoutError:
            break
        if other is None:
            return blocks, True
        blocks = [*blocks, other]
        program = _require_missing(program, other, people)
    return blocks, False


def _require_missing(
    program: IntegerProgram, block: Bits, people: int, *, cheapest: bool = True
) -> IntegerProgram:
    """Add that somebody of a block is missing: of a combination there are fewer people than in it.

    Every other block of as many people misses somebody. Either the cheapest solution is sought, or the one that
    misses as many combinations as possible.
    """
    program = program.copy()
    choices = []
    for place in np.flatnonzero(block):
        choice = program.add_unknown()
        fewer = int(block[place]) - 1
        program.require(np.arange(len(CODES)) == place, high=people, extra={choice: people - fewer})
        choices.append(choice)
    program.require(np.zeros(len(CODES)), low=1, extra=dict.fromkeys(choices, 1.0))
    if not cheapest:
        program.replace_costs(dict.fromkeys(choices, -1.0))
    return program
