"""Solve integer programs whose unknowns are how many people have each combination of traits.

`find_solutions` lists the blocks that agree with the published tables: whether there is only one, and what they
have in common.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jali.lab.attacks.arrays import Bits, Doubles, import_scipy
from jali.lab.attacks.attack_base import Progress, silent
from jali.lab.attacks.tables.published_tables import CODES

Extra: TypeAlias = Mapping[int, float]
_FREE = np.inf
# What scipy's milp says then.
_INFEASIBLE = 2


class IntegerProgram:
    """Linear constraints in integers, solved by HiGHS.

    The first unknowns are people; `unknown` adds others, such as the choice of a median.
    """

    def __init__(self, *, most: int, cost: Doubles | None = None) -> None:
        """Allow at most so many people of each combination, at a cost for each."""
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
        twin = copy.copy(self)
        twin.__dict__ = {name: list(value) for name, value in self.__dict__.items()}
        return twin

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
            nodes: The same after so many nodes of the search.
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
