"""Draw a stream in letters for a terminal: braille dots for the line, shading for the band.

A frame holds the chart of each key that there is room for, and what it shows now. No library is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from jali.display.numbers import show_amount, show_error, show_number
from jali.display.stream_view_models import StreamLine, StreamPlot, list_round_numbers, pick_keys
from jali.display.text import PLAIN, Ink, cell_width, clean

# A letter of braille is two dots wide and four dots high; a dot sets a bit, here by column and row from the top.
_ACROSS, _UP = 2, 4
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
SHADE = "░"
# The least that is drawn, whatever is asked for; and for how many lines of letters one number stands beside them.
_LEAST_WIDTH, _LEAST_HEIGHT, _LINES_A_NUMBER = 8, 3, 3


@dataclass(frozen=True)
class ChartAxis:
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
    def over(cls, low: float, high: float, lines: int) -> ChartAxis:
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
        tries = (list_round_numbers(self.low, self.high, most) for most in range(least, least + 4))
        marks = next((found for found in tries if len(found) > 1), [])
        return {self.dot(mark) // _UP: show_amount(mark) for mark in marks}


def draw_chart(
    streamed: StreamPlot, strand: StreamLine, *, width: int, height: int, ink: Ink = PLAIN
) -> list[str]:
    """Draw one line of a stream with its band and its axes, of a given width and height.

    Every tick has its value until the next one. Where there are more ticks than dots, a column of dots reaches
    over all values of its ticks.
    """
    axis = ChartAxis.over(*strand.ends, max(_LEAST_HEIGHT, height - 2))
    beside = axis.numbers()
    margin = max(cell_width(text) for text in (*beside.values(), ""))
    room = max(_LEAST_WIDTH, width - margin - 2)
    rows = _draw_rows(strand, axis, room, ink)
    sides = [(f"{beside[i]:>{margin}} ┤" if i in beside else " " * margin + " │") for i in range(axis.lines)]
    drawn = [ink.faint(side) + row for side, row in zip(sides, rows, strict=True)]
    return [*drawn, ink.faint(" " * margin + " └" + "─" * room), " " * (margin + 2) + _name_ticks(streamed, room)]


def _draw_rows(strand: StreamLine, axis: ChartAxis, width: int, ink: Ink) -> list[str]:
    """Return the lines of letters: dots where the line runs, shading elsewhere in the band."""
    dots = _place_dots(strand.values, axis, width)
    bands = [_find_band(strand, axis, letter, width) for letter in range(width)]
    return [
        _mark_letters([_draw_letter(dots[line][letter], bands[letter], line) for letter in range(width)], ink)
        for line in range(axis.lines)
    ]


def _draw_letter(bits: int, band: tuple[int, int] | None, line: int) -> str:
    if bits:
        return chr(_BRAILLE + bits)
    middle = _UP * line + 1.5
    return SHADE if band is not None and band[0] <= middle <= band[1] else " "


def _mark_letters(letters: Sequence[str], ink: Ink) -> str:
    """Mark letters, neighbours of a kind together: the line strongly, and the band faintly."""
    marks: dict[str, Callable[[str], str]] = {SHADE: ink.faint, " ": str}
    runs = groupby(letters, key=lambda letter: letter if letter in marks else "")
    return "".join(marks.get(kind, ink.accent)("".join(run)) for kind, run in runs).rstrip()


def _place_dots(values: Sequence[float], axis: ChartAxis, width: int) -> list[list[int]]:
    """Return the bits of each letter, line by line."""
    found = [[0] * width for _ in range(axis.lines)]
    before: int | None = None
    for column in range(_ACROSS * width):
        held = [
            axis.dot(values[i]) for i in _find_ticks(column, _ACROSS * width, len(values)) if _is_finite(values[i])
        ]
        reach = held if before is None else [*held, before]
        for row in range(min(reach), max(reach) + 1) if held else ():
            found[row // _UP][column // _ACROSS] |= _BITS[column % _ACROSS][row % _UP]
        before = held[-1] if held else None
    return found


def _find_band(strand: StreamLine, axis: ChartAxis, letter: int, width: int) -> tuple[int, int] | None:
    """Return the first and the last row of dots that the intervals of a letter's ticks reach."""
    ticks = _find_ticks(letter, width, len(strand.values))
    ends = [(strand.highs[i], strand.lows[i]) for i in ticks]
    known = [(high, low) for high, low in ends if not math.isnan(high) and not math.isnan(low)]
    if not known:
        return None
    return min(axis.dot(high) for high, _ in known), max(axis.dot(low) for _, low in known)


