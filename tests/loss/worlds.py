"""Worlds in which questions find something: random ones full of trouble, and ordinary rows besides."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

from tests.fuzz.neighbours import owner_of
from tests.fuzz.world import KEYS_EACH, OWNERS, SHAPES, Row, World, random_world

PERSONAL = ("visits", "people", "items")
_TEXTS = ("A", "B", "abc", "3", "m", "f", "a", "b")


@lru_cache(maxsize=8)
def rich_world(seed: int) -> World:
    """Make a random world; in two of three, people have up to three ordinary rows more in each table."""
    chance, world = Random(seed), random_world(seed)
    if seed % 3 == 0:
        return world
    found = {name: list(rows) for name, rows in world.items()}
    for name in PERSONAL:
        for owner in OWNERS[:-1]:
            if chance.random() < 0.9:
                found[name] += ordinary_rows(found, name, owner, chance)
        chance.shuffle(found[name])
    found["readings"] += [ordinary_row("readings", chance) for _ in range(chance.randint(0, 3))]
    return found


def ordinary_rows(world: World, name: str, owner: int, chance: Random) -> list[Row]:
    """Make one to three rows of a person, with ordinary values."""
    rows = [ordinary_row(name, chance) for _ in range(chance.randint(1, 3))]
    free = free_keys(world[name], owner) if name == "visits" else []
    rows = rows[: len(free)] if name == "visits" else rows
    return [owned(world, name, row, owner, free[i] if free else 0, chance) for i, row in enumerate(rows)]


def ordinary_row(name: str, chance: Random) -> Row:
    """Make a row without an owner."""
    columns = SHAPES[name].columns
    return tuple(chance.choice(_ordinary(column.values)) if column.values else None for column in columns)


@lru_cache(maxsize=64)
def _kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
    found = tuple(value for value in values if _is_ordinary(value))
    # Days and times are large numbers: the first of them are those of the declared range.
    return found or values[:3]


def _ordinary(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return values[:1] if isinstance(values[0], list) else _kept(values)


def _is_ordinary(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TEXTS
    return isinstance(value, bool) or (isinstance(value, int | float) and 0 < value < 100)


def owned(world: World, name: str, row: Row, owner: int, key: int, chance: Random) -> Row:
    """Give a row to a person: by the unit and a free key, or by the key of one of this person's visits."""
    if name == "visits":
        return (owner, key, *row[2:])
    if name == "people":
        return (owner, *row[1:])
    keys = [visit[1] for visit in world["visits"] if visit[0] == owner and visit[1] is not None]
    return (chance.choice(keys or [KEYS_EACH * owner]), *row[1:])


def free_keys(visits: list[Row], owner: int) -> list[int]:
    """Return the keys of a person that no visit has."""
    taken = {row[1] for row in visits}
    return [key for key in range(KEYS_EACH * owner, KEYS_EACH * (owner + 1)) if key not in taken]


def present(rows: list[Row], name: str) -> set[int]:
    """Return who has rows of a table; rows that are people themselves have no names."""
    if name == "readings":
        return set()
    return {owner for row in rows if (owner := owner_of(name, row)) is not None}
