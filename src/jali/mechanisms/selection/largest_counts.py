"""Choose among public keys by their counts: the heavy hitter, the mode and the top k of plain data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import LogMasses, Mechanism, read_natural
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.gumbel_top_k import GumbelTopK
from jali.mechanisms.selection.joint_top_k import JointTopK
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number
from jali.sampling import BitSource

CountsByKey: TypeAlias = Mapping[Any, Any] | Sequence[Any] | NDArray[Any]
METHODS: Mapping[str, type[PermuteAndFlip] | type[Exponential]] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
}


@dataclass(frozen=True, repr=False)
class Choice:
    """A private choice, what it spent, and how good it is.

    Attributes:
        choice: What was chosen: a key, a ranking of keys, or a price.
        loss: What it spent.
        adjacency: When two tables are neighbours.
        error: How far the score of the choice is below the best score at most, with the confidence.
        confidence: The probability that this holds.
        mechanism: The mechanism that chose.
        assumed: What loss and error rest on.
    """

    choice: Any
    loss: Loss
    adjacency: Adjacency
    error: float
    confidence: float
    mechanism: Mechanism
    assumed: tuple[str, ...]

    def __repr__(self) -> str:
        sure = f"{100 * float(self.confidence):g} %"
        shown = str(self.choice) if isinstance(self.choice, Fraction) else repr(self.choice)
        return f"Choice({shown}, within {self.error:.3g} of the best at {sure}, {self.loss.event})"


@dataclass(frozen=True)
class SelectionTask:
    """A choice before it is made: holds the data, so that it never leaves the function that made it.

    Attributes:
        mechanism: What chooses.
        adjacency: When two tables are neighbours.
        value: What the mechanism is given.
        named: Turns what it releases into the answer.
        assumed: What loss and error rest on.
        shape: What the error depends on besides the confidence.
        unit: How much one unit of the mechanism's scores is.
    """

    mechanism: Mechanism
    adjacency: Adjacency
    value: Any = field(repr=False)
    named: Callable[[Any], Any] = field(repr=False)
    assumed: tuple[str, ...]
    shape: Mapping[str, Any] = field(default_factory=dict)
    unit: float = 1.0

    def choose(self, confidence: float, bits: BitSource | None) -> Choice:
        """Make the choice; the confidence is checked before anything is released."""
        error = float(self.mechanism.error(confidence, **self.shape)) * self.unit
        return Choice(
            choice=self.named(self.mechanism.release(self.value, bits=bits)),
            loss=self.mechanism.loss,
            adjacency=self.adjacency,
            error=error,
            confidence=confidence,
            mechanism=self.mechanism,
            assumed=self.assumed,
        )

    def log_masses(self) -> LogMasses:
        """Return ln Pr[answer] for each answer, for audits and tests on small cases."""
        return {self.named(output): mass for output, mass in self.mechanism.log_masses(self.value).items()}


def read_collection(values: Any, name: str) -> Any:
    """Return a list, an array or another collection, or refuse what is none: for its type alone."""
    no_list = isinstance(values, str | bytes) or not isinstance(values, Collection)
    if no_list or getattr(values, "shape", None) == ():
        raise MechanismError("parameter-not-a-list", name=name, kind=type(values).__name__)
    return values


def find_selection(method: str) -> type[PermuteAndFlip] | type[Exponential]:
    """Return the selection of this name, or refuse it."""
    if not isinstance(method, str) or method not in METHODS:
        names = tuple(METHODS)
        raise MechanismError("parameter-not-among", choices=names, value=method, name="method")
    return METHODS[method]


def read_keys_and_counts(counts: CountsByKey) -> tuple[list[Any], Any]:
    """Return the public keys and their counts: of a mapping or a pandas Series, or of a list, by its indices."""
    values: Any
    if callable(getattr(counts, "items", None)):
        pairs = list(counts.items())  # type: ignore[union-attr]
        keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    else:
        keys, values = list(range(len(read_collection(counts, "counts")))), counts
    if not keys:
        raise MechanismError("nothing-to-choose-from", name="counts")
    if not isinstance(values, np.ndarray) and any(isinstance(value, str | bytes) for value in values):
        raise MechanismError("counts-are-text")
    return keys, values


_HEAVY_HITTER_ASSUMPTIONS = (
    "The keys are public: they do not depend on the data.",
    "One unit adds at most `sensitivity` to each count, and lowers none.",
)


def heavy_hitter(
    counts: CountsByKey,
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
        confidence: The probability that the error holds.
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
    task = build_count_task(counts, epsilon=epsilon, adjacency=adjacency, sensitivity=sensitivity, method=method)
    return task.choose(confidence, bits)


def build_count_task(
    counts: CountsByKey,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    method: str = "permute-and-flip",
    assumed: tuple[str, ...] = (),
) -> SelectionTask:
    """Return the choice of a largest count, not yet made."""
    keys, values = read_keys_and_counts(counts)
    neighbours = Adjacency.of(adjacency)
    mechanism = find_selection(method)(
        sensitivity=sensitivity,
        epsilon=epsilon,
        monotone=neighbours is Adjacency.ADD_REMOVE,
        adjacency=neighbours,
    )
    shape = {"candidates": len(keys)}
    return SelectionTask(
        mechanism, neighbours, values, keys.__getitem__, (*_HEAVY_HITTER_ASSUMPTIONS, *assumed), shape
    )


def count_members(
    records: Iterable[Any], sets: Mapping[Any, Container[Any] | Callable[[Any], bool]]
) -> dict[Any, int]:
    """Count the records in each of several public sets.

    A record is not in a set that cannot say so: an exception of a predicate, or of a container that refuses the
    record, counts as "no". If it came through, it would reveal that such a record is there.

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
    except Exception:  # whatever it is, it would reveal the record
        return False


