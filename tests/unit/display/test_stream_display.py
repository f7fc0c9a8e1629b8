"""How a stream looks, of whatever measure: tables, HTML, and what its pictures are made of."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import pytest

from jali.display.stream_display import (
    LAST,
    build_distributions,
    build_rows,
    build_small_plot,
    build_stream_plot,
    plot_stream,
    write_last_ticks,
    write_stream,
    write_stream_html,
    write_tick,
)
from jali.errors import QueryError
from jali.privacy import Pure

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
        self.declaration = SimpleNamespace(
            measure=named, clock=clock, horizon=365, what=f"{measure} so far", over=lambda *_: "so far"
        )

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
    text = write_stream(view(every="day"))
    assert "visits: count so far, 3 of 365 ticks published" in text
    assert [line.split() for line in text.splitlines() if line.lstrip().startswith(("1 ", "3 "))] == [
        ["1", "2026-01-01", "1.0", "1.0"],
        ["3", "2026-01-03", "3.0", "1.0"],
    ]
    assert "± is half the width of a 95 % interval" in text
    assert "cost epsilon 1, once, for all ticks" in text


def test_keys_share_the_row_of_their_tick() -> None:
    columns, found, spans = build_rows(view("A", "B"), view("A", "B").ticks())
    assert columns == ("tick", "key", "count")
    assert found[1] == (2, ["A", "B"], [2.0, 3.0])
    assert spans[1] == (None, None, [(1.0, 3.0), (2.0, 4.0)])
    text = write_stream(view("A", "B", published=1))
    assert [line.split() for line in text.splitlines()[2:6:3]] == [
        ["tick", "key", "count", "±"],
        ["B", "2.0", "1.0"],
    ]


def test_the_shares_of_a_distribution_stand_beside_the_values_that_they_are_at_most() -> None:
    plain = write_stream(view(15, 30.5, published=1, measure="cdf"))
    assert [line.split() for line in plain.splitlines()[4:6]] == [
        ["1", "≤", "15", "0.33", "0.33"],
        ["≤", "30.5", "0.67", "0.33"],
    ]
    labels = tuple((key, end) for key in "AB" for end in (10, 20))
    columns, (row,), _ = build_rows(view(*labels), view(*labels, published=1).ticks())
    assert columns == ("tick", "key", "count")
    columns, (row,), _ = build_rows(view(*labels, measure="cdf"), view(*labels, published=1).ticks())
    assert columns == ("tick", "key", "value", "share")
    assert row[:3] == (1, ["A", "", "B", ""], ["≤ 10", "≤ 20", "≤ 10", "≤ 20"])


def test_the_intervals_of_a_table_are_all_shown_in_one_way() -> None:
    held = view("A", "B", published=2)
    even = write_stream(held)
    assert "…" not in even
    # One interval of all that is off its middle.
    first, last = held.ticks()
    odd: Any = SimpleNamespace(**vars(last) | {"interval": lambda _: {"A": (0.0, 9.0), "B": (2.0, 4.0)}})
    held.ticks = lambda: (first, odd)
    for told in (write_stream(held), write_stream_html(held)):
        assert told.count("…") == 4 + 1
        assert "±" not in told
    assert write_tick(odd).count("…") == 2


def test_a_tick_tells_its_intervals() -> None:
    assert write_tick(view(every="day").value(3)) == "tick 3 (2026-01-03): 3.0 ± 1.0, at 95 %"
    assert write_tick(view("A", "B").value(1234)).splitlines() == [
        "tick 1,234, at 95 %:",
        "  A: 1,234.0 ± 1.0",
        "  B: 1,235.0 ± 1.0",
    ]


def test_a_long_stream_shows_its_last_ticks_and_counts_the_rest() -> None:
    text = write_stream(view(published=LAST + 5))
    assert "5 ticks before these." in text
    shown = [line.split()[0] for line in text.splitlines() if len(line.split()) == 3 and line.split()[0].isdigit()]
    assert shown == [str(number) for number in range(6, LAST + 6)]
    assert f"{LAST + 3} ticks before these." in write_stream(view(*range(14), published=LAST + 5))
    assert "4 ticks before these." in write_stream(view(*range(100), published=5))


def test_what_is_before_is_counted_from_the_first_tick_of_the_stream() -> None:
    held = view(published=40)
    later = held.ticks()[1:]
    for ticks in (later, held.ticks()):
        assert f"{40 - LAST} ticks before these." in write_last_ticks(held, ticks)
    # Nothing is left out of a tick that was just published.
    assert not [line for line in write_last_ticks(held, held.ticks()[-1:]) if "before" in line]


def test_a_stream_that_has_published_nothing_says_so_everywhere() -> None:
    empty = view(published=0)
    assert "Nothing was published yet." in write_stream(empty)
    assert "0 of 365 ticks" in write_stream_html(empty)
    assert "Nothing was published yet." in write_stream_html(empty)
    axes = plot_stream(empty)
    assert [text.get_text() for text in axes.texts] == ["nothing was published yet"]
    assert not axes.axison
    assert build_distributions(view(10, 20, published=0, measure="cdf")) == {}


def test_the_lines_of_a_picture_are_the_published_values_and_intervals() -> None:
    found = build_stream_plot(view("A", "B", every="day"), 0.5)
    assert [strand.name for strand in found.strands] == ["A", "B"]
    assert found.strands[1].values == (2.0, 3.0, 4.0)
    assert found.strands[1].lows == (1.0, 2.0, 3.0)
    assert found.strands[1].highs == pytest.approx([2 + 0.5 / 0.95, 3 + 0.5 / 0.95, 4 + 0.5 / 0.95])
    assert found.labels == tuple(datetime.date(2026, 1, day) for day in (1, 2, 3))
    assert found.confidence == 0.5


def test_html_has_the_drawing_and_the_table_and_escapes_names() -> None:
    held = view("<A>", "B")
    held.name = "<visits>"
    html = write_stream_html(held)
    assert html.index("count so far, 3 of 365") < html.index("<svg") < html.index("<table")
    assert "<visits>" not in html
    assert "<A>" not in html


def test_html_tells_how_to_read_it_and_what_is_not_shown() -> None:
    html = write_stream_html(view("A", "B", published=40))
    assert "± is half the width of a 95 % interval" in html
    assert "25 ticks before these." in html
    assert "3 further keys are not drawn" in write_stream_html(view(*"ABCDEFGHI"))


def test_keys_have_the_colours_of_the_picture_in_notebooks_too() -> None:
    held = view("A", "B", "C")
    painted = [line.get_color() for line in plot_stream(held).get_lines()]
    assert re.findall(r'stroke="(#[0-9a-f]+)"', write_stream_html(held)) == painted


def test_one_key_is_drawn_on_given_axes_and_the_next_beside_it() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    held = view("A", "B", "C")
    for key in ("C", "A"):
        assert plot_stream(held, key=key, axes=axes) is axes
        assert axes.get_title(loc="left").startswith(f"visits, {key}: ")
    assert [line.get_label() for line in axes.get_lines()] == ["C", "A"]
    assert len({line.get_color() for line in axes.get_lines()}) == 2
    low, high = axes.get_ylim()
    # A begins at 1 - 1, and C ends at 5 + 1: both are seen.
    assert low < 0
    assert high > 6
    assert [line.get_label() for line in plot_stream(held, key=["B", "C"]).get_lines()] == ["B", "C"]
    with pytest.raises(QueryError, match=r"no key D\. It has A, B, C\."):
        plot_stream(held, key="D")


def test_one_distribution_is_drawn_on_given_axes_and_several_are_refused() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    held = view(*((key, end) for key in "AB" for end in (10, 20)), published=2, measure="cdf")
    assert plot_stream(held, key="B", axes=axes) is axes
    assert axes.get_title(loc="left").startswith("visits, B, so far: bars are 95 %")
    with pytest.raises(QueryError, match="Distributions of several keys do not fit into one plot"):
        plot_stream(held, axes=axes)
    with pytest.raises(QueryError, match="no key C"):
        plot_stream(held, key="C")


def test_a_distribution_is_drawn_as_the_curves_of_a_few_ticks() -> None:
    held = view(10, 20, 30, published=40, measure="cdf")
    curves = build_distributions(held)
    assert [one.name for one in curves[""]][:: len(curves[""]) - 1] == ["tick 1", "tick 40"]
    assert [line.label for line in curves[""][0].lines] == [10, 20, 30]
    axes = plot_stream(held)
    named = [line for line in axes.get_lines() if line.get_label() in {one.name for one in curves[""]}]
    assert len(named) == len(curves[""]) == 6
    assert list(named[-1].get_xdata()) == [10, 20, 30]
    assert list(named[-1].get_ydata()) == pytest.approx([40 / 43, 41 / 43, 42 / 43])
    assert named[-1].get_marker() == "o"


def test_a_distribution_begins_and_ends_with_its_range() -> None:
    held = view(10, 20, 60, published=2, measure="cdf")
    held.declaration.measure.range = SimpleNamespace(low=0, high=100)
    through = plot_stream(held).get_lines()[-2]
    assert list(through.get_xdata()) == [0, 10, 20, 60, 100]
    assert list(through.get_ydata()) == pytest.approx([0, 2 / 5, 3 / 5, 4 / 5, 1])


def test_distributions_with_keys_have_a_pane_each() -> None:
    held = view(*((key, end) for key in "AB" for end in (10, 20)), published=2, measure="cdf")
    figure = plot_stream(held).figure
    assert [pane.get_title(loc="left") for pane in figure.axes] == ["A", "B"]
    assert [len(pane.get_legend_handles_labels()[1]) for pane in figure.axes] == [2, 2]


def test_a_small_picture_of_a_distribution_is_its_last_tick_over_values() -> None:
    held = view(*((key, end) for key in "AB" for end in (10, 20)), published=2, measure="cdf")
    found = build_small_plot(held, held.ticks())
    assert (found.labels[0], found.labels[-1]) == (10, 20)
    assert [strand.name for strand in found.strands] == ["A", "B"]
    ends = found.strands[1].values[0], found.strands[1].values[-1]
    assert ends == pytest.approx((4 / 6, 5 / 6))
    assert found.between == "where it rises, by 95 % intervals at 10, 20"
    assert found.heading == "visits · share at most each value, so far · tick 2"
    assert build_small_plot(view(), view().ticks()).heading == "visits · count so far · tick 3 of 365"
