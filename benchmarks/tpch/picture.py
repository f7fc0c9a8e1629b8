"""The picture of docs/tpch.md: relative error against epsilon, as written and as tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from docs.pictures.draw import save

from jali.display.plots.plot_canvas import DASHES, TEXT, pick_colour, prepare_axes, write_titles

PATH = Path(__file__).parents[2] / "docs" / "tpch.png"


def draw(
    epsilons: Sequence[float], written: Mapping[str, Sequence[float]], tuned: Mapping[str, Sequence[float]]
) -> None:
    """Draw one line for each question, and save it with the other pictures."""
    matplotlib.use("Agg")
    axes = prepare_axes()
    for index, name in enumerate(tuned):
        shade = pick_colour(index)
        axes.plot(epsilons, written[name], color=shade, linewidth=1.0, linestyle=DASHES)
        axes.plot(epsilons, tuned[name], color=shade, linewidth=1.8, marker="o", markersize=3, label=name)
    axes.plot([], [], color=TEXT, linewidth=1.0, linestyle=DASHES, label="as written")
    axes.set(xscale="log", yscale="log", xticks=epsilons, xticklabels=[f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.legend(frameon=False, fontsize=9, labelcolor=TEXT, ncols=2)
    write_titles(
        axes, "TPC-H at scale 1, the customer protected: median relative error", "epsilon", "relative error"
    )
    save(axes.figure, PATH)
