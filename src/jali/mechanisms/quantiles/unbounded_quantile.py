"""A quantile of a column without a declared range."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jali.mechanisms.base import LogMasses, PureMechanism, Specimen, read_parameter
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.quantiles.quantile_mechanism import read_loss, read_low, read_quantile, read_reach, read_spare
from jali.mechanisms.quantiles.unbounded_search import OpenRange, RankFork, RankWalk, read_growth
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource


@dataclass(frozen=True, repr=False)
class UnboundedQuantile(PureMechanism):
    """Find a quantile, or nearly the maximum, of numbers without a declared range.

    Public marks are asked in their order, first step by step and then at distances that grow by a factor, whether
    enough values lie behind them; the first mark found to have enough is the answer, and only that one is paid
    for. With `low`, marks go up from there. Without, a quarter of epsilon first decides whether the quantile is
    below 0, and marks go away from 0 on its side.

    Where a range is known, mechanisms on that range err less: its noise grows with the number of its marks.

    Args:
        at: Which quantile, from 0 to 1; 1 for the maximum, where `spare` keeps the walk from going far beyond it.
        low: The least value that a column may have, such as 0 for incomes; None if it may have any.
        reach: How far from `low`, or from 0, answers may lie; 2**50 steps if not given. It costs little: noise
            grows with the logarithm of the number of marks.
        step: The smallest difference that matters; answers are multiples of it.
        growth: The factor between the distances of neighbouring marks, at least 1.0001.
        spare: The answer aims at `spare` people fewer than the quantile has at or below it.
        epsilon: The loss.
        adjacency: When two tables are neighbours. The number of values is public under replace-one only.

    Guarantee:
        The answer is epsilon-DP under the adjacency. Values beyond the reach count as its ends, and NaN as 0, or
        the mark nearest to it; no value can make a release fail.
    Proof:
        docs/proofs/unbounded_quantile.md, after Durfee 2023, with the noise of AboveThreshold on integers.

    Error:
        `error(c)` is a number t of people: with probability c, at least at n - spare - t values are at or
        below the answer v, and at most at n - spare + t at or below the mark that was asked before v (where
        v is below 0: at most so many below v, and at least at n - spare - t below the mark next to it
        towards 0). The answer at the end of the reach keeps the second promise only.

    Example:
        >>> from jali.mechanisms import UnboundedQuantile
        >>> median = UnboundedQuantile(at="1/2", low=0, step=1, epsilon=1, adjacency="add-remove")
        >>> 450 < median.release(range(1000)) < 550
        True
        >>> median.error(0.95)
        21.0
    """

    loss_power = None
    error_is_exact = False

    at: Fraction
    low: Fraction | None
    reach: Fraction | None
    step: Fraction
    growth: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        at: Number,
        step: Number,
        epsilon: Number,
        adjacency: str | Adjacency,
        low: Number | None = None,
        reach: Number | None = None,
        growth: Number = "1.001",
        spare: int = 0,
    ) -> None:
        self._fill(at=read_quantile(at, "at"), low=read_low(low), reach=read_reach(reach))
        self._fill(step=read_parameter(step, "step"), growth=read_growth(growth), spare=read_spare(spare))
        self._fill(epsilon=read_loss(epsilon), adjacency=Adjacency.of(adjacency))
        self._finder.error(0.5)  # refuses, before anything is released, a lattice or noise that cannot be made

    @cached_property
    def _range(self) -> OpenRange:
        return OpenRange(self.low, self.reach, self.step, self.growth)

    @property
    def _ruler(self) -> BoundedLattice:
        return self._range.ruler

    @property
    def _finder(self) -> RankWalk | RankFork:
        return self._range.finder(self.at, self.spare, self.epsilon, self.adjacency)

    def error(self, confidence: float) -> float:
        """Return a bound on how many people the answer's rank is off, with this confidence."""
        return float_above(self._finder.error(confidence))

    def release(self, value: Any, *, bits: BitSource | None = None) -> int | float:
        """Return the quantile of a column of numbers: an int where the step is whole, else a double."""
        return self._ruler.at(self._finder.draw(self._column(value), 1, bits)[0])

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        marks = self._finder.draw(self._column(value), size, bits)
        told = {mark: self._ruler.at(mark) for mark in set(marks)}
        return [told[mark] for mark in marks]

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answer] for every mark that is asked about: for small tables and short reaches."""
        ruler = self._ruler
        return {ruler.at(mark): log for mark, log in self._finder.log_masses(self._column(value)).items()}

    def deviation(self, value: Any, output: Any) -> Fraction:
        """Return how many people the worst judgement on the way to an answer was off."""
        return self._finder.deviation(self._column(value), self._ruler.nearest(output))

    def _column(self, value: Any) -> Marks:
        return np.sort(self._ruler.marks(value))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return quantiles on short ladders: many marks in a row, which reach the loss, and a few far ones."""
        row: dict[str, Any] = {"step": 1, "growth": "1.0001", "spare": 5}
        counted = cls(at="1/2", low=0, reach=80, epsilon=1, adjacency="add-remove", **row)
        most = cls(at=1, low=0, reach=40, epsilon=2, adjacency="replace-one", **row)
        both = cls(at=1, reach=40, epsilon=2, adjacency="replace-one", **row)
        few = cls(at="3/4", reach=8, step=1, growth=2, epsilon=3, adjacency="add-remove")
        added = ((_FEW, (*_FEW, 8)), (_FEW, (*_FEW, -3)))
        return (
            Specimen(counted, Adjacency.ADD_REMOVE, (((), (79,)), ((), (0,))), {}, (0, 2, 3, 9, 40) * 4),
            Specimen(most, Adjacency.REPLACE_ONE, (((39,), (0,)),), {}, (0, 2, 3, 9, 20) * 4),
            Specimen(both, Adjacency.REPLACE_ONE, (((39,), (-1,)),), {}, (-20, -9, -2, 3, 9) * 4),
            Specimen(few, Adjacency.ADD_REMOVE, added, tight=False),
        )


_FEW = (-1, 1, 2, 3, 3, 5, 7)
