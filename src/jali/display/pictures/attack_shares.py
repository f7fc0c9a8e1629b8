"""A result of an attack that is not about bits: what was right, beside what was to be expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import DEEP, PLUM, SAND, SLATE, sheet, titles
from jali.display.shares import exact_percent


class Shared(Protocol):
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


def share_curves(result: Shared) -> dict[str, ShareDot]:
    """Return the shares of a result by their names, as plain numbers."""
    known = {"without a release": result.baseline, "the law": result.predicted, "the ceiling": result.ceiling}
    others = {name: ShareDot(share, (share, share)) for name, share in known.items() if share is not None}
    return {"right": ShareDot(result.fraction, result.interval)} | others


def attack_shares(result: Shared, *, axes: Any = None) -> Any:
    """Draw the shares of a result, a row for each, and return the axes (needs matplotlib)."""
    rows = share_curves(result)
    axes = sheet(axes, size=(7.4, 1.5 + 0.45 * len(rows)))
    for place, ((name, dot), paint) in enumerate(zip(rows.items(), _PAINTS, strict=False)):
        axes.plot(dot.interval, (place, place), color=paint, linewidth=1.6, alpha=0.7)
        axes.plot([dot.share], [place], marker="o", markersize=6, color=paint, label=name)
    named = [f"{name}: {exact_percent(dot.share)}" for name, dot in rows.items()]
    axes.set_yticks(list(range(len(rows))), named)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(rows) - 0.5, -0.5))
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    titles(axes, f"{result.attack} against {result.oracle}", f"share of {result.things}", "")
    return axes


_PAINTS = (DEEP, SLATE, PLUM, SAND)
