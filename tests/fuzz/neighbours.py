"""Neighbours of a world: one privacy unit of one table is removed, added or replaced, with any rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.fuzz.world import KEYS_EACH, OWNERS, Row, World, rows_of

_MOST = 6


@dataclass(frozen=True)
class Neighbour:
    """Other rows of one table.

    Attributes:
        gone: Who has no rows of the table any more; None where each row is a person.
        new: Who had none before.
    """

    table: str
    rows: list[Row]
    gone: int | None = None
    new: int | None = None


def owner_of(table: str, row: Row) -> int | None:
    """Return who owns a row: by the unit, or through the keys of visits that are this person's."""
    if table == "items":
        return None if row[0] is None else row[0] // KEYS_EACH
    found: int | None = row[0]
    return found


def neighbours(world: World, table: str, adjacency: str, chance: Random, count: int) -> Iterator[Neighbour]:
    """Return so many random neighbours that differ in one unit of one table."""
    for _ in range(count):
        yield _row(world, adjacency, chance) if table == "readings" else _person(world, table, adjacency, chance)


def _row(world: World, adjacency: str, chance: Random) -> Neighbour:
    rows = list(world["readings"])
    removing = bool(rows) and (adjacency == "replace-one" or chance.random() < 0.5)
    if removing:
        rows.pop(chance.randrange(len(rows)))
    if not removing or adjacency == "replace-one":
        rows.insert(chance.randint(0, len(rows)), _one_row(chance))
    return Neighbour("readings", rows)


def _one_row(chance: Random) -> Row:
    made: list[Row] = []
    while not made:
        made = rows_of("readings", None, 1, chance)
    return made[0]


def _person(world: World, table: str, adjacency: str, chance: Random) -> Neighbour:
    """Remove a person who is there or add one who is not; under replace-one do both."""
    present = {owner_of(table, row) for row in world[table]} - {None}
    absent = [person for person in OWNERS if person not in present]
    removing = bool(present) and (adjacency == "replace-one" or not absent or chance.random() < 0.5)
    gone = chance.choice(sorted(present)) if removing else None  # type: ignore[type-var]
    new = chance.choice([*absent, gone] if removing and absent else absent or [gone])
    rows = [row for row in world[table] if gone is None or owner_of(table, row) != gone]
    if adjacency == "replace-one" or gone is None:
        rows += rows_of(table, new, _MOST, chance)
    else:
        new = None
    chance.shuffle(rows)
    return Neighbour(table, rows, gone, new)
