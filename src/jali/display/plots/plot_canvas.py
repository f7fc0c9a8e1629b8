"""Prepare axes for plots: size, colours, titles, bars and intervals, without clutter.

What is drawn of an answer is `Answer.plot_data`, which needs no library.
"""

from __future__ import annotations

import datetime
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jali.display.numbers import Interval, is_number, show_amount
from jali.errors import CatalogError
from jali.privacy import Loss

PlotData: TypeAlias = Sequence[tuple[str, Any, Interval]]


def draw_bars(plot_data: PlotData, name: str = "") -> Any:
    """Draw one horizontal bar per row, with its interval, over an axis with the column's name.

    A row whose value is NULL keeps its label and its interval, and has no bar and no point. Dates have points
    and intervals only: there is no zero for their bars to begin at.
    """
    figure, axes = import_pyplot().subplots(figsize=(7, 0.8 + 0.36 * max(1, len(plot_data))), layout="constrained")
    known = [(place, row[1]) for place, row in enumerate(plot_data) if is_number(row[1])]
    axes.barh([place for place, _ in known], [value for _, value in known], color="#99d5cf", height=0.62)
    for place, (_, value, span) in enumerate(plot_data):
        if span is not None:
            axes.plot(span, (place, place), color=DEEP, linewidth=1.6, solid_capstyle="round")
            if value is not None:
                axes.plot([value], [place], marker="o", markersize=4, color=DEEP)
    axes.set_yticks(list(range(len(plot_data))), [row[0] for row in plot_data])
    # Also where no row has a bar: every label needs its place.
    axes.set_ylim(max(1, len(plot_data)) - 0.5, -0.5)
    _format_axes(axes, plot_data)
    axes.set_xlabel(name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("lines are intervals for the bounded truth", fontsize=9, loc="left")
    del figure
    return axes


def _format_axes(axes: Any, plot_data: PlotData) -> None:
    """Write amounts with separators, and dates shortly."""
    found = [value for _, value, _ in plot_data if value is not None]
    if any(is_number(value) for value in found):
        axes.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    elif any(isinstance(value, datetime.date) for value in found):
        axes.xaxis.set_major_formatter(make_date_formatter(axes))


def import_pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        from matplotlib import pyplot as module
    except ImportError:
        raise CatalogError("matplotlib-missing") from None
    return module


DEEP, TEAL, SAND, SLATE, PLUM, MOSS = "#134e4a", "#14a098", "#c2790b", "#64748b", "#8a4a76", "#7c9a3a"
COLOURS = (DEEP, TEAL, SAND, SLATE, PLUM, MOSS)
FAINT, TEXT = "#cbd5e1", "#334155"
DASHES = (0, (4, 3))


def prepare_axes(axes: Any = None, *, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """Return axes to draw on: the given ones, or those of a new figure."""
    if axes is None:
        _, axes = import_pyplot().subplots(figsize=size, layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=TEXT, labelsize=9, length=3, color=FAINT, which="both")
    axes.grid(visible=True, color=FAINT, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    return axes


def write_titles(axes: Any, title: str, across: str, up: str) -> None:
    """Write what is seen above the axes, and what is measured along them."""
    shown = textwrap.fill(title, _count_letters(axes), break_on_hyphens=False)
    axes.set_title(shown, fontsize=10, loc="left", color=TEXT)
    axes.set_xlabel(across, fontsize=9, color=TEXT)
    axes.set_ylabel(up, fontsize=9, color=TEXT)


def _count_letters(axes: Any) -> int:
    """Return how many letters of a title fit above axes: twelve to the inch, beside the numbers on the left."""
    figure = axes.figure
    share = 1.0 if len(figure.axes) == 1 else axes.get_position().width
    return max(24, int(12 * (figure.get_figwidth() * share - 0.7)))


def check_losses(losses: Mapping[str, Loss]) -> Mapping[str, Loss]:
    """Return the losses if each has a name to be written beside its curve."""
    if not isinstance(losses, Mapping) or not all(isinstance(loss, Loss) for loss in losses.values()):
        raise CatalogError("plot-losses-not-a-dictionary")
    if not losses:
        raise CatalogError("plot-losses-empty")
    return losses


def pick_colour(index: int) -> str:
    """Return the colour of the curve with this number."""
    return COLOURS[index % len(COLOURS)]


def make_date_formatter(axes: Any) -> Any:
    """Return a formatter that writes what changes from tick to tick, and the rest of the date once."""
    from matplotlib import dates

    formatter: Any = dates.ConciseDateFormatter
    return formatter(axes.xaxis.get_major_locator())


def draw_intervals(
    axes: Any, places: Sequence[float], intervals: Sequence[tuple[float, float]], paint: str, name: str = ""
) -> Any:
    """Draw an interval at each place, and return an unseen line through all of them, to be labelled or avoided."""
    if not intervals:
        return axes.plot([], [], color=paint, alpha=0, label=name or "_")[0]
    lows, highs = zip(*intervals, strict=True)
    axes.vlines(places, lows, highs, color=paint, linewidth=1.4, zorder=3)
    up_and_down = [end for i, ends in enumerate(intervals) for end in (ends if i % 2 == 0 else ends[::-1])]
    twice = [place for place in places for _ in range(2)]
    (through,) = axes.plot(twice, up_and_down, color=paint, alpha=0, label=name or "_")
    return through
