"""The binary tree of partial sums, with the plain sum of its nodes or Honaker's estimate."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.counter import Counter, Published
from jali.streams.noise_buffer import NoiseBuffer
from jali.streams.participation import Participation
from jali.streams.running_stream import CHUNK, Running, StreamState, as_double, increments_in
from jali.streams.tree_estimates import OpenNode, TreePass, add_up, inverse_weight, sum_weighted
from jali.streams.tree_sensitivity import TickRun, TreeLevel, levels_distance


class RunningTree(Running):
    """Two noises for each tick: of its leaf, and of the node whose left half ends there.

    What lies open is kept from the highest level down: one node for each binary digit 1 of the tick.
    """

    def __init__(self, counter: Counter, noise: NoiseBuffer, *, weighted: bool) -> None:
        self.counter, self.width, self.tick = counter, noise.width // 2, 0
        self.noise, self.weighted = noise, weighted
        self.open: list[OpenNode] = []

    def append(self, increment: Any) -> Any:
        """Pass one tick and return the noisy sum so far; quick for plain integers."""
        if type(increment) is not int or self.width > 1 or self.exhausted:
            return super().append(increment)
        noise, parent = self.noise.one()
        self.tick = tick = self.tick + 1
        count, level, total = increment, 0, as_double(increment + noise)
        while not tick >> level & 1:
            level += 1
            left, below, noise, _ = self.open.pop()
            count += left
            own = as_double(count + noise)
            total = own * 2.0**level + below + total if self.weighted else own
        estimate = total * inverse_weight(level) if self.weighted else total
        value: float = (self.open[-1][3] if self.open else 0.0) + estimate
        self.open.append((count, total, parent, value))
        return value

    def extend(self, increments: Any) -> Floats:
        """Pass many ticks at once and return the noisy sums after each."""
        rows = self.checked(increments_in(increments))
        values = np.empty((len(rows), self.width))
        for place in range(0, len(rows), CHUNK):
            self._pass(rows[place : place + CHUNK], values[place : place + CHUNK], measured=False)
        return values.reshape(rows.shape)

    def advance(self, increments: NDArray[Any]) -> Published:
        """Pass many ticks; the measurements are the counts of the nodes they complete, level by level."""
        values = np.empty((len(increments), self.width))
        measured = narrow(np.concatenate(self._pass(increments, values, measured=True)))
        return Published(values.reshape(increments.shape), measured.ravel() if self.width == 1 else measured)

    def _pass(self, increments: NDArray[Any], values: Floats, *, measured: bool) -> list[NDArray[Any]]:
        """Pass some ticks, write their values to an array, and return their measurements if they are wanted."""
        rows = increments.reshape(values.shape)
        levels = [level for level in reversed(range(self.tick.bit_length())) if self.tick >> level & 1]
        opened = dict(zip(levels, self.open, strict=True))
        ticks = TreePass(self.tick, rows, self.noise.take(len(rows)), opened, self.weighted)
        noisy, left = ticks.publish(values, measured=measured)
        self.tick += len(rows)
        self.open = [left[level] for level in sorted(left, reverse=True)]
        return noisy

    def state(self) -> str:
        """Return what lies open, and the noise drawn ahead."""
        kept = {"tick": self.tick, "width": self.width, "ahead": self.noise.ahead}
        nodes = [[np.asarray(item).tolist() for item in node] for node in self.open]
        return json.dumps({**kept, "open": nodes, "left": self.noise.list_unused()})


def restore_node(node: list[Any]) -> OpenNode:
    """Read a node that lies open: numbers, or arrays with one for each key."""
    return cast(OpenNode, tuple(_row(item) if isinstance(item, list) else item for item in node))


def _row(items: list[Any]) -> NDArray[Any]:
    return np.array(items) if isinstance(items[0], float) else narrow(np.array(items, dtype=object))


ESTIMATES = ("honaker", "plain")


@dataclass(frozen=True, repr=False)
class BinaryTree(Counter):
    """Measure every run of 2^l ticks that starts at a multiple of 2^l; a value adds up few of them.

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        estimate: "plain" adds up the noisy counts of the runs that the binary digits of a tick name. "honaker"
            first takes for each of them the best estimate from all noisy counts within its run: it costs nothing.

    Guarantee:
        All values together are epsilon-DP (rho-zCDP) for the neighbours that `person` describes; increments may
        depend on values published before. A person in one tick is in one count of each of
        floor(log2 horizon) + 1 levels.
    Proof:
        docs/proofs/binary_tree.md, after Dwork et al. 2010, Chan et al. 2011 and Honaker 2015.

    Error:
        After tick t there is, for each binary digit 1 of t, the variance of one noise: times
        2^l / (2^(l+1) - 1) with Honaker's estimate, where the digit is worth 2^l.

    Example:
        >>> from jali.streams import BinaryTree, Participation
        >>> counter = BinaryTree(horizon=1024, rho="1/2", person=Participation(adjacency="add-remove"))
        >>> round(counter.largest, 2), round(counter.rms, 2)
        (7.99, 5.65)
        >>> len(counter.start().extend([1] * 1024))
        1024
    """

    tag: ClassVar[str] = "BinaryTree"
    # Of the leaf of a tick, and of the node whose left half ends there.
    _noises_each: ClassVar[int] = 2

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    estimate: str

    def __init__(
        self,
        *,
        horizon: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        estimate: str = "honaker",
    ) -> None:
        self._read(horizon, epsilon, rho, person)
        if estimate not in ESTIMATES:
            raise MechanismError("parameter-not-one-of", choices=tuple(ESTIMATES), value=estimate, name="estimate")
        self._fill(estimate=estimate)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def weighted(self) -> bool:
        """Whether all noisy counts within a run help to estimate it."""
        return self.estimate == "honaker"

    @cached_property
    def levels(self) -> int:
        """How many levels of the tree have a node that is completed within the horizon."""
        return self.horizon.bit_length()

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """For each level, how much of a node's estimate is its own noisy count; the rest is its children's.

        It is also the variance of the estimate, in variances of one noise.
        """
        levels = range(self.levels)
        return tuple((1 << level) / ((2 << level) - 1) if self.weighted else 1.0 for level in levels)

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """One count of each level for a tick that one person enters."""
        levels = [TreeLevel(self.horizon >> level << level, 1 << level) for level in range(self.levels)]
        return levels_distance(levels, self.person, self._run, 2 * self.levels)

    def _run(self, tick: TickRun) -> TickRun:
        """Put the run of the horizon together: of the nodes that its binary digits name, the widest first."""
        nodes = [tick.with_count()]
        while len(nodes) < self.levels:
            nodes.append(nodes[-1].then(nodes[-1]).with_count())
        named = [node for level, node in enumerate(nodes) if self.horizon >> level & 1]
        return reduce(TickRun.then, reversed(named))

    def strategy(self) -> NDArray[Any]:
        """Return a row for every node that is completed within the horizon: the leaves first, the root last."""
        rows = [
            np.kron(np.eye(self.horizon // width), np.ones(width))
            for width in (1 << level for level in range(self.levels))
        ]
        padded = [np.pad(row, ((0, 0), (0, self.horizon - row.shape[1]))) for row in rows]
        return np.concatenate(padded).astype(np.int64)

    def influence(self, tick: int) -> Floats:
        """With Honaker's estimate a node of level l weighs 2^l over what all levels of its subtree weigh."""
        digits = [level for level in range(self.levels) if tick >> level & 1]
        if not self.weighted:
            return np.ones(len(digits))
        return np.concatenate([_weights(level) for level in digits])

    def factors(self) -> Floats:
        """The shares of the digits of each tick, added up."""
        found = np.zeros(1)
        for share in self.shares:
            found = np.concatenate([found, found + share])
        return found[1 : self.horizon + 1]

    def factor(self, tick: int) -> float:
        """Return the same for one tick."""
        return math.fsum(share for level, share in enumerate(self.shares) if tick >> level & 1)

    def stddev(self, tick: int) -> float:
        """Return the standard deviation of the value after a tick, from 1."""
        return float(self.law.stddev) * math.sqrt(self.factor(self.numbered(tick)))

    @cached_property
    def worst_tick(self) -> int:
        """The tick, from 1, whose value has the largest variance: the last, or one with ones from a digit on."""
        digits = [level for level in range(self.levels) if self.horizon >> level & 1]
        below = [(self.horizon >> level << level) - 1 for level in digits]
        return max([self.horizon, *(tick for tick in below if tick)], key=lambda tick: (self.factor(tick), -tick))

    @cached_property
    def largest(self) -> float:
        """The largest standard deviation over all ticks."""
        return self.stddev(self.worst_tick)

    @cached_property
    def rms(self) -> float:
        """The root of the mean squared error over all ticks: each digit is counted in the ticks that have it."""
        total = math.fsum(share * _having(self.horizon, level) for level, share in enumerate(self.shares))
        return float(self.law.stddev) * math.sqrt(total / self.horizon)

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Estimate the nodes level by level, and add up those of each tick."""
        counts = [self.horizon >> level for level in range(self.levels)]
        noisy = np.split(measurements.reshape(-1, 1), list(accumulate(counts))[:-1])
        values, sums = np.empty((self.horizon, 1)), list[NDArray[Any]]()
        for level, own in enumerate(noisy):
            sums.append(sum_weighted(own, sums[-1] if sums and self.weighted else None, level))
        add_up(sums, values, 0, {}, weighted=self.weighted)
        return values.ravel()

    def _make_running(self, noise: NoiseBuffer, kept: StreamState | None) -> Running:
        found = RunningTree(self, noise, weighted=self.weighted)
        if kept is not None:
            found.tick, found.open = kept["tick"], [restore_node(node) for node in kept["open"]]
        return found

    def numbers_kept(self) -> int:
        """Four numbers for each level: a count, an estimate, a noise to come, and a value."""
        return 4 * self.levels

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: present or not, or with other increments."""
        once, twice = Participation(adjacency="add-remove"), Participation(adjacency="add-remove", ticks=2)
        signed = Participation(adjacency="replace-one", signed=True)
        entered = (((1, 0), (0, 0)), ((1, 0), (1, 1)))
        return (
            Specimen(cls(horizon=2, epsilon=8, person=once), once.adjacency, entered),
            Specimen(
                cls(horizon=2, epsilon=16, person=signed, estimate="plain"), signed.adjacency, (((1, 0), (-1, 0)),)
            ),
            Specimen(cls(horizon=2, rho=6, person=twice), twice.adjacency, (((0, 0), (1, 1)),)),
        )


def _weights(top: int) -> Floats:
    """Return the weights of all nodes below and at a node of a level, in Honaker's estimate of it."""
    levels = np.arange(top + 1)
    return np.repeat(2.0**levels / (2.0 ** (top + 1) - 1), 1 << levels[::-1])


def _having(horizon: int, level: int) -> int:
    """Return how many of the ticks 1 .. horizon have a binary digit."""
    rounds, rest = divmod(horizon + 1, 2 << level)
    return (rounds << level) + max(0, rest - (1 << level))
