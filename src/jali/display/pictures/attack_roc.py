"""Tracing: how many members are found, against how many outsiders are taken for members."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.display.numbers import show_percent
from jali.display.pictures.canvas import DASHES, FAINT, SLATE, colour, sheet, titles
from jali.display.pictures.labels import label_curves
from jali.errors import CatalogError

Curve = tuple[tuple[float, float], ...]
_LEAST = 1e-3
_BOUND = "no test of an epsilon of {:g} is above this"


class Rates(Protocol):
    """What a picture needs of a `Roc`."""

    @property
    def false_positives(self) -> NDArray[Any]:
        """The share of outsiders above each threshold."""

    @property
    def true_positives(self) -> NDArray[Any]:
        """The share of members above each threshold."""


def roc_curves(scores: Mapping[str, Rates], *, epsilon: float | None = None, count: int = 201) -> dict[str, Curve]:
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
    made = {name: _points(one) for name, one in scores.items()} | {
        "guessing": tuple(zip(rates, rates, strict=True))
    }
    if epsilon is not None:
        made[_BOUND.format(epsilon)] = tuple((rate, _most(rate, epsilon)) for rate in rates)
    return made


def _points(one: Rates) -> Curve:
    pairs = zip(one.false_positives.tolist(), one.true_positives.tolist(), strict=True)
    return tuple((float(false), float(true)) for false, true in pairs)


def _most(rate: float, epsilon: float) -> float:
    return min(math.exp(epsilon) * rate, 1 - math.exp(-epsilon) * (1 - rate))


def attack_roc(scores: Mapping[str, Rates], *, epsilon: float | None = None, axes: Any = None) -> Any:
    """Draw how members and outsiders are told apart, and return the axes (needs matplotlib)."""
    axes = sheet(axes, size=(6.4, 4.8))
    curves = roc_curves(scores, epsilon=epsilon)
    lines = [_line(axes, name, curve, list(scores)) for name, curve in curves.items()]
    axes.axvline(0.01, color=FAINT, linewidth=1.6, zorder=0)
    axes.set(xscale="log", xlim=(_LEAST, 1), ylim=(-0.02, 1.02))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: show_percent(share))
    titles(axes, "Who is in the group?", "outsiders taken for members", "members found")
    label_curves(axes, lines)
    return axes


def _line(axes: Any, name: str, curve: Curve, measured: list[str]) -> Any:
    known = name in measured
    paint = colour(measured.index(name)) if known else SLATE
    shape = {"color": paint, "linewidth": 1.8 if known else 1.2, "linestyle": "-" if known else DASHES}
    # A share of no outsiders has no place on a logarithmic axis: it stands at its left edge.
    places = [max(false, _LEAST) for false, _ in curve]
    stairs = "steps-post" if known else "default"
    (line,) = axes.plot(places, [true for _, true in curve], label=name, drawstyle=stairs, **shape)
    return line
