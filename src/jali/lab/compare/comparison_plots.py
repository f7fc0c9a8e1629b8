"""Draw the errors of the mechanisms of a comparison, on each shape of data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.display.numbers import show_percent
from jali.display.plots.plot_canvas import (
    DEEP,
    FAINT,
    SAND,
    SLATE,
    TEXT,
    import_pyplot,
    prepare_axes,
    write_titles,
)

if TYPE_CHECKING:
    from jali.lab.compare.comparison_table import Comparison

_ACROSS = 3
_LEAST, _MOSTLY = 1e-12, 0.5


@dataclass(frozen=True)
class ErrorDot:
    """One line of a panel.

    Attributes:
        mechanism: The name on the left.
        mean: The mean error; 0 is drawn at the left edge.
        worst: The 95 % error.
        declined: The share of releases that declined.
        best: Whether no other mechanism has a smaller mean error.
    """

    mechanism: str
    mean: float
    worst: float
    declined: float
    best: bool


def comparison_curves(compared: Comparison) -> dict[str, tuple[ErrorDot, ...]]:
    """Return, for each shape of data, what is drawn of each mechanism."""
    return {
        shape: tuple(_make_dot(compared, name, shape) for name in compared.mechanisms) for shape in compared.shapes
    }


def _make_dot(compared: Comparison, name: str, shape: str) -> ErrorDot:
    result = compared.result(name, shape)
    return ErrorDot(name, result.mean, result.worst, result.declined, result == compared.best(shape))


def comparison(compared: Comparison) -> Any:
    """Draw the errors of a comparison, a panel for each shape of data, and return the figure."""
    panels = comparison_curves(compared)
    across = min(_ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    size = (2.2 + 3.1 * across, 0.8 + down * (0.7 + 0.24 * len(compared.mechanisms)))
    figure, grid = import_pyplot().subplots(
        down, across, figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (shape, dots) in zip(grid.flat, panels.items(), strict=False):
        _draw_panel(axes, shape, dots)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle(
        f"{compared.statistic}, epsilon {compared.epsilon:g}: mean error ● and 95 % error ▏of each mechanism",
        fontsize=10,
        color=TEXT,
        x=0.01,
        ha="left",
    )
    return figure


def _draw_panel(axes: Any, shape: str, dots: tuple[ErrorDot, ...]) -> None:
    prepare_axes(axes)
    answering = [dot for dot in dots if dot.declined <= _MOSTLY]
    shown = [size for dot in answering for size in (dot.mean, dot.worst) if _LEAST < size < math.inf]
    left = min(shown, default=1.0) / 3
    axes.set_xscale("log")
    for place, dot in enumerate(dots):
        _draw_dot(axes, place, dot, left)
    axes.set_yticks(range(len(dots)), [dot.mechanism for dot in dots])
    axes.set_ylim(len(dots) - 0.5, -0.5)
    axes.set_xlim(left / 1.5, 3 * max(shown, default=1.0))
    axes.grid(visible=False, axis="y")
    write_titles(axes, shape, "error", "")


def _draw_dot(axes: Any, place: int, dot: ErrorDot, left: float) -> None:
    ink = SAND if dot.best else DEEP
    if dot.declined > _MOSTLY:
        _write_beside(axes, left, place, f"declines {show_percent(dot.declined)}", SLATE)
        return
    mean, worst = max(dot.mean, left), max(dot.worst, left)
    axes.plot([mean, worst], [place, place], color=FAINT, linewidth=2, zorder=2)
    axes.plot([worst], [place], marker="|", markersize=9, color=ink, zorder=3)
    axes.plot([mean], [place], marker="o", markersize=6, color=ink, zorder=4)
    if dot.mean <= _LEAST:
        _write_beside(axes, left, place, "exact", ink)


def _write_beside(axes: Any, x: float, place: int, text: str, ink: str) -> None:
    """Write a word to the right of a point."""
    axes.annotate(text, (x, place), (7, 0), textcoords="offset points", fontsize=8, color=ink, va="center")
