"""Parallel composition: releases about disjoint parts of the data."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from jali.errors import CatalogError
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.compose import compose
from jali.privacy.composition.largest import Largest, contenders, has_order
from jali.privacy.loss import Loss, same_adjacency

Partition: TypeAlias = Literal["index", "value"]

# Above this many losses without an order among them, pairs are bounded together instead of one by one.
_MOST = 8


def parallel(losses: Iterable[Loss], *, partition: Partition, adjacency: Adjacency | str) -> Loss:
    """Return the loss of releases that each read one part of the data, where parts have no row in common.

    Args:
        losses: The loss of the release of each part.
        partition: `index` if a person's part is fixed whatever the person's data are (by identity or position).
            `value` if the part is a function of the row's values, so that a changed row may move.
        adjacency: The adjacency of the whole. Under `replace-one`, the losses of a value partition must hold for
            a part to which a row is added or removed, since the sizes of parts are private; losses stated for
            `add-remove` are doubled for a row that is replaced within its part.

    Guarantee:
        Index partition: the largest loss, under both adjacencies. Value partition: the largest loss under
        `add-remove`; the two largest, composed, under `replace-one`.
    Proof:
        docs/proofs/parallel.md

    Example:
        >>> from jali.privacy.losses.pure import Pure
        >>> parallel([Pure(0.1), Pure(0.5), Pure(0.2)], partition="value", adjacency="add-remove")
        Pure(0.5)
        >>> parallel([Pure(0.1), Pure(0.5), Pure(0.2)], partition="value", adjacency="replace-one")
        Largest(compose(Pure(0.2), Pure(0.5)))
    """
    given = _checked(losses)
    neighbours = Adjacency.of(adjacency)
    if partition not in get_args(Partition):
        raise CatalogError("partition-kind-unknown", partition=partition)
    if partition == "value" and neighbours is Adjacency.REPLACE_ONE:
        return _moving(given)
    if same_adjacency(given) not in (None, neighbours):
        raise CatalogError("parallel-adjacency-differs", adjacency=neighbours.value, name="adjacency")
    return _one_of(given)


def _checked(losses: Iterable[Loss]) -> list[Loss]:
    given = list(losses)
    if not given:
        raise CatalogError("parallel-no-parts")
    if not all(isinstance(loss, Loss) for loss in given):
        raise CatalogError("parallel-not-losses")
    return given


def _one_of(losses: list[Loss]) -> Loss:
    """Return the largest loss: one neighbour changes one part."""
    top = contenders(losses, 1)
    # A kind without an order may know more about groups than holds for people in several parts.
    return top[0] if len(losses) == 1 or (len(top) == 1 and has_order(top[0])) else Largest(top)


def _moving(losses: list[Loss]) -> Loss:
    """Return the worst of all pairs: one neighbour leaves a part and enters another, or stays in one."""
    stated = same_adjacency(losses)
    if stated is Adjacency.REPLACE_ONE:
        raise CatalogError("parallel-value-replace-one")
    staying = [loss.group(2) for loss in contenders(losses, 1)] if stated else losses[: len(losses) == 1]
    return Largest([*_pairs(losses), *staying], Adjacency.REPLACE_ONE if stated else None)


def _pairs(losses: list[Loss]) -> list[Loss]:
    """Return the compositions of any two losses that are not known to be below another pair."""
    top = contenders(losses, 2)
    if len(top) > _MOST:
        return [compose((Largest(contenders(losses, 1)), 2))]
    return [compose(one, other) for one, other in combinations(top, 2)]
