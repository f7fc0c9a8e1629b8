"""Strips: an interval drawn with characters, and the truth upon it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

CELLS = 19


def strip(value: float | None, low: float | None, high: float | None, truth: float | None) -> Text:
    """Draw an answer in its interval and the bounded truth, on an axis twice as wide as the interval."""
    from rich.text import Text

    drawn = Text(strip_text(value, low, high, truth), style="dim")
    drawn.highlight_words(["●"], "bold cyan")
    inside = truth is not None and low is not None and high is not None and low <= truth <= high
    drawn.highlight_words(["◆", "<", ">"], "bold green" if inside else "bold yellow")
    return drawn


def strip_text(value: float | None, low: float | None, high: float | None, truth: float | None) -> str:
    """Draw it without colour.

    Example:
        >>> strip_text(10.0, 8.0, 12.0, 11.0)
        '    ├────●─◆──┤    '
    """
    if value is None or low is None or high is None or high <= low:
        return " " * CELLS
    start, length = low - (high - low) / 2, 2 * (high - low)

    def place(x: float) -> int:
        return round((x - start) / length * (CELLS - 1))

    cells = [" "] * CELLS
    left, right = place(low), place(high)
    cells[left : right + 1] = ["├", *"─" * (right - left - 1), "┤"]
    cells[min(max(place(value), 0), CELLS - 1)] = "●"
    if truth is not None:
        spot = place(truth)
        cells[min(max(spot, 0), CELLS - 1)] = "◆" if 0 <= spot < CELLS else ("<" if spot < 0 else ">")
    return "".join(cells)
