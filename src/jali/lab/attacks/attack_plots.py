"""Draw attacks: the result of one attack, a sweep over noise, epsilon or questions, and a tour of the lab.

Calibration is the share of right bits against how sure the attack was of them. Of an attack that is not about
bits, what was right stands beside what was to be expected. Tracing shows how many members are found, against
how many outsiders are taken for members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.display.numbers import show_amount, show_percent, show_share
from jali.display.plots.plot_canvas import (
    DASHES,
    DEEP,
    FAINT,
    MOSS,
    PLUM,
    SAND,
    SLATE,
    TEAL,
    TEXT,
    draw_intervals,
    pick_colour,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves, label_ends
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.lab.attacks.attack_result import Result
    from jali.lab.attacks.sweeps import Sweep, Tour
    from jali.lab.attacks.tracing import Roc

# The dot of all bits, and what the least is, in square points.
_LARGEST, _SMALLEST = 320.0, 18.0


@dataclass(frozen=True)
class ConfidenceDot:
    """Bits that an attack is about equally sure of.

    Attributes:
        claim: The chance of being right that it states.
        fraction: The share that is right.
        interval: Of that share.
        share: How many of all bits they are.
    """

    claim: float
    fraction: float
    interval: tuple[float, float]
    share: float


def calibration_curves(result: Result) -> tuple[ConfidenceDot, ...]:
    """Return the bits of a result by confidence, as plain numbers."""
    total = sum(one.guessed for one in result.calibration)
    return tuple(ConfidenceDot(b.claim, b.fraction, b.interval, b.guessed / total) for b in result.calibration)


def attack_calibration(result: Result, *, axes: Any = None) -> Any:
    """Draw right bits against confidence, a dot as large as its share of the bits (needs matplotlib)."""
    axes = prepare_axes(axes, size=(7.4, 4.6))
    dots = calibration_curves(result)
    low = min([0.44, *(dot.interval[0] - 0.03 for dot in dots)])
    axes.set(xlim=(0.48, 1.02), ylim=(low, 1.05))
    lines = [
        *axes.plot((0.5, 1), (0.5, 1), color=SLATE, linewidth=1.2, alpha=0.6, label="right as often as it says"),
        _draw_share(axes, result.fraction, DEEP, "-", f"all bits: {show_share(result.fraction)}"),
        _draw_share(axes, result.baseline, SLATE, DASHES, f"without a release: {show_share(result.baseline)}"),
    ]
    if result.ceiling is not None:
        lines.append(_draw_share(axes, result.ceiling, SAND, DASHES, f"ceiling: {show_share(result.ceiling)}"))
    _draw_dots(axes, dots)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: show_percent(share))
    across = "chance of being right, as the attack says (a dot is as large as its share of the bits)"
    write_titles(axes, f"{result.attack} against {result.oracle}", across, "share that is right")
    label_ends(axes, lines)
    return axes


def _draw_share(axes: Any, share: float, paint: str, style: Any, name: str) -> Any:
    (line,) = axes.plot((0.48, 1.02), (share, share), color=paint, linewidth=1.2, linestyle=style, label=name)
    return line


def _draw_dots(axes: Any, dots: Sequence[ConfidenceDot]) -> None:
    """Draw the dots with their intervals."""
    claims = [dot.claim for dot in dots]
    sizes = [max(_SMALLEST, _LARGEST * dot.share) for dot in dots]
    axes.scatter(claims, [dot.fraction for dot in dots], s=sizes, color=TEAL, alpha=0.85, linewidths=0, zorder=2)
    draw_intervals(axes, claims, [dot.interval for dot in dots], DEEP)


RocCurve = tuple[tuple[float, float], ...]
_LEAST_RATE = 1e-3
_BOUND = "no test of an epsilon of {:g} is above this"


def roc_curves(
    scores: Mapping[str, Roc], *, epsilon: float | None = None, count: int = 201
) -> dict[str, RocCurve]:
    """Return points (false positives, true positives) by name, with guessing, and with what an epsilon allows.

    After a release of the loss epsilon, the true positive rate is at most e^epsilon times the false positive rate,
    and at most 1 - e^-epsilon (1 - the false positive rate) (Kairouz, Oh, Viswanath 2015, Theorem 2.1).

    Example:
        >>> [round(most, 3) for _, most in roc_curves({}, epsilon=1, count=3)[_BOUND.format(1)]]
        [0.003, 0.086, 1.0]
    """
    if epsilon is not None and not 0 <= epsilon < math.inf:
        raise CatalogError("plot-epsilon-negative", epsilon=epsilon)
    rates = [float(rate) for rate in np.geomspace(_LEAST_RATE, 1, count)]
    made = {name: _list_points(one) for name, one in scores.items()} | {
        "guessing": tuple(zip(rates, rates, strict=True))
    }
    if epsilon is not None:
        made[_BOUND.format(epsilon)] = tuple((rate, _bound_rate(rate, epsilon)) for rate in rates)
    return made


def _list_points(one: Roc) -> RocCurve:
    pairs = zip(one.false_positives.tolist(), one.true_positives.tolist(), strict=True)
    return tuple((float(false), float(true)) for false, true in pairs)


def _bound_rate(rate: float, epsilon: float) -> float:
    return min(math.exp(epsilon) * rate, 1 - math.exp(-epsilon) * (1 - rate))


def attack_roc(scores: Mapping[str, Roc], *, epsilon: float | None = None, axes: Any = None) -> Any:
    """Draw how members and outsiders are distinguished, and return the axes (needs matplotlib)."""
    axes = prepare_axes(axes, size=(6.4, 4.8))
    curves = roc_curves(scores, epsilon=epsilon)
    lines = [_draw_line(axes, name, curve, list(scores)) for name, curve in curves.items()]
    axes.axvline(0.01, color=FAINT, linewidth=1.6, zorder=0)
    axes.set(xscale="log", xlim=(_LEAST_RATE, 1), ylim=(-0.02, 1.02))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, "Who is in the group?", "outsiders taken for members", "members found")
    label_curves(axes, lines)
    return axes


def _draw_line(axes: Any, name: str, curve: RocCurve, measured: list[str]) -> Any:
    known = name in measured
    paint = pick_colour(measured.index(name)) if known else SLATE
    shape = {"color": paint, "linewidth": 1.8 if known else 1.2, "linestyle": "-" if known else DASHES}
    # A share of no outsiders has no place on a logarithmic axis: it stands at its left edge.
    places = [max(false, _LEAST_RATE) for false, _ in curve]
    stairs = "steps-post" if known else "default"
    (line,) = axes.plot(places, [true for _, true in curve], label=name, drawstyle=stairs, **shape)
    return line


@dataclass(frozen=True)
class ShareDot:
    """One share.

    Attributes:
        share: The share.
        interval: Of what was measured; the share itself of what was not.
    """

    share: float
    interval: tuple[float, float]


def share_curves(result: Result) -> dict[str, ShareDot]:
    """Return the shares of a result by their names, as plain numbers."""
    known = {"without a release": result.baseline, "the law": result.predicted, "the ceiling": result.ceiling}
    others = {name: ShareDot(share, (share, share)) for name, share in known.items() if share is not None}
    return {"right": ShareDot(result.fraction, result.interval)} | others


def attack_shares(result: Result, *, axes: Any = None) -> Any:
    """Draw the shares of a result, a row for each, and return the axes (needs matplotlib)."""
    rows = share_curves(result)
    axes = prepare_axes(axes, size=(7.4, 1.5 + 0.45 * len(rows)))
    for place, ((name, dot), paint) in enumerate(zip(rows.items(), _SHARE_COLOURS, strict=False)):
        axes.plot(dot.interval, (place, place), color=paint, linewidth=1.6, alpha=0.7)
        axes.plot([dot.share], [place], marker="o", markersize=6, color=paint, label=name)
    named = [f"{name}: {show_share(dot.share)}" for name, dot in rows.items()]
    axes.set_yticks(list(range(len(rows))), named)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(rows) - 0.5, -0.5))
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, f"{result.attack} against {result.oracle}", f"share of {result.things}", "")
    return axes


_SHARE_COLOURS = (DEEP, SLATE, PLUM, SAND)


_ACROSS = {
    "noise": "size of the noise, in multiples of sqrt(n)",
    "epsilon": "epsilon that all questions spend together",
    "questions": "questions",
}
_CEILINGS = {"epsilon": "no chance is above this", "questions": "with a ledger no chance is above this"}
# Without the colour of guessing and of the ceiling.
_LINE_COLOURS = (DEEP, TEAL, SAND, PLUM, MOSS)
_MARKS = {"sqrt(n)": r"$\sqrt{n}$", "n": "$n$", "refused": "the ledger refuses"}
# The bottom of the axis where nothing is below guessing; and the room for names below the lowest dot.
_BOTTOM, _NAMES = 0.42, 0.09


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


def sweep_curves(sweep: Sweep) -> dict[str, tuple[SweepDot, ...]]:
    """Return what is drawn of each line, as plain numbers."""
    return {line.name: tuple(_make_dot(point) for point in line.points) for line in sweep.lines}


def _make_dot(point: Any) -> SweepDot:
    return SweepDot(point.at, point.fraction, point.interval, point.predicted, point.sense != "at least")


def attack_sweep(sweep: Sweep, *, axes: Any = None) -> Any:
    """Draw a sweep, measured shares beside the law, and return the axes (needs matplotlib)."""
    axes = prepare_axes(axes, size=(8.0, 4.7))
    curves = sweep_curves(sweep)
    axes.set(xscale="log", ylim=(_find_floor(curves), 1.03))
    axes.margins(x=0.04)
    lines, around = [], []
    for (name, dots), paint in zip(curves.items(), cycle(_LINE_COLOURS), strict=False):
        around += _draw_law(axes, dots, paint)
        around.append(_draw_sweep_dots(axes, dots, paint))
        lines.append(draw_intervals(axes, [dot.at for dot in dots], [dot.interval for dot in dots], paint, name))
    if sweep.ceiling:
        places, shares = zip(*sweep.ceiling, strict=True)
        style = {"color": SLATE, "linewidth": 1.4, "linestyle": DASHES}
        lines += axes.plot(places, shares, label=_CEILINGS.get(sweep.by, "ceiling"), **style)
    axes.set_xlim(axes.get_xlim())
    around += _draw_baseline(axes, sweep.baseline)
    around += [_draw_mark(axes, name, at) for name, at in sweep.marks.items()]
    axes.yaxis.set_major_formatter(lambda share, _: show_percent(share))
    axes.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    if sweep.each is not None:
        _write_spending(axes, sweep.each)
    write_titles(axes, _write_title(sweep, curves), _ACROSS[sweep.by], "share of right bits")
    label_curves(axes, lines, around=around)
    return axes


def _write_title(sweep: Sweep, curves: Mapping[str, Sequence[SweepDot]]) -> str:
    people = "1 person" if sweep.n == 1 else f"{sweep.n:,} people"
    bounds = any(dot.law is not None and not dot.exact for dots in curves.values() for dot in dots)
    laws = "the law (dashed: at least)" if bounds else "the law"
    # What changes is written below the axis: the title has to fit into a line.
    return f"Right bits of {people}. Dots: measured. Lines: {laws}."


def _find_floor(curves: Mapping[str, Sequence[SweepDot]]) -> float:
    """Return the bottom of the axis: guessing is near it, unless an attack is misled below that."""
    least = min((dot.interval[0] for dots in curves.values() for dot in dots), default=1.0)
    return min(_BOTTOM, math.floor(20 * least) / 20 - _NAMES)


def _draw_law(axes: Any, dots: Sequence[SweepDot], paint: str) -> list[Any]:
    """Draw what theory says as a line, dashed where it is a bound."""
    known = [dot for dot in dots if dot.law is not None]
    style = "-" if all(dot.exact for dot in known) else DASHES
    drawn = {"color": paint, "linewidth": 1.6, "alpha": 0.8, "linestyle": style, "zorder": 2}
    return list(axes.plot([dot.at for dot in known], [dot.law for dot in known], **drawn)) if known else []


def _draw_sweep_dots(axes: Any, dots: Sequence[SweepDot], paint: str) -> Any:
    shape = {"linestyle": "none", "marker": "o", "markersize": 4.5, "color": paint, "zorder": 4}
    (line,) = axes.plot([dot.at for dot in dots], [dot.fraction for dot in dots], **shape)
    return line


def _draw_baseline(axes: Any, share: float) -> list[Any]:
    """Draw a dotted line at a share, from side to side."""
    dotted = {"color": SLATE, "linewidth": 0.9, "linestyle": (0, (1, 2)), "zorder": 1}
    return list(axes.plot(axes.get_xlim(), (share, share), **dotted))


def _draw_mark(axes: Any, name: str, at: float) -> Any:
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


def _write_spending(axes: Any, each: float) -> None:
    """Write above the axes what this many questions spend."""
    above = axes.secondary_xaxis("top", functions=(lambda count: count * each, lambda spent: spent / each))
    above.set_xlabel("epsilon spent", fontsize=9, color=TEXT)
    above.tick_params(colors=TEXT, labelsize=9, length=3, color=FAINT, which="both")
    above.xaxis.set_major_formatter(lambda value, _: show_amount(value))
    above.spines[:].set_color(FAINT)


# Colour, sign and words for each opponent.
_FOES = {
    "simulator": (SLATE, "o", "a simulator"),
    "unledgered": (SAND, "s", "Jali without a ledger"),
    "jali": (TEAL, "D", "Jali"),
}


@dataclass(frozen=True)
class TourDot:
    """One attack against one opponent.

    Attributes:
        against: The opponent.
        fraction: The share of right bits.
        interval: Of that share.
        baseline: The share without a release.
        ceiling: The share that the loss allows; None where nothing is counted.
    """

    against: str
    fraction: float
    interval: tuple[float, float]
    baseline: float
    ceiling: float | None


def tour_curves(tour: Tour) -> dict[str, tuple[TourDot, ...]]:
    """Return what is drawn of each attack, as plain numbers."""
    made: dict[str, list[TourDot]] = {}
    for stop in tour.stops:
        result = stop.result
        dot = TourDot(stop.against, result.fraction, result.interval, result.baseline, result.ceiling)
        made.setdefault(result.attack, []).append(dot)
    return {name: tuple(dots) for name, dots in made.items()}


def attack_tour(tour: Tour, *, axes: Any = None) -> Any:
    """Draw the shares of a tour, a row for each attack, and return the axes (needs matplotlib)."""
    rows = tour_curves(tour)
    axes = prepare_axes(axes, size=(8.6, 1.5 + 0.4 * len(rows)))
    seen: set[str] = set()
    for place, dots in enumerate(rows.values()):
        for offset, dot in zip(_list_offsets(len(dots)), dots, strict=True):
            _draw_tour_dot(axes, place + offset, dot, first=dot.against not in seen)
            seen.add(dot.against)
        _draw_tick(axes, place, max(dot.baseline for dot in dots), SLATE, "_" if place else "without a release")
        _draw_ceiling(axes, place, dots, "ceiling" not in seen)
        seen |= {"ceiling"} if any(dot.ceiling is not None and dot.against == "jali" for dot in dots) else set()
    axes.set_yticks(list(range(len(rows))), list(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, "What every attack gets right, with 95 % intervals", "share of right bits", "")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5, labelcolor=TEXT)
    return axes


def _list_offsets(count: int) -> list[float]:
    """Return where the dots of one row stand, so that none covers another."""
    return [0.2 * (i - (count - 1) / 2) for i in range(count)]


def _draw_tour_dot(axes: Any, place: float, dot: TourDot, *, first: bool) -> None:
    paint, sign, name = _FOES.get(dot.against, (DEEP, "o", dot.against))
    axes.plot(dot.interval, (place, place), color=paint, linewidth=1.5, alpha=0.7)
    label = name if first else "_"
    shape = {"linestyle": "none", "marker": sign, "markersize": 5, "color": paint, "label": label, "zorder": 3}
    axes.plot([dot.fraction], [place], **shape)


def _draw_ceiling(axes: Any, place: int, dots: Sequence[TourDot], first: bool) -> None:
    allowed = [dot.ceiling for dot in dots if dot.ceiling is not None and dot.against == "jali"]
    if allowed:
        _draw_tick(axes, place, allowed[0], PLUM, "ceiling of Jali's loss" if first else "_", style=DASHES)


def _draw_tick(axes: Any, place: int, share: float, paint: str, label: str, style: Any = "-") -> None:
    """Draw a short upright line in a row."""
    drawn = {"color": paint, "linewidth": 1.3, "linestyle": style, "zorder": 1, "label": label}
    axes.plot((share, share), (place - 0.42, place + 0.42), **drawn)
    axes.axhline(place + 0.5, color=FAINT, linewidth=0.5)
