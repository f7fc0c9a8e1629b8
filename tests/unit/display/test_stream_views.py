"""How a stream looks, of whatever measure: tables, HTML, and what its pictures are made of."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import pytest

from jali.privacy import Pure
from jali.stream_display import LAST, distributions, rows, seen, stream_html, stream_plot, stream_text, streamed

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


class View:
    """A stream that has published made-up numbers: the label's place, plus the tick, give or take one."""

    def __init__(
        self, labels: tuple[Any, ...], published: int, *, measure: str = "count", every: str = ""
    ) -> None:
        self.name, self.published, self.cost = "visits", published, Pure(1).event
        clock = SimpleNamespace(every=every) if every else None
        named = SimpleNamespace(name=measure, labels=labels)
        self.declaration = SimpleNamespace(measure=named, clock=clock, horizon=365)

    def value(self, number: int) -> Any:
        labels = self.declaration.measure.labels
        scale = 1 / (len(labels) + self.published) if self.declaration.measure.name == "cdf" else 1.0
        values = {label: (place + number) * scale for place, label in enumerate(labels)}
        when = datetime.date(2026, 1, 1) + datetime.timedelta(number - 1)
        return SimpleNamespace(
            number=number,
            label=None if self.declaration.clock is None else str(when),
            values=values,
            interval=lambda confidence: {k: (v - scale, v + scale * confidence / 0.95) for k, v in values.items()},
        )

    def ticks(self) -> tuple[Any, ...]:
        return tuple(self.value(number + 1) for number in range(self.published))


def view(*labels: Any, published: int = 3, **how: Any) -> Any:
    return View(labels or (None,), published, **how)


def test_a_plain_stream_is_a_table_with_its_error_bars() -> None:
    text = stream_text(view(every="day"))
    assert "visits: count so far, 3 of 365 ticks published" in text
    assert [line.split() for line in text.splitlines() if line.lstrip().startswith(("1 ", "3 "))] == [
        ["1", "2026-01-01", "1.0", "1.0"],
        ["3", "2026-01-03", "3.0", "1.0"],
    ]
    assert "± is half the width of a 95 % interval" in text
    assert "cost epsilon 1, once, for all ticks" in text


def test_keys_share_the_row_of_their_tick() -> None:
    columns, found, spans = rows(view("A", "B"), view("A", "B").ticks())
    assert columns == ("tick", "count")
    assert found[1] == (2, {"A": 2.0, "B": 3.0})
    assert spans[1] == (None, {"A": (1.0, 3.0), "B": (2.0, 4.0)})


def test_a_long_stream_shows_its_last_ticks_and_counts_the_rest() -> None:
    text = stream_text(view(published=LAST + 5))
    assert "5 ticks before these." in text
    shown = [line.split()[0] for line in text.splitlines() if len(line.split()) == 3 and line.split()[0].isdigit()]
    assert shown == [str(number) for number in range(6, LAST + 6)]
    assert f"{LAST + 3} ticks before these." in stream_text(view(*range(14), published=LAST + 5))
    assert "4 ticks before these." in stream_text(view(*range(100), published=5))


def test_a_stream_that_has_published_nothing_says_so_everywhere() -> None:
    empty = view(published=0)
    assert "Nothing was published yet." in stream_text(empty)
    assert "0 of 365 ticks" in stream_html(empty)
    assert [text.get_text() for text in stream_plot(empty).texts] == ["nothing was published yet"]
    assert distributions(view(10, 20, published=0, measure="cdf")) == {}


def test_the_lines_of_a_picture_are_the_published_values_and_intervals() -> None:
    found = streamed(view("A", "B", every="day"), 0.5)
    assert [strand.name for strand in found.strands] == ["A", "B"]
    assert found.strands[1].values == (2.0, 3.0, 4.0)
    assert found.strands[1].lows == (1.0, 2.0, 3.0)
    assert found.strands[1].highs == pytest.approx([2 + 0.5 / 0.95, 3 + 0.5 / 0.95, 4 + 0.5 / 0.95])
    assert found.labels == tuple(datetime.date(2026, 1, day) for day in (1, 2, 3))
    assert found.confidence == 0.5


def test_html_has_the_drawing_and_the_table_and_escapes_names() -> None:
    held = view("<A>", "B")
    held.name = "<visits>"
    html = stream_html(held)
    assert html.startswith("<svg")
    assert "<table" in html
    assert "<visits>" not in html
    assert "<A>" not in html


def test_a_distribution_is_drawn_as_the_curves_of_a_few_ticks() -> None:
    held = view(10, 20, 30, published=40, measure="cdf")
    curves = distributions(held)
    assert [one.name for one in curves[""]][:: len(curves[""]) - 1] == ["tick 1", "tick 40"]
    assert [line.label for line in curves[""][0].lines] == [10, 20, 30]
    axes = stream_plot(held)
    assert len(axes.get_lines()) == len(curves[""]) == 6
    last = axes.get_lines()[-1]
    assert list(last.get_xdata()) == [10, 20, 30, 40]
    assert list(last.get_ydata()) == pytest.approx([40 / 43, 41 / 43, 42 / 43, 42 / 43])


def test_distributions_with_keys_have_a_pane_each() -> None:
    held = view(*((key, end) for key in "AB" for end in (10, 20)), published=2, measure="cdf")
    figure = stream_plot(held).figure
    assert [pane.get_title(loc="left") for pane in figure.axes] == ["A", "B"]
    assert [len(pane.get_lines()) for pane in figure.axes] == [2, 2]


def test_a_small_picture_of_a_distribution_is_its_last_tick_over_values() -> None:
    held = view(*((key, end) for key in "AB" for end in (10, 20)), published=2, measure="cdf")
    found = seen(held, held.ticks())
    assert found.labels == (10, 20)
    assert [strand.name for strand in found.strands] == ["A", "B"]
    assert found.strands[1].values == pytest.approx([4 / 6, 5 / 6])
    assert found.heading == "visits · share at most, tick 2"
    assert seen(view(), view().ticks()).heading == "visits · count so far · tick 3 of 365"
