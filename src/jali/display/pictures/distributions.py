"""Distribution functions over time: the steps of a few ticks, the later the darker, in a pane for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import TEXT, sheet, titles
from jali.display.plots import pyplot
from jali.display.plotted import Series

_ABREAST, MOST_PANES = 3, 12
# From the first tick to the last.
_EARLY, _LATE = np.array([0.66, 0.84, 0.82]), np.array([0.05, 0.25, 0.24])


def draw_distributions(curves: Mapping[str, Sequence[Series]], title: str) -> Any:
    """Draw the curves of each key, and return the axes of the first (needs matplotlib).

    The last curve has the band of its intervals: those of all would hide each other.
    """
    drawn = dict(list(curves.items())[:MOST_PANES])
    abreast = min(_ABREAST, len(drawn))
    down = -(-len(drawn) // abreast)
    size = (7.0, 4.2) if len(drawn) == 1 else (3.3 * abreast + 0.8, 0.8 + 2.1 * down)
    figure, grid = pyplot().subplots(
        down, abreast, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for pane, (name, series) in zip(grid.flat, drawn.items(), strict=False):
        _pane(sheet(pane), series)
        pane.set_title(name, fontsize=9, loc="left", color=TEXT)
    for pane in grid.flat[len(drawn) :]:
        pane.set_visible(False)
    first, left_out = grid.flat[0], len(curves) - len(drawn)
    more = f"; {left_out:,} further keys are not drawn" if left_out else ""
    _written(figure, first, title + more, alone=len(drawn) == 1)
    # Beside the last pane of the first row, where nothing is drawn.
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False, "fontsize": 8.5}
    grid[0, -1].legend(*first.get_legend_handles_labels(), labelcolor=TEXT, **beside)
    return first


def _written(figure: Any, axes: Any, title: str, *, alone: bool) -> None:
    across, up = "value", "share at most"
    if alone:
        titles(axes, title, across, up)
        return
    figure.suptitle(title, fontsize=10, x=0.01, ha="left", color=TEXT)
    figure.supxlabel(across, fontsize=9, color=TEXT)
    figure.supylabel(up, fontsize=9, color=TEXT)


def _pane(axes: Any, series: Sequence[Series]) -> None:
    for place, one in enumerate(series):
        share = place / (len(series) - 1) if len(series) > 1 else 1.0
        _curve(axes, one, tuple(_EARLY + share * (_LATE - _EARLY)), banded=place == len(series) - 1)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(lambda value, _: show_percent(value))


def _curve(axes: Any, one: Series, paint: Any, *, banded: bool) -> None:
    """Draw one function as steps; the last step is as long as the one before it."""
    ends = [line.label for line in one.lines]
    across = [*ends, 2 * ends[-1] - ends[-2] if len(ends) > 1 else ends[-1] + 1]
    held = [*one.lines, one.lines[-1]]
    axes.step(across, [line.value for line in held], where="post", color=paint, linewidth=1.7, label=one.name)
    if banded:
        low, high = ([line.interval[end] for line in held if line.interval is not None] for end in (0, 1))
        axes.fill_between(across, low, high, step="post", color=paint, alpha=0.18, linewidth=0)
