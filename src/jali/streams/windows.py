"""Sums over windows of ticks: tumbling windows that follow each other, and a window that slides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen, read_miss_probability, read_natural
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.planning.plan_table import write_count
from jali.privacy.rationals import Number
from jali.streams.counter import Counter
from jali.streams.epoch_sensitivity import EpochDistance, calibrate_to, distance_for_equal_epochs
from jali.streams.epochs import UNLIMITED, Each, EpochCounter, EpochMemory, Recipe
from jali.streams.noise_quantiles import NoiseTerms, value_quantile
from jali.streams.participation import Participation


class WindowCounter(EpochCounter):
    """A stream whose epochs have `window` ticks each, and counters with the same noise."""

    window: int

    horizon = UNLIMITED

    @cached_property
    def distance(self) -> EpochDistance:
        """How far the measurements of neighbours are apart, over all windows together."""
        return distance_for_equal_epochs(self._plain)

    @cached_property
    def _plain(self) -> Counter:
        return self.each.made(self.window, self.epsilon, self.rho, self.person)

    @cached_property
    def _window_counter(self) -> Counter:
        return calibrate_to(self._plain, self.distance)

    def part(self, number: int = 0) -> Counter:  # noqa: ARG002 - of any window
        """Return the counter of a window: they are all alike."""
        return self._window_counter

    def kinds(self) -> tuple[Counter, ...]:
        """Return the one counter that all windows have."""
        return (self.part(),)

    def place(self, tick: int) -> tuple[int, int]:
        """Return in which window a tick falls, from 0, and which tick of it that is, from 1."""
        before, left = divmod(tick - 1, self.window)
        return before, left + 1

    def alike(self, tick: int) -> int:
        """Return the first tick whose value has the same noise: windows are all alike."""
        return self.place(tick)[1]

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within; by default of the tick with the largest variance."""
        at = self.alike(self.worst_tick if tick is None else self.numbered(tick))
        if (confidence, at) not in self._errors:
            self._errors[confidence, at] = self._error_after(at, confidence)
        return self._errors[confidence, at]

    @cached_property
    def _errors(self) -> dict[tuple[float, int], float]:
        """Errors that were computed: they come again in every window."""
        return {}

    def _error_after(self, tick: int, confidence: float) -> float:
        return super().error(confidence, tick=tick)

    def _read_window(
        self, window: int, epsilon: Number | None, rho: Number | None, person: Participation, each: Each
    ) -> None:
        self._read(UNLIMITED, epsilon, rho, person)
        noise = "rho" if self.epsilon is None else "epsilon"
        self._fill(horizon=UNLIMITED, window=read_natural(window, "window"), each=Recipe.of(each, noise))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled


