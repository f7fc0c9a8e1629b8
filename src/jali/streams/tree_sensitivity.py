"""How far one person moves the counts of a tree: the worst pattern of ticks, exactly, by dynamic programming.

Statement:
    For a run of ticks let T[k, s, r] be the largest sum of powers of the counts within it, for k ticks of one
    person none of which is among the first s or the last r. For two runs one after the other, with i >= 1 ticks in
    the first and j >= 1 in the second, it is the largest T1[i, s, g] + T2[j, b-1-g, r] over g, as two ticks that
    are b apart have b-1 between them. A count of the whole run adds a power of k: k itself for the L1 norm, k^2
    for the squared L2 norm.
Proof:
    docs/proofs/binary_tree.md, Lemma 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.streams.participation import Participation

_IMPOSSIBLE = -(1 << 60)


@dataclass(frozen=True, eq=False)
class TickRun:
    """Some ticks one after the other.

    Attributes:
        width: How many ticks.
        power: The power of each count that is added up.
        table: The largest sum by how many ticks one person enters, and how many they leave out at either end: 0 to
            separation - 1.
    """

    width: int
    power: int
    table: NDArray[np.int64]

    @classmethod
    def empty(cls, ticks: int, separation: int, power: int) -> TickRun:
        """Return a run of no ticks, for a person who enters at most some ticks."""
        table = np.full((ticks + 1, separation, separation), _IMPOSSIBLE)
        table[0] = 0
        return cls(0, power, table)

    @classmethod
    def tick(cls, ticks: int, separation: int, power: int) -> TickRun:
        """Return a run of one tick that is in no count."""
        table = cls.empty(ticks, separation, power).table
        table[1, 0, 0] = 0
        return cls(1, power, table)

    def with_count(self) -> TickRun:
        """Return the same run with a count of all of it."""
        added = np.arange(len(self.table))[:, None, None] ** self.power
        return TickRun(self.width, self.power, self.table + added)

    def then(self, other: TickRun) -> TickRun:
        """Return this run and another one after it."""
        gaps = np.arange(self.table.shape[1])
        alone = self.table[:, :, np.maximum(gaps - other.width, 0)]
        table = np.maximum(alone, other.table[:, np.maximum(gaps - self.width, 0), :])
        for i in range(1, len(table)):
            # Ticks before the end of this run, ticks after the start of the other: b - 1 together.
            pairs = self.table[i, None, :, :, None] + other.table[1 : len(table) - i, None, ::-1, :]
            if len(pairs):
                table[i + 1 :] = np.maximum(table[i + 1 :], pairs.max(axis=2))
        return TickRun(self.width + other.width, self.power, np.maximum(table, _IMPOSSIBLE))

    @property
    def largest(self) -> int:
        """The largest sum of all patterns."""
        return int(self.table[:, 0, 0].max())


# The worst pattern is looked for if this takes no more additions than that.
_WORK = 1 << 21


@dataclass(frozen=True)
class TreeLevel:
    """Counts of one level of a tree: each of a run of ticks of its own, one after the other.

    Attributes:
        covered: How many ticks they cover, from the first on.
        widest: How many ticks one of them covers at most.
    """

    covered: int
    widest: int


def levels_distance(
    levels: list[TreeLevel], person: Participation, whole: Callable[[TickRun], TickRun], joins: int
) -> tuple[Fraction, Fraction]:
    """Return the distance of the counts of neighbours: in L1 norm, and squared in L2 norm.

    Statement:
        It is exact for a person who enters one tick, and where the worst pattern is found with little work. Else
        it is an upper bound.
    Proof:
        docs/proofs/binary_tree.md, Lemma 1.

    Args:
        levels: The levels of the tree.
        person: How one person may enter.
        whole: Puts the run of all ticks together, with its counts, of runs of one tick that is in no count.
        joins: How many runs it puts together.
    """
    held = [(person.entered(level.covered), person.entered(level.widest)) for level in levels if level.covered]
    ticks, separation = max(entered for entered, _ in held), person.separation
    if ticks > 1 and joins * ticks**2 * separation**3 <= _WORK:
        first, second = (whole(TickRun.tick(ticks, separation, power)).largest for power in (1, 2))
    else:
        first = sum(entered for entered, _ in held)
        second = sum(_largest_squares(entered, most) for entered, most in held)
    return first * person.weight, second * person.squared_weight


def _largest_squares(total: int, most: int) -> int:
    """Return the largest sum of squares of whole numbers of at most `most` that add up to `total`."""
    full, rest = divmod(total, most)
    return full * most**2 + rest**2
