"""Versions of one table that differ in one privacy unit: anybody, or somebody like those who are there.

Where units are replaced, all versions are neighbours of each other; where they are added or removed, each is a
neighbour of the version that lacks a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from random import Random

from tests.fuzz.neighbours import owner_of
from tests.fuzz.world import OWNERS, Row, World, rows_of
from tests.loss.worlds import PERSONAL, free_keys, ordinary_row, owned, present

_MOST = 6


@dataclass(frozen=True)
class Versions:
    """Some versions of a table, the first of which is that of the world.

    Attributes:
        rows: The rows of each.
        pairs: Which of them are neighbours.
    """

    rows: tuple[list[Row], ...]
    pairs: tuple[tuple[int, int], ...]


def versions(world: World, table: str, adjacency: str, chance: Random, count: int) -> Versions:
    """Make so many versions besides that of the world: one without a unit, and others with another one instead."""
    gone, rest = _without_one(world, table, chance)
    made = [world[table], *(_with_somebody(rest, world, table, gone, chance) for _ in range(count))]
    if gone is not None and adjacency == "add-remove":
        made[1] = rest
    if gone is None and adjacency == "replace-one":
        # Nobody can be replaced where nobody is.
        made[1:] = []
    middle = 0 if gone is None else 1
    pairs = combinations(range(len(made)), 2)
    return Versions(tuple(made), tuple(p for p in pairs if adjacency == "replace-one" or middle in p))


def _without_one(world: World, table: str, chance: Random) -> tuple[int | None, list[Row]]:
    """Return a unit, and the rows without its own; None where there is none. A row that is a unit is called 0."""
    rows = list(world[table])
    if table == "readings":
        if rows:
            rows.pop(chance.randrange(len(rows)))
        return (0 if world[table] else None), rows
    there = sorted(present(rows, table))
    if not there:
        return None, rows
    gone = chance.choice(there)
    return gone, [row for row in rows if owner_of(table, row) != gone]


def _with_somebody(rest: list[Row], world: World, table: str, gone: int | None, chance: Random) -> list[Row]:
    """Add a unit that has no rows here: mostly the one that was taken away, who has rows in other tables."""
    absent = [person for person in OWNERS if person not in present(rest, table)]
    known = [person for person in absent if any(person in present(world[name], name) for name in PERSONAL)]
    owner = gone if gone is not None and chance.random() < 0.6 else chance.choice(known or absent or [OWNERS[0]])
    rows = rest + someone(world, table, owner, chance)
    chance.shuffle(rows)
    return rows


def someone(world: World, table: str, owner: int, chance: Random) -> list[Row]:
    """Make the rows of one unit: any rows, ordinary ones, or some like those that are in the world."""
    like = [row for row in world[table] if table == "readings" or owner_of(table, row) is not None]
    kind = chance.random()
    if kind < 0.3 or (kind < 0.7 and not like):
        return _one_row(chance) if table == "readings" else rows_of(table, owner, _MOST, chance)
    picked = [chance.choice(like) if kind < 0.7 else ordinary_row(table, chance) for _ in range(3)]
    if table == "readings":
        return picked[:1]
    rows = picked[:1] * chance.choice((1, 3, _MOST)) + picked[: chance.randint(0, 2)]
    keys = free_keys([], owner)
    return [owned(world, table, row, owner, keys[place], chance) for place, row in enumerate(rows)]


def _one_row(chance: Random) -> list[Row]:
    while not (made := rows_of("readings", None, 1, chance)):
        pass
    return made
