"""Pass many ticks of a binary tree level by level: exact counts, noisy counts, estimates and values.

Level l has a node for every 2^l ticks. Between two passes there lies open, for every binary digit of the number of
ticks that have passed, the last node of that level: a left child that waits for its sibling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats
from jali.streams.running_stream import as_doubles, kind_for, largest_size, number_or_row

# A left child that waits: its exact count, its weighted sum, the noise of its parent, and the value that was
# published when it was completed. Numbers, or arrays with one for each key.
OpenNode: TypeAlias = tuple[Any, Any, Any, Any]
_COUNT, _SUM, _NOISE, _VALUE = range(4)
# Doubles hold every integer up to this size.
_WHOLE = 1 << 53


@dataclass(frozen=True)
class TreePass:
    """Some ticks of a tree, one after the other.

    Attributes:
        tick: How many ticks passed before.
        rows: The increments: a row for each tick, a column for each key.
        noise: For each tick the noises of its leaf, and then those of the node whose left half ends there.
        opened: What lay open before, by level.
        weighted: Whether all noisy counts below a node help to estimate it.
    """

    tick: int
    rows: NDArray[Any]
    noise: NDArray[Any]
    opened: Mapping[int, OpenNode]
    weighted: bool

    def publish(self, values: Floats, *, measured: bool) -> tuple[list[NDArray[Any]], dict[int, OpenNode]]:
        """Write the values to an array; return the measurements level by level, and what lies open afterwards.

        Where they are not wanted no measurements are kept: what is soon forgotten stays in the processor's cache.
        """
        lasts, noisy, sums = self._levels(measured=measured)
        add_up(sums, values, self.tick, self.opened, weighted=self.weighted)
        return noisy, self._find_open(lasts, sums, values)

    def _levels(self, *, measured: bool) -> tuple[list[NDArray[Any]], list[NDArray[Any]], list[NDArray[Any]]]:
        """Return, level by level, the last exact count, the noisy counts if wanted, and the weighted sums."""
        (counts, own, parents), whole = self._choose_type(), self._stays_whole()
        lasts: list[NDArray[Any]] = []
        noisy: list[NDArray[Any]] = []
        sums: list[NDArray[Any]] = []
        own = counts + own
        while True:
            level = len(sums)
            noisy += [own] if measured else []
            weighted = sum_weighted(own, sums[-1] if level and self.weighted else None, level, whole=whole)
            sums.append(_prepend_open(weighted, self.opened.get(level), _SUM))
            counts = _prepend_open(counts, self.opened.get(level), _COUNT)
            lasts.append(counts[-1])
            pairs = len(counts) // 2
            if not pairs:
                return lasts, noisy, sums
            counts = counts[0 : 2 * pairs : 2] + counts[1 : 2 * pairs : 2]
            noise = parents[first_left_child(self.tick, level) :: 2 << level]
            own = counts + _prepend_open(noise, self.opened.get(level), _NOISE)[:pairs]

    def _choose_type(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return increments and noises, as machine words if no sum can be too large for these."""
        keys, kind = self.rows.shape[1], kind_for(sum(self._sizes))
        noise: NDArray[Any] = self.noise.astype(kind, copy=False)
        return self.rows.astype(kind, copy=False), noise[:, :keys], noise[:, keys:]

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The largest count that a node can have, and the largest noise."""
        nodes = self.opened.values()
        most = largest_size(self.rows) * len(self.rows) + sum(largest_size(node[_COUNT]) for node in nodes)
        return most, max([largest_size(self.noise), *(largest_size(node[_NOISE]) for node in nodes)])

    def _stays_whole(self) -> bool:
        """Return whether doubles hold all weighted sums exactly, as integers: machine words then add up faster.

        The counts of one level add up to the largest count at most, and level h of a node of level l has 2^(l-h)
        noises; both weigh 2^h.
        """
        (most, largest), levels = self._sizes, (self.tick + len(self.rows)).bit_length()
        before = sum(largest_size(node[_SUM]) for node in self.opened.values())
        return (2 * most + (levels + 1) * largest << levels) + before < _WHOLE

    def _find_open(
        self, lasts: list[NDArray[Any]], sums: list[NDArray[Any]], values: Floats
    ) -> dict[int, OpenNode]:
        end, keys = self.tick + len(self.rows), self.rows.shape[1]
        found = dict(self.opened)
        for level in range(len(lasts)):
            place = (end >> level << level) - self.tick - 1
            if place < 0:
                break
            found.pop(level, None)
            if end >> level & 1:
                last = (lasts[level], as_doubles(sums[level][-1]), self.noise[place, keys:], values[place])
                found[level] = cast(OpenNode, tuple(map(number_or_row, last)))
        return found


def sum_weighted(
    noisy: NDArray[Any], below: NDArray[Any] | None, level: int, *, whole: bool = False
) -> NDArray[Any]:
    """Return, for the nodes of a level, the sum of 2^h times the noisy counts of each level h below them.

    Args:
        noisy: The noisy counts of the nodes.
        below: The sums of the level below; None where the noisy count of a node alone estimates it.
        level: Which level.
        whole: Whether the sums are integers; doubles otherwise.
    """
    own = noisy if whole else as_doubles(noisy)
    if below is None:
        return own
    sums = own * (1 << level if whole else 2.0**level)
    sums += below[0 : 2 * len(own) : 2]
    sums += below[1 : 2 * len(own) : 2]
    return np.asarray(sums)


def add_up(
    sums: Sequence[NDArray[Any]], values: Floats, tick: int, opened: Mapping[int, OpenNode], *, weighted: bool
) -> None:
    """Write the value after every tick: the estimates of the nodes that its binary digits name, added up.

    A tick T that 2^l divides and 2^(l+1) does not completes a left child of level l, and T - 2^l has the other
    digits of T: its value is there already where levels are passed from the top.
    """
    for level in reversed(range(len(sums))):
        first, width, waits = first_left_child(tick, level), 1 << level, tick >> level & 1
        places = values[first :: 2 * width]
        left = sums[level][2 * waits :: 2][: len(places)]
        if weighted and level:
            left = left * inverse_weight(level)
        new = min(1 - waits, len(places))
        if new:
            places[0] = _value_above(level, opened) + left[0]
        before = values[first + (2 * new - 1) * width :: 2 * width]
        np.add(before[: len(places) - new], left[new:], out=places[new:])


def inverse_weight(level: int) -> float:
    """Return what turns the weighted sum of a node into an estimate: one over the weight of all counts."""
    return 1 / ((2 << level) - 1)


def first_left_child(tick: int, level: int) -> int:
    """Return the place, from 0, of the first of the ticks to come that completes a left child of a level."""
    return ((tick >> level) + 1 | 1) * (1 << level) - tick - 1


def _value_above(level: int, opened: Mapping[int, OpenNode]) -> Any:
    """Return the value published when the last open node above a level was completed."""
    above = [other for other in opened if other > level]
    return opened[min(above)][_VALUE] if above else 0.0


def _prepend_open(rows: NDArray[Any], node: OpenNode | None, item: int) -> NDArray[Any]:
    """Put what lies open in front of rows."""
    if node is None:
        return rows
    return np.concatenate([np.array(node[item], dtype=rows.dtype).reshape(1, rows.shape[1]), rows])
