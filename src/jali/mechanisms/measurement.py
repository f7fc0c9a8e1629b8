"""The protocol between the planner and the mechanisms that answer questions: loss, law, release, description.

Planner, execution, forecast and explanation ask a measurement and test for no class, so that one more of them
is one file and one entry in `planner_registry`. A `MeasurementSensitivity` says how far one privacy unit moves
what is measured; the planner derives it again from the engine's query. So the loss of a measurement is that of
the noise it will add, not what somebody meant to spend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.numbers.rounding import round_root_down
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure

if TYPE_CHECKING:
    from jali.mechanisms.workloads.cell_strategies import CellStrategy

# The cells of one group that hold rows, and what these weigh.
SparseCells: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class MeasurementSensitivity(Protocol):
    """How far one privacy unit moves what is measured, over all groups, in integer units.

    Each number is computed when it is asked for: rows that are weighed by an L2 norm have no L1 bound, and asking
    for one stops.
    """

    @property
    def l1(self) -> Fraction:
        """The L1 norm of the move of one measure, or of all cells."""

    @property
    def l2_squared(self) -> Fraction:
        """The square of its L2 norm."""

    @property
    def joint(self) -> Fraction:
        """By how much the largest of the measures that leave together moves, multiplied, over all groups."""

    @property
    def rank(self) -> Fraction:
        """How far the distances of all ranks from the target move."""

    @property
    def cell(self) -> Fraction:
        """How far the weight of a cell moves."""

    @property
    def picks(self) -> int:
        """How many cells are picked one after the other."""

    @property
    def changes(self) -> int:
        """How many bounded vectors change."""

    def measure_by(self, strategy: CellStrategy) -> MeasurementSensitivity:
        """Return how far the sums of cells move that a strategy measures."""

    @property
    def by_number(self) -> MeasurementSensitivity:
        """The same for rows that are weighed by their number."""


@dataclass(frozen=True)
class Description:
    """What there is to say of a measurement, whatever it is used for.

    Attributes:
        noun: What it adds or how it chooses, as "discrete Laplace".
        norm: In which norm its sensitivity is.
        parameter: What its scale is called.
        scale: That scale, in integer units of what is released.
        theorems: The proof pages, the nearest first.
    """

    noun: str
    norm: str
    parameter: str
    scale: float
    theorems: tuple[str, ...]


@dataclass(frozen=True)
class AlternativeMeasurement:
    """Another measurement that could have been taken for a comparable loss.

    Attributes:
        noun: What it would have been.
        law: The law of its noise.
        loss: Its loss: that of all measures, where they leave together.
        parts: In how many parts the loss would have been divided.
    """

    noun: str
    law: Any
    loss: Loss
    parts: int = 1


class Measurement(ABC):
    """A mechanism through which integers of a question leave."""

    # What it is called in stored plans, which never changes, and its parameters: "sensitivity epsilon".
    tag: ClassVar[str]
    stored_parts: ClassVar[str]
    # Whether the noise is that of another release, which is charged for both.
    prepaid: ClassVar[bool] = False

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What it was made to spend."""

    @abstractmethod
    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return what it spends, from its noise and from how far one unit moves what it measures."""

    @abstractmethod
    def describe(self) -> Description:
        """Return what there is to say of it."""

    @property
    def noise_law(self) -> Any:
        """The law of the error of what is released; None for picks, whose error depends on the data."""
        return None

    @property
    def each_law(self) -> Any:
        """The law of the noise of each number that is released."""
        return self.noise_law

    def list_charges(self) -> tuple[Event, ...]:
        """Return the loss of its release; nothing where another release is charged."""
        return () if self.prepaid else (self.loss.event,)

    def derive_loss(self, event: Event) -> Loss:
        """Return the sharpest loss that is known of a release which spends this event."""
        return Concentrated(event.rho) if event.epsilon is None else Pure(event.epsilon)

    @property
    def joint_mechanism(self) -> Any:
        """The noise that this measure shares with others of its group, or None."""
        return None

    def completes(self, block: Sequence[Measurement]) -> bool:  # noqa: ARG002
        """Say whether these measures, this one first, are all that share its noise, in order."""
        return False

    @property
    def multiplier(self) -> int:
        """What a measure is multiplied by before noise is added."""
        return 1

    @property
    def cell_strategy(self) -> CellStrategy | None:
        """Which sums of cells are measured; None for the cells themselves."""
        return None

    @property
    def target_offset(self) -> float:
        """How far beside its own rank something is aimed at, in units of weight."""
        return 0.0

    def shift_target(self, offset: Fraction) -> Self:
        """Return the same, aimed at so many units of weight above its rank."""
        raise NotImplementedError(f"{type(self).__name__} aims at no rank")

    def bound_error(self, confidence: float, cells: int) -> float:
        """Return how far the pick is at most from the best of so many cells, in units of weight."""
        raise NotImplementedError(f"{type(self).__name__} picks nothing")

    def list_alternatives(self, sensitivity: MeasurementSensitivity) -> tuple[AlternativeMeasurement, ...]:  # noqa: ARG002
        """Return what else could have been measured for a comparable loss."""
        return ()

    def release_numbers(self, exact: Sequence[int]) -> list[int]:
        """Release one measure of all groups."""
        raise NotImplementedError(f"{type(self).__name__} releases no measure by itself")

    def release_cells(self, groups: Sequence[SparseCells], width: int, picks: int) -> tuple[Any, ...]:
        """Release what is asked of the weights of `width` cells, for each group."""
        raise NotImplementedError(f"{type(self).__name__} releases nothing of cells")


class NoiseMeasurement(Measurement):
    """Independent integer noise, on measures or on cells."""

    @property
    @abstractmethod
    def law(self) -> Any:
        """The exact law of the noise."""

    @property
    def noise_law(self) -> Any:
        """That of the noise."""
        return self.law

    @classmethod
    @abstractmethod
    def calibrate(cls, sensitivity: MeasurementSensitivity, loss: Loss) -> Self | None:
        """Return the noise for a loss, or None if the loss is not of its kind."""

    @abstractmethod
    def release_integers(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add noise to integers."""

    def release_numbers(self, exact: Sequence[int]) -> list[int]:
        """Add noise to each number."""
        if not exact:
            return []
        return [int(value) for value in self.release_integers(np.array(exact, dtype=object))]

    def release_cells(
        self,
        groups: Sequence[SparseCells],
        width: int,
        picks: int,  # noqa: ARG002 - all cells leave
    ) -> tuple[Any, ...]:
        """Add noise to every cell of every group, also where no row is."""
        noisy = self.release_numbers([weight for group in groups for weight in expand_cells(group, width)])
        return tuple(tuple(noisy[i * width : (i + 1) * width]) for i in range(len(groups)))


