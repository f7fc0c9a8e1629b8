"""Tabulate and draw the errors of mechanisms on shapes of data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

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
from jali.display.text import WIDTH, TextColumn, write_table
from jali.errors import CatalogError

MEASURES = {"mean": "mean error", "median": "median error", "worst": "95 % error"}
# What declines more often than this has no error to speak of.
_MOST_DECLINED = 0.5


@dataclass(frozen=True)
class ErrorSummary:
    """The errors of one mechanism on one column, over many releases.

    Attributes:
        shape: The data.
        mechanism: The mechanism.
        loss: What one release spends.
        mean: The mean of |released - true| over the releases that answered; infinite if none did.
        median: Its median.
        worst: Its 95 % quantile.
        declined: The share of releases that declined to answer.
        spread: The standard error of the mean.
    """

    shape: str
    mechanism: str
    loss: str
    mean: float
    median: float
    worst: float
    declined: float
    spread: float

    @classmethod
    def of(cls, shape: str, mechanism: str, loss: str, errors: Sequence[float | None]) -> ErrorSummary:
        """Sum up the errors of many releases; None stands for one that declined."""
        answered = np.array([error for error in errors if error is not None], np.float64)
        declined = 1 - len(answered) / len(errors)
        if not len(answered):
            return cls(shape, mechanism, loss, math.inf, math.inf, math.inf, declined, math.inf)
        middle, worst = np.quantile(answered, [0.5, 0.95]).tolist()
        spread = float(answered.std() / math.sqrt(len(answered)))
        return cls(shape, mechanism, loss, float(answered.mean()), middle, worst, declined, spread)


@dataclass(frozen=True, repr=False)
class Comparison:
    """The errors of every mechanism for a statistic on every column, as a table and as a picture.

    It is exact about the data, and so not private.

    Attributes:
        statistic: What was asked for.
        epsilon: The loss of each release.
        adjacency: When two tables are neighbours.
        draws: How many releases were made of each.
        results: One for each mechanism and each column.
    """

    statistic: str
    epsilon: float
    adjacency: str
    draws: int
    results: tuple[ErrorSummary, ...]

    @property
    def shapes(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(dict.fromkeys(result.shape for result in self.results))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms, in order."""
        return tuple(dict.fromkeys(result.mechanism for result in self.results))

    def result(self, mechanism: str, shape: str) -> ErrorSummary:
        """Return the errors of one mechanism on one column."""
        for result in self.results:
            if (result.mechanism, result.shape) == (mechanism, shape):
                return result
        raise CatalogError("comparison-not-measured", mechanism=mechanism, shape=shape)

    def best(self, shape: str) -> ErrorSummary:
        """Return the least mean error on a column, among the mechanisms that mostly answer."""
        there = [result for result in self.results if result.shape == shape]
        return min(there, key=lambda result: (result.declined > _MOST_DECLINED, result.mean))

    def table(self, measure: str = "mean") -> str:
        """Write one measure as a table: a row for each mechanism, a column for each shape of data.

        Args:
            measure: "mean", "median" or "worst" (the 95 % quantile).
        """
        if measure not in MEASURES:
            raise CatalogError("parameter-not-one-of", choices=tuple(MEASURES), value=measure, name="measure")
        columns = [TextColumn(MEASURES[measure], self.mechanisms)]
        for shape in self.shapes:
            cells = [self._show_cell(self.result(name, shape), measure) for name in self.mechanisms]
            columns.append(TextColumn(shape, tuple(cells), right=True))
        columns.append(TextColumn("spends", tuple(self.result(n, self.shapes[0]).loss for n in self.mechanisms)))
        return write_table(columns)

    def _show_cell(self, result: ErrorSummary, measure: str) -> str:
        star = "*" if result == self.best(result.shape) else " "
        return f"declined{star}" if result.declined > _MOST_DECLINED else f"{getattr(result, measure):.3g}{star}"

    def _write_footnotes(self) -> list[str]:
        """Describe what the stars are, and how often mechanisms declined."""
        some = [
            f"{name} declined {show_percent(self.result(name, shape).declined)} on {shape}"
            for name in self.mechanisms
            for shape in self.shapes
            if 0 < self.result(name, shape).declined < 1
        ]
        return ["* the least mean error.", *([f"{'; '.join(some)}."] if some else [])]

    def __repr__(self) -> str:
        title = (
            f"{self.statistic}, {self.adjacency}: {self.draws:,} releases each. Measured on the data: not private."
        )
        notes = "\n".join(textwrap.fill(note, WIDTH) for note in self._write_footnotes())
        return f"{title}\n\n{self.table()}\n\n{self.table('worst')}\n\n{notes}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, infinities as None."""
        results = [
            {key: None if value == math.inf else value for key, value in asdict(result).items()}
            for result in self.results
        ]
        return {**asdict(self), "results": results}

    def plot(self) -> Any:
        """Draw the comparison and return the figure (needs matplotlib)."""
        return comparison(self)


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
