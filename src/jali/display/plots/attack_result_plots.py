"""Draw the result of one attack: calibration, the shares that were right, and the ROC of tracing.

Calibration is the share of right bits against how sure the attack was of them. Of an attack that is not about
bits, what was right stands beside what was to be expected. Tracing shows how many members are found, against
how many outsiders are taken for members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.display.numbers import show_percent, show_share
from jali.display.plots.plot_canvas import (
    DASHES,
    DEEP,
    FAINT,
    PLUM,
    SAND,
    SLATE,
    TEAL,
    draw_intervals,
    pick_colour,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves, label_ends
from jali.errors import CatalogError

# The dot of all bits, and what the least is, in square points.
_LARGEST, _SMALLEST = 320.0, 18.0


class CalibratedResult(Protocol):
    """What a picture needs of a `Result`."""

    @property
    def attack(self) -> str:
        """The name of the attack."""

    @property
    def oracle(self) -> str:
        """What was attacked."""

    @property
    def fraction(self) -> float:
        """The share of right bits."""

    @property
    def baseline(self) -> float:
        """The share without a release."""

    @property
    def ceiling(self) -> float | None:
        """The share that the loss allows."""

    @property
    def calibration(self) -> Sequence[Any]:
        """The bits by confidence: claim, fraction, interval, guessed."""


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


def calibration_curves(result: CalibratedResult) -> tuple[ConfidenceDot, ...]:
    """Return the bits of a result by confidence, as plain numbers."""
    total = sum(one.guessed for one in result.calibration)
    return tuple(ConfidenceDot(b.claim, b.fraction, b.interval, b.guessed / total) for b in result.calibration)


def attack_calibration(result: CalibratedResult, *, axes: Any = None) -> Any:
    """Draw right bits against confidence, a dot as large as its share of the bits (needs matplotlib)."""
    axes = prepare_axes(axes, size=(7.4, 4.6))
    dots = calibration_curves(result)
    low = min([0.44, *(dot.interval[0] - 0.03 for dot in dots)])
    axes.set(xlim=(0.48, 1.02), ylim=(low, 1.05))
    lines = [
        *axes.plot((0.5, 1), (0.5, 1), color=SLATE, linewidth=1.2, alpha=0.6, label="right as often as it says"),
        _draw_level(axes, result.fraction, DEEP, "-", f"all bits: {show_share(result.fraction)}"),
        _draw_level(axes, result.baseline, SLATE, DASHES, f"without a release: {show_share(result.baseline)}"),
    ]
    if result.ceiling is not None:
        lines.append(_draw_level(axes, result.ceiling, SAND, DASHES, f"ceiling: {show_share(result.ceiling)}"))
    _draw_dots(axes, dots)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: show_percent(share))
    across = "chance of being right, as the attack says (a dot is as large as its share of the bits)"
    write_titles(axes, f"{result.attack} against {result.oracle}", across, "share that is right")
    label_ends(axes, lines)
    return axes


def _draw_level(axes: Any, share: float, paint: str, style: Any, name: str) -> Any:
    (line,) = axes.plot((0.48, 1.02), (share, share), color=paint, linewidth=1.2, linestyle=style, label=name)
    return line


def _draw_dots(axes: Any, dots: Sequence[ConfidenceDot]) -> None:
    """Draw the dots with their intervals."""
    claims = [dot.claim for dot in dots]
    sizes = [max(_SMALLEST, _LARGEST * dot.share) for dot in dots]
    axes.scatter(claims, [dot.fraction for dot in dots], s=sizes, color=TEAL, alpha=0.85, linewidths=0, zorder=2)
    draw_intervals(axes, claims, [dot.interval for dot in dots], DEEP)


RocCurve = tuple[tuple[float, float], ...]
_LEAST = 1e-3
_BOUND = "no test of an epsilon of {:g} is above this"


class RocRates(Protocol):
    """What a picture needs of a `Roc`."""

    @property
    def false_positives(self) -> NDArray[Any]:
        """The share of outsiders above each threshold."""

    @property
    def true_positives(self) -> NDArray[Any]:
        """The share of members above each threshold."""


def roc_curves(
    scores: Mapping[str, RocRates], *, epsilon: float | None = None, count: int = 201
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
    rates = [float(rate) for rate in np.geomspace(_LEAST, 1, count)]
    made = {name: _list_points(one) for name, one in scores.items()} | {
        "guessing": tuple(zip(rates, rates, strict=True))
    }
    if epsilon is not None:
        made[_BOUND.format(epsilon)] = tuple((rate, _bound_rate(rate, epsilon)) for rate in rates)
    return made


def _list_points(one: RocRates) -> RocCurve:
    pairs = zip(one.false_positives.tolist(), one.true_positives.tolist(), strict=True)
    return tuple((float(false), float(true)) for false, true in pairs)


def _bound_rate(rate: float, epsilon: float) -> float:
    return min(math.exp(epsilon) * rate, 1 - math.exp(-epsilon) * (1 - rate))


def attack_roc(scores: Mapping[str, RocRates], *, epsilon: float | None = None, axes: Any = None) -> Any:
    """Draw how members and outsiders are told apart, and return the axes (needs matplotlib)."""
    axes = prepare_axes(axes, size=(6.4, 4.8))
    curves = roc_curves(scores, epsilon=epsilon)
    lines = [_draw_line(axes, name, curve, list(scores)) for name, curve in curves.items()]
    axes.axvline(0.01, color=FAINT, linewidth=1.6, zorder=0)
    axes.set(xscale="log", xlim=(_LEAST, 1), ylim=(-0.02, 1.02))
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
    places = [max(false, _LEAST) for false, _ in curve]
    stairs = "steps-post" if known else "default"
    (line,) = axes.plot(places, [true for _, true in curve], label=name, drawstyle=stairs, **shape)
    return line


class ResultShares(Protocol):
    """What a picture needs of a `Result`."""

    @property
    def attack(self) -> str:
        """The name of the attack."""

    @property
    def oracle(self) -> str:
        """What was attacked."""

    @property
    def things(self) -> str:
        """What is guessed."""

    @property
    def fraction(self) -> float:
        """The share that is right."""

    @property
    def interval(self) -> tuple[float, float]:
        """Of that share."""

    @property
    def baseline(self) -> float:
        """The share without a release."""

    @property
    def predicted(self) -> float | None:
        """The share that theory says."""

    @property
    def ceiling(self) -> float | None:
        """The share that the loss allows."""


@dataclass(frozen=True)
class ShareDot:
    """One share.

    Attributes:
        share: The share.
        interval: Of what was measured; the share itself of what was not.
    """

    share: float
    interval: tuple[float, float]


def share_curves(result: ResultShares) -> dict[str, ShareDot]:
    """Return the shares of a result by their names, as plain numbers."""
    known = {"without a release": result.baseline, "the law": result.predicted, "the ceiling": result.ceiling}
    others = {name: ShareDot(share, (share, share)) for name, share in known.items() if share is not None}
    return {"right": ShareDot(result.fraction, result.interval)} | others


def attack_shares(result: ResultShares, *, axes: Any = None) -> Any:
    """Draw the shares of a result, a row for each, and return the axes (needs matplotlib)."""
    rows = share_curves(result)
    axes = prepare_axes(axes, size=(7.4, 1.5 + 0.45 * len(rows)))
    for place, ((name, dot), paint) in enumerate(zip(rows.items(), _PAINTS, strict=False)):
        axes.plot(dot.interval, (place, place), color=paint, linewidth=1.6, alpha=0.7)
        axes.plot([dot.share], [place], marker="o", markersize=6, color=paint, label=name)
    named = [f"{name}: {show_share(dot.share)}" for name, dot in rows.items()]
    axes.set_yticks(list(range(len(rows))), named)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(rows) - 0.5, -0.5))
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, f"{result.attack} against {result.oracle}", f"share of {result.things}", "")
    return axes


_PAINTS = (DEEP, SLATE, PLUM, SAND)
