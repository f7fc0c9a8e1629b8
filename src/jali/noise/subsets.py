"""Uniform subsets of 0 .. n-1, of a given size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.noise.bits import BitSource, system_bits
from jali.noise.uniform import uniform_below


def uniform_subsets(count: int, among: int, rows: int, *, bits: BitSource | None = None) -> NDArray[Any]:
    """Draw `rows` independent subsets of `count` of the numbers 0 .. among - 1, each in rising order.

    Guarantee:
        Every subset of that size has the same probability.
    Proof:
        docs/proofs/conditioned_laplace.md, Lemma 2: the first distinct values of uniform draws.

    Example:
        >>> from jali.noise.subsets import uniform_subsets
        >>> uniform_subsets(2, 2, 3).tolist()
        [[0, 1], [0, 1], [0, 1]]
    """
    source = system_bits() if bits is None else bits
    if count * count <= 4 * among:
        return _distinct_rows(count, among, rows, source)
    return np.array([_subset(count, among, source) for _ in range(rows)]).reshape(rows, count)


def _distinct_rows(count: int, among: int, rows: int, bits: BitSource) -> NDArray[Any]:
    """Draw rows of values and keep those whose values are distinct: a good share where values are few."""
    kept: list[NDArray[Any]] = [np.zeros((0, count), np.int64)]
    while rows:
        drawn = np.sort(uniform_below(among, rows * count, bits=bits).reshape(rows, count), axis=1)
        drawn = drawn[(drawn[:, 1:] != drawn[:, :-1]).all(axis=1)]
        rows -= len(drawn)
        kept.append(drawn)
    return np.concatenate(kept)


def _subset(count: int, among: int, bits: BitSource) -> NDArray[Any]:
    """Draw values until so many distinct ones are there; of a large share, draw what is left out."""
    if 2 * count > among:
        return np.delete(np.arange(among), _subset(among - count, among, bits))
    chosen: NDArray[Any] = np.zeros(0, np.int64)
    while len(chosen) < count:
        # Never more than are missing: every value drawn so far is among the first distinct ones.
        fresh = uniform_below(among, count - len(chosen), bits=bits)
        chosen = np.unique(np.concatenate([chosen, fresh]))
    return chosen
