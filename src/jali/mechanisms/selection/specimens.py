"""Small cases of selections with one sensitivity for all scores."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.mechanisms.mechanism import Specimen
from jali.privacy.adjacency import Adjacency

if TYPE_CHECKING:
    from jali.mechanisms.selection.selection import EvenSelection

Pair = tuple[tuple[Any, ...], tuple[Any, ...]]
_HISTOGRAM = (3, 1, 2, 0, 0, 3, 1, 0)


def even_specimens(kind: type[EvenSelection], **options: Any) -> tuple[Specimen, ...]:
    """Return cases of replaced records and, with monotone scores, of added ones."""
    replaced = [_replaced(kind(sensitivity=1, epsilon=epsilon, **options)) for epsilon in ("1/2", 1, 3)]
    added = [
        _added(kind(sensitivity=1, epsilon=epsilon, monotone=True, adjacency="add-remove", **options))
        for epsilon in ("1/2", 2)
    ]
    return (*replaced, *added)


def _replaced(mechanism: EvenSelection) -> Specimen:
    """Scores that move by 1 each, in either direction."""
    far = int(60 / mechanism.epsilon)
    pairs: tuple[Pair, ...] = (
        ((3, 1, 2, 0), (2, 2, 1, 1)),
        ((0, 0, 0), (1, -1, -1)),
        ((1, 0, 0), (0, 1, 1)),
        ((far, 0), (far - 1, 1)),
        ((Fraction(1, 2), 0, 0), (Fraction(-1, 2), 1, -1)),
    )
    return Specimen(mechanism, Adjacency.REPLACE_ONE, _both_ways(pairs), {"candidates": 8}, _HISTOGRAM)


def _added(mechanism: EvenSelection) -> Specimen:
    """Scores that rise by at most 1 when a record is added."""
    far = int(30 / mechanism.epsilon)
    pairs: tuple[Pair, ...] = (
        ((3, 1, 2, 0), (3, 2, 2, 1)),
        ((0, 0, 0), (1, 0, 0)),
        ((0, 0, 0), (1, 1, 0)),
        ((far, 0), (far, 1)),
        ((far, 0), (far + 1, 0)),
    )
    return Specimen(mechanism, Adjacency.ADD_REMOVE, _both_ways(pairs), {"candidates": 8}, _HISTOGRAM)


def _both_ways(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    return (*pairs, *((b, a) for a, b in pairs))
