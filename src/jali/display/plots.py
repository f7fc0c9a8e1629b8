"""Plots, by matplotlib. What is drawn is `Answer.plot_data`, which needs no library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from jali.errors import JaliError

PlotData: TypeAlias = Sequence[tuple[str, float | None, tuple[float, float] | None]]


def bars(plot_data: PlotData) -> Any:
    """Draw one horizontal bar per row, with its interval; return matplotlib's axes."""
    pyplot = _pyplot()
    drawn = [row for row in plot_data if row[1] is not None]
    places = list(range(len(drawn)))
    figure, axes = pyplot.subplots(figsize=(7, 0.8 + 0.36 * max(1, len(drawn))), layout="constrained")
    axes.barh(places, [row[1] for row in drawn], color="#99d5cf", height=0.62)
    for place, (_, value, span) in zip(places, drawn, strict=True):
        if span is not None:
            axes.plot(span, (place, place), color="#134e4a", linewidth=1.6, solid_capstyle="round")
            axes.plot([value], [place], marker="o", markersize=4, color="#134e4a")
    axes.set_yticks(places, [row[0] for row in drawn])
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("lines are intervals for the bounded truth", fontsize=9, loc="left")
    del figure
    return axes


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise JaliError("Plots need matplotlib.", remedy="Install it: pip install 'jali[plots]'.") from None
    return pyplot
