"""Pictures of streams: what matplotlib holds afterwards, and the drawing for notebooks."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.depth import thinned

from jali.display.plots.stream_plots import MOST_PANES, TOGETHER, draw_stream
from jali.display.stream_view_models import StreamLine, StreamPlot
from jali.display.svg import draw_stream_svg

mpl.use("Agg")
DAY = datetime.date(2026, 1, 1)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def strand(*values: float, name: str = "") -> StreamLine:
    return StreamLine(name, values, tuple(v - 2 for v in values), tuple(v + 2 for v in values))


def streamed(*strands: StreamLine, dated: bool = False) -> StreamPlot:
    count = len(strands[0].values)
    labels: tuple[Any, ...] = tuple(DAY + datetime.timedelta(i) for i in range(count)) if dated else ()
    return StreamPlot("visits", "count", tuple(range(1, count + 1)), labels, strands, 365)


def test_a_line_is_steps_that_last_until_the_next_tick_in_its_band() -> None:
    axes = draw_stream(streamed(strand(3, 5, 4)))
    (line,) = axes.get_lines()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 3, 4], [3, 5, 4, 4])
    assert line.get_drawstyle() == "steps-post"
    (band,) = axes.collections
    ends = band.get_paths()[0].get_extents()
    assert (ends.ymin, ends.ymax) == (1, 7)
    assert axes.get_ylabel() == "count so far"
    assert "95 %" in axes.get_title(loc="left")


def test_dates_are_an_axis_of_dates() -> None:
    axes = draw_stream(streamed(strand(*range(30)), dated=True))
    axes.figure.canvas.draw()
    places = axes.get_lines()[0].get_xdata()
    assert (places[0], places[-1]) == (DAY, DAY + datetime.timedelta(30))
    assert len(axes.get_xticks()) <= 8


def test_few_keys_share_axes_and_each_is_named_at_its_end() -> None:
    axes = draw_stream(streamed(*(strand(i, 2 * i, name=f"ward {i}") for i in range(TOGETHER))))
    assert len(axes.get_lines()) == TOGETHER
    assert {text.get_text() for text in axes.texts} == {f"ward {i}" for i in range(TOGETHER)}
    assert len({line.get_color() for line in axes.get_lines()}) == TOGETHER


def test_many_keys_have_a_pane_each_on_one_scale() -> None:
    keys = MOST_PANES + 3
    axes = draw_stream(streamed(*(strand(i, 2 * i, name=f"ward {i}") for i in range(keys))))
    figure = axes.figure
    seen = [pane for pane in figure.axes if pane.get_visible()]
    assert len(seen) == MOST_PANES
    assert [pane.get_title(loc="left") for pane in seen] == [f"ward {i}" for i in range(MOST_PANES)]
    assert len({pane.get_ylim() for pane in seen}) == 1
    assert "3 further keys are not drawn" in figure.get_suptitle()


@thinned(4)
@pytest.mark.parametrize("count", [0, 1, 2, 5000])
@pytest.mark.parametrize("dated", [False, True])
def test_streams_of_any_length_are_drawn(count: int, dated: bool) -> None:
    axes = draw_stream(streamed(strand(*map(float, range(count))), dated=dated))
    axes.figure.canvas.draw()
    told = [text.get_text() for text in axes.texts]
    assert told == (["nothing was published yet"] if count == 0 else [])


def test_unbounded_intervals_do_not_stretch_the_axis() -> None:
    one = StreamLine("", (math.nan, 5.0, 6.0), (-math.inf, 3.0, 4.0), (math.inf, 7.0, 8.0))
    axes = draw_stream(streamed(one))
    axes.figure.canvas.draw()
    low, high = axes.get_ylim()
    assert 2.5 < low < 3
    assert 8 < high < 8.5
    (band,) = axes.collections
    ends = band.get_paths()[0].get_extents()
    assert (ends.ymin, ends.ymax) == pytest.approx((low, high))


def test_given_axes_are_drawn_on() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    assert draw_stream(streamed(strand(1, 2)), axes) is axes


# For notebooks.


def points(found: str) -> Any:
    return np.array([[float(x) for x in pair.split(",")] for pair in found.split()])


def test_the_drawing_for_notebooks_has_the_steps_of_the_line_inside_of_its_band() -> None:
    drawing = draw_stream_svg(streamed(strand(3, 5, 4)))
    line = points(re.findall(r'<polyline points="([^"]+)"', drawing)[0])
    band = points(re.findall(r'<polygon points="([^"]+)"', drawing)[0])
    assert len(line) == 6
    assert len(band) == 12
    # Upwards is towards zero: the values are 3, 5 and 4, and 7 and 1 are the ends of the band.
    unit = (band[:, 1].max() - band[:, 1].min()) / 6
    assert np.allclose((band[:, 1].max() - line[:, 1]) / unit, [2, 2, 4, 4, 3, 3], atol=0.02)
    assert np.all(np.diff(line[:, 0]) >= 0)


def test_a_long_stream_has_a_short_drawing_and_an_empty_one_none() -> None:
    long = draw_stream_svg(streamed(strand(*map(float, range(10_000)))))
    assert len(long) < 80_000
    assert "10,000" in long
    assert draw_stream_svg(streamed(strand())) == ""


def test_a_line_that_says_nothing_yet_is_no_line() -> None:
    assert '<polyline points=""' in draw_stream_svg(streamed(strand(math.nan)))


def test_names_are_escaped() -> None:
    evil = StreamPlot("<b>", "count", (1,), ("<i>",), (strand(1, name="<u>"), strand(2, name="&")))
    drawing = draw_stream_svg(evil)
    assert not {"<b>", "<i>", "<u>"} & set(re.findall(r"<[a-z]>", drawing))
    assert "&lt;u&gt;" in drawing
