"""Questions about generated people, in SQL."""

from __future__ import annotations

import numpy as np

from jali.attacks.arrays import Members
from jali.attacks.oracles.people import TABLE

EACH_PERSON = f"SELECT id, COUNT(*) FROM {TABLE} WHERE trait = 1 GROUP BY id ORDER BY id"


def count_of(condition: str) -> str:
    """Write the question how many people meet a condition."""
    return f"SELECT COUNT(*) FROM {TABLE} WHERE {condition}"


def phrase(members: Members, *, nobody: int | None = None) -> str:
    """Write the question how many people of a subset have the trait.

    Args:
        members: Who is in the subset.
        nobody: A number that nobody has. With it, the question is another one and its answer has the same law.

    Example:
        >>> phrase(np.array([True, False, True]))
        'SELECT COUNT(*) FROM people WHERE trait = 1 AND id IN (0, 2)'
    """
    numbers = [*np.flatnonzero(members).tolist(), *([] if nobody is None else [nobody])]
    listed = ", ".join(map(str, numbers or [len(members)]))
    return count_of(f"trait = 1 AND id IN ({listed})")
