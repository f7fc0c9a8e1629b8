"""Mode: the most frequent value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.applications.choice import Choice, Task, sized
from jali.mechanisms.applications.heavy_hitter import count_task
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


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
        confidence: The chance that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import mode
        >>> colours = ["red"] * 40 + ["blue"] * 3
        >>> keys = ["red", "green", "blue"]
        >>> mode(colours, keys, epsilon=2, adjacency="add-remove").choice in keys
        True
    """
    return mode_task(values, keys, epsilon=epsilon, adjacency=adjacency, method=method).choose(confidence, bits)


def mode_task(values: Iterable[Any], keys: Sequence[Any], **given: Any) -> Task:
    """Return the choice of a most frequent value, not yet made."""
    if not isinstance(values, Iterable) or len(getattr(values, "shape", (0,))) != 1:
        raise MechanismError("values-not-a-column", kind=type(values).__name__)
    counts = _zeros(keys)
    for value in values:
        if _among(counts, value):
            counts[value] += 1
    return count_task(counts, assumed=("Each unit has one value.",), **given)


def _zeros(keys: Sequence[Any]) -> dict[Any, int]:
    try:
        counts = dict.fromkeys(sized(keys, "keys"), 0)
    except TypeError:
        raise MechanismError("keys-not-hashable") from None
    if not counts:
        raise MechanismError("nothing-to-choose-from", name="keys")
    if len(counts) < len(keys):
        raise MechanismError("keys-repeated")
    return counts


def _among(counts: dict[Any, int], value: Any) -> bool:
    """Tell whether a value is a key; one that cannot be hashed or compared is not, and no error tells of it."""
    try:
        return value in counts
    except Exception:  # whatever it is, it would tell of the value
        return False
