"""Plots, by matplotlib. What is drawn is `Answer.plot_data`, which needs no library."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, TypeAlias

from jali.display.numbers import Interval, is_number, show_amount
from jali.errors import CatalogError

PlotData: TypeAlias = Sequence[tuple[str, Any, Interval]]


def bars(plot_data: PlotData, name: str = "") -> Any:
    """Draw one horizontal bar per row, with its interval, over an axis with the column's name.

    A row whose value is NULL keeps its label and its interval, and has no bar and no point. Dates have points
    and intervals only: there is no zero for their bars to begin at.
    """
    figure, axes = pyplot().subplots(figsize=(7, 0.8 + 0.36 * max(1, len(plot_data))), layout="constrained")
    known = [(place, row[1]) for place, row in enumerate(plot_data) if is_number(row[1])]
    axes.barh([place for place, _ in known], [value for _, value in known], color="#99d5cf", height=0.62)
    for place, (_, value, span) in enumerate(plot_data):
        if span is not None:
            axes.plot(span, (place, place), color="#134e4a", linewidth=1.6, solid_capstyle="round")
            if value is not None:
                axes.plot([value], [place], marker="o", markersize=4, color="#134e4a")
    axes.set_yticks(list(range(len(plot_data))), [row[0] for row in plot_data])
    # Also where no row has a bar: every label needs its place.
    axes.set_ylim(max(1, len(plot_data)) - 0.5, -0.5)
    _format(axes, plot_data)
    axes.set_xlabel(name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("lines are intervals for the bounded truth", fontsize=9, loc="left")
    del figure
    return axes


def _format(axes: Any, plot_data: PlotData) -> None:
    """Write amounts with separators, and dates shortly."""
    found = [value for _, value, _ in plot_data if value is not None]
    if any(is_number(value) for value in found):
        axes.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    elif any(isinstance(value, datetime.date) for value in found):
        from jali.display.pictures.canvas import concise_dates

        axes.xaxis.set_major_formatter(concise_dates(axes))


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        from matplotlib import pyplot as module
    except ImportError:
        raise CatalogError("matplotlib-missing") from None
    return module
