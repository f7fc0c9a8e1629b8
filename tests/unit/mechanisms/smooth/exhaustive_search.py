"""Local sensitivities by looking at every neighbour, on tables so small that this can be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Table = tuple[int, ...]
Statistic = Callable[[Table], Fraction]
BOTH = ("replace-one", "add-remove")


def neighbours(table: Table, marks: int, adjacency: str) -> set[Table]:
    """Return the tables that differ in one person, with values among 0, ..., marks - 1, each in rising order."""
    fewer = {table[:place] + table[place + 1 :] for place in range(len(table))}
    if adjacency == "replace-one":
        return {tuple(sorted((*rest, value))) for rest in fewer for value in range(marks)}
    return fewer | {tuple(sorted((*table, value))) for value in range(marks)}


class Exhaustive:
    """A statistic with A(0), A(1), ... by their definition."""

    def __init__(self, statistic: Statistic, marks: int, adjacency: str) -> None:
        self._statistic = statistic
        self._marks = marks
        self._adjacency = adjacency
        self._local: dict[Table, Fraction] = {}
        self._near: dict[Table, set[Table]] = {}

    def near(self, table: Table) -> set[Table]:
        if table not in self._near:
            self._near[table] = neighbours(table, self._marks, self._adjacency)
        return self._near[table]

    def local(self, table: Table) -> Fraction:
        if table not in self._local:
            here = self._statistic(table)
            moves = [abs(here - self._statistic(other)) for other in self.near(table)]
            self._local[table] = max(moves, default=Fraction(0))
        return self._local[table]

    def at_distances(self, table: Table, most: int) -> list[Fraction]:
        """Return A(0), ..., A(most)."""
        seen, edge, best, found = {table}, {table}, Fraction(0), []
        for _ in range(most + 1):
            best = max([best, *map(self.local, edge)])
            found.append(best)
            edge = {other for inner in edge for other in self.near(inner)} - seen
            seen |= edge
        return found


def discounted(sizes: Sequence[Fraction | int], beta: float) -> float:
    """Return the smooth sensitivity from A(0), A(1), ...; the last one is the largest there is."""
    return max(float(size) * math.exp(-beta * distance) for distance, size in enumerate(sizes))
