"""Broken twins of selection. They take generated data only."""

from __future__ import annotations

from jali.audit.registry import Registration
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.bounded_range import BoundedRange

_MOVED = ((100, 99), (99, 100))
_COUNTS = Exponential(sensitivity=1, epsilon="7/10", monotone=True, adjacency="add-remove")
_FLIPS = PermuteAndFlip(sensitivity=1, epsilon="7/10")


def _twin(name: str, mechanism: Exponential | PermuteAndFlip) -> Registration:
    claim = BoundedRange("7/10")
    law = mechanism.log_masses
    return Registration(name, type(mechanism), claim, Adjacency.REPLACE_ONE, (_MOVED, ((0, 9), (1, 8))), law)


TWINS: tuple[Registration, ...] = (
    _twin("exponential mechanism with the exponent of counts under replace-one", _COUNTS),
    _twin("permute-and-flip charged as if it were of bounded range", _FLIPS),
)
