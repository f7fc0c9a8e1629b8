"""Shapes of data to compare mechanisms on: made up, from a seed, on the range from 0 to 100."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError

Column: TypeAlias = NDArray[np.float64]
LOW, HIGH = 0, 100
FEW = 9


def _normal(people: int, random: np.random.Generator) -> Column:
    return random.normal(50, 10, people)


def _skewed(people: int, random: np.random.Generator) -> Column:
    return random.exponential(10, people)


def _bimodal(people: int, random: np.random.Generator) -> Column:
    """Two hills of equal size: the median lies at the edge of the gap between them."""
    half = people // 2
    return np.concatenate([random.normal(20, 3, half), random.normal(80, 3, people - half)])


def _heavy_tailed(people: int, random: np.random.Generator) -> Column:
    return 50 + 5 * random.standard_cauchy(people)


def _tiny(people: int, random: np.random.Generator) -> Column:
    return random.normal(50, 10, min(people, FEW))


def _constant(people: int, random: np.random.Generator) -> Column:
    del random
    return np.full(people, 37.0)


SHAPES: dict[str, Callable[[int, np.random.Generator], Column]] = {
    "normal": _normal,
    "skewed": _skewed,
    "bimodal": _bimodal,
    "heavy-tailed": _heavy_tailed,
    "tiny": _tiny,
    "constant": _constant,
}


def generated(shape: str, people: int, seed: int) -> Column:
    """Return a column of a shape, clipped to the range; the same for the same seed.

    Example:
        >>> generated("constant", 3, seed=1).tolist()
        [37.0, 37.0, 37.0]
    """
    if shape not in SHAPES:
        raise CatalogError("comparison-shape-unknown", shape=shape, shapes=tuple(SHAPES))
    return np.clip(SHAPES[shape](people, np.random.default_rng(seed)), LOW, HIGH)


def line(column: Column, seed: int) -> Column:
    """Return a table of two columns: the given one and one that grows with it, by half as much, with scatter."""
    scatter = np.random.default_rng(seed + 1).normal(0, 5, len(column))
    return np.stack([column, np.clip(20 + column / 2 + scatter, LOW, HIGH)], axis=1)
