"""Provide the data that mechanisms are compared on: given data, read and checked, or generated shapes.

Shapes come from a seed, on the range from 0 to 100, and are stretched to the range that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.compare.contenders import ComparedStatistic
from jali.mechanisms.base import read_natural
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.lattice import read_range_ends
from jali.privacy.rationals import Number

Column: TypeAlias = NDArray[np.float64]
LOW, HIGH = 0, 100
FEW = 9


def _draw_normal(people: int, random: np.random.Generator) -> Column:
    return random.normal(50, 10, people)


def _draw_skewed(people: int, random: np.random.Generator) -> Column:
    return random.exponential(10, people)


def _draw_bimodal(people: int, random: np.random.Generator) -> Column:
    """Two hills of equal size: the median lies at the edge of the gap between them."""
    half = people // 2
    return np.concatenate([random.normal(20, 3, half), random.normal(80, 3, people - half)])


def _draw_heavy_tailed(people: int, random: np.random.Generator) -> Column:
    return 50 + 5 * random.standard_cauchy(people)


def _draw_tiny(people: int, random: np.random.Generator) -> Column:
    return random.normal(50, 10, min(people, FEW))


def _draw_constant(people: int, random: np.random.Generator) -> Column:
    del random
    return np.full(people, 37.0)


SHAPES: dict[str, Callable[[int, np.random.Generator], Column]] = {
    "normal": _draw_normal,
    "skewed": _draw_skewed,
    "bimodal": _draw_bimodal,
    "heavy-tailed": _draw_heavy_tailed,
    "tiny": _draw_tiny,
    "constant": _draw_constant,
}


def generate_column(shape: str, people: int, seed: int) -> Column:
    """Return a column of a shape, clipped to the range; the same for the same seed.

    Example:
        >>> generate_column("constant", 3, seed=1).tolist()
        [37.0, 37.0, 37.0]
    """
    if shape not in SHAPES:
        raise CatalogError("comparison-shape-unknown", shape=shape, shapes=tuple(SHAPES))
    return np.clip(SHAPES[shape](people, np.random.default_rng(seed)), LOW, HIGH)


def add_response(column: Column, seed: int) -> Column:
    """Return a table of two columns: the given one and one that grows with it, by half as much, with scatter."""
    scatter = np.random.default_rng(seed + 1).normal(0, 5, len(column))
    return np.stack([column, np.clip(20 + column / 2 + scatter, LOW, HIGH)], axis=1)


GIVEN = "given"

Table = NDArray[Any]


def read_table(field: ComparedStatistic, data: Any, low: Number | None, high: Number | None) -> dict[str, Table]:
    """Return the given data under the one name they have; people without a value are no part of them."""
    if low is None or high is None:
        raise CatalogError("comparison-data-without-range")
    table = read_numbers(data)
    wanted = "a column of numbers" if field.columns == 1 else f"a table of {field.columns} columns of numbers"
    if (table.shape[1] if table.ndim == 2 else table.ndim) != field.columns or table.ndim > 2:
        raise CatalogError("comparison-data-wrong", expected=wanted)
    kept = table[~_find_missing(table)]
    if len(kept) < field.least_people:
        raise CatalogError("comparison-data-too-few", least=field.least_people, count=len(kept))
    return {GIVEN: kept}


def _find_missing(table: Table) -> NDArray[np.bool_]:
    """Tell which rows have a NaN."""
    absent = np.not_equal(table, table).astype(np.bool_)
    return np.asarray(absent if table.ndim == 1 else absent.any(axis=1))


def generate_tables(
    field: ComparedStatistic, shapes: tuple[str, ...] | None, people: int, seed: int, ends: tuple[Number, Number]
) -> dict[str, Table]:
    """Return the shapes, stretched from 0 .. 100 to the range."""
    low, high = (float(end) for end in read_range_ends(*ends))
    count = read_natural(people, "people", least=field.least_people)
    columns = {
        shape: generate_column(shape, count, read_natural(seed, "seed", least=0))
        for shape in (shapes or tuple(SHAPES))
    }
    tables = {
        shape: add_response(column, seed) if field.columns > 1 else column for shape, column in columns.items()
    }
    return {shape: low + (table - LOW) / (HIGH - LOW) * (high - low) for shape, table in tables.items()}
