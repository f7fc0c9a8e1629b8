"""Intervals of measured shares, drawn upright through their dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def spans(
    axes: Any, places: Sequence[float], intervals: Sequence[tuple[float, float]], paint: str, name: str = ""
) -> Any:
    """Draw an interval at each place, and return an unseen line through all of them, to be labelled or avoided."""
    if not intervals:
        return axes.plot([], [], color=paint, alpha=0, label=name or "_")[0]
    lows, highs = zip(*intervals, strict=True)
    axes.vlines(places, lows, highs, color=paint, linewidth=1.4, zorder=3)
    up_and_down = [end for i, ends in enumerate(intervals) for end in (ends if i % 2 == 0 else ends[::-1])]
    twice = [place for place in places for _ in range(2)]
    (through,) = axes.plot(twice, up_and_down, color=paint, alpha=0, label=name or "_")
    return through