@dataclass(frozen=True, repr=False)
class Tumbling(WindowCounter):
    """The sum over each window of `window` ticks, apart from the others: running within it, final at its end.

    Args:
        window: How many ticks a window has.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        each: The counter of a window: its name, its class, or a `Recipe`; by default SmoothTree for Laplace noise
            and BufferedToeplitz for Gaussian noise.

    Guarantee:
        All values of all windows together, however long the stream lives, are epsilon-DP (rho-zCDP) for the
        neighbours that `person` describes; for adaptive streams where the counter of a window is.
    Proof:
        docs/proofs/windows.md, Theorem 1.

    Error:
        That of the counter of a window, with noise for all ways in which one person may spread over windows.

    Example:
        >>> from jali.streams import Participation, Tumbling
        >>> person = Participation(adjacency="add-remove")
        >>> weekly = Tumbling(window=7, rho="1/2", person=person, each="EveryItem")
        >>> round(weekly.stddev(7), 3), round(weekly.stddev(8), 3)
        (2.646, 1.0)
    """

    tag: ClassVar[str] = "Tumbling"

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

    def terms(self, tick: int) -> NoiseTerms:
        """Return the coefficients of the noises of one window."""
        return [(self.part().influence(self.place(tick)[1]), self.law)]

    def factors(self) -> Floats:
        """Return the factors of the ticks of one window: they repeat."""
        return self.part().factors()

    def numbers_kept(self) -> int:
        """What the counter of a window keeps."""
        return self.part().numbers_kept()

    def memory(self, *_: object) -> EpochMemory:
        """Nothing is remembered of other windows."""
        return _Nothing()

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the value with the largest variance, in the first window."""
        return self.part().deviation(self.read(value)[: self.window], output[: len(self.part().strategy())])

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: in one window, in two, or moved to another."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(window=2, epsilon=1, person=once, each="EveryItem"),
                once.adjacency,
                (((1, 0), (0, 0)), ((1, 0), (1, 1))),
            ),
            Specimen(
                cls(window=1, epsilon=2, person=moved, each="EveryItem"), moved.adjacency, (((1, 0), (0, 1)),)
            ),
            Specimen(
                cls(window=1, rho="1/2", person=twice, each="EveryItem"), twice.adjacency, (((0, 0), (1, 1)),)
            ),
        )


class _Nothing(EpochMemory):
    def publish(self, values: Floats, over: bool) -> Floats:  # noqa: ARG002 - all windows are alike
        """Publish the values of the window as they are."""
        return values

    def to_rows(self) -> list[list[float]]:
        """Nothing."""
        return []


# Up to such windows the coefficients of all noises in all values are written out.
_WRITTEN_OUT = 1024


@dataclass(frozen=True, repr=False)
class Sliding(WindowCounter):
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

    def terms(self, tick: int) -> NoiseTerms:
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
        third = 1 - read_miss_probability(confidence) / 3
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

    def memory(self, width: int, tick: int = 0, kept: list[list[float]] | None = None) -> EpochMemory:
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


class _LastBlock(EpochMemory):
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

    def to_rows(self) -> list[list[float]]:
        """Return the last value of the block before, and the values of a block."""
        return [self.last.tolist(), *self.values.tolist()]


@dataclass(frozen=True)
class Window:
    """The last `ticks` ticks, at every tick; or windows that follow each other, each of which begins anew.

    Attributes:
        ticks: How many ticks it has.
        slides: Whether it ends with every tick; otherwise values are over the part of it that has passed.

    Example:
        >>> str(Window.read(last=7, restart=None)), str(Window.read(last=None, restart=7))
        ('over the last 7 ticks', 'from tick 1, 8, 15, ... anew')
    """

    ticks: int
    slides: bool

    @classmethod
    def read(cls, last: int | None, restart: int | None) -> Self | None:
        """Check what was asked for: None if values are over all ticks so far."""
        if last is not None and restart is not None:
            raise MechanismError("last-with-restart", name="last")
        if last is not None:
            return cls(read_natural(last, "last"), True)
        return None if restart is None else cls(read_natural(restart, "restart"), False)

    @property
    def words(self) -> dict[str, int]:
        """How it is asked for."""
        return {"last" if self.slides else "restart": self.ticks}

    @property
    def kind(self) -> type[WindowCounter]:
        """The mechanism: a sum that slides or tumbles, built from the counter of a window."""
        return Sliding if self.slides else Tumbling

    def __str__(self) -> str:
        if self.ticks == 1:
            return "of each tick"
        if self.slides:
            return f"over the last {write_count(self.ticks, 'tick')}"
        begin = ", ".join(f"{1 + place * self.ticks:,}" for place in range(3))
        return f"from tick {begin}, ... anew"

    def at(self, tick: int) -> str:
        """Describe over which ticks the value at a tick is.

        Example:
            >>> Window.read(last=None, restart=7).at(9)
            'since tick 8'
        """
        if self.ticks == 1:
            return f"of tick {tick:,}"
        return str(self) if self.slides else f"since tick {tick - (tick - 1) % self.ticks:,}"
