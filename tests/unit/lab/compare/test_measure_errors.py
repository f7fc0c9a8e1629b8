"""The comparison of mechanisms: errors that are known exactly, refusals, tables and pictures."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH, deep, thinned

from jali import plots
from jali.errors import JaliError
from jali.lab.compare import Comparison, compare
from jali.lab.compare.comparison_table import ErrorSummary
from jali.lab.compare.measure_errors import FEW, GIVEN, SHAPES, STATISTICS, add_response, generate_column
from jali.mechanisms import PiecewiseLaplace, QuantileExponential

NINE = list(range(10, 100, 10))


@deep
def test_measured_errors_are_those_of_the_laws() -> None:
    """Piecewise Laplace and the exponential mechanism have closed forms: THEORY, section 6."""
    result = compare("median", NINE, 1, low=0, high=100, draws=1000)
    given: dict[str, Any] = {"at": "1/2", "low": 0, "high": 100, "epsilon": 1, "adjacency": "replace-one"}
    for name, kind in {"piecewise Laplace": PiecewiseLaplace, "exponential": QuantileExponential}.items():
        found = result.result(name, GIVEN)
        assert found.mean == pytest.approx(kind(**given).expected_error(NINE), abs=6 * found.spread)
    assert result.result("piecewise Laplace", GIVEN).mean == pytest.approx(15.53, rel=0.1)


@thinned(4)
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_every_statistic_is_compared_on_every_shape(statistic: str, adjacency: str) -> None:
    seen: list[str] = []
    result = compare(statistic, people=30, draws=3, adjacency=adjacency, progress=seen.append)
    assert result.shapes == tuple(SHAPES)
    assert len(result.results) == len(result.shapes) * len(result.mechanisms) == len(seen)
    assert all(r.mean >= 0 and 0 <= r.declined <= 1 for r in result.results)
    assert json.loads(json.dumps(result.to_dict()))["statistic"] == statistic


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_the_same_for_the_same_seed_and_stay_in_their_range(shape: str) -> None:
    one, same, other = (generate_column(shape, 101, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert shape == "constant" or not np.array_equal(one, other)
    assert one.min() >= 0
    assert one.max() <= 100
    assert len(one) == (FEW if shape == "tiny" else 101)
    assert add_response(one, 1).shape == (len(one), 2)


def test_made_up_data_fill_the_range_that_is_asked_for() -> None:
    result = compare("median", shapes=("normal",), people=201, draws=50, low=-2, high=-1)
    assert result.result("piecewise Laplace", "normal").mean < 0.05


def test_people_without_a_value_are_left_out() -> None:
    nan = float("nan")
    for data in ([37.0, nan, 37.0] * 40, np.array([37.0, nan] * 60)):
        result = compare("median", data, 2, low=0, high=100, step=1, draws=20)
        assert result.result("permute-and-flip", GIVEN).mean == 0
    rows = [[1.0, nan], [1.0, 2.0], [3.0, 4.0]] * 5
    assert math.isfinite(compare("slope", rows, low=0, high=10, draws=3).results[0].mean)


def test_noise_for_the_worst_table_does_not_know_how_many_people_there_are_under_add_remove() -> None:
    """Under add-remove the number of people is not public: the mean of nobody is half a range from any other."""
    wide = compare("mean", [40.0, 60.0] * 500, low=0, high=100, adjacency="add-remove", draws=60 * DEPTH)
    narrow = compare("mean", [40.0, 60.0] * 500, low=0, high=100, adjacency="replace-one", draws=60 * DEPTH)
    name = "Laplace, global sensitivity"
    assert wide.result(name, GIVEN).mean > 10
    assert narrow.result(name, GIVEN).mean < 1
    assert wide.result(name, GIVEN).worst <= 50


def test_the_median_of_the_bimodal_shape_is_at_the_edge_of_the_gap() -> None:
    column = np.sort(generate_column("bimodal", 101, 1))
    assert column[51] - column[49] > 30


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"statistic": "harmonic mean"}, "harmonic mean"),
        ({"data": NINE}, "low and high"),
        ({"data": [], "low": 0, "high": 1}, "at least 1 people"),
        ({"data": 5, "low": 0, "high": 1}, "data must be a column"),
        ({"data": "text", "low": 0, "high": 1}, "numbers"),
        ({"data": [[1, 2]], "low": 0, "high": 1}, "data must be a column"),
        ({"statistic": "slope", "data": [1, 2], "low": 0, "high": 1}, "table of 2 columns"),
        ({"statistic": "slope", "data": [[1, 2, 3]] * 4, "low": 0, "high": 1}, "table of 2 columns"),
        ({"statistic": "variance", "data": [1], "low": 0, "high": 1}, "at least 2 people"),
        ({"shapes": ("square",)}, "square"),
        ({"epsilon": 0}, "epsilon"),
        ({"draws": 0}, "draws"),
        ({"people": 0}, "people"),
        ({"seed": -1}, "seed"),
        ({"low": 5, "high": 5}, "low"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"statistic": "quantile", "at": 2}, "at"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(given: dict[str, Any], match: str) -> None:
    asked: dict[str, Any] = {"statistic": "median", "draws": 2, "people": 5} | given
    with pytest.raises(JaliError, match=match):
        compare(**asked)


def result(mechanism: str, mean: float, declined: float = 0.0) -> ErrorSummary:
    return ErrorSummary("normal", mechanism, "epsilon 1", mean, mean, 2 * mean, declined, 0.1)


def test_the_best_is_the_least_error_among_those_that_answer() -> None:
    both = result("steady", 2.0), result("shy", 0.5, declined=0.98)
    comparison = Comparison("median", 1.0, "replace-one", 100, both)
    assert comparison.best("normal").mechanism == "steady"
    assert "shy declined 98 % on normal" in repr(comparison)
    shown = comparison.table().splitlines()
    assert shown[2].split()[:2] == ["steady", "2*"]
    assert shown[3].split()[:2] == ["shy", "declined"]


def test_errors_of_those_that_answered_are_summed_up() -> None:
    summed = ErrorSummary.of("normal", "one", "epsilon 1", [1.0, 3.0, None, None])
    assert (summed.mean, summed.median, summed.declined) == (2.0, 2.0, 0.5)
    assert math.isinf(ErrorSummary.of("normal", "one", "epsilon 1", [None]).mean)


def test_a_comparison_is_drawn_with_a_panel_for_each_shape() -> None:
    comparison = compare("median", shapes=("normal", "constant"), people=21, draws=5)
    panels = plots.comparison_curves(comparison)
    assert [dot.mechanism for dot in panels["normal"]] == list(comparison.mechanisms)
    assert sum(dot.best for dot in panels["normal"]) == 1
    figure = comparison.plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["normal", "constant"]
