"""Noise on the sums of cells that a strategy measures, for distribution functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.mechanisms.measurement import Description, Measurement, Noise, Reach, SparseCells, dense
from jali.mechanisms.workloads.cell_strategies import CellsLaw, CellStrategy
from jali.privacy.event import Event
from jali.privacy.loss import Loss

RUNNING_PAGE = "docs/proofs/running_counts.md (Hay, Rastogi, Miklau and Suciu 2010, Theorem 3)"


@dataclass(frozen=True)
class MeasuredCells(Measurement):
    """Noise on the sums of cells that a strategy measures."""

    tag: ClassVar[str] = "MeasuredCells"
    stored_parts: ClassVar[str] = "strategy noise"

    strategy: CellStrategy
    noise: Noise

    @property
    def loss(self) -> Loss:
        """That of the noise."""
        return self.noise.loss

    @property
    def law(self) -> CellsLaw:
        """The law of the running sums, in integer units of weight."""
        return CellsLaw(self.strategy, self.noise.law)

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

    def spent(self, reach: Reach) -> Event:
        """Return the loss of a move of the sums, which is as far as the columns of the matrix are long."""
        return self.noise.spent(reach.measured_by(self.strategy))

    def composed(self, event: Event) -> Loss:
        """Return the loss of the noise."""
        return self.noise.composed(event)

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
        cells = [np.array(dense(group, width), dtype=object) for group in groups]
        exact = [int(x) for group in cells for x in self.strategy.measure(group)]
        noisy, size = self.noise.release_numbers(exact), self.strategy.measurements
        return tuple(tuple(noisy[i * size : (i + 1) * size]) for i in range(len(groups)))
