"""Read tables of people per key, count the people of each key, and order keys publicly.

Keys have one canonical form: 1, 1.0 and True are equal, and so are 0.0 and -0.0. A table that kept the form of
its first record would reveal whose it was. Released keys come in an order that their set determines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.exact_values import read_integers
from jali.sampling import BitSource, system_bits

_REAL = (int, np.integer, np.bool_, float, np.floating, Fraction, Decimal)
_MOST_DIGITS = 2000  # above and below the line of a fraction: Python refuses to print 4300 and more
_LARGE = 10 ** (_MOST_DIGITS + 1)
_LARGE_BITS = _LARGE.bit_length()


@dataclass(frozen=True)
class KeyForm:
    """How a category looks: its type and its printed form. Categories of one form count as one.

    Attributes:
        kind: The type.
        text: The printed form.
        category: The category itself; forms are compared by the other two alone.
    """

    kind: type
    text: str
    category: Any = field(compare=False)


def canonicalize_key(key: Any) -> Any:
    """Return a key in the form in which all numbers and texts that are equal to it are released.

    Whole numbers of any type become ints, others floats where a double is exact and Fractions elsewhere; NaN is
    one key, and so are all numbers of more than 2000 digits. Tuples and frozensets are read item by item. Every
    other key stays as it is.

    Guarantee:
        It is a function of the key alone. Numbers and texts that are equal get the same type and printed form.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 5.

    Example:
        >>> [canonicalize_key(key) for key in (True, 1.0, -0.0, 2.5, "a", (1.0, "b"))]
        [1, 1, 0, 2.5, 'a', (1, 'b')]
    """
    if type(key) is str or (type(key) is int and key.bit_length() < _LARGE_BITS):
        return key
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bytes):
        return bytes.__add__(key, b"")
    if isinstance(key, tuple | frozenset):
        return (tuple if isinstance(key, tuple) else frozenset)(canonicalize_key(item) for item in key)
    return _canonicalize_number(key)


def _canonicalize_number(key: Any) -> Any:
    if isinstance(key, complex | np.complexfloating):
        plain = complex(key)
        return _canonicalize_number(plain.real) if plain.imag == 0 else complex(plain.real + 0.0, plain.imag + 0.0)
    if isinstance(key, np.timedelta64) or not isinstance(key, _REAL):  # numpy calls time spans integers
        return key
    if isinstance(key, Decimal):
        return _canonicalize_decimal(key)
    if isinstance(key, float | np.floating) and not np.isfinite(key):
        return math.nan if np.isnan(key) else math.inf if key > 0 else -math.inf
    if isinstance(key, float | np.float32 | np.float16):  # the same as below, in less time
        return _shorten_whole(float(key))
    exact = int(key) if isinstance(key, np.integer | np.bool_) else key
    return _canonicalize_rational(Fraction(*exact.as_integer_ratio()))


def _canonicalize_decimal(key: Decimal) -> int | float | Fraction:
    """Return the value of a Decimal, of which very large and very small ones are not written out."""
    if key.is_nan():
        return math.nan
    if key.is_infinite() or (key and key.adjusted() > _MOST_DIGITS):
        return -math.inf if key.is_signed() else math.inf
    return 0 if not key or key.adjusted() <= -_MOST_DIGITS - 2 else _canonicalize_rational(Fraction(key))


def _canonicalize_rational(exact: Fraction) -> int | float | Fraction:
    if abs(exact) >= _LARGE:
        return math.inf if exact > 0 else -math.inf
    if abs(exact) * _LARGE < 1:
        return 0
    if exact.denominator == 1:
        return exact.numerator
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = round(exact)
    # A denominator that is too long to print gives way to the nearest number.
    return exact if nearest != exact and exact.denominator < _LARGE else _shorten_whole(nearest)


def _shorten_whole(nearest: float) -> int | float:
    """Return a whole number as an int."""
    return int(nearest) if nearest == int(nearest) else nearest


Key = TypeVar("Key", bound=Hashable)
_NO_COUNTS = (bool, np.timedelta64)  # numpy calls time spans integers


def read_counts(table: Mapping[Any, int]) -> NDArray[Any]:
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


def check_counts(array: Any) -> NDArray[Any]:
    """Return numbers of people as they stand, one for each key: integers by type, in one dimension."""
    counts = read_integers(array)
    if counts.ndim != 1 or counts.dtype == np.bool_:
        raise MechanismError("key-counts-not-an-array")
    return counts


def sort_keys(keys: Collection[Key]) -> list[Key]:
    """Return keys in an order that their set determines.

    The order of a table can reveal who came first. Keys are sorted as they are if all are texts, and by type and
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
        records: Pairs (person, key), in any order and any number of times. Keys that are equal are released in one
            form: numbers as ints where they are whole, as `canonicalize_key` says.
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
    most = read_natural(max_keys, "max_keys")
    pairs = _list_pairs(records)
    numbers: dict[Hashable, int] = {}
    people = np.array([numbers.setdefault(person, len(numbers)) for person, _ in pairs], np.int64)
    kept = _choose_places(people, most, system_bits() if bits is None else bits)
    return dict(Counter(key for _, key in compress(pairs, kept.tolist())))


def _list_pairs(records: Iterable[tuple[Hashable, Key]]) -> list[tuple[Hashable, Key]]:
    """Return the different records, or refuse them by type."""
    try:
        return list(dict.fromkeys((person, canonicalize_key(key)) for person, key in records))
    except (TypeError, ValueError) as problem:
        raise MechanismError("key-records-not-pairs") from problem


def _choose_places(people: NDArray[np.int64], most: int, bits: BitSource) -> NDArray[np.bool_]:
    """Choose at most so many places of each person, uniformly."""
    order, ranks = _shuffle_places(people, bits)
    kept = np.zeros(len(people), np.bool_)
    kept[order] = ranks < most
    return kept


def _shuffle_places(people: NDArray[np.int64], bits: BitSource) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
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
