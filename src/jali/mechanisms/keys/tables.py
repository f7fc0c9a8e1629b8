"""Tables of people per key: read with their types checked, released in an order that tells nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.keys.forms import one_form
from jali.mechanisms.mechanism import natural
from jali.mechanisms.values import integers_in
from jali.noise import BitSource, system_bits

Key = TypeVar("Key", bound=Hashable)
_NO_COUNTS = (bool, np.timedelta64)  # numpy calls time spans integers


def counts_of(table: Mapping[Any, int]) -> NDArray[Any]:
    """Return the numbers of people, in the table's order: int64, or Python ints where that is too narrow."""
    if not isinstance(table, Mapping):
        raise MechanismError("key-counts-not-a-mapping")
    counts = list(table.values())
    if not all(issubclass(kind, int | np.integer) and kind not in _NO_COUNTS for kind in set(map(type, counts))):
        raise MechanismError("key-counts-not-whole")
    # Left to itself, numpy makes doubles of integers such as 2**63 and -1 together.
    try:
        return np.array(counts, np.int64)
    except OverflowError:
        return np.array([int(count) for count in counts], dtype=object)


def counts_in(array: Any) -> NDArray[Any]:
    """Return numbers of people as they stand, one for each key: integers by type, in one dimension."""
    counts = integers_in(array)
    if counts.ndim != 1 or counts.dtype == np.bool_:
        raise MechanismError("key-counts-not-an-array")
    return counts


def in_public_order(keys: Collection[Key]) -> list[Key]:
    """Return keys in an order that their set determines.

    The order of a table can tell who came first. Keys are sorted as they are if all are texts, and by type and
    printed form otherwise, which is a function of the keys that are released and of nothing else.
    """
    if set(map(type, keys)) <= {str}:
        return sorted(keys)  # type: ignore[type-var]
    return sorted(keys, key=lambda key: (type(key).__qualname__, repr(key)))


def people_per_key(
    records: Iterable[tuple[Hashable, Key]], *, max_keys: int, bits: BitSource | None = None
) -> dict[Key, int]:
    """Count the people of each key, where each person counts for at most `max_keys` keys.

    Args:
        records: Pairs (person, key), in any order and any number of times. Keys that are equal are told in one
            form: numbers as ints where they are whole, as `one_form` says.
        max_keys: How many keys a person may count for; of more, a uniformly random choice counts.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        A person's choice is uniform among the person's keys and independent of all other people and of the order
        of the records; so without the person the counts of at most `max_keys` keys have one less, and no others
        change their law.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 1.

    Example:
        >>> people_per_key([("ann", "a"), ("ann", "a"), ("bob", "a")], max_keys=1)
        {'a': 2}
        >>> sum(people_per_key([("ann", "a"), ("ann", "b"), ("ann", "c")], max_keys=2).values())
        2
    """
    most = natural(max_keys, "max_keys")
    pairs = _pairs(records)
    numbers: dict[Hashable, int] = {}
    people = np.array([numbers.setdefault(person, len(numbers)) for person, _ in pairs], np.int64)
    kept = _chosen(people, most, system_bits() if bits is None else bits)
    return dict(Counter(key for _, key in compress(pairs, kept.tolist())))


def _pairs(records: Iterable[tuple[Hashable, Key]]) -> list[tuple[Hashable, Key]]:
    """Return the different records, or refuse them by type."""
    try:
        return list(dict.fromkeys((person, one_form(key)) for person, key in records))
    except (TypeError, ValueError) as problem:
        raise MechanismError("key-records-not-pairs") from problem


def _chosen(people: NDArray[np.int64], most: int, bits: BitSource) -> NDArray[np.bool_]:
    """Choose at most so many places of each person, uniformly."""
    order, ranks = _shuffled(people, bits)
    kept = np.zeros(len(people), np.bool_)
    kept[order] = ranks < most
    return kept


def _shuffled(people: NDArray[np.int64], bits: BitSource) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the places by person, each person's own in uniformly random order, and their ranks in it."""
    while True:
        tags = bits.words(len(people))
        order = np.lexsort((tags, people))
        sorted_people, sorted_tags = people[order], tags[order]
        same = sorted_people[1:] == sorted_people[:-1]
        # Among tags that are all different every order is equally likely; equal ones are drawn again.
        if not (same & (sorted_tags[1:] == sorted_tags[:-1])).any():
            break
    places = np.arange(len(people))
    starts = np.flatnonzero(np.concatenate(([True], ~same))) if len(people) else places
    ranks = places - np.repeat(starts, np.diff(np.append(starts, len(people))))
    return order, ranks
