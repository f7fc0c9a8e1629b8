"""How far one person moves the counts of a tree: level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.streams.participation import Participation
from jali.streams.worst_pattern import Run

# The worst pattern is looked for if this takes no more additions than that.
_WORK = 1 << 21


@dataclass(frozen=True)
class Level:
    """Counts of one level of a tree: each of a run of ticks of its own, one after the other.

    Attributes:
        covered: How many ticks they cover, from the first on.
        widest: How many ticks one of them covers at most.
    """

    covered: int
    widest: int


def levels_distance(
    levels: list[Level], person: Participation, whole: Callable[[Run], Run], joins: int
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
        first, second = (whole(Run.tick(ticks, separation, power)).largest for power in (1, 2))
    else:
        first = sum(entered for entered, _ in held)
        second = sum(_largest_squares(entered, most) for entered, most in held)
    return first * person.weight, second * person.squared_weight


def _largest_squares(total: int, most: int) -> int:
    """Return the largest sum of squares of whole numbers of at most `most` that add up to `total`."""
    full, rest = divmod(total, most)
    return full * most**2 + rest**2
