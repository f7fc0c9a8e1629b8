"""Monotone values: all move the same way between neighbours, and half of the noise is enough."""

from __future__ import annotations

from jali.errors import MechanismError
from jali.mechanisms.sensitivity import Sensitivity
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


def read_monotone(
    sensitivity: Number | Sensitivity, adjacency: str | Adjacency | None, *, monotone: bool
) -> tuple[bool, Adjacency | None]:
    """Return whether values are monotone, and the adjacency; refuse what cannot be true together.

    A `Sensitivity` knows both. Otherwise monotone values need the adjacency to be said.
    """
    if not isinstance(monotone, bool):
        raise MechanismError(f"monotone must be True or False, not {monotone!r}.")
    named = None if adjacency is None else Adjacency.of(adjacency)
    if isinstance(sensitivity, Sensitivity):
        _agree(sensitivity, named, monotone=monotone)
        named, monotone = sensitivity.adjacency, sensitivity.monotone
    if monotone and named is not Adjacency.ADD_REMOVE:
        raise MechanismError(
            "monotone values all move the same way between neighbours: counts do under add-remove, not under "
            "replace-one.",
            remedy="Say adjacency='add-remove' if the loss is meant so, or leave monotone out.",
        )
    return monotone, named


def _agree(sensitivity: Sensitivity, adjacency: Adjacency | None, *, monotone: bool) -> None:
    if adjacency not in (None, sensitivity.adjacency):
        raise MechanismError(
            f"adjacency is {adjacency}, but the sensitivity was declared for {sensitivity.adjacency}.",
            remedy="Leave adjacency out.",
        )
    if monotone and not sensitivity.monotone:
        raise MechanismError(
            "monotone: the sensitivity says that values may move either way.", remedy="Leave monotone out."
        )
