"""Small generated tables that are neighbours: with and without one person, or with one replaced."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from jali.privacy import Adjacency

# The public range of both numbers of a row, and the declared keys.
LOW, HIGH = 0, 4
WARDS = ("a", "b")
# For how many rows one person counts, where a person has several; the extreme person below has more.
MAX_ROWS = 2


# One row: whose it is, a key and two numbers, called x and y, all of them within what is declared.
Row: TypeAlias = tuple[int, str, int, int]
Rows: TypeAlias = tuple[Row, ...]
Neighbours: TypeAlias = tuple[tuple[Rows, Rows], ...]


class Whose(StrEnum):
    """Whose privacy counts: each row is a person, or a column names the person."""

    ROW = "rows"
    PERSON = "people"


# Values on both sides of the middle, so that no choice is settled by those who stay.
_OTHERS: Rows = ((1, "a", LOW, HIGH), (2, "b", HIGH - 1, LOW))
# So many more that a key which nobody declared appears about as often as not.
_CROWD: Rows = (*_OTHERS, *((person, "b", LOW, LOW) for person in (11, 12, 13)))
_NEW = 3
_UNHEARD = "c"


def neighbours(whose: Whose, adjacency: Adjacency) -> Neighbours:
    """Return pairs of neighbouring tables in which one person makes as much of a difference as can be."""
    low, high = _with(whose, "a", LOW), _with(whose, "b", HIGH)
    if adjacency is Adjacency.REPLACE_ONE:
        # Between groups a person takes all there is along; else between the ends of the range.
        return ((low, high), (_with(whose, "a", HIGH), high))
    return ((high, _OTHERS), (low, _OTHERS))


def crowds(whose: Whose, adjacency: Adjacency) -> Neighbours:
    """Return neighbours for questions that choose groups: in one that others are in, and in one of their own."""
    joined, alone = (_with(whose, ward, HIGH, _CROWD) for ward in ("b", _UNHEARD))
    if adjacency is Adjacency.REPLACE_ONE:
        return ((joined, alone),)
    return ((joined, _CROWD), (alone, _CROWD))


def everywhere() -> Neighbours:
    """Return a table with and without a person who has rows under every key."""
    rows = tuple((_NEW, ward, HIGH, HIGH) for ward in WARDS for _ in range(MAX_ROWS))
    return (((*_OTHERS, *rows), _OTHERS),)


def _with(whose: Whose, ward: str, value: int, others: Rows = _OTHERS) -> Rows:
    """Return others and a new person; one with too many rows, if a person can have several."""
    rows = 1 if whose is Whose.ROW else 3 * MAX_ROWS
    return (*others, *((_NEW, ward, value, value) for _ in range(rows)))
