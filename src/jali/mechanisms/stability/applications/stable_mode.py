"""The most frequent category, told exactly if it leads by far; categories need not be known."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.keys.forms import Form
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
            or printed does not count. Categories are told apart by type and printed form: 1, 1.0 and True are
            three, and so are 0.0 and -0.0 two.
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
    form, distance = most_frequent(counted(table), neighbours)
    answer = None if form is None else form.category
    return tell(Stable(answer, distance), mechanism, neighbours, _ASSUMED, bits)


def most_frequent(counts: Mapping[Any, int], adjacency: Adjacency) -> Stable:
    """Return the only most frequent category, or None, and its distance: a lead of g is g or ceil(g/2) changes."""
    numbers = sorted(int(number) for number in counts.values())[-2:]
    second, first = ([0, 0] + [max(0, number) for number in numbers])[-2:]
    if first == second:
        return Stable(None, 0)
    answer = next(key for key, number in counts.items() if number == first)
    lead = first - second
    return Stable(answer, (lead if adjacency is Adjacency.ADD_REMOVE else (lead + 1) // 2) - 1)


def counted(table: Mapping[Any, int] | Iterable[Any]) -> Mapping[Form, int]:
    """Return the number of units of each category, by its form: Python ints, which do not wrap."""
    if isinstance(table, Mapping):
        counts_of(table)  # refuses counts that are no whole numbers by type
        return _by_form((category, max(0, int(units))) for category, units in table.items())
    if isinstance(table, str | bytes) or not isinstance(table, Iterable) or getattr(table, "ndim", 1) != 1:
        raise MechanismError("stable-mode-table-wrong")
    return _by_form((category, 1) for category in table)


def _by_form(units: Iterable[tuple[Any, int]]) -> Mapping[Form, int]:
    """Add up units; a category that cannot be hashed or printed does not count, and nothing tells of it."""
    counts: dict[tuple[type, str], int] = {}
    categories: dict[tuple[type, str], Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category, number in units:
            with suppress(Exception):  # whatever it is, it would tell of the category
                hash(category)
                form = type(category), repr(category)
                counts[form] = counts.get(form, 0) + number
                categories.setdefault(form, category)
    return {Form(*form, categories[form]): number for form, number in counts.items()}
