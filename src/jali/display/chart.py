"""A line with its band in letters: braille dots for the line, shading for the band. No library is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_amount
from jali.display.streamed import Strand, Streamed, round_numbers
from jali.display.text import cell_width

# A letter of braille is two dots wide and four dots high; a dot sets a bit, here by column and row from the top.
_ACROSS, _UP = 2, 4
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
SHADE = "░"
# The least that is drawn, whatever is asked for; and for how many lines of letters one number stands beside them.
_LEAST_WIDTH, _LEAST_HEIGHT, _LINES_A_NUMBER = 8, 3, 3


@dataclass(frozen=True)
class Axis:
    """The upright axis of a chart: which numbers its bottom and its top are.

    Attributes:
        low: The number at the bottom.
        high: The number at the top.
        lines: How many lines of letters there are between them.
    """

    low: float
    high: float
    lines: int

    @classmethod
    def over(cls, low: float, high: float, lines: int) -> Axis:
        """Return an axis over some numbers, with room around a single one."""
        room = 0.0 if high > low else max(1.0, abs(high) / 10)
        return cls(low - room, high + room, lines)

    def dot(self, number: float) -> int:
        """Return the row of dots for a number, from the top; what lies outside is at the edge."""
        share = (self.high - min(max(number, self.low), self.high)) / (self.high - self.low)
        return round(share * (_UP * self.lines - 1))

    def numbers(self) -> dict[int, str]:
        """Return the round numbers to be written beside the lines, by line: two of them at least."""
        least = max(2, self.lines // _LINES_A_NUMBER)
        tries = (round_numbers(self.low, self.high, most) for most in range(least, least + 4))
        marks = next((found for found in tries if len(found) > 1), [])
        return {self.dot(mark) // _UP: show_amount(mark) for mark in marks}


def chart(streamed: Streamed, strand: Strand, *, width: int, height: int, ink: Ink = PLAIN) -> list[str]:
    """Draw one line of a stream with its band and its axes, in so many letters and lines.

    Every tick has its value until the next one. Where there are more ticks than dots, a column of dots reaches
    over all values of its ticks.
    """
    axis = Axis.over(*strand.ends, max(_LEAST_HEIGHT, height - 2))
    beside = axis.numbers()
    margin = max(cell_width(text) for text in (*beside.values(), ""))
    room = max(_LEAST_WIDTH, width - margin - 2)
    rows = _rows(strand, axis, room, ink)
    sides = [(f"{beside[i]:>{margin}} ┤" if i in beside else " " * margin + " │") for i in range(axis.lines)]
    drawn = [ink.faint(side) + row for side, row in zip(sides, rows, strict=True)]
    return [*drawn, ink.faint(" " * margin + " └" + "─" * room), " " * (margin + 2) + _under(streamed, room)]


def _rows(strand: Strand, axis: Axis, width: int, ink: Ink) -> list[str]:
    """Return the lines of letters: dots where the line runs, shading elsewhere in the band."""
    dots = _dotted(strand.values, axis, width)
    bands = [_band(strand, axis, letter, width) for letter in range(width)]
    return [
        _inked([_letter(dots[line][letter], bands[letter], line) for letter in range(width)], ink)
        for line in range(axis.lines)
    ]


def _letter(bits: int, band: tuple[int, int] | None, line: int) -> str:
    if bits:
        return chr(_BRAILLE + bits)
    middle = _UP * line + 1.5
    return SHADE if band is not None and band[0] <= middle <= band[1] else " "


def _inked(letters: Sequence[str], ink: Ink) -> str:
    """Mark letters, neighbours of a kind together: the line strongly, and the band faintly."""
    marks: dict[str, Callable[[str], str]] = {SHADE: ink.faint, " ": str}
    runs = groupby(letters, key=lambda letter: letter if letter in marks else "")
    return "".join(marks.get(kind, ink.accent)("".join(run)) for kind, run in runs).rstrip()


def _dotted(values: Sequence[float], axis: Axis, width: int) -> list[list[int]]:
    """Return the bits of each letter, line by line."""
    found = [[0] * width for _ in range(axis.lines)]
    before: int | None = None
    for column in range(_ACROSS * width):
        held = [axis.dot(values[i]) for i in _ticks(column, _ACROSS * width, len(values)) if _seen(values[i])]
        reach = held if before is None else [*held, before]
        for row in range(min(reach), max(reach) + 1) if held else ():
            found[row // _UP][column // _ACROSS] |= _BITS[column % _ACROSS][row % _UP]
        before = held[-1] if held else None
    return found


def _band(strand: Strand, axis: Axis, letter: int, width: int) -> tuple[int, int] | None:
    """Return the first and the last row of dots that the intervals of a letter's ticks reach."""
    ticks = _ticks(letter, width, len(strand.values))
    ends = [(strand.highs[i], strand.lows[i]) for i in ticks]
    known = [(high, low) for high, low in ends if not math.isnan(high) and not math.isnan(low)]
    if not known:
        return None
    return min(axis.dot(high) for high, _ in known), max(axis.dot(low) for _, low in known)


def _ticks(column: int, columns: int, count: int) -> range:
    """Return the ticks that stand in one of so many columns; at least one, where there are any."""
    first = column * count // columns
    return range(first, min(count, max(first + 1, -(-(column + 1) * count // columns))))


def _seen(value: float) -> bool:
    return math.isfinite(value)


def _under(streamed: Streamed, width: int) -> str:
    """Write which ticks the ends of the axis are, and the one in the middle where there is room."""
    count = len(streamed.ticks)
    if not count:
        return ""
    first, last = streamed.shown(0), streamed.shown(count - 1)
    if count == 1:
        return first
    gap = width - cell_width(first) - cell_width(last)
    middle = streamed.shown(count // 2)
    left = width // 2 - cell_width(first) - cell_width(middle) // 2
    if count < 3 or min(left, gap - left - cell_width(middle)) < 3:
        return first + " " * max(1, gap) + last
    return first + " " * left + middle + " " * (gap - left - cell_width(middle)) + last
