"""Draw answers: bars, histograms and distribution functions, each with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jali.display.numbers import is_number, show_amount, show_key
from jali.display.plots.plot_canvas import DEEP, TEXT, draw_bars, pick_colour, prepare_axes, write_titles
from jali.display.view_models import CellLine, ColumnPlot, Series

TITLE = "lines are intervals for the bounded truth"
_BAND = "bands are intervals for the bounded truth"
_ROOM = 0.8


def draw_column(plotted: ColumnPlot) -> Any:
    """Draw one column of an answer in the way that suits it, and return the axes (needs matplotlib)."""
    series = plotted.series
    if not series:
        return draw_bars(plotted.points, plotted.name)
    return draw_steps(series, plotted.name) if plotted.has_steps else draw_upright_bars(series, plotted.name)


def draw_upright_bars(series: Sequence[Series], name: str = "") -> Any:
    """Draw upright bars over each label, side by side where there are several series."""
    labels = list(dict.fromkeys(show_key(line.label) for one in series for line in one.lines))
    axes = prepare_axes(size=(max(5.0, min(14.0, 2.4 + 0.22 * len(labels) * max(2, len(series)))), 4.2))
    width = _ROOM / len(series)
    for index, one in enumerate(series):
        places = [labels.index(show_key(line.label)) for line in one.lines]
        shift = (index - (len(series) - 1) / 2) * width
        _draw_series(axes, one, [place + shift for place in places], width, pick_colour(index + 1))
    axes.set_xticks(list(range(len(labels))), labels)
    _thin_out(axes, labels)
    axes.grid(visible=False, axis="x")
    axes.yaxis.set_major_formatter(lambda value, _: show_amount(value))
    write_titles(axes, TITLE, "", name)
    _draw_legend(axes, series)
    return axes


def _draw_series(axes: Any, one: Series, places: Sequence[float], width: float, paint: str) -> None:
    known = [(place, line.value) for place, line in zip(places, one.lines, strict=True) if is_number(line.value)]
    axes.bar(
        [place for place, _ in known],
        [value for _, value in known],
        width=0.92 * width,
        color=paint,
        alpha=0.55,
        label=one.name or "_nolegend_",
    )
    for place, line in zip(places, one.lines, strict=True):
        if line.interval is not None:
            axes.plot((place, place), line.interval, color=DEEP, linewidth=1.6, solid_capstyle="round")


def draw_steps(series: Sequence[Series], name: str = "") -> Any:
    """Draw distribution functions as steps, with a band for their intervals."""
    axes = prepare_axes()
    for index, one in enumerate(series):
        held = [line for line in one.lines if is_number(line.label)]
        # The last step is as long as the one before it.
        across = [*(line.label for line in held), 2 * held[-1].label - held[-2].label]
        held.append(held[-1])
        drawn = {"where": "post", "color": pick_colour(index), "linewidth": 1.8, "label": one.name or "_nolegend_"}
        axes.step(across, [line.value for line in held], **drawn)
        low, high = ([_read_end(line, end) for line in held] for end in (0, 1))
        axes.fill_between(across, low, high, step="post", color=pick_colour(index), alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.yaxis.set_major_formatter(lambda value, _: show_amount(value))
    write_titles(axes, _BAND, "at most", name)
    _draw_legend(axes, series)
    return axes


def _read_end(line: CellLine, end: int) -> Any:
    return line.value if line.interval is None else line.interval[end]


def _thin_out(axes: Any, labels: Sequence[str]) -> None:
    """Leave out labels that would run into each other, and turn long ones."""
    every = -(-len(labels) // 40)
    axes.set_xticks(list(range(0, len(labels), every)), list(labels[::every]))
    if sum(len(label) for label in labels[::every]) > 60:
        axes.tick_params(axis="x", rotation=90)


def _draw_legend(axes: Any, series: Sequence[Series]) -> None:
    if len(series) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5, labelcolor=TEXT)
