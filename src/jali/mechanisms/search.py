"""Looking for a sensitivity by trying neighbouring tables: it refutes, and on small domains it proves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import natural
from jali.mechanisms.sensitivity import Root
from jali.noise import BitSource
from jali.noise.uniform import uniform_below
from jali.privacy.adjacency import Adjacency

Table: TypeAlias = tuple[Any, ...]
Pair: TypeAlias = tuple[Table, Table]
NORMS = ("l1", "l2", "l_infinity")


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes:
        distance: The largest distance between the values of the neighbours tried; a `Root` in the L2 norm.
        neighbours: Two neighbouring tables at that distance.
        tried: How many pairs were tried.
        exhaustive: Whether these were all pairs, so that the distance is the sensitivity on this domain.
    """

    distance: Fraction | Root
    neighbours: Pair
    tried: int
    exhaustive: bool


def searched_sensitivity(
    function: Callable[[Table], Any],
    domain: Sequence[Any],
    size: int,
    adjacency: str | Adjacency,
    norm: str = "l1",
    *,
    limit: int = 200_000,
    bits: BitSource | None = None,
) -> Searched:
    """Look for neighbouring tables whose values are far apart.

    Args:
        function: From a table, a tuple of records, to a number or a sequence of numbers; floats are taken as the
            rationals they are.
        domain: The values that a record can have.
        size: The number of records: of the larger table under add-remove, of both under replace-one.
        adjacency: When two tables are neighbours.
        norm: "l1", "l2" or "l_infinity".
        limit: The largest number of pairs to try. If there are more, so many are drawn at random.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> cells = lambda table: [table.count("a"), table.count("b")]
        >>> found = searched_sensitivity(cells, "ab", 3, "replace-one")
        >>> found.distance, found.exhaustive
        (Fraction(2, 1), True)
    """
    kind, records = Adjacency.of(adjacency), tuple(domain)
    measure, count = _norm(norm), natural(size, "size")
    exhaustive = len(records) ** count * count * max(1, len(records) - 1) <= natural(limit, "limit")
    pairs = _all_pairs(records, count, kind) if exhaustive else _some_pairs(records, count, kind, limit, bits)
    values: dict[Table, list[Fraction]] = {}
    tried, farthest, witness = 0, Fraction(-1), ((), ())
    for one, other in pairs:
        tried += 1
        distance = measure(_value(function, one, values), _value(function, other, values))
        if distance > farthest:
            farthest, witness = distance, (one, other)
    found: Fraction | Root = Root(farthest) if norm == "l2" and farthest > 0 else farthest
    return Searched(found, witness, tried, exhaustive)


def _all_pairs(domain: Table, size: int, adjacency: Adjacency) -> Iterator[Pair]:
    for table in itertools.product(domain, repeat=size):
        for place in range(size):
            if adjacency is Adjacency.ADD_REMOVE:
                yield table, table[:place] + table[place + 1 :]
            else:
                for record in domain:
                    if record != table[place]:
                        yield table, (*table[:place], record, *table[place + 1 :])


def _some_pairs(
    domain: Table, size: int, adjacency: Adjacency, limit: int, bits: BitSource | None
) -> Iterator[Pair]:
    for _ in range(limit):
        *table, record = (domain[i] for i in uniform_below(len(domain), size + 1, bits=bits).tolist())
        place = int(uniform_below(size, 1, bits=bits)[0])
        rest = (*table[:place], *table[place + 1 :])
        other = rest if adjacency is Adjacency.ADD_REMOVE else (*table[:place], record, *table[place + 1 :])
        yield tuple(table), other


def _value(function: Callable[[Table], Any], table: Table, known: dict[Table, list[Fraction]]) -> list[Fraction]:
    if table not in known:
        value = function(table)
        known[table] = [Fraction(item) for item in (np.ravel(value).tolist() if np.ndim(value) else [value])]
    return known[table]


def _norm(name: str) -> Callable[[list[Fraction], list[Fraction]], Fraction]:
    """Return the distance in a norm; in the L2 norm, its square."""
    if name not in NORMS:
        raise MechanismError(f"norm must be one of {', '.join(NORMS)}, not {name!r}.")

    def distance(one: list[Fraction], other: list[Fraction]) -> Fraction:
        apart = [abs(a - b) for a, b in zip(one, other, strict=True)]
        if name == "l1":
            return sum(apart, Fraction(0))
        return sum((a * a for a in apart), Fraction(0)) if name == "l2" else max(apart)

    return distance
