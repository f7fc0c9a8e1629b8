"""Broken twins of the release of unknown keys. They take generated data only."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from jali.audit.registry import Registration
from jali.mechanisms.keys.laplace_threshold import LaplaceThreshold
from jali.privacy.losses.approximate import Approximate


class _LowThreshold(LaplaceThreshold):
    """Counts a tie as below when it sets the threshold, and as above when it uses it."""

    @property
    def threshold(self) -> int:
        return super().threshold - 1


class _OneKey(LaplaceThreshold):
    """Forgets that a person may have several keys."""

    @property
    def scale(self) -> Fraction:
        return 1 / self.epsilon


def _twin(name: str, mechanism: LaplaceThreshold, neighbours: tuple[Any, Any]) -> Registration:
    claim = Approximate(mechanism.epsilon, mechanism.delta)
    return Registration(
        name, LaplaceThreshold, claim, mechanism.adjacency, (neighbours,), mechanism.log_masses, tight=False
    )


_LOW = _LowThreshold(epsilon=1, delta="1/100", adjacency="add-remove")
_ONE = _OneKey(epsilon=2, delta="1/10", max_keys=2, adjacency="add-remove")

TWINS: tuple[Registration, ...] = (
    _twin("unknown keys with the threshold one too low", _LOW, ({}, {"a": 1})),
    _twin("unknown keys with noise for one key of two", _ONE, ({"a": 7, "b": 7}, {"a": 8, "b": 8})),
)