def _find_ticks(column: int, columns: int, count: int) -> range:
    """Return the ticks that stand in one of this many columns; at least one, where there are any."""
    first = column * count // columns
    return range(first, min(count, max(first + 1, -(-(column + 1) * count // columns))))


def _is_finite(value: float) -> bool:
    return math.isfinite(value)


def _name_ticks(streamed: StreamPlot, width: int) -> str:
    """Write which ticks the ends of the axis are, and the one in the middle where there is room."""
    count = len(streamed.ticks)
    if not count:
        return ""
    first, last = streamed.name_tick(0), streamed.name_tick(count - 1)
    if count == 1:
        return first
    gap = width - cell_width(first) - cell_width(last)
    middle = streamed.name_tick(count // 2)
    left = width // 2 - cell_width(first) - cell_width(middle) // 2
    if count < 3 or min(left, gap - left - cell_width(middle)) < 3:
        return first + " " * max(1, gap) + last
    return first + " " * left + middle + " " * (gap - left - cell_width(middle)) + last


# A chart is between these two numbers of lines high, with its heading and its axis.
_LEAST, _MOST = 7, 22


def draw_frame(
    streamed: StreamPlot, keys: Sequence[str] | None = None, *, width: int, height: int, ink: Ink = PLAIN
) -> list[str]:
    """Draw a stream within a width and a height, in characters; keys that find no room are counted below."""
    strands = _choose_lines(streamed, keys)
    head = [ink.strong(_cut(clean(streamed.heading), width))]
    if not streamed.ticks:
        return [*head, "Nothing was published yet."]
    room = max(_LEAST, height - 3)
    shown = strands[: max(1, room // _LEAST)]
    each = min(_MOST, room // len(shown))
    charts = [line for strand in shown for line in _draw_one(streamed, strand, width, each, ink)]
    return [*head, *charts, *_write_foot(streamed, len(strands) - len(shown), width, ink)]


def _choose_lines(streamed: StreamPlot, keys: Sequence[str] | None) -> Sequence[StreamLine]:
    if not keys:
        return streamed.strands
    return list(pick_keys(keys, {strand.name: strand for strand in streamed.strands}, streamed.name).values())


def _draw_one(streamed: StreamPlot, strand: StreamLine, width: int, height: int, ink: Ink) -> list[str]:
    now = "" if streamed.said else _write_now(strand)
    heading = _cut(f"{clean(strand.name)}  {now}".strip(), width)
    return [ink.accent(heading), *draw_chart(streamed, strand, width=width, height=height - 1, ink=ink)]


def _write_now(strand: StreamLine) -> str:
    """Write the value of the last tick with its error bar."""
    value, span = strand.values[-1], (strand.lows[-1], strand.highs[-1])
    if math.isnan(value) or any(math.isnan(end) for end in span):
        return "unknown"
    return f"{show_number(value, (span[1] - span[0]) / 2)} {show_error(value, span)}"


def _write_foot(streamed: StreamPlot, left_out: int, width: int, ink: Ink) -> list[str]:
    more = f" · {left_out:,} further keys: --key NAME" if left_out else ""
    band = f"{SHADE} {streamed.between or f'{100 * streamed.confidence:g} % interval for the bounded truth'}"
    return [ink.faint(_cut(band + more, width))]


def _cut(text: str, width: int) -> str:
    """Cut a line to the width of the terminal: one that wraps would not be drawn over."""
    while cell_width(text) > width:
        text = text[:-1]
    return text
