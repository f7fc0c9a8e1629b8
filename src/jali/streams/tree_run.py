"""A running stream of a binary tree: the nodes that wait for their siblings."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.values import narrow
from jali.mechanisms.workloads.workload import Floats
from jali.streams.at_hand import NoiseAtHand
from jali.streams.counter import Counter, Published
from jali.streams.running import Running, increments_in
from jali.streams.sizes import CHUNK, as_double
from jali.streams.tree_pass import Open, TreePass, inverse


class TreeRun(Running):
    """Two noises for each tick: of its leaf, and of the node whose left half ends there.

    What lies open is kept from the highest level down: one node for each binary digit 1 of the tick.
    """

    def __init__(self, counter: Counter, noise: NoiseAtHand, *, weighted: bool) -> None:
        self.counter, self.width, self.tick = counter, noise.width // 2, 0
        self.noise, self.weighted = noise, weighted
        self.open: list[Open] = []

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
        estimate = total * inverse(level) if self.weighted else total
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
        return json.dumps({**kept, "open": nodes, "left": self.noise.left()})


def restored(node: list[Any]) -> Open:
    """Read a node that lies open: numbers, or arrays with one for each key."""
    return cast(Open, tuple(_row(item) if isinstance(item, list) else item for item in node))


def _row(items: list[Any]) -> NDArray[Any]:
    return np.array(items) if isinstance(items[0], float) else narrow(np.array(items, dtype=object))
