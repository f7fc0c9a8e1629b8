"""How many pairs of people share a key: a count whose local sensitivity changes by 1 only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jali.mechanisms.stability.applications.stable_mode import counted
from jali.mechanisms.stability.bounded_sensitivity import Measured


def shared_pairs(table: Mapping[Any, int] | Iterable[Any]) -> Measured:
    """Return the number of pairs of people with the same key, and its local sensitivity under add-remove.

    One person more joins at most the largest group and makes as many pairs as it has members; the size of the
    largest group changes by at most 1 (`drift=1`). Both numbers are exact: release them by `BoundedSensitivity`.

    Args:
        table: One key for each person, or a mapping of keys to numbers of people.

    Proof:
        docs/proofs/bounded_sensitivity.md, Lemma 2.

    Example:
        >>> shared_pairs(["a", "a", "a", "b", "b", "c"])
        Measured(value=4, local=3)
    """
    sizes = list(counted(table).values())
    return Measured(sum(size * (size - 1) // 2 for size in sizes), max(sizes, default=0))
