"""A tour of the lab: what every attack got right, against each of its opponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import DASHES, DEEP, FAINT, PLUM, SAND, SLATE, TEAL, TEXT, sheet, titles

# Colour, sign and words for each opponent.
_FOES = {
    "simulator": (SLATE, "o", "a simulator"),
    "unledgered": (SAND, "s", "Jali without a ledger"),
    "jali": (TEAL, "D", "Jali"),
}


class Toured(Protocol):
    """What a picture needs of a `Tour`."""

    @property
    def stops(self) -> Sequence[Any]:
        """The results, each with what was attacked."""


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


def tour_curves(tour: Toured) -> dict[str, tuple[TourDot, ...]]:
    """Return what is drawn of each attack, as plain numbers."""
    made: dict[str, list[TourDot]] = {}
    for stop in tour.stops:
        result = stop.result
        dot = TourDot(stop.against, result.fraction, result.interval, result.baseline, result.ceiling)
        made.setdefault(result.attack, []).append(dot)
    return {name: tuple(dots) for name, dots in made.items()}


def attack_tour(tour: Toured, *, axes: Any = None) -> Any:
    """Draw the shares of a tour, a row for each attack, and return the axes (needs matplotlib)."""
    rows = tour_curves(tour)
    axes = sheet(axes, size=(8.6, 1.5 + 0.4 * len(rows)))
    seen: set[str] = set()
    for place, dots in enumerate(rows.values()):
        for offset, dot in zip(_offsets(len(dots)), dots, strict=True):
            _draw_dot(axes, place + offset, dot, first=dot.against not in seen)
            seen.add(dot.against)
        _tick(axes, place, max(dot.baseline for dot in dots), SLATE, "_" if place else "without a release")
        _ceiling(axes, place, dots, "ceiling" not in seen)
        seen |= {"ceiling"} if any(dot.ceiling is not None and dot.against == "jali" for dot in dots) else set()
    axes.set_yticks(list(range(len(rows))), list(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    titles(axes, "What every attack gets right, with 95 % intervals", "share of right bits", "")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5, labelcolor=TEXT)
    return axes


def _offsets(count: int) -> list[float]:
    """Return where the dots of one row stand, so that none covers another."""
    return [0.2 * (i - (count - 1) / 2) for i in range(count)]


def _draw_dot(axes: Any, place: float, dot: TourDot, *, first: bool) -> None:
    paint, sign, name = _FOES.get(dot.against, (DEEP, "o", dot.against))
    axes.plot(dot.interval, (place, place), color=paint, linewidth=1.5, alpha=0.7)
    label = name if first else "_"
    shape = {"linestyle": "none", "marker": sign, "markersize": 5, "color": paint, "label": label, "zorder": 3}
    axes.plot([dot.fraction], [place], **shape)


def _ceiling(axes: Any, place: int, dots: Sequence[TourDot], first: bool) -> None:
    allowed = [dot.ceiling for dot in dots if dot.ceiling is not None and dot.against == "jali"]
    if allowed:
        _tick(axes, place, allowed[0], PLUM, "ceiling of Jali's loss" if first else "_", style=DASHES)


def _tick(axes: Any, place: int, share: float, paint: str, label: str, style: Any = "-") -> None:
    """Draw a short upright line in a row."""
    drawn = {"color": paint, "linewidth": 1.3, "linestyle": style, "zorder": 1, "label": label}
    axes.plot((share, share), (place - 0.42, place + 0.42), **drawn)
    axes.axhline(place + 0.5, color=FAINT, linewidth=0.5)
