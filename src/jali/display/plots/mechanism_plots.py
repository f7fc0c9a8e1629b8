"""Draw error laws of mechanisms, and surveys by randomized answers.

An error law is how likely an answer is off by more than so much. A survey shows the estimates, how sure they are,
and the truth where it is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.plots.plot_canvas import (
    DEEP,
    FAINT,
    SAND,
    TEAL,
    TEXT,
    pick_colour,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves
from jali.errors import CatalogError
from jali.mechanisms.additive.additive_noise import Additive
from jali.mechanisms.base import Mechanism

ErrorCurve = list[tuple[float, float]]
_FLOOR = 1e-6


def error_curves(
    mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, count: int = 241, **shape: Any
) -> dict[str, ErrorCurve]:
    """Return points (error, chance that it is exceeded) for each mechanism, down to a chance of `floor`.

    The chance is exact for noise that is added; elsewhere it is what `error` promises, a bound.

    Args:
        mechanisms: Each under the name to be written beside it.
        floor: The least chance.
        count: How many points each curve has, evenly spaced in the logarithm of the chance.
        shape: What `error` must be told besides the confidence, such as `candidates=100` for selection.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> curves = error_curves({"Laplace": Laplace(sensitivity=1, epsilon=1)}, floor=0.01, count=3)
        >>> [(error, round(chance, 3)) for error, chance in curves["Laplace"]]  # 0.538 that it is not 0, and so on
        [(0.0, 0.538), (2.0, 0.073), (4.0, 0.01)]
    """
    if not isinstance(mechanisms, Mapping) or not mechanisms or not all(map(_is_mechanism, mechanisms.values())):
        raise CatalogError("plot-mechanisms-not-a-dictionary")
    if not 0 < floor < 0.9 or count < 2:
        raise CatalogError("plot-floor-or-count-wrong")
    chances = [0.9 * (floor / 0.9) ** (i / (count - 1)) for i in range(count)]
    return {name: [_find_point(m, chance, shape) for chance in chances] for name, m in mechanisms.items()}


def _is_mechanism(item: Any) -> bool:
    return isinstance(item, Mechanism)


def _find_point(mechanism: Mechanism, chance: float, shape: Mapping[str, Any]) -> tuple[float, float]:
    size = mechanism.error(1 - chance, **shape)
    exact = mechanism.tail(size) if isinstance(mechanism, Additive) else chance
    return float(size), exact


def errors(mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, axes: Any = None, **shape: Any) -> Any:
    """Draw the chance that each mechanism's error is exceeded, and return the axes (needs matplotlib)."""
    curves = error_curves(mechanisms, floor=floor, **shape)
    axes = prepare_axes(axes)
    lines = []
    for index, (name, curve) in enumerate(curves.items()):
        sizes, chances = zip(*curve, strict=True)
        # The chance is that of all errors up to the next one.
        stairs = "steps-post" if isinstance(mechanisms[name], Additive) else "default"
        lines += axes.plot(sizes, chances, color=pick_colour(index), linewidth=1.8, label=name, drawstyle=stairs)
    axes.set(yscale="log", ylim=(floor, 1))
    axes.set_xlim(left=0)
    write_titles(axes, "Error: how likely an answer is off by more", "error", "chance that it is exceeded")
    label_curves(axes, lines)
    return axes


class PlottedEstimate(Protocol):
    """What a picture needs to know about an estimate; `jali.local.Estimate` is one."""

    @property
    def frequencies(self) -> tuple[float, ...]:
        """The share of each category."""

    def interval(self, confidence: float) -> tuple[tuple[float, float], ...]:
        """Return an interval for each share."""


@dataclass(frozen=True)
class SurveyBar:
    """One category of a survey, ready to be drawn.

    Attributes:
        name: Of the category.
        estimate: Its share, unbiased; it may lie outside of 0 and 1.
        interval: Of that share.
        truth: The share among those asked, where it is known.
        plain: Half the width of the interval if everybody had been asked plainly, where it is known.
    """

    name: str
    estimate: float
    interval: tuple[float, float]
    truth: float | None = None
    plain: float | None = None


