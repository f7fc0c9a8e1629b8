"""Draw a survey by randomized answers: the estimates, how sure they are, and the truth where it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jali.display.numbers import show_percent
from jali.display.plots.plot_canvas import DEEP, FAINT, SAND, TEAL, TEXT, prepare_axes, write_titles
from jali.errors import CatalogError


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
