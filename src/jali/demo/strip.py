"""Strips: an interval drawn with characters, and the truth upon it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

# One less is a multiple of four, so that the ends of every interval stand in the same places.
CELLS = 21
# On a narrow terminal.
FEW_CELLS = 13


def strip(
    value: float | None, low: float | None, high: float | None, truth: float | None, cells: int = CELLS
) -> Text:
    """Draw an answer in its interval and the bounded truth, on an axis twice as wide as the interval."""
    from rich.text import Text

    drawn = Text(strip_text(value, low, high, truth, cells), style="dim")
    drawn.highlight_words(["●"], "bold cyan")
    inside = truth is not None and low is not None and high is not None and low <= truth <= high
    drawn.highlight_words(["◆", "<", ">"], "bold green" if inside else "bold yellow")
    return drawn


def strip_text(
    value: float | None, low: float | None, high: float | None, truth: float | None, cells: int = CELLS
) -> str:
    """Draw it without colour.

    Example:
        >>> strip_text(10.0, 8.0, 12.0, 11.0)
        '     ├────●─◆──┤     '
    """
    if value is None or low is None or high is None or high <= low:
        return " " * cells
    start, length = low - (high - low) / 2, 2 * (high - low)

    def place(x: float) -> int:
        return round((x - start) / length * (cells - 1))

    drawn = [" "] * cells
    left, right = place(low), place(high)
    drawn[left : right + 1] = ["├", *"─" * (right - left - 1), "┤"]
    drawn[min(max(place(value), 0), cells - 1)] = "●"
    if truth is not None:
        spot = place(truth)
        drawn[min(max(spot, 0), cells - 1)] = "◆" if 0 <= spot < cells else ("<" if spot < 0 else ">")
    return "".join(drawn)
