"""Any function of a small table, told exactly if no nearby table has another answer: found by trying them all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import natural
from jali.mechanisms.stability.applications.told import Told, prepared, tell
from jali.mechanisms.stability.stable_value import Stable
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

Counts: TypeAlias = tuple[int, ...]
Function: TypeAlias = Callable[[tuple[Any, ...]], Any]
_ASSUMED = ("The rows that a table may have are public.", "The function depends on its table alone.")


def stable_answer(
    function: Function,
    table: Iterable[Any],
    *,
    rows: Collection[Any],
    most: int,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> Told:
    """Return function(table) as it is if no table within some changes has another answer, or decline.

    All tables that are up to `most` changes away are tried. Their number grows as (2 r)^most for r possible
    rows under add-remove, and as r^(2 most) under replace-one: this is for small sets of rows and few changes.

    Args:
        function: Of a tuple of rows, which come in the order of `rows`. Its answers are the same if they are equal
            and have the same type and printed form. One that fails has the answer None; warnings are not shown.
        table: The rows of the table; one that is not among `rows` counts as the first of them.
        rows: All rows that a table may have, different and hashable; public.
        most: How many changes are tried at most; public. If none gives another answer, so many are counted.
        epsilon: The loss.
        delta: The probability of failure.
        adjacency: When two tables are neighbours.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The release is (epsilon, delta)-DP.
    Proof:
        docs/proofs/stable_value.md, Lemma 2: the distance is the exact one, up to `most`.

    Example:
        >>> from jali.mechanisms import stable_answer
        >>> majority = lambda votes: votes.count("yes") > votes.count("no")
        >>> votes = ["yes"] * 9 + ["no"] * 2
        >>> given = {"rows": ("yes", "no"), "most": 6, "adjacency": "add-remove"}
        >>> stable_answer(majority, votes, epsilon=8, delta=1e-6, **given).answer
        True
    """
    mechanism, neighbours = prepared(epsilon, delta, adjacency)
    if not callable(function):
        raise MechanismError("stable-function-wrong", kind=type(function).__name__)
    places, changes = _places(rows), natural(most, "most")
    start = _counts(table, places)
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # a warning would tell of the table
        warnings.simplefilter("ignore")
        found = _searched(_on_counts(function, list(places)), start, neighbours, changes)
    return tell(found, mechanism, neighbours, _ASSUMED, bits)


def _searched(answer: Callable[[Counts], Any], start: Counts, adjacency: Adjacency, most: int) -> Stable:
    """Return the answer at the start, and how many changes leave it the same, by trying ring after ring."""
    wanted, ring, seen = answer(start), {start}, {start}
    for distance in range(most):
        ring = {near for table in ring for near in _neighbours(table, adjacency)} - seen
        if any(_differ(answer(table), wanted) for table in ring):
            return Stable(wanted, distance)
        seen |= ring
    return Stable(wanted, most)


def _neighbours(table: Counts, adjacency: Adjacency) -> Iterator[Counts]:
    """Yield the tables that are one change away, by how often each row occurs."""
    fewer = [_moved(table, place, -1) for place, count in enumerate(table) if count]
    if adjacency is Adjacency.ADD_REMOVE:
        yield from fewer
        yield from (_moved(table, place, 1) for place in range(len(table)))
    else:
        yield from (_moved(left, place, 1) for left in fewer for place in range(len(table)))


def _moved(table: Counts, place: int, by: int) -> Counts:
    return (*table[:place], table[place] + by, *table[place + 1 :])


def _on_counts(function: Function, rows: list[Any]) -> Callable[[Counts], Any]:
    def answer(counts: Counts) -> Any:
        table = tuple(row for row, count in zip(rows, counts, strict=True) for _ in range(count))
        try:
            return function(table)
        except Exception:  # whatever it is, it would tell of the table
            return None

    return answer


def _differ(one: Any, other: Any) -> bool:
    """Tell whether two answers differ, or look different; those that cannot be compared do."""
    try:
        return type(one) is not type(other) or repr(one) != repr(other) or not bool(one == other)
    except Exception:  # whatever it is, it would tell of the answers
        return True


def _places(rows: Collection[Any]) -> dict[Hashable, int]:
    if isinstance(rows, str | bytes) or not isinstance(rows, Collection):
        raise MechanismError("stable-rows-wrong", kind=type(rows).__name__)
    try:
        places = {row: place for place, row in enumerate(rows)}
    except TypeError:
        raise MechanismError("stable-rows-not-hashable") from None
    if not places or len(places) < len(rows):
        raise MechanismError("stable-rows-repeated")
    return places


def _counts(table: Iterable[Any], places: dict[Hashable, int]) -> Counts:
    if isinstance(table, str | bytes) or not isinstance(table, Iterable):
        raise MechanismError("stable-table-wrong", kind=type(table).__name__)
    counts = [0] * len(places)
    for row in table:
        counts[_place(row, places)] += 1
    return tuple(counts)


def _place(row: Any, places: dict[Hashable, int]) -> int:
    try:
        return places.get(row, 0)
    except Exception:  # whatever it is, it would tell of the row
        return 0