class PickMeasurement(Measurement):
    """A choice among the cells of an axis, by rank or by weight."""

    # What it looks at: "rank" or "weight".
    looks_at: ClassVar[str]
    # Whether it is for questions with a pure loss; the other kind is of bounded range, for losses in zCDP.
    for_pure_loss: ClassVar[bool]

    sensitivity: Fraction
    epsilon: Fraction

    @abstractmethod
    def bound_error(self, confidence: float, cells: int) -> float:
        """Return how far the pick is at most from the best of so many cells, in units of weight."""

    @abstractmethod
    def convert_loss(self) -> PickMeasurement:
        """Return the pick of the other kind of loss: at the same epsilon, or at the same rho."""


def expand_cells(group: SparseCells, width: int) -> list[int]:
    """Return the weights of all cells."""
    found = np.zeros(width, dtype=np.int64)
    found[group[0]] = group[1]
    return found.tolist()


def pick_one_by_one(mechanism: Any, weights: list[int], count: int) -> tuple[int, ...]:
    """Pick cells one after the other, each from those that are left."""
    left, found = list(range(len(weights))), []
    for _ in range(count):
        place = int(mechanism.release([weights[cell] for cell in left]))
        found.append(left.pop(place))
    return tuple(found)


def charge_picks(pick: PickMeasurement, epsilon: Fraction, picks: int) -> Event:
    """Return the loss of picks one after the other, each of so much epsilon: sums of epsilon, and of rho."""
    if pick.for_pure_loss:
        return Event(picks * epsilon, picks * epsilon**2 / 2)
    return Event(None, picks * Fraction(epsilon**2) / 8)


def find_choice_epsilon(loss: Loss) -> Fraction:
    """Return the epsilon of a choice: the loss itself, or the bounded range whose square is 8 rho at most."""
    event = loss.event
    return event.epsilon if event.epsilon is not None else round_root_down(8 * event.rho)


__all__ = [
    "AlternativeMeasurement",
    "Description",
    "Measurement",
    "MeasurementSensitivity",
    "NoiseMeasurement",
    "PickMeasurement",
    "SparseCells",
    "charge_picks",
    "expand_cells",
    "find_choice_epsilon",
    "pick_one_by_one",
]
