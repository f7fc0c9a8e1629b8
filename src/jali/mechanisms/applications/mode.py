"""Mode: the most frequent value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.applications.choice import Choice, Task
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
        values: One value for each unit; those that are not among the keys do not count.
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
    counts = dict.fromkeys(keys, 0)
    if len(counts) < len(keys):
        raise MechanismError("keys must all be different.")
    for value, count in Counter(values).items():
        if value in counts:
            counts[value] += count
    return count_task(counts, assumed=("Each unit has one value.",), **given)
