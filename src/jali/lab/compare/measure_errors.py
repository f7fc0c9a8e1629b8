"""Measure the error of every mechanism for a statistic, in one call, on given data or generated shapes.

`STATISTICS` is the registry of what can be compared: a line each. Shapes come from a seed, on the range from 0 to
100, and are stretched to the range that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.compare import contenders
from jali.lab.compare.comparison_table import Comparison, ErrorSummary
from jali.lab.compare.contenders import ComparedStatistic, ComparisonSetting
from jali.mechanisms.base import read_natural, read_parameter
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.lattice import read_range_ends
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational

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
    """Return which rows have a NaN."""
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


STATISTICS: dict[str, ComparedStatistic] = {
    "median": contenders.MEDIAN,
    "quantile": contenders.QUANTILE,
    "minimum": contenders.MINIMUM,
    "maximum": contenders.MAXIMUM,
    "mean": contenders.MEAN,
    "variance": contenders.VARIANCE,
    "mode": contenders.MODE,
    "slope": contenders.SLOPE,
}


Progress = Callable[[str], None]


def compare(
    statistic: str,
    data: Any = None,
    epsilon: Number = 1,
    *,
    low: Number | None = None,
    high: Number | None = None,
    step: Number | None = None,
    at: Number = "1/2",
    delta: Number = "1/1000000",
    adjacency: str | Adjacency = "replace-one",
    shapes: tuple[str, ...] | None = None,
    people: int = 1001,
    draws: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Measure the error of every mechanism for a statistic, on given data or on data that are made up.

    The result is exact about the data, and so NOT private: it is for public or made-up data, and for those who may
    see the data anyway.

    Args:
        statistic: "median", "quantile", "minimum", "maximum", "mean", "variance", "mode" or "slope".
        data: A column, or for "slope" a table of two columns, feature and target; people with a NaN are left
            out. If not given, six shapes are made up.
        epsilon: The loss of each release.
        low: The least value, which is public; needed with `data`, 0 if not given.
        high: The largest one, 100 if not given.
        step: The lattice of the values, or None for a fine one.
        at: Which quantile, for "quantile".
        delta: The delta of mechanisms that have one.
        adjacency: When two tables are neighbours.
        shapes: Which shapes to make up, all by default.
        people: How many people the made-up shapes have.
        draws: How many releases are made of each mechanism on each column.
        seed: Where made-up data come from; noise has no seed.
        progress: Called with the name of what is measured next.

    Example:
        >>> from jali.lab.compare import compare
        >>> result = compare("median", shapes=("constant",), draws=50)
        >>> result.result("piecewise Laplace", "constant").mean
        0.0
    """
    if statistic not in STATISTICS:
        raise CatalogError("comparison-unknown", statistic=statistic, statistics=tuple(STATISTICS))
    field = STATISTICS[statistic]
    ends = LOW if low is None else low, HIGH if high is None else high
    if data is None:
        tables = generate_tables(field, shapes, people, seed, ends)
    else:
        tables = read_table(field, data, low, high)
    results: list[ErrorSummary] = []
    for shape, table in tables.items():
        setting = ComparisonSetting(
            *read_range_ends(*ends),
            None if step is None else read_parameter(step, "step"),
            read_parameter(epsilon, "epsilon"),
            read_parameter(delta, "delta"),
            Adjacency.of(adjacency),
            len(table),
            rational(at, "at"),
        )
        results += _measure_contenders(field, setting, shape, table, read_natural(draws, "draws"), progress)
    spent = float(rational(epsilon, "epsilon"))
    return Comparison(statistic, spent, Adjacency.of(adjacency).value, draws, tuple(results))


def _measure_contenders(
    field: ComparedStatistic,
    setting: ComparisonSetting,
    shape: str,
    table: Table,
    draws: int,
    progress: Progress | None,
) -> Iterator[ErrorSummary]:
    truth = field.truth(setting, table)
    for contender in field.contenders(setting):
        if progress is not None:
            progress(f"{shape}: {contender.name}")
        errors = [None if value is None else abs(value - truth) for value in contender.values(table, draws)]
        yield ErrorSummary.of(shape, contender.name, str(contender.mechanism.loss.event), errors)
