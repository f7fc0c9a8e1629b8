"""One pass over many ticks of a binary tree, level by level: exact counts, noisy counts, estimates and values.

Level l has a node for every 2^l ticks. Between two passes there lies open, for every binary digit of the number of
ticks that have passed, the last node of that level: a left child that waits for its sibling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.workloads.workload import Floats
from jali.streams.sizes import as_doubles, kind_for, largest_size, number_or_row

# A left child that waits: its exact count, its weighted sum, the noise of its parent, and the value that was
# published when it was completed. Numbers, or arrays with one for each key.
Open: TypeAlias = tuple[Any, Any, Any, Any]
_COUNT, _SUM, _NOISE, _VALUE = range(4)


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
    opened: Mapping[int, Open]
    weighted: bool

    def publish(self, values: Floats) -> tuple[list[NDArray[Any]], dict[int, Open]]:
        """Write the values to an array; return the measurements level by level, and what lies open afterwards."""
        exact, noisy = self._counts()
        sums = weighted_sums(noisy, self.opened, weighted=self.weighted)
        add_up(sums, values, self.tick, self.opened, weighted=self.weighted)
        return noisy, self._left_open(exact, sums, values)

    def _counts(self) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
        """Return, level by level, the exact counts from a left child on, and the noisy counts of this pass."""
        rows, leaves, parents = self._typed()
        exact, noisy = [_led(rows, self.opened.get(0), _COUNT)], [rows + leaves]
        while pairs := len(exact[-1]) // 2:
            level = len(exact)
            counts = exact[-1][0 : 2 * pairs : 2] + exact[-1][1 : 2 * pairs : 2]
            noise = parents[first_left(self.tick, level - 1) :: 1 << level]
            noisy.append(counts + _led(noise, self.opened.get(level - 1), _NOISE)[:pairs])
            exact.append(_led(counts, self.opened.get(level), _COUNT))
        return exact, noisy

    def _typed(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return increments and noises, as machine words if no sum can be too large for these."""
        nodes, keys = self.opened.values(), self.rows.shape[1]
        most = largest_size(self.rows) * len(self.rows) + sum(largest_size(node[_COUNT]) for node in nodes)
        largest = max([largest_size(self.noise), *(largest_size(node[_NOISE]) for node in nodes)])
        kind = kind_for(most + largest)
        noise: NDArray[Any] = self.noise.astype(kind, copy=False)
        return self.rows.astype(kind, copy=False), noise[:, :keys], noise[:, keys:]

    def _left_open(self, exact: list[NDArray[Any]], sums: list[Floats], values: Floats) -> dict[int, Open]:
        end, keys = self.tick + len(self.rows), self.rows.shape[1]
        found = dict(self.opened)
        for level in range(len(exact)):
            place = (end >> level << level) - self.tick - 1
            if place < 0:
                break
            found.pop(level, None)
            if end >> level & 1:
                last = (exact[level][-1], sums[level][-1], self.noise[place, keys:], values[place])
                found[level] = cast(Open, tuple(map(number_or_row, last)))
        return found


def weighted_sums(noisy: list[NDArray[Any]], opened: Mapping[int, Open], *, weighted: bool) -> list[Floats]:
    """Return, for the nodes of every level, the sum of 2^h times the noisy counts of each level h below them.

    Where `weighted` is False it is the noisy count of the node alone.
    """
    found = [_led(as_doubles(noisy[0]), opened.get(0), _SUM)]
    for level, own in enumerate(noisy[1:], 1):
        sums = as_doubles(own)
        if weighted:
            sums *= 2.0**level
            sums += found[-1][0 : 2 * len(own) : 2]
            sums += found[-1][1 : 2 * len(own) : 2]
        found.append(_led(sums, opened.get(level), _SUM))
    return found


def add_up(sums: list[Floats], values: Floats, tick: int, opened: Mapping[int, Open], *, weighted: bool) -> None:
    """Write the value after every tick: the estimates of the nodes that its binary digits name, added up.

    A tick T that 2^l divides and 2^(l+1) does not completes a left child of level l, and T - 2^l has the other
    digits of T: its value is there already where levels are passed from the top.
    """
    for level in reversed(range(len(sums))):
        first, width, waits = first_left(tick, level), 1 << level, tick >> level & 1
        places = values[first :: 2 * width]
        left = sums[level][2 * waits :: 2][: len(places)]
        if weighted and level:
            left = left * inverse(level)
        new = min(1 - waits, len(places))
        if new:
            places[0] = _value_above(level, opened) + left[0]
        before = values[first + (2 * new - 1) * width :: 2 * width]
        np.add(before[: len(places) - new], left[new:], out=places[new:])


def inverse(level: int) -> float:
    """Return what turns the weighted sum of a node into an estimate: one over the weight of all counts."""
    return 1 / ((2 << level) - 1)


def first_left(tick: int, level: int) -> int:
    """Return the place, from 0, of the first of the ticks to come that completes a left child of a level."""
    return ((tick >> level) + 1 | 1) * (1 << level) - tick - 1


def _value_above(level: int, opened: Mapping[int, Open]) -> Any:
    """Return the value published when the last open node above a level was completed."""
    above = [other for other in opened if other > level]
    return opened[min(above)][_VALUE] if above else 0.0


def _led(rows: NDArray[Any], node: Open | None, item: int) -> NDArray[Any]:
    """Put what lies open in front of rows."""
    if node is None:
        return rows
    return np.concatenate([np.array(node[item], dtype=rows.dtype).reshape(1, rows.shape[1]), rows])
