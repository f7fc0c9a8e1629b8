"""Search for a sensitivity over neighbouring tables: it refutes claims, and proves them on small domains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.global_sensitivity import Root
from jali.privacy.adjacency import Adjacency
from jali.sampling import BitSource
from jali.sampling.uniform import uniform_below

Table: TypeAlias = tuple[Any, ...]
Places: TypeAlias = tuple[int, ...]
Value: TypeAlias = list[int | Fraction]
NORMS = ("l1", "l2", "l_infinity")
# Pairs that are tried if nothing else is said: all of them up to the first number, else so many at random.
_ALL, _SOME = 200_000, 20_000
_AT_ONCE = 1000


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes:
        distance: The largest distance between the values of the neighbours tried; a `Root` in the L2 norm.
        neighbours: Two neighbouring tables at that distance.
        tried: How many pairs were tried.
        exhaustive: Whether these were all pairs of tables of the given size (replace-one), or of any size up to it
            (add-remove), so that the distance is the sensitivity among them.
    """

    distance: Fraction | Root
    neighbours: tuple[Table, Table]
    tried: int
    exhaustive: bool


def searched_sensitivity(
    function: Callable[[Table], Any],
    domain: Iterable[Any],
    size: int,
    adjacency: str | Adjacency,
    norm: str = "l1",
    *,
    limit: int | None = None,
    bits: BitSource | None = None,
) -> Searched:
    """Look for neighbouring tables whose values are far apart.

    Args:
        function: From a table, a tuple of records, to a number or a sequence of numbers; floats are taken as the
            rationals they are. Under add-remove it must have a value for the empty table too.
        domain: The values that a record can have, at least one.
        size: The number of records: of both tables under replace-one, of the larger one under add-remove, where
            all smaller tables are tried too if all pairs are.
        adjacency: When two tables are neighbours.
        norm: "l1", "l2" or "l_infinity".
        limit: The largest number of pairs to try. If there are more, so many are drawn at random. By default all
            pairs are tried if there are at most 200,000, and 20,000 otherwise.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> cells = lambda table: [table.count("a"), table.count("b")]
        >>> found = searched_sensitivity(cells, "ab", 3, "replace-one")
        >>> found.distance, found.exhaustive
        (Fraction(2, 1), True)
    """
    kind, records, measure = Adjacency.of(adjacency), _read_records(domain), _choose_distance(norm)
    sizes = range(1, read_natural(size, "size") + 1) if kind is Adjacency.ADD_REMOVE else range(size, size + 1)
    exhaustive = _count_pairs(len(records), sizes, kind) <= (
        _ALL if limit is None else read_natural(limit, "limit")
    )
    some = _SOME if limit is None else limit
    pairs = (
        _list_all_pairs(len(records), sizes, kind)
        if exhaustive
        else _draw_pairs(len(records), size, kind, some, bits)
    )
    values = _Values(function, records)
    tried, farthest, witness = 0, Fraction(-1), ((), ())
    for tried, (one, other) in enumerate(pairs, 1):  # noqa: B007 - the last number is how many there were
        distance = measure(values.of(one), values.of(other))
        if distance > farthest:
            farthest, witness = distance, (values.table(one), values.table(other))
    found: Fraction | Root = Root(farthest) if norm == "l2" and farthest > 0 else max(farthest, Fraction(0))
    return Searched(found, witness, tried, exhaustive)


class _Values:
    """The values of a function, of tables that are named by the places of their records in the domain."""

    def __init__(self, function: Callable[[Table], Any], domain: Table) -> None:
        self.function, self.domain = function, domain
        self.known: dict[Places, Value] = {}
        self.length: int | None = None

    def table(self, places: Places) -> Table:
        return tuple(self.domain[place] for place in places)

    def of(self, places: Places) -> Value:
        if places not in self.known:
            self.known[places] = self._read(self.function(self.table(places)))
        return self.known[places]

    def _read(self, value: Any) -> Value:
        numbers = [_rational(item) for item in _list_numbers(value)]
        if self.length is None:
            self.length = len(numbers)
        if len(numbers) != self.length:
            raise MechanismError("function-returns-other-length")
        return numbers


def _list_numbers(value: Any) -> list[Any]:
    try:
        numbers: list[Any] = read_numbers(value).ravel().tolist()
    except MechanismError:
        numbers = []
    if not numbers:
        raise MechanismError("function-returns-no-numbers", value=value)
    return numbers


def _rational(item: Any) -> int | Fraction:
    finite = item.is_finite() if isinstance(item, Decimal) else math.isfinite(item)
    if not finite:
        raise MechanismError("function-returns-infinity", value=item)
    return item if isinstance(item, int) else Fraction(*item.as_integer_ratio())


def _read_records(domain: Iterable[Any]) -> Table:
    records = tuple(domain) if isinstance(domain, Iterable) else ()
    if not records:
        raise MechanismError("domain-empty")
    return records


def _count_pairs(records: int, sizes: range, adjacency: Adjacency) -> int:
    """Return how many pairs there are."""
    others = 1 if adjacency is Adjacency.ADD_REMOVE else records - 1
    return sum(records**size * size * others for size in sizes)


def _list_all_pairs(records: int, sizes: range, adjacency: Adjacency) -> Iterator[tuple[Places, Places]]:
    for size in sizes:
        for table in itertools.product(range(records), repeat=size):
            for place in range(size):
                if adjacency is Adjacency.ADD_REMOVE:
                    yield table, table[:place] + table[place + 1 :]
                else:
                    for record in range(records):
                        if record != table[place]:
                            yield table, (*table[:place], record, *table[place + 1 :])


def _draw_pairs(
    records: int, size: int, adjacency: Adjacency, limit: int, bits: BitSource | None
) -> Iterator[tuple[Places, Places]]:
    for start in range(0, limit, _AT_ONCE):
        count = min(_AT_ONCE, limit - start)
        drawn = uniform_below(records, count * (size + 1), bits=bits).reshape(count, size + 1).tolist()
        places = uniform_below(size, count, bits=bits).tolist()
        for (*table, record), place in zip(drawn, places, strict=True):
            moved = [] if adjacency is Adjacency.ADD_REMOVE else [record]
            yield tuple(table), (*table[:place], *moved, *table[place + 1 :])


def _choose_distance(name: str) -> Callable[[Value, Value], Fraction]:
    """Return the distance in a norm; in the L2 norm, its square."""
    if name not in NORMS:
        raise MechanismError("parameter-not-one-of", choices=tuple(NORMS), value=name, name="norm")

    def distance(one: Value, other: Value) -> Fraction:
        apart = [abs(Fraction(a - b)) for a, b in zip(one, other, strict=True)]
        if name == "l1":
            return sum(apart, Fraction(0))
        return sum((a * a for a in apart), Fraction(0)) if name == "l2" else max(apart)

    return distance