def mode(
    values: Iterable[Any],
    keys: Sequence[Any],
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    method: str = "permute-and-flip",
    confidence: float = 0.99,
    bits: BitSource | None = None,
) -> Choice:
    """Return a most frequent value among public keys.

    Args:
        values: One value for each unit; those that are not among the keys, or cannot be compared with them, do
            not count.
        keys: The values that may be returned, all different; they must not depend on the data.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        method: `permute-and-flip`, or `exponential`, whose loss is of bounded range.
        confidence: The probability that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import mode
        >>> colours = ["red"] * 40 + ["blue"] * 3
        >>> keys = ["red", "green", "blue"]
        >>> mode(colours, keys, epsilon=2, adjacency="add-remove").choice in keys
        True
    """
    return build_mode_task(values, keys, epsilon=epsilon, adjacency=adjacency, method=method).choose(
        confidence, bits
    )


def build_mode_task(values: Iterable[Any], keys: Sequence[Any], **given: Any) -> SelectionTask:
    """Return the choice of a most frequent value, not yet made."""
    if not isinstance(values, Iterable) or len(getattr(values, "shape", (0,))) != 1:
        raise MechanismError("values-not-a-column", kind=type(values).__name__)
    counts = _zeros(keys)
    for value in values:
        if _among(counts, value):
            counts[value] += 1
    return build_count_task(counts, assumed=("Each unit has one value.",), **given)


def _zeros(keys: Sequence[Any]) -> dict[Any, int]:
    try:
        counts = dict.fromkeys(read_collection(keys, "keys"), 0)
    except TypeError:
        raise MechanismError("keys-not-hashable") from None
    if not counts:
        raise MechanismError("nothing-to-choose-from", name="keys")
    if len(counts) < len(keys):
        raise MechanismError("keys-repeated")
    return counts


def _among(counts: dict[Any, int], value: Any) -> bool:
    """Return whether a value is a key; one that cannot be hashed or compared is not, and no error reveals it."""
    try:
        return value in counts
    except Exception:  # whatever it is, it would reveal the value
        return False


Mechanisms: TypeAlias = Literal["joint", "gumbel"]
_TOP_K_ASSUMPTIONS = (
    "The keys are public: they do not depend on the data.",
    "One unit adds at most `sensitivity` to each count, and lowers none.",
    "The error is about every place i: its count is at most so far below the i-th largest.",
)


def top_k(
    counts: CountsByKey,
    k: int,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    mechanism: Mechanisms = "joint",
    confidence: float = 0.99,
    bits: BitSource | None = None,
) -> Choice:
    """Return the keys of k large counts, largest first.

    Args:
        counts: A mapping of public keys to counts, or a list of counts. A record may count for any number of keys.
        k: How many.
        epsilon: The loss of the whole ranking.
        adjacency: When two tables are neighbours.
        sensitivity: How much one unit adds to a count at most.
        mechanism: `joint` chooses the ranking at once; `gumbel` picks one key after the other, which composes
            better with many other releases (its zCDP loss is epsilon^2/(8k)).
        confidence: The probability that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import top_k
        >>> films = {"Ran": 90, "Heat": 40, "Alien": 75, "Big": 2}
        >>> ranked = top_k(films, 2, epsilon=1, adjacency="add-remove")
        >>> len(ranked.choice), set(ranked.choice) <= set(films)
        (2, True)
    """
    task = build_top_k_task(
        counts, k, epsilon=epsilon, adjacency=adjacency, sensitivity=sensitivity, mechanism=mechanism
    )
    return task.choose(confidence, bits)


def build_top_k_task(
    counts: CountsByKey,
    k: int,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    sensitivity: Number = 1,
    mechanism: Mechanisms = "joint",
) -> SelectionTask:
    """Return the choice of k large counts, not yet made."""
    if mechanism not in get_args(Mechanisms):
        raise MechanismError("top-k-mechanism-unknown", mechanism=mechanism)
    keys, values = read_keys_and_counts(counts)
    if read_natural(k, "k") > len(keys):
        raise MechanismError("top-k-too-few-keys", k=k, count=len(keys))
    neighbours = Adjacency.of(adjacency)
    chooser: JointTopK | GumbelTopK
    if mechanism == "joint":
        chooser = JointTopK(k=k, sensitivity=sensitivity, epsilon=epsilon, adjacency=neighbours)
    else:
        monotone = neighbours is Adjacency.ADD_REMOVE
        chooser = GumbelTopK(
            k=k, sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, adjacency=neighbours
        )
    shape = {"candidates": len(keys)}
    return SelectionTask(
        chooser, neighbours, values, lambda ranks: tuple(keys[rank] for rank in ranks), _TOP_K_ASSUMPTIONS, shape
    )
