"""Two walks to two bounds: away from an origin to the far one, then back from there to the other.

Proof:
    docs/proofs/clipped_mean.md, Theorem 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from jali.mechanisms.quantiles.rank_walk import RankWalk
from jali.mechanisms.ruler import Marks
from jali.noise import BitSource

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class BoundWalks:
    """A walk to one bound and, from the mark it finds, a walk to the other.

    Attributes:
        away: The first walk: up, to the high bound, or down, to the low one.
        back: The second walk, the other way, from a given mark.
    """

    away: RankWalk
    back: Callable[[int], RankWalk]

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[Pair]:
        """Draw many pairs of marks, the low bound first."""
        firsts = self.away.draw(column, size, bits)
        seconds = [0] * size
        for first, places in grouped(firsts).items():
            for place, mark in zip(places, self.back(first).draw(column, len(places), bits), strict=True):
                seconds[place] = mark
        return [self._rising(first, second) for first, second in zip(firsts, seconds, strict=True)]

    def log_masses(self, column: Marks) -> dict[Pair, float]:
        """Return ln Pr[pair] for every pair of marks that can be found."""
        return {
            self._rising(first, second): log + more
            for first, log in self.away.log_masses(column).items()
            for second, more in self.back(first).log_masses(column).items()
        }

    def deviation(self, column: Marks, pair: Pair) -> Fraction | None:
        """Return how many people the worst judgement was off on the way to a pair; None if there is no way."""
        first, second = pair if self.away.sign < 0 else (pair[1], pair[0])
        if first not in self.away.marks or second not in (back := self.back(first)).marks:
            return None
        return max(self.away.deviation(column, first), back.deviation(column, second))

    def _rising(self, first: int, second: int) -> Pair:
        return (first, second) if self.away.sign < 0 else (second, first)


def grouped(items: Iterable[Any]) -> dict[Any, list[int]]:
    """Return the places of each distinct item."""
    places: dict[Any, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        places[item].append(place)
    return dict(places)