def survey_curves(
    estimate: PlottedEstimate,
    names: Sequence[str] | None = None,
    *,
    truth: Sequence[float] | None = None,
    plain: Sequence[float] | None = None,
    confidence: float = 0.95,
) -> tuple[SurveyBar, ...]:
    """Return what the picture of a survey shows, as plain numbers.

    Args:
        estimate: Of `Randomizer.estimate`.
        names: Of the categories; their numbers by default.
        truth: The shares among those asked, where they are known.
        plain: Half the widths of intervals from plain answers, to compare with.
        confidence: Of each interval.

    Example:
        >>> from jali.local import AlmostRandom
        >>> bars = survey_curves(AlmostRandom().estimate([0, 1] * 500), ("no", "yes"), truth=(0.52, 0.48))
        >>> [(bar.name, bar.estimate, bar.truth) for bar in bars]
        [('no', 0.5, 0.52), ('yes', 0.5, 0.48)]
    """
    shares = estimate.frequencies
    spans = estimate.interval(confidence)
    labels = [str(i) for i in range(len(shares))] if names is None else [str(name) for name in names]
    known = {"names": labels, "truth": truth, "plain": plain}
    _check_lengths(known, len(shares))
    nothing: list[float | None] = [None] * len(shares)
    truths, plains = (nothing if part is None else part for part in (truth, plain))
    rows = zip(labels, shares, spans, truths, plains, strict=True)
    return tuple(SurveyBar(*row) for row in rows)


def _check_lengths(given: Mapping[str, Sequence[Any] | None], wanted: int) -> None:
    for name, values in given.items():
        if values is not None and len(values) != wanted:
            raise CatalogError("plot-categories-wrong", name=name, wanted=wanted, count=len(values))


def survey(
    estimate: PlottedEstimate,
    names: Sequence[str] | None = None,
    *,
    truth: Sequence[float] | None = None,
    plain: Sequence[float] | None = None,
    confidence: float = 0.95,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw the shares of a survey with their intervals and return the axes (needs matplotlib)."""
    bars = survey_curves(estimate, names, truth=truth, plain=plain, confidence=confidence)
    plainly = f"Estimated shares, with {show_percent(confidence)} intervals"
    return draw_survey(bars, title=title or plainly, axes=axes)


def draw_survey(bars: Sequence[SurveyBar], *, title: str = "", axes: Any = None) -> Any:
    """Draw bars of `survey_curves`: a dot and a line for each estimate, a diamond for the truth."""
    axes = prepare_axes(axes, size=(8.0, 1.5 + 0.42 * len(bars)))
    for place, bar in enumerate(bars):
        _draw_bar(axes, place, bar, first=place == 0)
    for edge in (0, 1):
        if axes.get_xlim()[0] < edge < axes.get_xlim()[1]:
            axes.axvline(edge, color=FAINT, linewidth=1.2, zorder=0)
    axes.set_yticks(list(range(len(bars))), [bar.name for bar in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, title, "share", "")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5, labelcolor=TEXT)
    return axes


def _draw_bar(axes: Any, place: int, bar: SurveyBar, *, first: bool) -> None:
    """Draw one category; the signs of the first are named in the legend."""

    def label_once(name: str) -> str:
        return name if first else "_nolegend_"

    dot = {"linestyle": "none", "label": label_once("estimate"), "color": DEEP, "zorder": 4}
    band = {
        "color": TEAL,
        "linewidth": 5,
        "alpha": 0.45,
        "solid_capstyle": "butt",
        "label": label_once("its interval"),
    }
    axes.plot([bar.estimate], [place], marker="o", markersize=5, **dot)
    axes.plot(bar.interval, (place, place), **band)
    if bar.truth is not None:
        diamond = {"linestyle": "none", "color": SAND, "zorder": 3, "label": label_once("truth among those asked")}
        axes.plot([bar.truth], [place], marker="D", markersize=7, **diamond)
    if bar.plain is not None:
        centre = bar.estimate if bar.truth is None else bar.truth
        line = {
            "color": SAND,
            "linewidth": 2,
            "solid_capstyle": "butt",
            "label": label_once("interval, asked plainly"),
        }
        axes.plot((centre - bar.plain, centre + bar.plain), (place + 0.24,) * 2, **line)
