"""A result of an attack: the share of right bits against how sure the attack was of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import DASHES, DEEP, SAND, SLATE, TEAL, sheet, titles
from jali.display.pictures.intervals import spans
from jali.display.pictures.labels import label_ends
from jali.display.shares import exact_percent

# The dot of all bits, and what the least is, in square points.
_LARGEST, _LEAST = 320.0, 18.0


class Marked(Protocol):
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


def calibration_curves(result: Marked) -> tuple[ConfidenceDot, ...]:
    """Return the bits of a result by confidence, as plain numbers."""
    total = sum(one.guessed for one in result.calibration)
    return tuple(ConfidenceDot(b.claim, b.fraction, b.interval, b.guessed / total) for b in result.calibration)


def attack_calibration(result: Marked, *, axes: Any = None) -> Any:
    """Draw right bits against confidence, a dot as large as its share of the bits (needs matplotlib)."""
    axes = sheet(axes, size=(7.4, 4.6))
    dots = calibration_curves(result)
    low = min([0.44, *(dot.interval[0] - 0.03 for dot in dots)])
    axes.set(xlim=(0.48, 1.02), ylim=(low, 1.05))
    lines = [
        *axes.plot((0.5, 1), (0.5, 1), color=SLATE, linewidth=1.2, alpha=0.6, label="right as often as it says"),
        _level(axes, result.fraction, DEEP, "-", f"all bits: {exact_percent(result.fraction)}"),
        _level(axes, result.baseline, SLATE, DASHES, f"without a release: {exact_percent(result.baseline)}"),
    ]
    if result.ceiling is not None:
        lines.append(_level(axes, result.ceiling, SAND, DASHES, f"ceiling: {exact_percent(result.ceiling)}"))
    _draw_dots(axes, dots)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: show_percent(share))
    across = "chance of being right, as the attack says (a dot is as large as its share of the bits)"
    titles(axes, f"{result.attack} against {result.oracle}", across, "share that is right")
    label_ends(axes, lines)
    return axes


def _level(axes: Any, share: float, paint: str, style: Any, name: str) -> Any:
    (line,) = axes.plot((0.48, 1.02), (share, share), color=paint, linewidth=1.2, linestyle=style, label=name)
    return line


def _draw_dots(axes: Any, dots: Sequence[ConfidenceDot]) -> None:
    """Draw the dots with their intervals."""
    claims = [dot.claim for dot in dots]
    sizes = [max(_LEAST, _LARGEST * dot.share) for dot in dots]
    axes.scatter(claims, [dot.fraction for dot in dots], s=sizes, color=TEAL, alpha=0.85, linewidths=0, zorder=2)
    spans(axes, claims, [dot.interval for dot in dots], DEEP)
