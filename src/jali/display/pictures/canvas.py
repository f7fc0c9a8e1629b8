"""The sheet all pictures are drawn on: size, colours, axes without clutter."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from jali.display.plots import pyplot
from jali.errors import CatalogError
from jali.privacy import Loss

DEEP, TEAL, SAND, SLATE, PLUM, MOSS = "#134e4a", "#14a098", "#c2790b", "#64748b", "#8a4a76", "#7c9a3a"
COLOURS = (DEEP, TEAL, SAND, SLATE, PLUM, MOSS)
FAINT, TEXT = "#cbd5e1", "#334155"
DASHES = (0, (4, 3))


def sheet(axes: Any = None, *, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """Return axes to draw on: the given ones, or those of a new figure."""
    if axes is None:
        _, axes = pyplot().subplots(figsize=size, layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=TEXT, labelsize=9, length=3, color=FAINT, which="both")
    axes.grid(visible=True, color=FAINT, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    return axes


def titles(axes: Any, title: str, across: str, up: str) -> None:
    """Write what is seen above the axes, and what is measured along them."""
    shown = textwrap.fill(title, _room(axes), break_on_hyphens=False)
    axes.set_title(shown, fontsize=10, loc="left", color=TEXT)
    axes.set_xlabel(across, fontsize=9, color=TEXT)
    axes.set_ylabel(up, fontsize=9, color=TEXT)


def _room(axes: Any) -> int:
    """Return how many letters of a title fit above axes: twelve to the inch, beside the numbers on the left."""
    figure = axes.figure
    share = 1.0 if len(figure.axes) == 1 else axes.get_position().width
    return max(24, int(12 * (figure.get_figwidth() * share - 0.7)))


def named(losses: Mapping[str, Loss]) -> Mapping[str, Loss]:
    """Return the losses if each has a name to be written beside its curve."""
    if not isinstance(losses, Mapping) or not all(isinstance(loss, Loss) for loss in losses.values()):
        raise CatalogError("plot-losses-not-a-dictionary")
    if not losses:
        raise CatalogError("plot-losses-empty")
    return losses


def colour(index: int) -> str:
    """Return the colour of the curve with this number."""
    return COLOURS[index % len(COLOURS)]


def concise_dates(axes: Any) -> Any:
    """Return a formatter that writes what changes from tick to tick, and the rest of the date once."""
    from matplotlib import dates

    formatter: Any = dates.ConciseDateFormatter
    return formatter(axes.xaxis.get_major_locator())
