"""The smooth binary tree: its leaves are chosen so that no value needs many counts, and no tick is in many.

The leaves are words with a given number of zeros and of ones, in the order of their values. Ticks are put at
these leaves one after the other, and only nodes at the end of a zero are counted. From one leaf to the next a word
P 0 1...1 0...0 becomes P 1 0...0 1...1: the node P 0 is completed, and P 1 is entered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import comb
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.counter import AHEAD, Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import (
    CHUNK,
    Running,
    StreamState,
    as_double,
    as_doubles,
    increments_in,
    kind_for,
    largest_size,
    number_or_row,
    running_sums,
)
from jali.streams.tree_sensitivity import TickRun, TreeLevel, levels_distance

# No word is longer: this many leaves are more than ticks that can pass.
LONGEST = 64
# Runs of this many ticks are looked up.
_BLOCK = 1 << 12


@dataclass(frozen=True)
class SmoothShape:
    """All words of some zeros and ones.

    Attributes:
        zeros: In how many counts a tick is, at most.
        ones: How many counts a value adds up, at most.
    """

    zeros: int
    ones: int

    @property
    def leaves(self) -> int:
        """How many words there are; one more than the ticks that can pass."""
        return comb(self.zeros + self.ones, self.zeros)

    def spans(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return, for each tick after `start` up to `stop`, how many ticks the node covers that it completes."""
        return _join(_parts(self.zeros, self.ones, start, stop, 0))

    def stays(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return, for each tick after `start` up to `stop`, for how many ticks that node is used."""
        return _join(_parts(self.zeros, self.ones, start, stop, 1))

    def levels(self, ticks: int) -> Iterator[TreeLevel]:
        """Yield the nodes that end in the first, second ... zero and are completed within some ticks.

        The leaf after the last tick is in one node of each level: this one is not completed, all before it are.
        """
        zeros, ones, place, rest = self.zeros, self.ones, 0, ticks
        while zeros:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
                yield TreeLevel(place, min(place, comb(zeros + self.ones, self.ones)))
            else:
                ones, place, rest = ones - 1, place + left, rest - left

    def run(self, ticks: int, tick: TickRun) -> TickRun:
        """Put a run of ticks together of single ones, with the counts that are completed within it."""
        whole: dict[tuple[int, int], TickRun] = {}

        def node(zeros: int, ones: int) -> TickRun:
            if (zeros, ones) not in whole:
                whole[zeros, ones] = _node(zeros, ones, tick, node)
            return whole[zeros, ones]

        zeros, ones, rest = self.zeros, self.ones, ticks
        found = TickRun.empty(len(tick.table) - 1, tick.table.shape[1], tick.power)
        while rest:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
            else:
                found, ones, rest = found.then(node(zeros - 1, ones).with_count()), ones - 1, rest - left
        return found

    def count_in_use(self, tick: int) -> int:
        """Return how many nodes are used after a tick: the ones of the next word, but for its last ones."""
        zeros, ones, rest, found = self.zeros, self.ones, tick, 0
        while rest:
            left = comb(zeros - 1 + ones, ones)
            if rest < left:
                zeros -= 1
            else:
                ones, rest, found = ones - 1, rest - left, found + 1
        return found


def find_best_shape(ticks: int, power: int) -> SmoothShape:
    """Return the shape with enough leaves for which ones times a power of the zeros are least.

    A person in one tick is in as many counts as there are zeros. The variance of each noise grows with their
    number for Gaussian noise, and with its square for Laplace noise.
    """
    shapes = [_least_ones(ticks, zeros) for zeros in range(1, LONGEST)]
    return min(_wide_enough(shapes, ticks), key=lambda shape: (shape.ones * shape.zeros**power, shape.zeros))


def find_balanced_shape(ticks: int) -> SmoothShape:
    """Return the shape with enough leaves that has as many ones as zeros."""
    return _wide_enough([SmoothShape(half, half) for half in range(1, LONGEST // 2 + 1)], ticks)[0]


def _wide_enough(shapes: list[SmoothShape], ticks: int) -> list[SmoothShape]:
    found = [shape for shape in shapes if shape.leaves > ticks]
    if not found:
        raise MechanismError("horizon-too-long", longest=comb(LONGEST, LONGEST // 2), ticks=ticks, name="horizon")
    return found


def _least_ones(ticks: int, zeros: int) -> SmoothShape:
    """Return the shape with these zeros and the fewest ones that has enough leaves; else the longest words."""
    shapes = [SmoothShape(zeros, ones) for ones in range(1, LONGEST - zeros + 1)]
    return next((shape for shape in shapes if shape.leaves > ticks), shapes[-1])


def _node(zeros: int, ones: int, tick: TickRun, node: Callable[[int, int], TickRun]) -> TickRun:
    """Put the run of a node together of its children: the left one has a count, if there is a right one."""
    if not zeros or not ones:
        return tick
    return node(zeros - 1, ones).with_count().then(node(zeros, ones - 1))


def _parts(zeros: int, ones: int, start: int, stop: int, item: int) -> Iterator[NDArray[np.int64]]:
    """Yield spans (item 0) or stays (item 1) of the ticks that enter a new leaf below a node."""
    if start >= stop or not zeros or not ones:
        return
    left = comb(zeros - 1 + ones, ones)
    if comb(zeros + ones, zeros) <= _BLOCK:
        yield _block(zeros, ones)[item, start:stop]
        return
    yield from _parts(zeros - 1, ones, start, min(stop, left - 1), item)
    if start < left <= stop:
        yield np.array([(left, comb(zeros + ones - 1, zeros))[item]])
    yield from _parts(zeros, ones - 1, max(0, start - left), stop - left, item)


@lru_cache(maxsize=4096)
def _block(zeros: int, ones: int) -> NDArray[np.int64]:
    """Return spans and stays of all ticks that enter a new leaf below a node."""
    if not zeros or not ones:
        return np.zeros((2, 0), np.int64)
    middle = np.array([[comb(zeros - 1 + ones, ones)], [comb(zeros + ones - 1, zeros)]])
    return np.concatenate([_block(zeros - 1, ones), middle, _block(zeros, ones - 1)], axis=1)


def _join(parts: Iterator[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts])


# A count in use: the tick that measured it, the one that replaces it, the sum of the noises in use with it, and
# the value published then. Numbers, or arrays with one for each key.
CountInUse: TypeAlias = tuple[int, int, Any, Any]
_NEVER = 1 << LONGEST


class RunningSmoothTree(Running):
    """One noise for each tick, in use until its count is replaced.

    A value is the sum of the counts in use. They cover all ticks so far, so that it is the exact sum plus the
    noises in use, in integers: no count has to be kept.
    """

    def __init__(self, counter: Counter, tree: SmoothShape, noise: NoiseBuffer) -> None:
        self.counter, self.width, self.tick = counter, noise.width, 0
        self.tree, self.noise = tree, noise
        nothing = number_or_row(np.zeros(self.width, np.int64))
        self.used: list[CountInUse] = [(0, _NEVER, nothing, nothing)]
        # For how many ticks the next counts will be used, the next one last.
        self._stays: list[int] = []

    def append(self, increment: Any) -> Any:
        """Pass one tick and return the noisy sum so far; quick for plain integers."""
        if type(increment) is not int or self.width > 1 or self.exhausted:
            return super().append(increment)
        if not self._stays:
            self._stays = self.tree.stays(self.tick, min(self.tick + AHEAD, self.counter.horizon)).tolist()[::-1]
        drawn = self.noise.one()[0]  # first: where no bits can be had, nothing has passed
        self.tick = tick = self.tick + 1
        _, _, noise, value = self.used[-1]
        total = value - noise + increment
        while self.used[-1][1] <= tick:
            self.used.pop()
        noise = self.used[-1][2] + drawn
        self.used.append((tick, tick + self._stays.pop(), noise, total + noise))
        return as_double(total + noise)

    def extend(self, increments: Any) -> Floats:
        """Pass many ticks at once and return the noisy sums after each."""
        rows = self.checked(increments_in(increments))
        values = np.empty((len(rows), self.width))
        for place in range(0, len(rows), CHUNK):
            values[place : place + CHUNK] = as_doubles(self._pass(rows[place : place + CHUNK]))
        return values.reshape(rows.shape)

    def advance(self, increments: NDArray[Any]) -> Published:
        """Pass many ticks; each measures by how much its value is above the one that its count started from."""
        tick, known = self.tick, {used[0]: used[3] for used in self.used}
        values = self._pass(increments)
        starts = np.arange(len(values)) - self.tree.spans(tick, self.tick)
        before = values[np.maximum(starts, 0)]
        for place in np.flatnonzero(starts < 0).tolist():
            before[place] = known[tick + 1 + int(starts[place])]
        measured = narrow(values - before)
        return Published(as_doubles(values).reshape(increments.shape), measured.reshape(increments.shape))

    def _pass(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Pass some ticks and return the values, as integers."""
        rows, noise = increments.reshape(len(increments), self.width), self.noise.take(len(increments))
        size = largest_size(rows) * len(rows) + LONGEST * largest_size(noise)
        kind = kind_for(size + max(largest_size(used[2]) + largest_size(used[3]) for used in self.used))
        rows, noise = rows.astype(kind, copy=False), noise.astype(kind, copy=False)
        ends = np.arange(len(rows)) + self.tree.stays(self.tick, self.tick + len(rows))
        steps = rows + noise - sum_by_end(noise, ends)
        values = self._after(steps)
        self._use(noise, ends, values)
        return values

    def _after(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Return the values from their steps: also noises that were in use before are replaced."""
        for (_, _, before, _), (_, end, noise, _) in zip(self.used, self.used[1:], strict=False):
            if end - self.tick - 1 < len(steps):
                steps[end - self.tick - 1] -= noise - before
        if len(steps):
            steps[0] += self.used[-1][3]
        return np.cumsum(steps, axis=0, out=steps)

    def _use(self, noise: NDArray[Any], ends: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Keep the counts in use after these ticks."""
        self._stays = []
        last, tick = self.tick + len(noise), self.tick
        self.used = [used for used in self.used if used[1] > last]
        for place in np.flatnonzero(ends >= len(noise)).tolist():
            added = self.used[-1][2] + number_or_row(noise[place])
            end = tick + 1 + int(ends[place])
            self.used.append((tick + 1 + place, end, added, number_or_row(values[place])))
        self.tick = last

    def state(self) -> str:
        """Return the counts in use, and the noise drawn ahead."""
        kept = {"tick": self.tick, "width": self.width, "ahead": self.noise.ahead}
        used = [[np.asarray(item).tolist() for item in count] for count in self.used]
        return json.dumps({**kept, "used": used, "left": self.noise.list_unused()})


def restore_count(used: list[Any]) -> CountInUse:
    """Read a count in use."""
    tick, end, noise, value = used
    if isinstance(noise, list):
        noise, value = (narrow(np.array(items, dtype=object)) for items in (noise, value))
    return tick, end, noise, value


def sum_by_end(rows: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[Any]:
    """Return, for each place, the sum of the rows that end there."""
    ticks, width = rows.shape
    found = np.zeros((ticks + 1) * width, rows.dtype)
    places = np.minimum(ends, ticks)
    if width > 1:
        places = (places[:, None] * width + np.arange(width)).ravel()
    np.add.at(found, places, rows.ravel())
    return found[: ticks * width].reshape(rows.shape)


SHAPES = ("best", "balanced")


@dataclass(frozen=True, repr=False)
class SmoothTree(Counter):
    """Put ticks at those leaves of a binary tree whose paths have a given number of zeros and of ones.

    Only left children are counted: a person is in one count for each zero on the path of a tick, and a value adds
    up one for each one. Andersson and Pagh take as many ones as zeros. Here the numbers are those with the least
    error: Laplace noise wants fewer zeros.

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        shape: "best", or "balanced" for as many ones as zeros.

    Guarantee:
        All values together are epsilon-DP (rho-zCDP) for the neighbours that `person` describes; increments may
        depend on values published before.
    Proof:
        docs/proofs/smooth_tree.md, after Andersson and Pagh 2023.

    Error:
        The noises of the counts in use: at most as many as there are ones on a path.

    Example:
        >>> from jali.streams import Participation, SmoothTree
        >>> counter = SmoothTree(horizon=1024, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> counter.tree
        SmoothShape(zeros=3, ones=17)
        >>> round(counter.largest, 2)
        17.41
        >>> len(counter.start().extend([1] * 1024))
        1024
    """

    tag: ClassVar[str] = "SmoothTree"

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    shape: str

    def __init__(
        self,
        *,
        horizon: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        shape: str = "best",
    ) -> None:
        self._read(horizon, epsilon, rho, person)
        if shape not in SHAPES:
            raise MechanismError("parameter-not-one-of", choices=tuple(SHAPES), value=shape, name="shape")
        self._fill(shape=shape)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def tree(self) -> SmoothShape:
        """How many zeros and ones the path of a tick has."""
        return (
            find_balanced_shape(self.horizon)
            if self.shape == "balanced"
            else find_best_shape(self.horizon, 1 if self.epsilon is None else 2)
        )

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """One count for each zero on the path of a tick, if it is completed within the horizon."""
        levels, joins = list(self.tree.levels(self.horizon)), self.tree.zeros * self.tree.ones
        return levels_distance(levels, self.person, partial(self.tree.run, self.horizon), joins)

    def strategy(self) -> NDArray[Any]:
        """Return a row for every tick: the ticks that the count covers which it completes."""
        last = np.arange(1, self.horizon + 1)[:, None]
        first = last - self.tree.spans(0, self.horizon)[:, None]
        ticks = np.arange(self.horizon)[None, :]
        return ((first <= ticks) & (ticks < last)).astype(np.int64)

    def influence(self, tick: int) -> Floats:
        """Every count in use enters as it is."""
        return np.ones(self.tree.count_in_use(tick))

    def factors(self) -> Floats:
        """How many counts are in use."""
        return self.answer(np.ones(self.horizon, np.int64))

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Add up the counts in use: each from its own tick on, until it is replaced."""
        rows = measurements.reshape(-1, 1)
        ends = np.arange(self.horizon) + self.tree.stays(0, self.horizon)
        return convert_to_doubles(running_sums(rows - sum_by_end(rows, ends)).ravel())

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        found = RunningSmoothTree(self, self.tree, noise)
        if kept is not None:
            found.tick, found.used = kept["tick"], [restore_count(used) for used in kept["used"]]
        return found

    def numbers_kept(self) -> int:
        """Four numbers for each count in use: its tick, its end, the noise and the value with it."""
        return 4 * self.tree.ones

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: present or not, or with other increments."""
        once, twice = Participation(adjacency="add-remove"), Participation(adjacency="add-remove", ticks=2)
        signed = Participation(adjacency="replace-one", signed=True)
        moved = (((1, 0, 0), (-1, 0, 0)),)
        return (
            Specimen(cls(horizon=2, epsilon=1, person=once), once.adjacency, (((1, 0), (0, 0)), ((1, 0), (1, 1)))),
            Specimen(cls(horizon=3, epsilon=12, person=signed, shape="balanced"), signed.adjacency, moved),
            Specimen(cls(horizon=2, rho="1/2", person=twice), twice.adjacency, (((0, 0), (1, 1)),)),
        )
