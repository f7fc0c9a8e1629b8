"""The most frequent category, told exactly if it leads by far; categories need not be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.keys.tables import counts_of
from jali.mechanisms.stability.applications.told import Told, prepared, tell
from jali.mechanisms.stability.stable_value import Stable
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_ASSUMED = ("Each unit has one category.", "There are more categories than one.")


def stable_mode(
    table: Mapping[Any, int] | Iterable[Any],
    *,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> Told:
    """Return the most frequent category, or decline.

    Args:
        table: One category for each unit, or a mapping of categories to numbers of units. What cannot be hashed
            or compared does not count.
        epsilon: The loss.
        delta: The probability of failure.
        adjacency: When two tables are neighbours.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The release is (epsilon, delta)-DP. Categories are not public: one that nobody has is never told. Where
        several lead together, or there is nobody, the exact answer is None.
    Proof:
        docs/proofs/stable_value.md, Lemma 3: the distance is the exact one.

    Example:
        >>> from jali.mechanisms import stable_mode
        >>> villages = ["Kesho"] * 60 + ["Jana"] * 20 + ["Leo"]
        >>> stable_mode(villages, epsilon=1, delta=1e-6, adjacency="add-remove")
        Told('Kesho', epsilon 1, delta 1e-06)
    """
    mechanism, neighbours = prepared(epsilon, delta, adjacency)
    counts = counted(table)
    return tell(most_frequent(counts, neighbours), mechanism, neighbours, _ASSUMED, bits)


def most_frequent(counts: Mapping[Any, int], adjacency: Adjacency) -> Stable:
    """Return the only most frequent category, or None, and its distance: a lead of g is g or ceil(g/2) changes."""
    numbers = sorted(counts.values())[-2:]
    second, first = ([0, 0] + [max(0, number) for number in numbers])[-2:]
    if first == second:
        return Stable(None, 0)
    answer = next(key for key, number in counts.items() if number == first)
    lead = first - second
    return Stable(answer, (lead if adjacency is Adjacency.ADD_REMOVE else (lead + 1) // 2) - 1)


def counted(table: Mapping[Any, int] | Iterable[Any]) -> Mapping[Any, int]:
    """Return the number of units of each category."""
    if isinstance(table, Mapping):
        counts_of(table)  # refuses counts that are no whole numbers by type
        return table
    if isinstance(table, str | bytes) or not isinstance(table, Iterable) or getattr(table, "ndim", 1) != 1:
        raise MechanismError("table must be a list of categories, or a mapping of categories to numbers.")
    counts: Counter[Any] = Counter()
    for category in table:
        _count(counts, category)
    return counts


def _count(counts: Counter[Any], category: Any) -> None:
    """Count a category; one that cannot be hashed or compared does not count, and no error tells of it."""
    with suppress(Exception):  # whatever it is, it would tell of the category
        counts[category] += 1
