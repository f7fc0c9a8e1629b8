"""Intervals of quantiles, of the least and of the largest value hold the truth as often as they say."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.coverage.clinic import CASES, MAX_ROWS, NAMES, clinic, visits
from tests.coverage.repeated import Truth, check, measured, repeat
from tests.coverage.weighted import at_row, between_rows, by_group
from tests.depth import deep, thinned

Quantiles = Callable[[NDArray[Any], NDArray[Any]], list[float]]


def _between(*at: float) -> Quantiles:
    return lambda values, weighed: [between_rows(values, weighed, one) for one in at]


def _rows(*at: float) -> Quantiles:
    return lambda values, weighed: [at_row(values, weighed, one) for one in at]


# The column, its true value, and how much wider than the errors the interval may be. The ends are drawn with an
# eighth of the loss each and hold for all rows there can be, so they are far apart where rows are dense.
QUANTILES: dict[str, tuple[str, Quantiles, float]] = {
    "MEDIAN(points)": ("points", _between(0.5), 40),
    "QUANTILE_DISC(points, 0.9)": ("points", _rows(0.9), 5),
    "QUANTILE_CONT(points, [0.2, 0.5])": ("points", _between(0.2, 0.5), 25),
    "APPROX_QUANTILES(points, 2)": ("points", _between(0, 0.5, 1), 5),
    "MIN(points)": ("points", lambda values, _: [values.min()], 6),
    "MAX(points)": ("points", lambda values, _: [values.max()], 4),
    "MAX(points) - MIN(points)": ("points", lambda values, _: [values.max() - values.min()], 6),
    "MEDIAN(day)": ("day", _between(0.5), 25),
}
SHARED = 16  # so many times the loss, as the question asks for many


@deep
@thinned(4)
@pytest.mark.parametrize(("unit", "loss"), CASES, ids=NAMES)
def test_intervals_of_quantiles_cover_and_are_tight(unit: str | None, loss: dict[str, Any]) -> None:
    truth: list[Truth] = []
    for column, quantiles, _ in QUANTILES.values():
        rows = by_group(visits(), column, MAX_ROWS if unit else None)
        truth.append({group: np.array(quantiles(*of_group)) for group, of_group in rows.items()})
    given = {name: SHARED * Fraction(value) for name, value in loss.items()}
    with clinic(unit) as db:
        answers = repeat(db, f"SELECT g, {', '.join(QUANTILES)} FROM t GROUP BY g", given)
    for (aggregate, (_, _, allowed)), found in zip(
        QUANTILES.items(), measured(answers, truth, keys=1), strict=True
    ):
        check(found, allowed, aggregate)


@pytest.mark.parametrize("at", [0.1, 0.25, 0.5, 0.9])
def test_of_whole_rows_the_true_quantiles_are_those_of_plain_sql(at: float) -> None:
    with duckdb.connect() as connection:
        for values, weighed in by_group(visits(), "points", None).values():
            rows = f"(SELECT unnest({values.tolist()}::DOUBLE[]) AS x)"
            asked = f"SELECT quantile_cont(x, {at}), quantile_disc(x, {at}) FROM {rows}"
            ((between, row),) = connection.execute(asked).fetchall()
            assert between_rows(values, weighed, at) == pytest.approx(between)
            assert at_row(values, weighed, at) == row
