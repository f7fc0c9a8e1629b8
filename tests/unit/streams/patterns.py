"""How far one person moves the measurements of a dense strategy, by looking at every pattern of ticks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jali.streams
from jali.mechanisms.registry import list_mechanisms
from jali.streams import Counter, Participation


def _has_a_horizon(kind: type) -> bool:
    horizon = signature(kind).parameters.get("horizon") if issubclass(kind, Counter) else None
    return horizon is not None and horizon.default is Parameter.empty


COUNTERS: list[type[Counter]] = [
    kind for kind in list_mechanisms(jali.streams) if issubclass(kind, Counter) and _has_a_horizon(kind)
]
# What `distance` may be above the worst pattern, as a share: where a class says that it measures with roundings.
SLACK = {"BufferedToeplitz": 1 / 250}


def noises(kind: type[Counter]) -> list[str]:
    """Return the losses that a counter has noise for: epsilon for the L1, rho for the squared L2 distance."""
    return [name for name in ("epsilon", "rho") if name in signature(kind).parameters]


def made(
    kind: type[Counter], horizon: int, person: Participation, noise: str | None = None, loss: Any = 1
) -> Counter:
    """Make a counter with one of its noises."""
    return kind(horizon=horizon, person=person, **{noise or noises(kind)[0]: loss})  # type: ignore[call-arg]


def used(noise: str) -> int:
    """Return which of the two distances a noise is made for."""
    return 0 if noise == "epsilon" else 1


def all_patterns(horizon: int, ticks: int, separation: int) -> Iterator[tuple[int, ...]]:
    """Return every set of at most so many ticks, from 0, that are so far apart."""
    for size in range(1, ticks + 1):
        for chosen in itertools.combinations(range(horizon), size):
            if all(b - a >= separation for a, b in itertools.pairwise(chosen)):
                yield chosen


def furthest(strategy: NDArray[Any], ticks: int, separation: int) -> tuple[Any, Any]:
    """Return the largest L1 and squared L2 distances over all patterns of up to three ticks, each entered by 1."""
    sizes, products = np.abs(strategy).sum(axis=0), _products(strategy)
    single = np.diag(products)
    far = np.abs(np.subtract.outer(np.arange(len(sizes)), np.arange(len(sizes)))) >= separation
    sums, squares = [sizes], [single]
    if ticks >= 2:
        sums.append((sizes[:, None] + sizes)[far])
        squares.append((single[:, None] + single + 2 * products)[far])
    if ticks >= 3:
        apart = far[:, :, None] & far[:, None, :] & far[None, :, :]
        pairs = products[:, :, None] + products[:, None, :] + products[None, :, :]
        sums.append((sizes[:, None, None] + sizes[:, None] + sizes)[apart])
        squares.append((single[:, None, None] + single[:, None] + single + 2 * pairs)[apart])
    return _largest(sums), _largest(squares)


def _largest(found: list[NDArray[Any]]) -> Any:
    return max(np.asarray(numbers.max()).item() for numbers in found if numbers.size)


def _products(strategy: NDArray[Any]) -> NDArray[Any]:
    """Return the inner products of the columns: exactly for integers, by doubles where these hold them."""
    if strategy.dtype == np.float64:
        return np.asarray(strategy.T @ strategy)
    exact = int(np.abs(strategy).max()) ** 2 * len(strategy) < 1 << 53
    kind = np.float64 if exact else object
    found = strategy.astype(kind).T @ strategy.astype(kind)
    return np.asarray(found.astype(np.int64 if exact else object))


def side_by_side(blocks: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the strategy of parts one after the other: blocks on the diagonal."""
    heights, widths = zip(*(block.shape for block in blocks), strict=True)
    found = np.zeros((sum(heights), sum(widths)), dtype=blocks[0].dtype)
    row = column = 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return found


def furthest_one_by_one(strategy: NDArray[Any], ticks: int, separation: int) -> tuple[Fraction, Fraction]:
    """Return the largest norms over all patterns, one by one."""
    found = [0, 0]

    def enter(first: int, left: int, move: NDArray[Any]) -> None:
        found[:] = max(found[0], int(move.sum())), max(found[1], int(move @ move))
        for tick in range(first, strategy.shape[1] if left else 0):
            enter(tick + separation, left - 1, move + strategy[:, tick])

    enter(0, ticks, np.zeros(len(strategy), dtype=np.int64))
    return Fraction(found[0]), Fraction(found[1])
