"""Sliding windows: the sum over the last ticks, after every tick."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from jali.mechanisms.mechanism import Specimen, miss
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.mixed import Terms
from jali.streams.participation import Participation
from jali.streams.parts import Memory
from jali.streams.quantiles import value_quantile
from jali.streams.recipe import Each, Recipe
from jali.streams.windows import Windowed

# Up to such windows the coefficients of all noises in all values are written out.
_WRITTEN_OUT = 1024


@dataclass(frozen=True, repr=False)
class Sliding(Windowed):
    """The sum over the last `window` ticks after every tick; over all of them while there are fewer.

    Ticks fall in blocks of `window`, each with a counter. The window after tick p of a block is the rest of the
    block before, its last value less its value after p, and the value after p of this one.

    Args:
        window: Over how many ticks the sum goes.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        each: The counter of a block: its name, its class, or a `Recipe`; by default SmoothTree for Laplace noise
            and BufferedToeplitz for Gaussian noise.

    Guarantee:
        All values together, however long the stream lives, are epsilon-DP (rho-zCDP) for the neighbours that
        `person` describes; for adaptive streams where the counter of a block is.
    Proof:
        docs/proofs/windows.md, Theorem 1.

    Error:
        With b_p the coefficients of the noises in the value of a counter after tick p, and W the window, the
        variance after tick p of a block is |b_W - b_p|^2 + |b_p|^2 times that of one noise: exact for windows of
        up to 1024 ticks, and bounded by 2 |b_W|^2 + 3 |b_p|^2 beyond.

    Example:
        >>> from jali.streams import Participation, Sliding
        >>> person = Participation(adjacency="add-remove")
        >>> last_week = Sliding(window=7, rho="1/2", person=person, each="EveryItem")
        >>> round(last_week.stddev(7), 3), round(last_week.stddev(1000), 3)
        (2.646, 2.646)
    """

    tag: ClassVar[str] = "Sliding"

    window: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    each: Recipe

    def __init__(
        self,
        *,
        window: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        each: Each = None,
    ) -> None:
        self._read_window(window, epsilon, rho, person, each)

    @cached_property
    def _weights(self) -> Floats | None:
        """The coefficients of the noises in every value of a block, or None where they are too many."""
        if self.window > _WRITTEN_OUT:
            return None
        units = np.eye(len(self.part().strategy()), dtype=np.int64)
        return np.array([self.part().answer(unit) for unit in units]).T

    def terms(self, tick: int) -> Terms:
        """Return the coefficients of the noises of the block before and of this one."""
        block, inside = self.place(tick)
        here = self.part().influence(inside)
        if block == 0 or inside == self.window:
            return [(here, self.law)]
        return [(self._rest(inside), self.law), (here, self.law)]

    def _rest(self, inside: int) -> Floats:
        """Return the coefficients in what a block has after one of its ticks; more noise for long windows.

        The variance of a difference is at most twice the sum of both variances.
        """
        if self._weights is not None:
            return np.asarray(self._weights[-1] - self._weights[inside - 1])
        both = (self.part().influence(self.window), self.part().influence(inside))
        return np.asarray(math.sqrt(2) * np.concatenate(both))

    def alike(self, tick: int) -> int:
        """Return the first tick whose value has the same noise: in the first block, or in the second."""
        block, inside = self.place(tick)
        return inside if block == 0 or inside == self.window else self.window + inside

    def _error_after(self, tick: int, confidence: float) -> float:
        block, inside = self.place(tick)
        if self._weights is not None or block == 0 or inside == self.window:
            return super()._error_after(tick, confidence)
        # Three values, each off by more than its part with a third of the probability.
        third = 1 - miss(confidence) / 3
        return sum(
            value_quantile(self.part().influence(p), self.law, third) for p in (self.window, inside, inside)
        )

    def factors(self) -> Floats:
        """Return the factors of the ticks of one block, from the second on: they repeat."""
        inside = self.part().factors()
        if self._weights is None:
            rest = 2 * (inside[-1] + inside)
            rest[-1] = 0.0
        else:
            rest = ((self._weights[-1] - self._weights) ** 2).sum(axis=1)
        return np.asarray(rest + inside)

    @cached_property
    def worst_tick(self) -> int:
        """The tick of the second block, from 1, whose value has the largest variance."""
        return self.window + int(np.argmax(self.factors())) + 1

    def numbers_kept(self) -> int:
        """What the counter of a block keeps, and the values of a block."""
        return self.part().numbers_kept() + self.window + 1

    def memory(self, width: int, tick: int = 0, kept: list[list[float]] | None = None) -> Memory:
        """Return the values of the last block, for each tick the newest."""
        return _LastBlock(self.window, width, tick % self.window, kept)

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the value with the largest variance."""
        last = self.worst_tick
        truth = self.read(value)[max(0, last - self.window) : last].sum()
        return abs(float(self.answer(np.array(output))[last - 1] - truth))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: in one window, in two, or moved to another."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(window=2, rho=5, person=once, each="EveryItem"),
                once.adjacency,
                (((1, 0, 1, 1), (1, 0, 0, 1)),),
            ),
            Specimen(
                cls(window=1, epsilon=2, person=moved, each="EveryItem"), moved.adjacency, (((1, 0), (0, 1)),)
            ),
            Specimen(
                cls(window=1, rho="1/2", person=twice, each="EveryItem"), twice.adjacency, (((0, 0), (1, 1)),)
            ),
        )


class _LastBlock(Memory):
    """The values of a block: those of this one as far as it has come, and of the one before from there on."""

    def __init__(self, window: int, width: int, inside: int, kept: list[list[float]] | None) -> None:
        self.inside = inside
        given = kept or [[0.0] * width] * (window + 1)
        self.last, self.values = np.array(given[0]), np.array(given[1:])

    def publish(self, values: Floats, over: bool) -> Floats:
        """Add what the block before has after each tick."""
        here = slice(self.inside, self.inside + len(values))
        found = (self.last - self.values[here]) + values
        self.values[here] = values
        self.inside += len(values)
        if over:
            self.last, self.inside = self.values[-1].copy(), 0
        return np.asarray(found)

    def kept(self) -> list[list[float]]:
        """Return the last value of the block before, and the values of a block."""
        return [self.last.tolist(), *self.values.tolist()]
