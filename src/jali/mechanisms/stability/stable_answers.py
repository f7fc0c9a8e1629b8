"""Release exact answers where no nearby table has another one: the mode, the best candidate, or any function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.global_sensitivity import Sensitivity, read_l_infinity_distance, read_monotone
from jali.mechanisms.lattice import read_step
from jali.mechanisms.partition_selection.key_tables import KeyForm, read_counts
from jali.mechanisms.selection.largest_counts import CountsByKey, read_keys_and_counts
from jali.mechanisms.selection.scores import Scores, read_scores, round_up_to_steps
from jali.mechanisms.stability.acceptance import DECLINED
from jali.mechanisms.stability.stable_value import Stable, StableValue
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number
from jali.sampling import BitSource


@dataclass(frozen=True, repr=False)
class StableAnswer:
    """An exact answer or none, and what it spent: the same in both cases.

    Attributes:
        answer: The answer, or `DECLINED`.
        loss: What it spent.
        adjacency: When two tables are neighbours.
        mechanism: The mechanism that released it.
        assumed: What the loss rests on.
    """

    answer: Any
    loss: Loss
    adjacency: Adjacency
    mechanism: StableValue
    assumed: tuple[str, ...]

    @property
    def declined(self) -> bool:
        """Whether there is no answer."""
        return self.answer is DECLINED

    def __repr__(self) -> str:
        return f"StableAnswer({self.answer!r}, {self.loss.event})"


def release_stable(
    stable: Stable,
    mechanism: StableValue,
    adjacency: Adjacency,
    assumed: tuple[str, ...],
    bits: BitSource | None,
) -> StableAnswer:
    """Release a stable value and say what it spent."""
    return StableAnswer(mechanism.release(stable, bits=bits), mechanism.loss, adjacency, mechanism, assumed)


def prepare_stable_value(
    epsilon: Number, delta: Number, adjacency: str | Adjacency
) -> tuple[StableValue, Adjacency]:
    """Read what every application is given, before any data is touched."""
    return StableValue(epsilon=epsilon, delta=delta), Adjacency.of(adjacency)


_MODE_ASSUMPTIONS = ("Each unit has one category.", "There are more categories than one.")


def stable_mode(
    table: Mapping[Any, int] | Iterable[Any],
    *,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> StableAnswer:
    """Return the most frequent category, or decline.

    Args:
        table: One category for each unit, or a mapping of categories to numbers of units. What cannot be hashed
            or printed does not count. Categories are distinguished by type and printed form: 1, 1.0 and True are
            three, and so are 0.0 and -0.0 two.
        epsilon: The loss.
        delta: The probability of failure.
        adjacency: When two tables are neighbours.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The release is (epsilon, delta)-DP. Categories are not public: one that nobody has is never released. Where
        several lead together, or there is nobody, the exact answer is None.
    Proof:
        docs/proofs/stable_value.md, Lemma 3: the distance is the exact one.

    Example:
        >>> from jali.mechanisms import stable_mode
        >>> villages = ["Kesho"] * 60 + ["Jana"] * 20 + ["Leo"]
        >>> stable_mode(villages, epsilon=1, delta=1e-6, adjacency="add-remove")
        StableAnswer('Kesho', epsilon 1, delta 1e-06)
    """
    mechanism, neighbours = prepare_stable_value(epsilon, delta, adjacency)
    form, distance = most_frequent(count_categories(table), neighbours)
    answer = None if form is None else form.category
    return release_stable(Stable(answer, distance), mechanism, neighbours, _MODE_ASSUMPTIONS, bits)


def most_frequent(counts: Mapping[Any, int], adjacency: Adjacency) -> Stable:
    """Return the only most frequent category, or None, and its distance: a lead of g is g or ceil(g/2) changes."""
    numbers = sorted(int(number) for number in counts.values())[-2:]
    second, first = ([0, 0] + [max(0, number) for number in numbers])[-2:]
    if first == second:
        return Stable(None, 0)
    answer = next(key for key, number in counts.items() if number == first)
    lead = first - second
    return Stable(answer, (lead if adjacency is Adjacency.ADD_REMOVE else (lead + 1) // 2) - 1)


def count_categories(table: Mapping[Any, int] | Iterable[Any]) -> Mapping[KeyForm, int]:
    """Return the number of units of each category, by its form: Python ints, which do not wrap."""
    if isinstance(table, Mapping):
        read_counts(table)  # refuses counts that are no whole numbers by type
        return _by_form((category, max(0, int(units))) for category, units in table.items())
    if isinstance(table, str | bytes) or not isinstance(table, Iterable) or getattr(table, "ndim", 1) != 1:
        raise MechanismError("stable-mode-table-wrong")
    return _by_form((category, 1) for category in table)


def _by_form(units: Iterable[tuple[Any, int]]) -> Mapping[KeyForm, int]:
    """Add up units; a category that cannot be hashed or printed does not count, and nothing reveals it."""
    counts: dict[tuple[type, str], int] = {}
    categories: dict[tuple[type, str], Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category, number in units:
            with suppress(Exception):  # whatever it is, it would reveal the category
                hash(category)
                form = type(category), repr(category)
                counts[form] = counts.get(form, 0) + number
                categories.setdefault(form, category)
    return {KeyForm(*form, categories[form]): number for form, number in counts.items()}


_BEST_ASSUMPTIONS = (
    "The candidates are public: they do not depend on the data.",
    "The score of each candidate changes by at most `sensitivity` between neighbours.",
)


def stable_best(
    scores: CountsByKey,
    *,
    sensitivity: Number | Sensitivity,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    monotone: bool = False,
    step: Number | None = None,
    bits: BitSource | None = None,
) -> StableAnswer:
    """Return the candidate of the largest score, or decline.

    Args:
        scores: A mapping of public candidates to scores, or a list of scores.
        sensitivity: How far the score of one candidate can change between neighbours.
        epsilon: The loss.
        delta: The probability of failure.
        adjacency: When two tables are neighbours.
        monotone: Whether all scores change in the same direction, as counts do under add-remove.
        step: The lattice for real scores; without it they are integers or Fractions.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The release is (epsilon, delta)-DP. Where several candidates lead together the exact answer is None.
    Proof:
        docs/proofs/stable_value.md, Lemma 4: a lead of g takes at least g/(2 sensitivity) changes, or
        g/sensitivity where scores are monotone, and no more can be said from the sensitivity alone.

    Example:
        >>> from jali.mechanisms import stable_best
        >>> likes = {"Ran": 900, "Heat": 400, "Alien": 750}
        >>> stable_best(likes, sensitivity=1, epsilon=1, delta=1e-6, adjacency="replace-one").answer
        'Ran'
    """
    mechanism, neighbours = prepare_stable_value(epsilon, delta, adjacency)
    together, _ = read_monotone(sensitivity, neighbours, monotone=monotone)
    lattice = read_step(step)
    moved = round_up_to_steps(read_l_infinity_distance(sensitivity), lattice) * (1 if together else 2)
    keys, values = read_keys_and_counts(scores)
    return release_stable(
        best_of(keys, read_scores(values, lattice), moved), mechanism, neighbours, _BEST_ASSUMPTIONS, bits
    )


def best_of(keys: list[Any], scores: Scores, moved: Any) -> Stable:
    """Return the only best key, or None, and ceil(lead/moved) - 1: one change moves a lead by at most `moved`."""
    if len(scores) == 1:
        return Stable(keys[0], 1 << 62)
    gaps = scores.gaps()
    best = int(np.argmin(gaps))
    lead = min(int(gap) for place, gap in enumerate(gaps.tolist()) if place != best) * scores.unit
    return Stable(keys[best], -(-lead // moved) - 1) if lead > 0 else Stable(None, 0)


RowCounts: TypeAlias = tuple[int, ...]
TableFunction: TypeAlias = Callable[[tuple[Any, ...]], Any]
_ANSWER_ASSUMPTIONS = ("The rows that a table may have are public.", "The function depends on its table alone.")


def stable_answer(
    function: TableFunction,
    table: Iterable[Any],
    *,
    rows: Collection[Any],
    most: int,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> StableAnswer:
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
    mechanism, neighbours = prepare_stable_value(epsilon, delta, adjacency)
    if not callable(function):
        raise MechanismError("stable-function-wrong", kind=type(function).__name__)
    places, changes = _places(rows), read_natural(most, "most")
    start = _counts(table, places)
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # a warning would depend on the table
        warnings.simplefilter("ignore")
        found = _search(_on_counts(function, list(places)), start, neighbours, changes)
    return release_stable(found, mechanism, neighbours, _ANSWER_ASSUMPTIONS, bits)


def _search(answer: Callable[[RowCounts], Any], start: RowCounts, adjacency: Adjacency, most: int) -> Stable:
    """Return the answer at the start, and how many changes leave it the same, by trying ring after ring."""
    wanted, ring, seen = answer(start), {start}, {start}
    for distance in range(most):
        ring = {near for table in ring for near in _neighbours(table, adjacency)} - seen
        if any(_differ(answer(table), wanted) for table in ring):
            return Stable(wanted, distance)
        seen |= ring
    return Stable(wanted, most)


def _neighbours(table: RowCounts, adjacency: Adjacency) -> Iterator[RowCounts]:
    """Yield the tables that are one change away, by how often each row occurs."""
    fewer = [_move(table, place, -1) for place, count in enumerate(table) if count]
    if adjacency is Adjacency.ADD_REMOVE:
        yield from fewer
        yield from (_move(table, place, 1) for place in range(len(table)))
    else:
        yield from (_move(left, place, 1) for left in fewer for place in range(len(table)))


def _move(table: RowCounts, place: int, by: int) -> RowCounts:
    return (*table[:place], table[place] + by, *table[place + 1 :])


def _on_counts(function: TableFunction, rows: list[Any]) -> Callable[[RowCounts], Any]:
    def answer(counts: RowCounts) -> Any:
        table = tuple(row for row, count in zip(rows, counts, strict=True) for _ in range(count))
        try:
            return function(table)
        except Exception:  # whatever it is, it would reveal the table
            return None

    return answer


def _differ(one: Any, other: Any) -> bool:
    """Return whether two answers differ, or look different; those that cannot be compared do."""
    try:
        return type(one) is not type(other) or repr(one) != repr(other) or not bool(one == other)
    except Exception:  # whatever it is, it would reveal the answers
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


def _counts(table: Iterable[Any], places: dict[Hashable, int]) -> RowCounts:
    if isinstance(table, str | bytes) or not isinstance(table, Iterable):
        raise MechanismError("stable-table-wrong", kind=type(table).__name__)
    counts = [0] * len(places)
    for row in table:
        counts[_place(row, places)] += 1
    return tuple(counts)


def _place(row: Any, places: dict[Hashable, int]) -> int:
    try:
        return places.get(row, 0)
    except Exception:  # whatever it is, it would reveal the row
        return 0
