"""Heavy hitter: which of several sets holds the most records."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.applications.choice import Choice, Counts, Task, keys_and_counts, selection_named
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_ASSUMED = (
    "The keys are public: they do not depend on the data.",
    "One unit adds at most `sensitivity` to each count, and lowers none.",
)


def heavy_hitter(
    counts: Counts,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    method: str = "permute-and-flip",
    confidence: float = 0.99,
    bits: BitSource | None = None,
) -> Choice:
    """Return the key of a largest count.

    Args:
        counts: A mapping of public keys to counts, such as `count_members` makes, or a list of counts. A record
            may be in any number of sets.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        sensitivity: How much one unit adds to a count at most.
        method: `permute-and-flip`, or `exponential`, whose loss is of bounded range.
        confidence: The chance that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Error:
        With d sets the chosen one is at most 2 ln(100 d)/epsilon records below the largest with probability 0.99
        under replace-one, and ln(100 d)/epsilon under add-remove; `error` is smaller than that.

    Example:
        >>> from jali.mechanisms import count_members, heavy_hitter
        >>> ages = [21, 25, 30, 34, 41, 43, 48, 70]
        >>> sets = {"twenties": range(20, 30), "over forty": range(40, 120), "even": lambda age: age % 2 == 0}
        >>> found = heavy_hitter(count_members(ages, sets), epsilon=1, adjacency="add-remove")
        >>> found.choice in sets, found.loss.event.epsilon, round(found.error, 2)
        (True, Fraction(1, 1), 4.6)
    """
    task = count_task(counts, epsilon=epsilon, adjacency=adjacency, sensitivity=sensitivity, method=method)
    return task.choose(confidence, bits)


def count_task(
    counts: Counts,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    method: str = "permute-and-flip",
    assumed: tuple[str, ...] = (),
) -> Task:
    """Return the choice of a largest count, not yet made."""
    keys, values = keys_and_counts(counts)
    neighbours = Adjacency.of(adjacency)
    mechanism = selection_named(method)(
        sensitivity=sensitivity,
        epsilon=epsilon,
        monotone=neighbours is Adjacency.ADD_REMOVE,
        adjacency=neighbours,
    )
    shape = {"candidates": len(keys)}
    return Task(mechanism, neighbours, values, keys.__getitem__, (*_ASSUMED, *assumed), shape)


def count_members(
    records: Iterable[Any], sets: Mapping[Any, Container[Any] | Callable[[Any], bool]]
) -> dict[Any, int]:
    """Count the records in each of several public sets.

    A record is not in a set that cannot tell: an exception of a predicate, or of a container that refuses the
    record, counts as "no". If it came through, it would tell that such a record is there.

    Args:
        records: One item for each record.
        sets: For each key a container (set, range, ...) or a predicate; it must not depend on the data. Try a
            predicate on records of your own first: one that always fails counts nothing.

    Example:
        >>> count_members(["a", "b", "a"], {"a": {"a"}, "vowels": {"a", "e"}})
        {'a': 2, 'vowels': 2}
    """
    if not isinstance(records, Iterable) or not isinstance(sets, Mapping):
        raise MechanismError("records-or-sets-wrong")
    listed = list(records)
    tests = {key: _test(key, member) for key, member in sets.items()}
    return {key: sum(_passes(test, record) for record in listed) for key, test in tests.items()}


def _test(key: Any, member: Container[Any] | Callable[[Any], bool]) -> Callable[[Any], bool]:
    if callable(member):
        return member
    if not isinstance(member, Container):
        raise MechanismError("set-not-a-container", key=key, kind=type(member).__name__)
    return member.__contains__


def _passes(test: Callable[[Any], bool], record: Any) -> bool:
    try:
        return bool(test(record))
    except Exception:  # whatever it is, it would tell of the record
        return False
