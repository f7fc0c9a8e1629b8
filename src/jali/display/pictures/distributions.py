"""Distribution functions over time: the curves of a few ticks, the later the darker, in a pane for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import TEXT, sheet, titles
from jali.display.plots import pyplot
from jali.display.stream_curve import Curve
from jali.errors import QueryError

_ABREAST, MOST_PANES = 3, 12
# From the first tick to the last.
_EARLY, _LATE = np.array([0.66, 0.84, 0.82]), np.array([0.05, 0.25, 0.24])
# Up to so many values have a dot each.
_DOTTED = 40


def draw_distributions(curves: Mapping[str, Sequence[Curve]], title: str, axes: Any = None) -> Any:
    """Draw the curves of each key, and return the axes of the first (needs matplotlib).

    A dot is a share that was published; lines between dots only lead the eye. The last curve has the intervals of
    its shares as bars, and between them the band in which a rising curve lies: those of all would hide each other.
    """
    if axes is not None:
        return _alone(curves, title, axes)
    drawn = dict(list(curves.items())[:MOST_PANES])
    abreast = min(_ABREAST, len(drawn))
    down = -(-len(drawn) // abreast)
    size = (7.0, 4.2) if len(drawn) == 1 else (3.3 * abreast + 0.8, 0.8 + 2.1 * down)
    figure, grid = pyplot().subplots(
        down, abreast, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for pane, (name, some) in zip(grid.flat, drawn.items(), strict=False):
        _pane(sheet(pane), some)
        pane.set_title(name if len(drawn) > 1 else "", fontsize=9, loc="left", color=TEXT)
    hide_rest(grid, len(drawn))
    first, left_out = grid.flat[0], len(curves) - len(drawn)
    more = f"; {left_out:,} further keys are not drawn" if left_out else ""
    _written(figure, first, title + more, alone=len(drawn) == 1)
    _legend(grid[0, -1], first)
    return first


def hide_rest(grid: Any, count: int) -> None:
    """Leave out the panes after so many; the last one that is left in each column has the numbers below it."""
    for pane in grid.flat[count:]:
        pane.set_visible(False)
    for column in range(grid.shape[1]):
        seen = [pane for pane in grid[:, column] if pane.get_visible()]
        for pane in seen[-1:]:
            pane.tick_params(labelbottom=True)


def _alone(curves: Mapping[str, Sequence[Curve]], title: str, axes: Any) -> Any:
    """Draw on the axes of somebody else, which have room for one key."""
    if len(curves) != 1:
        names = list(curves)
        raise QueryError("plot-several-keys", key=names[0])
    (some,) = curves.values()
    _pane(sheet(axes), some)
    titles(axes, title, "value", "share at most")
    _legend(axes, axes)
    return axes


def _legend(axes: Any, named: Any) -> None:
    """Name the curves beside the axes, where nothing is drawn."""
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False, "fontsize": 8.5}
    axes.legend(*named.get_legend_handles_labels(), labelcolor=TEXT, **beside)


def _written(figure: Any, axes: Any, title: str, *, alone: bool) -> None:
    across, up = "value", "share at most"
    if alone:
        titles(axes, title, across, up)
        return
    figure.suptitle(title, fontsize=10, x=0.01, ha="left", color=TEXT)
    figure.supxlabel(across, fontsize=9, color=TEXT)
    figure.supylabel(up, fontsize=9, color=TEXT)


def _pane(axes: Any, curves: Sequence[Curve]) -> None:
    for place, one in enumerate(curves):
        share = place / (len(curves) - 1) if len(curves) > 1 else 1.0
        _curve(axes, one, tuple(_EARLY + share * (_LATE - _EARLY)), banded=place == len(curves) - 1)
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: show_percent(value))


def _curve(axes: Any, one: Curve, paint: Any, *, banded: bool) -> None:
    told, count = one.published, len(one.places[one.published])
    axes.plot(one.places, one.shares, color=paint, linewidth=1.0, alpha=0.8)
    dots = {"marker": "o", "markersize": 5} if count <= _DOTTED else {}
    axes.plot(one.places[told], one.shares[told], color=paint, linewidth=1.0, label=one.name, **dots)
    if banded:
        places, lows, highs = (
            np.array(part) for part in zip(*(one.band() or [(one.places[0],) * 3]), strict=True)
        )
        axes.fill_between(places, lows, highs, color=paint, alpha=0.1, linewidth=0)
        if count <= _DOTTED:
            axes.vlines(one.places[told], one.lows[told], one.highs[told], color=paint, alpha=0.5, linewidth=3.5)
