"""A running stream of a smooth tree: the counts in use, each until it is replaced."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.values import narrow
from jali.mechanisms.workloads.workload import Floats
from jali.streams.at_hand import NoiseAtHand
from jali.streams.counter import AHEAD, Counter, Published
from jali.streams.running import Running, increments_in
from jali.streams.sizes import CHUNK, as_double, as_doubles, kind_for, largest_size, number_or_row
from jali.streams.smooth_shape import LONGEST, SmoothShape

# A count in use: the tick that measured it, the one that replaces it, the sum of the noises in use with it, and
# the value published then. Numbers, or arrays with one for each key.
Used: TypeAlias = tuple[int, int, Any, Any]
_NEVER = 1 << LONGEST


class SmoothRun(Running):
    """One noise for each tick, in use until its count is replaced.

    A value is the sum of the counts in use. They cover all ticks so far, so that it is the exact sum plus the
    noises in use, in integers: no count has to be kept.
    """

    def __init__(self, counter: Counter, tree: SmoothShape, noise: NoiseAtHand) -> None:
        self.counter, self.width, self.tick = counter, noise.width, 0
        self.tree, self.noise = tree, noise
        nothing = number_or_row(np.zeros(self.width, np.int64))
        self.used: list[Used] = [(0, _NEVER, nothing, nothing)]
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
        steps = rows + noise - replaced(noise, ends)
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
        return json.dumps({**kept, "used": used, "left": self.noise.left()})


def restored(used: list[Any]) -> Used:
    """Read a count in use."""
    tick, end, noise, value = used
    if isinstance(noise, list):
        noise, value = (narrow(np.array(items, dtype=object)) for items in (noise, value))
    return tick, end, noise, value


def replaced(rows: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[Any]:
    """Return, for each place, the sum of the rows that end there."""
    ticks, width = rows.shape
    found = np.zeros((ticks + 1) * width, rows.dtype)
    places = np.minimum(ends, ticks)
    if width > 1:
        places = (places[:, None] * width + np.arange(width)).ravel()
    np.add.at(found, places, rows.ravel())
    return found[: ticks * width].reshape(rows.shape)
