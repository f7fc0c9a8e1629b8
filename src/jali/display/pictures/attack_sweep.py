"""A sweep of attacks: the share of right bits by noise, by epsilon or by the number of questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Protocol

from jali.display.numbers import show_amount, show_percent
from jali.display.pictures.canvas import DASHES, DEEP, FAINT, MOSS, PLUM, SAND, SLATE, TEAL, TEXT, sheet, titles
from jali.display.pictures.intervals import spans
from jali.display.pictures.labels import label_curves

_ACROSS = {
    "noise": "size of the noise, in multiples of sqrt(n)",
    "epsilon": "epsilon that all questions spend together",
    "questions": "questions",
}
_CEILINGS = {"epsilon": "no chance is above this", "questions": "with a ledger no chance is above this"}
# Without the colour of guessing and of the ceiling.
_PAINTS = (DEEP, TEAL, SAND, PLUM, MOSS)
_MARKS = {"sqrt(n)": r"$\sqrt{n}$", "n": "$n$", "refused": "the ledger refuses"}
# The bottom of the axis where nothing is below guessing; and the room for names below the lowest dot.
_BOTTOM, _NAMES = 0.42, 0.09


class Swept(Protocol):
    """What a picture needs of a `Sweep`."""

    @property
    def by(self) -> str:
        """What changes."""

    @property
    def n(self) -> int:
        """How many people there are."""

    @property
    def lines(self) -> Sequence[Any]:
        """The lines, each with a name and points."""

    @property
    def marks(self) -> Mapping[str, float]:
        """Places of note."""

    @property
    def ceiling(self) -> Sequence[tuple[float, float]]:
        """What a loss allows at each place."""

    @property
    def each(self) -> float | None:
        """What one question spends."""

    @property
    def baseline(self) -> float:
        """The share without a release."""


@dataclass(frozen=True)
class SweepDot:
    """One place on one line.

    Attributes:
        at: The place.
        fraction: The share of right bits, measured.
        interval: Of that share.
        law: The share that theory says; None where it is silent.
        exact: Whether theory says the share itself, and not a bound from below.
    """

    at: float
    fraction: float
    interval: tuple[float, float]
    law: float | None
    exact: bool


def sweep_curves(sweep: Swept) -> dict[str, tuple[SweepDot, ...]]:
    """Return what is drawn of each line, as plain numbers."""
    return {line.name: tuple(_dot(point) for point in line.points) for line in sweep.lines}


def _dot(point: Any) -> SweepDot:
    return SweepDot(point.at, point.fraction, point.interval, point.predicted, point.sense != "at least")


def attack_sweep(sweep: Swept, *, axes: Any = None) -> Any:
    """Draw a sweep, measured shares beside the law, and return the axes (needs matplotlib)."""
    axes = sheet(axes, size=(8.0, 4.7))
    curves = sweep_curves(sweep)
    axes.set(xscale="log", ylim=(_floor(curves), 1.03))
    axes.margins(x=0.04)
    lines, around = [], []
    for (name, dots), paint in zip(curves.items(), cycle(_PAINTS), strict=False):
        around += _draw_law(axes, dots, paint)
        around.append(_draw_dots(axes, dots, paint))
        lines.append(spans(axes, [dot.at for dot in dots], [dot.interval for dot in dots], paint, name))
    if sweep.ceiling:
        places, shares = zip(*sweep.ceiling, strict=True)
        style = {"color": SLATE, "linewidth": 1.4, "linestyle": DASHES}
        lines += axes.plot(places, shares, label=_CEILINGS.get(sweep.by, "ceiling"), **style)
    axes.set_xlim(axes.get_xlim())
    around += _level(axes, sweep.baseline)
    around += [_note_mark(axes, name, at) for name, at in sweep.marks.items()]
    axes.yaxis.set_major_formatter(lambda share, _: show_percent(share))
    axes.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    if sweep.each is not None:
        _spending(axes, sweep.each)
    titles(axes, _title(sweep, curves), _ACROSS[sweep.by], "share of right bits")
    label_curves(axes, lines, around=around)
    return axes


def _title(sweep: Swept, curves: Mapping[str, Sequence[SweepDot]]) -> str:
    people = "1 person" if sweep.n == 1 else f"{sweep.n:,} people"
    bounds = any(dot.law is not None and not dot.exact for dots in curves.values() for dot in dots)
    laws = "the law (dashed: at least)" if bounds else "the law"
    # What changes is written below the axis: the title has to fit into a line.
    return f"Right bits of {people}. Dots: measured. Lines: {laws}."


def _floor(curves: Mapping[str, Sequence[SweepDot]]) -> float:
    """Return the bottom of the axis: guessing is near it, unless an attack is misled below that."""
    least = min((dot.interval[0] for dots in curves.values() for dot in dots), default=1.0)
    return min(_BOTTOM, math.floor(20 * least) / 20 - _NAMES)


def _draw_law(axes: Any, dots: Sequence[SweepDot], paint: str) -> list[Any]:
    """Draw what theory says as a line, dashed where it is a bound."""
    known = [dot for dot in dots if dot.law is not None]
    style = "-" if all(dot.exact for dot in known) else DASHES
    drawn = {"color": paint, "linewidth": 1.6, "alpha": 0.8, "linestyle": style, "zorder": 2}
    return list(axes.plot([dot.at for dot in known], [dot.law for dot in known], **drawn)) if known else []


def _draw_dots(axes: Any, dots: Sequence[SweepDot], paint: str) -> Any:
    shape = {"linestyle": "none", "marker": "o", "markersize": 4.5, "color": paint, "zorder": 4}
    (line,) = axes.plot([dot.at for dot in dots], [dot.fraction for dot in dots], **shape)
    return line


def _level(axes: Any, share: float) -> list[Any]:
    """Draw a dotted line at a share, from side to side."""
    dotted = {"color": SLATE, "linewidth": 0.9, "linestyle": (0, (1, 2)), "zorder": 1}
    return list(axes.plot(axes.get_xlim(), (share, share), **dotted))


def _note_mark(axes: Any, name: str, at: float) -> Any:
    """Draw a line at a place of note, with its name at the bottom."""
    axes.annotate(
        _MARKS.get(name, name),
        (at, 0.02),
        (4, 0),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        fontsize=9,
        color=TEXT,
        va="bottom",
    )
    (line,) = axes.plot((at, at), axes.get_ylim(), color=FAINT, linewidth=1.6, zorder=0)
    return line


def _spending(axes: Any, each: float) -> None:
    """Write above the axes what so many questions spend."""
    above = axes.secondary_xaxis("top", functions=(lambda count: count * each, lambda spent: spent / each))
    above.set_xlabel("epsilon spent", fontsize=9, color=TEXT)
    above.tick_params(colors=TEXT, labelsize=9, length=3, color=FAINT, which="both")
    above.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    above.spines[:].set_color(FAINT)
