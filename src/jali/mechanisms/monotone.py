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
        raise MechanismError("parameter-not-boolean", value=monotone, name="monotone")
    named = None if adjacency is None else Adjacency.of(adjacency)
    if isinstance(sensitivity, Sensitivity):
        _agree(sensitivity, named, monotone=monotone)
        named, monotone = sensitivity.adjacency, sensitivity.monotone
    if monotone and named is not Adjacency.ADD_REMOVE:
        raise MechanismError("monotone-under-replace-one")
    return monotone, named


def _agree(sensitivity: Sensitivity, adjacency: Adjacency | None, *, monotone: bool) -> None:
    if adjacency not in (None, sensitivity.adjacency):
        raise MechanismError("adjacency-unlike-sensitivity", adjacency=adjacency, declared=sensitivity.adjacency)
    if monotone and not sensitivity.monotone:
        raise MechanismError("monotone-unlike-sensitivity")
