"""Draw streams: lines that grow tick after tick, each in the band of its intervals.

Distribution functions over time are the curves of a few ticks, the later the darker, in a pane for each key.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jali.display.numbers import show_amount, show_percent
from jali.display.plots.plot_canvas import TEXT, import_pyplot, make_date_formatter, prepare_axes, write_titles
from jali.display.plots.plot_labels import label_ends
from jali.display.stream_view_models import STREAM_COLOURS, DistributionCurve, StreamLine, StreamPlot, find_ends
from jali.errors import QueryError

_DISTRIBUTIONS_ABREAST, MOST_DISTRIBUTION_PANES = 3, 12
# From the first tick to the last.
_EARLY, _LATE = np.array([0.66, 0.84, 0.82]), np.array([0.05, 0.25, 0.24])
# Up to this many values have a dot each.
_DOTTED = 40


def draw_distributions(curves: Mapping[str, Sequence[DistributionCurve]], title: str, axes: Any = None) -> Any:
    """Draw the curves of each key, and return the axes of the first (needs matplotlib).

    A dot is a share that was published; lines between dots only lead the eye. The last curve has the intervals of
    its shares as bars, and between them the band in which a rising curve lies: those of all would hide each other.
    """
    if axes is not None:
        return _draw_on_given(curves, title, axes)
    drawn = dict(list(curves.items())[:MOST_DISTRIBUTION_PANES])
    abreast = min(_DISTRIBUTIONS_ABREAST, len(drawn))
    down = -(-len(drawn) // abreast)
    size = (7.0, 4.2) if len(drawn) == 1 else (3.3 * abreast + 0.8, 0.8 + 2.1 * down)
    figure, grid = import_pyplot().subplots(
        down, abreast, sharex=True, sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for pane, (name, some) in zip(grid.flat, drawn.items(), strict=False):
        _draw_pane(prepare_axes(pane), some)
        pane.set_title(name if len(drawn) > 1 else "", fontsize=9, loc="left", color=TEXT)
    hide_rest(grid, len(drawn))
    first, left_out = grid.flat[0], len(curves) - len(drawn)
    more = f"; {left_out:,} further keys are not drawn" if left_out else ""
    _write_axis_titles(figure, first, title + more, alone=len(drawn) == 1)
    _draw_legend(grid[0, -1], first)
    return first


def hide_rest(grid: Any, count: int) -> None:
    """Leave out the panes after this many; the last one that is left in each column has the numbers below it."""
    for pane in grid.flat[count:]:
        pane.set_visible(False)
    for column in range(grid.shape[1]):
        seen = [pane for pane in grid[:, column] if pane.get_visible()]
        for pane in seen[-1:]:
            pane.tick_params(labelbottom=True)


def _draw_on_given(curves: Mapping[str, Sequence[DistributionCurve]], title: str, axes: Any) -> Any:
    """Draw on given axes, which have room for one key."""
    if len(curves) != 1:
        names = list(curves)
        raise QueryError("plot-several-keys", key=names[0])
    (some,) = curves.values()
    _draw_pane(prepare_axes(axes), some)
    write_titles(axes, title, "value", "share at most")
    _draw_legend(axes, axes)
    return axes


def _draw_legend(axes: Any, named: Any) -> None:
    """Name the curves beside the axes, where nothing is drawn."""
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False, "fontsize": 8.5}
    axes.legend(*named.get_legend_handles_labels(), labelcolor=TEXT, **beside)


def _write_axis_titles(figure: Any, axes: Any, title: str, *, alone: bool) -> None:
    across, up = "value", "share at most"
    if alone:
        write_titles(axes, title, across, up)
        return
    figure.suptitle(title, fontsize=10, x=0.01, ha="left", color=TEXT)
    figure.supxlabel(across, fontsize=9, color=TEXT)
    figure.supylabel(up, fontsize=9, color=TEXT)


def _draw_pane(axes: Any, curves: Sequence[DistributionCurve]) -> None:
    for place, one in enumerate(curves):
        share = place / (len(curves) - 1) if len(curves) > 1 else 1.0
        _draw_curve(axes, one, tuple(_EARLY + share * (_LATE - _EARLY)), banded=place == len(curves) - 1)
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: show_percent(value))


def _draw_curve(axes: Any, one: DistributionCurve, paint: Any, *, banded: bool) -> None:
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


# More lines than this have a small picture each; and this many of those are drawn at most.
TOGETHER, MOST_PANES = 6, 24
_ABREAST = 4
# Up to this many dates are all written below the axis; from this many ticks on, lines are thinner to show bands.
_DATES, _MANY = 3, 100


def draw_stream(streamed: StreamPlot, axes: Any = None) -> Any:
    """Draw the lines of a stream, and return the axes, or those of the first pane (needs matplotlib).

    A published value holds until the next tick. Up to six keys have a colour each; more of them have a pane each,
    unless there are axes to draw on: lines that are on them stay, and have other colours.
    """
    if len(streamed.strands) <= TOGETHER or axes is not None:
        return _draw_together(streamed, prepare_axes(axes))
    return _draw_panes(streamed)


def _draw_together(streamed: StreamPlot, axes: Any) -> Any:
    if not streamed.ticks:
        return _draw_nothing(streamed, axes)
    across, before = _list_steps(streamed), len(axes.get_lines())
    _set_scale(axes, streamed.strands, kept=before > 0)
    lines = [
        _draw_line(
            axes, across, strand, STREAM_COLOURS[(before + i) % len(STREAM_COLOURS)], strand.name or streamed.name
        )
        for i, strand in enumerate(streamed.strands)
    ]
    _number_ticks(axes, streamed, 8)
    write_titles(axes, _write_title(streamed), _name_ticks(streamed), _name_measure(streamed))
    if len(lines) > 1:
        label_ends(axes, lines)
    return axes


def _draw_nothing(streamed: StreamPlot, axes: Any) -> Any:
    """Say that there is nothing to see, without axes that would be of nothing."""
    axes.text(0.5, 0.5, "nothing was published yet", transform=axes.transAxes, ha="center", color=TEXT)
    axes.set_axis_off()
    write_titles(axes, streamed.name, "", "")
    return axes


def _draw_panes(streamed: StreamPlot) -> Any:
    """Draw a small picture for each key, all on the same scale."""
    strands = streamed.strands[:MOST_PANES]
    down = -(-len(strands) // _ABREAST)
    figure, grid = import_pyplot().subplots(
        down,
        _ABREAST,
        sharex=True,
        sharey=True,
        squeeze=False,
        figsize=(10, 0.9 + 1.5 * down),
        layout="constrained",
    )
    across = _list_steps(streamed)
    for pane, strand in zip(grid.flat, strands, strict=False):
        _set_scale(prepare_axes(pane), strands)
        _draw_line(pane, across, strand, STREAM_COLOURS[0], strand.name)
        _number_ticks(pane, streamed, 4)
        pane.set_title(strand.name, fontsize=9, loc="left", color=TEXT)
    hide_rest(grid, len(strands))
    left_out = len(streamed.strands) - len(strands)
    more = f"; {left_out:,} further keys are not drawn" if left_out else ""
    figure.suptitle(_write_title(streamed) + more, fontsize=10, x=0.01, ha="left", color=TEXT)
    figure.supxlabel(_name_ticks(streamed), fontsize=9, color=TEXT)
    figure.supylabel(_name_measure(streamed), fontsize=9, color=TEXT)
    return grid.flat[0]


def _draw_line(axes: Any, across: Any, strand: StreamLine, paint: str, name: str) -> Any:
    values, lows, highs = (np.array([*part, *part[-1:]]) for part in (strand.values, strand.lows, strand.highs))
    # matplotlib draws no band that has no end.
    lows, highs = (np.clip(part, *axes.get_ylim()) for part in (lows, highs))
    thick = 1.7 if len(across) < _MANY else 1.0
    axes.fill_between(across, lows, highs, step="post", color=paint, alpha=0.22, linewidth=0)
    (line,) = axes.step(across, values, where="post", color=paint, linewidth=thick, label=name)
    return line


def _list_steps(streamed: StreamPlot) -> Any:
    """Return where the steps begin, and where the last one ends."""
    places: list[Any] = list(streamed.labels) if _has_dates(streamed) else list(streamed.ticks)
    if not places:
        return places
    step = places[-1] - places[-2] if len(places) > 1 else datetime.timedelta(1) if _has_dates(streamed) else 1
    return [*places, places[-1] + step]


def _has_dates(streamed: StreamPlot) -> bool:
    return bool(streamed.labels) and all(isinstance(label, datetime.date) for label in streamed.labels)


def _set_scale(axes: Any, strands: Sequence[StreamLine], *, kept: bool = False) -> None:
    """Set the ends of the upright axis: intervals without an end are cut off at what is finite."""
    low, high = find_ends(end for strand in strands for end in strand.ends)
    room = 0.04 * (high - low) or 1.0
    before = axes.get_ylim() if kept else (math.inf, -math.inf)
    axes.set_ylim(min(low - room, before[0]), max(high + room, before[1]))
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: show_amount(value))


def _number_ticks(axes: Any, streamed: StreamPlot, most: int) -> None:
    """Write what ticks are called: all of them where they are few, else some of them."""
    if len(streamed.ticks) <= (_DATES if streamed.labels else most):
        places = _list_steps(streamed)[: len(streamed.ticks)]
        axes.set_xticks(places, [streamed.name_tick(i) for i in range(len(places))])
    elif _has_dates(streamed):
        from matplotlib import dates

        locator: Any = dates.AutoDateLocator
        axes.xaxis.set_major_locator(locator(minticks=3, maxticks=most))
        axes.xaxis.set_major_formatter(make_date_formatter(axes))
    else:
        axes.locator_params(axis="x", nbins=most, integer=True)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _write_title(streamed: StreamPlot) -> str:
    return f"{streamed.name}: {streamed.bands}"


def _name_ticks(streamed: StreamPlot) -> str:
    return "" if _has_dates(streamed) else "tick"


def _name_measure(streamed: StreamPlot) -> str:
    return f"{streamed.measure} {streamed.over}"
