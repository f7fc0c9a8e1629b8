"""Random matchings of people in pairs, by secret coins: the order of the rows plays no part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.noise import BitSource

Indices: TypeAlias = NDArray[np.intp]
Pairs: TypeAlias = tuple[tuple[int, int], ...]


def random_orders(rows: int, people: int, bits: BitSource) -> Indices:
    """Return independent uniform random orders of 0 .. people - 1, one in each row.

    An order is that of random words, all of which are drawn anew if any two of a row are equal.

    Guarantee:
        Every order has the same probability, and so has every matching that `sides_of` makes of it.
    Proof:
        docs/proofs/theil_sen.md, Lemma 1.
    """
    while True:
        words = bits.words(rows * people).reshape(rows, people)
        orders = np.argsort(words, axis=1)
        ranked = np.take_along_axis(words, orders, axis=1)
        if not (ranked[:, 1:] == ranked[:, :-1]).any():
            return orders


def sides_of(orders: Indices) -> tuple[Indices, Indices]:
    """Return the left and right sides of all pairs: the first half of each order with the second, in turn.

    The last person is left out where the number is odd.
    """
    half = orders.shape[1] // 2
    return orders[:, :half].ravel(), orders[:, half : 2 * half].ravel()


def all_matchings(people: tuple[int, ...]) -> Iterator[Pairs]:
    """Yield each matching of floor(n/2) pairs once: for few people."""
    if len(people) < 2:
        yield ()
        return
    first, rest = people[0], people[1:]
    for partner in rest:
        left = tuple(other for other in rest if other != partner)
        yield from (((first, partner), *pairs) for pairs in all_matchings(left))
    if len(people) % 2:
        yield from all_matchings(rest)
