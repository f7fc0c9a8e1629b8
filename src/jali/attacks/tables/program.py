"""An integer program whose unknowns are how many people have each combination of traits."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.solvers import scipy
from jali.attacks.tables.people import CODES

Extra: TypeAlias = Mapping[int, float]
_FREE = np.inf
# What scipy's milp says then.
_INFEASIBLE = 2


class Program:
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

    def copy(self) -> Program:
        """Return a program to add constraints to, which leaves this one as it is."""
        twin = copy.copy(self)
        twin.__dict__ = {name: list(value) for name, value in self.__dict__.items()}
        return twin

    def unknown(self, *, most: float = 1.0, cost: float = 0.0, whole: bool = True) -> int:
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

    def only(self, cost: Extra) -> None:
        """Make these costs the only ones."""
        self._cost = [cost.get(number, 0.0) for number in range(self.variables)]

    def solve(self, *, seconds: float = _FREE, nodes: int | None = None) -> Bits | None:
        """Return the cheapest people, counted by combination; None if it is proved that there are none.

        Args:
            seconds: After this time the best people so far are returned; without any, it is a `TimeoutError`.
            nodes: The same after so many nodes of the search.
        """
        optimize = scipy("optimize")
        found = optimize.milp(
            np.array(self._cost),
            integrality=np.array(self._whole),
            bounds=optimize.Bounds(0, np.array(self._most)),
            constraints=optimize.LinearConstraint(self._matrix(), self._low, self._high),
            options={"time_limit": seconds} | ({} if nodes is None else {"node_limit": nodes}),
        )
        if found.x is None and found.status != _INFEASIBLE:
            raise TimeoutError(found.message)
        return None if found.x is None else np.rint(found.x[: len(CODES)]).astype(np.int64)

    def _matrix(self) -> object:
        starts = np.cumsum([0, *(len(columns) for columns in self._columns)])
        entries = (np.concatenate(self._values), np.concatenate(self._columns), starts)
        return scipy("sparse").csr_array(entries, shape=(self.constraints, self.variables))
