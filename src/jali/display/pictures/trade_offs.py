"""The trade-off between the two errors of whoever guesses whether a person is in the data (f-DP)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jali.display.pictures.canvas import DASHES, SLATE, colour, named, sheet, titles
from jali.display.pictures.labels import label_curves
from jali.privacy import Loss, TradeOff


def trade_off_curves(losses: Mapping[str, Loss], *, count: int = 51) -> dict[str, TradeOff]:
    """Return the trade-off curve of each loss at evenly spaced false positive rates, and where it may bend.

    Example:
        >>> from jali.privacy import Pure
        >>> curve = trade_off_curves({"pure": Pure(1)}, count=3)["pure"]
        >>> [round(rate, 3) for rate in (curve.fprs[1], curve.fnrs[1])]
        [0.269, 0.269]
    """
    even = {i / (count - 1) for i in range(count)}
    return {name: loss.trade_off(sorted(even | _bends(loss))) for name, loss in named(losses).items()}


def _bends(loss: Loss) -> set[float]:
    """Return where the two lines of a pure or nearly pure loss meet: at equal errors of 1/(1 + e^epsilon)."""
    return {1 / (1 + math.exp(epsilon)) for epsilon in map(loss.epsilon, (1e-9, 1e-4)) if epsilon < 700}


def trade_offs(losses: Mapping[str, Loss], *, axes: Any = None) -> Any:
    """Draw the trade-off curves of several losses and return the axes (needs matplotlib)."""
    return draw_trade_offs(trade_off_curves(losses), axes=axes)


def draw_trade_offs(curves: Mapping[str, TradeOff], *, axes: Any = None) -> Any:
    """Draw curves of `trade_off_curves` below the diagonal of pure guessing."""
    axes = sheet(axes, size=(5.2, 5.2))
    lines = axes.plot((0, 1), (1, 0), color=SLATE, linewidth=1, linestyle=DASHES, label="guessing")
    for index, (name, curve) in enumerate(curves.items()):
        lines += axes.plot(curve.fprs, curve.fnrs, color=colour(index), linewidth=1.8, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    titles(axes, "Trade-off: the least errors of any test", "false positive rate", "false negative rate")
    label_curves(axes, lines, turned=True)
    return axes
