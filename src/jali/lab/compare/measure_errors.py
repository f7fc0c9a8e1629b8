"""Measure the error of every mechanism for a statistic, in one call.

`STATISTICS` is the registry of what can be compared: a line each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jali.errors import CatalogError
from jali.lab.compare import contenders
from jali.lab.compare.comparison_table import Comparison, ErrorSummary
from jali.lab.compare.contenders import ComparedStatistic, ComparisonSetting
from jali.lab.compare.data_shapes import HIGH, LOW, Table, generate_tables, read_table
from jali.mechanisms.base import read_natural, read_parameter
from jali.mechanisms.lattice import read_range_ends
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational

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
        >>> from jali import compare
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
