"""Draw mechanisms: a comparison of their errors on each shape of data, and their error laws.

An error law is how likely an answer is off by more than so much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.plots.plot_canvas import (
    DEEP,
    FAINT,
    SAND,
    SLATE,
    TEXT,
    import_pyplot,
    pick_colour,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves
from jali.errors import CatalogError
from jali.mechanisms.additive.additive_noise import Additive
from jali.mechanisms.base import Mechanism

_ACROSS = 3
_LEAST, _MOSTLY = 1e-12, 0.5


class PlottedComparison(Protocol):
    """What a picture needs of a `Comparison`."""

    @property
    def statistic(self) -> str:
        """What was asked for."""

    @property
    def epsilon(self) -> float:
        """The loss of each release."""

    @property
    def shapes(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms, in order."""

    def result(self, mechanism: str, shape: str) -> Any:
        """Return the errors of one mechanism on one column."""

    def best(self, shape: str) -> Any:
        """Return the best of them on a column."""


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


def comparison_curves(compared: PlottedComparison) -> dict[str, tuple[ErrorDot, ...]]:
    """Return, for each shape of data, what is drawn of each mechanism."""
    return {
        shape: tuple(_make_dot(compared, name, shape) for name in compared.mechanisms) for shape in compared.shapes
    }


def _make_dot(compared: PlottedComparison, name: str, shape: str) -> ErrorDot:
    result = compared.result(name, shape)
    return ErrorDot(name, result.mean, result.worst, result.declined, result == compared.best(shape))


def comparison(compared: PlottedComparison) -> Any:
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


ErrorCurve = list[tuple[float, float]]
_FLOOR = 1e-6


def error_curves(
    mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, count: int = 241, **shape: Any
) -> dict[str, ErrorCurve]:
    """Return points (error, chance that it is exceeded) for each mechanism, down to a chance of `floor`.

    The chance is exact for noise that is added; elsewhere it is what `error` promises, a bound.

    Args:
        mechanisms: Each under the name to be written beside it.
        floor: The least chance.
        count: How many points each curve has, evenly spaced in the logarithm of the chance.
        shape: What `error` must be told besides the confidence, such as `candidates=100` for selection.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> curves = error_curves({"Laplace": Laplace(sensitivity=1, epsilon=1)}, floor=0.01, count=3)
        >>> [(error, round(chance, 3)) for error, chance in curves["Laplace"]]  # 0.538 that it is not 0, and so on
        [(0.0, 0.538), (2.0, 0.073), (4.0, 0.01)]
    """
    if not isinstance(mechanisms, Mapping) or not mechanisms or not all(map(_is_mechanism, mechanisms.values())):
        raise CatalogError("plot-mechanisms-not-a-dictionary")
    if not 0 < floor < 0.9 or count < 2:
        raise CatalogError("plot-floor-or-count-wrong")
    chances = [0.9 * (floor / 0.9) ** (i / (count - 1)) for i in range(count)]
    return {name: [_find_point(m, chance, shape) for chance in chances] for name, m in mechanisms.items()}


def _is_mechanism(item: Any) -> bool:
    return isinstance(item, Mechanism)


def _find_point(mechanism: Mechanism, chance: float, shape: Mapping[str, Any]) -> tuple[float, float]:
    size = mechanism.error(1 - chance, **shape)
    exact = mechanism.tail(size) if isinstance(mechanism, Additive) else chance
    return float(size), exact


def errors(mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, axes: Any = None, **shape: Any) -> Any:
    """Draw the chance that each mechanism's error is exceeded, and return the axes (needs matplotlib)."""
    curves = error_curves(mechanisms, floor=floor, **shape)
    axes = prepare_axes(axes)
    lines = []
    for index, (name, curve) in enumerate(curves.items()):
        sizes, chances = zip(*curve, strict=True)
        # The chance is that of all errors up to the next one.
        stairs = "steps-post" if isinstance(mechanisms[name], Additive) else "default"
        lines += axes.plot(sizes, chances, color=pick_colour(index), linewidth=1.8, label=name, drawstyle=stairs)
    axes.set(yscale="log", ylim=(floor, 1))
    axes.set_xlim(left=0)
    write_titles(axes, "Error: how likely an answer is off by more", "error", "chance that it is exceeded")
    label_curves(axes, lines)
    return axes
