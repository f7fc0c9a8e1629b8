"""The data that are compared on: given ones, read and checked, or made-up ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.comparison.contenders.field import Field
from jali.comparison.shapes import HIGH, LOW, SHAPES, generated, line
from jali.errors import CatalogError
from jali.mechanisms.mechanism import natural
from jali.mechanisms.ruler import range_of
from jali.mechanisms.values import numbers_in
from jali.privacy.rationals import Number

GIVEN = "given"

Table = NDArray[Any]


def given_table(field: Field, data: Any, low: Number | None, high: Number | None) -> dict[str, Table]:
    """Return the given data under the one name they have; people without a value are no part of them."""
    if low is None or high is None:
        raise CatalogError("comparison-data-without-range")
    table = numbers_in(data)
    wanted = "a column of numbers" if field.columns == 1 else f"a table of {field.columns} columns of numbers"
    if (table.shape[1] if table.ndim == 2 else table.ndim) != field.columns or table.ndim > 2:
        raise CatalogError("comparison-data-wrong", expected=wanted)
    kept = table[~_missing(table)]
    if len(kept) < field.least_people:
        raise CatalogError("comparison-data-too-few", least=field.least_people, count=len(kept))
    return {GIVEN: kept}


def _missing(table: Table) -> NDArray[np.bool_]:
    """Tell which rows have a NaN."""
    absent = np.not_equal(table, table).astype(np.bool_)
    return np.asarray(absent if table.ndim == 1 else absent.any(axis=1))


def made_up_tables(
    field: Field, shapes: tuple[str, ...] | None, people: int, seed: int, ends: tuple[Number, Number]
) -> dict[str, Table]:
    """Return the shapes, stretched from 0 .. 100 to the range."""
    low, high = (float(end) for end in range_of(*ends))
    count = natural(people, "people", least=field.least_people)
    columns = {
        shape: generated(shape, count, natural(seed, "seed", least=0)) for shape in (shapes or tuple(SHAPES))
    }
    tables = {shape: line(column, seed) if field.columns > 1 else column for shape, column in columns.items()}
    return {shape: low + (table - LOW) / (HIGH - LOW) * (high - low) for shape, table in tables.items()}
