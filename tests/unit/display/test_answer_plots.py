"""Pictures of answers: what is drawn, as plain values, and that matplotlib draws it."""

from __future__ import annotations

import datetime
from typing import Any

import matplotlib as mpl
import pytest

from jali.display.plots.answer_plots import draw_column
from jali.display.view_models import ALL, MOST_SERIES, ColumnPlot

mpl.use("Agg")
SPAN = (8.0, 12.0)
HISTOGRAM = {10: 4.0, 20: 6.0, "above": 1.0}
ENDS = {10: (3.0, 5.0), 20: (5.0, 7.0), "above": (0.0, 2.0)}
DAY = datetime.date(2025, 3, 1)


@pytest.fixture(autouse=True)
def _closed() -> Any:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def test_points_are_labelled_by_their_keys_and_places() -> None:
    keys = [("A", 2025), (ALL, 2025)]
    assert ColumnPlot("n", keys, [1.0, 2.0], [SPAN, None]).points == [
        ("A, 2025", 1.0, SPAN),
        ("(all), 2025", 2.0, None),
    ]
    several = ColumnPlot("q", [("A",)], [[35, 50]], [[(30, 40), (45, 55)]])
    assert several.points == [("A, [1]", 35, (30, 40)), ("A, [2]", 50, (45, 55))]
    labelled = ColumnPlot("h", [()], [HISTOGRAM], [ENDS])
    assert labelled.points[1:] == [("20", 6.0, (5.0, 7.0)), ("above", 1.0, (0.0, 2.0))]


def test_two_keys_make_a_series_of_each_second_one() -> None:
    keys = [(a, b) for a in ("A", "B", "C") for b in ("m", "f")]
    series = ColumnPlot("n", keys, [1, 2, 3, 4, 5, 6], [SPAN] * 6).series
    assert [one.name for one in series] == ["m", "f"]
    assert [[line.label for line in one.lines] for one in series] == [["A", "B", "C"]] * 2
    assert [[line.value for line in one.lines] for one in series] == [[1, 3, 5], [2, 4, 6]]


def test_what_would_be_unreadable_side_by_side_is_drawn_one_below_the_other() -> None:
    many = [("A", str(i)) for i in range(MOST_SERIES + 1)]
    assert ColumnPlot("n", many, [1] * len(many), [SPAN] * len(many)).series == ()
    assert ColumnPlot("n", [("A", "m"), ("A", ALL)], [1, 2], [SPAN] * 2).series == ()
    assert ColumnPlot("n", [("A",), ("B",)], [1, 2], [SPAN] * 2).series == ()
    assert ColumnPlot("n", [], [], []).series == ()


def test_a_histogram_is_upright_bars_with_lines_for_their_intervals() -> None:
    axes = draw_column(ColumnPlot("h", [("A",), ("B",)], [HISTOGRAM, HISTOGRAM], [ENDS, ENDS]))
    assert [round(bar.get_height(), 6) for bar in axes.patches] == [4.0, 6.0, 1.0] * 2
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "20", "above"]
    ends = [tuple(line.get_ydata()) for line in axes.get_lines()]
    assert ends == list(ENDS.values()) * 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["A", "B"]
    assert axes.get_ylabel() == "h"


def test_a_distribution_function_is_steps_in_a_band_and_begins_at_zero() -> None:
    values, spans = {10: 4.0, 20: 10.0, "above": 11.0}, {10: (3.0, 5.0), 20: (8.0, 12.0), "above": (9.0, 13.0)}
    plotted = ColumnPlot("c", [()], [values], [spans], cumulative=True)
    assert plotted.has_steps
    axes = draw_column(plotted)
    (line,) = axes.get_lines()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([10, 20, 30], [4.0, 10.0, 10.0])
    assert line.get_drawstyle() == "steps-post"
    assert len(axes.collections) == 1
    assert axes.get_ylim()[0] <= 0
    assert axes.get_legend() is None


def test_a_distribution_over_words_is_drawn_as_bars() -> None:
    plotted = ColumnPlot("c", [()], [{"A": 4.0, "B": 6.0}], [{"A": SPAN, "B": SPAN}], cumulative=True)
    assert not plotted.has_steps
    assert len(draw_column(plotted).patches) == 2


def test_dates_have_points_and_lines_and_no_bars_and_no_rows_make_no_warning() -> None:
    span = (datetime.date(2025, 2, 1), datetime.date(2025, 4, 1))
    axes = draw_column(ColumnPlot("day", [("A",), ("B",)], [DAY, None], [span, span]))
    assert len(axes.patches) == 0
    assert len(axes.get_lines()) == 3
    axes.figure.canvas.draw()
    draw_column(ColumnPlot("n", [], [], [])).figure.canvas.draw()


def test_many_labels_are_thinned_out() -> None:
    bins = dict.fromkeys(range(121), 1.0)
    axes = draw_column(ColumnPlot("h", [()], [bins], [dict.fromkeys(bins, SPAN)]))
    assert len(axes.get_xticks()) <= 41
    assert len(axes.patches) == 121
