"""Streams: lines that grow tick after tick, each in the band of its intervals."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jali.display.numbers import show_amount
from jali.display.pictures.canvas import TEXT, concise_dates, sheet, titles
from jali.display.pictures.distributions import hide_rest
from jali.display.pictures.labels import label_ends
from jali.display.plots import pyplot
from jali.display.streamed import COLOURS, Strand, Streamed, ends_of

# More lines than this have a small picture each; and so many of those are drawn at most.
TOGETHER, MOST_PANES = 6, 24
_ABREAST = 4
# Up to so many dates are all written below the axis; from so many ticks on lines are thinner, to show their bands.
_DATES, _MANY = 3, 100


def draw_stream(streamed: Streamed, axes: Any = None) -> Any:
    """Draw the lines of a stream, and return the axes, or those of the first pane (needs matplotlib).

    A published value holds until the next tick. Up to six keys have a colour each; more of them have a pane each,
    unless there are axes to draw on: lines that are on them stay, and have other colours.
    """
    if len(streamed.strands) <= TOGETHER or axes is not None:
        return _together(streamed, sheet(axes))
    return _panes(streamed)


def _together(streamed: Streamed, axes: Any) -> Any:
    if not streamed.ticks:
        return _nothing(streamed, axes)
    across, before = _across(streamed), len(axes.get_lines())
    _scale(axes, streamed.strands, kept=before > 0)
    lines = [
        _line(axes, across, strand, COLOURS[(before + i) % len(COLOURS)], strand.name or streamed.name)
        for i, strand in enumerate(streamed.strands)
    ]
    _number_ticks(axes, streamed, 8)
    titles(axes, _title(streamed), _under(streamed), _beside(streamed))
    if len(lines) > 1:
        label_ends(axes, lines)
    return axes


def _nothing(streamed: Streamed, axes: Any) -> Any:
    """Say that there is nothing to see, without axes that would be of nothing."""
    axes.text(0.5, 0.5, "nothing was published yet", transform=axes.transAxes, ha="center", color=TEXT)
    axes.set_axis_off()
    titles(axes, streamed.name, "", "")
    return axes


def _panes(streamed: Streamed) -> Any:
    """Draw a small picture for each key, all on the same scale."""
    strands = streamed.strands[:MOST_PANES]
    down = -(-len(strands) // _ABREAST)
    figure, grid = pyplot().subplots(
        down,
        _ABREAST,
        sharex=True,
        sharey=True,
        squeeze=False,
        figsize=(10, 0.9 + 1.5 * down),
        layout="constrained",
    )
    across = _across(streamed)
    for pane, strand in zip(grid.flat, strands, strict=False):
        _scale(sheet(pane), strands)
        _line(pane, across, strand, COLOURS[0], strand.name)
        _number_ticks(pane, streamed, 4)
        pane.set_title(strand.name, fontsize=9, loc="left", color=TEXT)
    hide_rest(grid, len(strands))
    left_out = len(streamed.strands) - len(strands)
    more = f"; {left_out:,} further keys are not drawn" if left_out else ""
    figure.suptitle(_title(streamed) + more, fontsize=10, x=0.01, ha="left", color=TEXT)
    figure.supxlabel(_under(streamed), fontsize=9, color=TEXT)
    figure.supylabel(_beside(streamed), fontsize=9, color=TEXT)
    return grid.flat[0]


def _line(axes: Any, across: Any, strand: Strand, paint: str, name: str) -> Any:
    values, lows, highs = (np.array([*part, *part[-1:]]) for part in (strand.values, strand.lows, strand.highs))
    # matplotlib draws no band that has no end.
    lows, highs = (np.clip(part, *axes.get_ylim()) for part in (lows, highs))
    thick = 1.7 if len(across) < _MANY else 1.0
    axes.fill_between(across, lows, highs, step="post", color=paint, alpha=0.22, linewidth=0)
    (line,) = axes.step(across, values, where="post", color=paint, linewidth=thick, label=name)
    return line


def _across(streamed: Streamed) -> Any:
    """Return where the steps begin, and where the last one ends."""
    places: list[Any] = list(streamed.labels) if _dated(streamed) else list(streamed.ticks)
    if not places:
        return places
    step = places[-1] - places[-2] if len(places) > 1 else datetime.timedelta(1) if _dated(streamed) else 1
    return [*places, places[-1] + step]


def _dated(streamed: Streamed) -> bool:
    return bool(streamed.labels) and all(isinstance(label, datetime.date) for label in streamed.labels)


def _scale(axes: Any, strands: Sequence[Strand], *, kept: bool = False) -> None:
    """Set the ends of the upright axis: intervals without an end are cut off at what is finite."""
    low, high = ends_of(end for strand in strands for end in strand.ends)
    room = 0.04 * (high - low) or 1.0
    before = axes.get_ylim() if kept else (math.inf, -math.inf)
    axes.set_ylim(min(low - room, before[0]), max(high + room, before[1]))
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: show_amount(value))


def _number_ticks(axes: Any, streamed: Streamed, most: int) -> None:
    """Write what ticks are called: all of them where they are few, else some of them."""
    if len(streamed.ticks) <= (_DATES if streamed.labels else most):
        places = _across(streamed)[: len(streamed.ticks)]
        axes.set_xticks(places, [streamed.shown(i) for i in range(len(places))])
    elif _dated(streamed):
        from matplotlib import dates

        locator: Any = dates.AutoDateLocator
        axes.xaxis.set_major_locator(locator(minticks=3, maxticks=most))
        axes.xaxis.set_major_formatter(concise_dates(axes))
    else:
        axes.locator_params(axis="x", nbins=most, integer=True)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _title(streamed: Streamed) -> str:
    return f"{streamed.name}: {streamed.bands}"


def _under(streamed: Streamed) -> str:
    return "" if _dated(streamed) else "tick"


def _beside(streamed: Streamed) -> str:
    return f"{streamed.measure} {streamed.over}"
