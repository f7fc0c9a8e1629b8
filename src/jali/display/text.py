"""Write aligned text for a terminal of any kind, with a few accents or none. No library is needed."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jali.display.numbers import Interval, half_width, is_centred, is_number, show_error, show_key, show_number
from jali.display.view_models import CellLine, Intervals, has_labels, split_cells


@dataclass(frozen=True)
class Ink:
    r"""Marks text with terminal codes where `colour` is true, and leaves it alone otherwise.

    Example:
        >>> Ink().strong("n"), Ink(colour=True).strong("n")
        ('n', '\x1b[1mn\x1b[0m')
    """

    colour: bool = False

    def strong(self, text: str) -> str:
        """Headings."""
        return self._mark("1", text)

    def faint(self, text: str) -> str:
        """Lines and remarks."""
        return self._mark("2", text)

    def accent(self, text: str) -> str:
        """What the eye should find first."""
        return self._mark("36", text)

    def alarm(self, text: str) -> str:
        """What went wrong."""
        return self._mark("1;31", text)

    def _mark(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


PLAIN = Ink()


WIDTH, NARROWEST = 100, 80
_GAP = "  "


@dataclass(frozen=True)
class TextColumn:
    """A column that is ready to be set: its heading, its cells and its side."""

    heading: str
    cells: tuple[str, ...]
    right: bool = False

    @cached_property
    def width(self) -> int:
        """How many places the column takes."""
        return max(cell_width(text) for text in (self.heading, *self.cells))


def clean(text: str) -> str:
    r"""Escape what would move the cursor or break a line.

    Example:
        >>> clean("a\x1b[2Jb")
        'a\\x1b[2Jb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cell_width(text: str) -> int:
    """Return how many places a text takes in a terminal.

    Example:
        >>> cell_width("ward"), cell_width("病棟")
        (4, 4)
    """
    return len(text) if text.isascii() else sum(_char_width(c) for c in text)


def write_table(columns: Sequence[TextColumn], *, ink: Ink = PLAIN) -> str:
    """Set columns side by side under their headings."""
    heads = [_pad(c.heading, c.width, right=c.right) for c in columns]
    heads[-1] = heads[-1].rstrip()
    lines = [
        _join_cells([ink.strong(head) for head in heads]),
        _join_cells([ink.faint("─" * c.width) for c in columns]),
    ]
    padded = [[_pad(cell, c.width, right=c.right) for cell in c.cells] for c in columns]
    return "\n".join([*lines, *(_join_cells(list(row)) for row in zip(*padded, strict=True))])


def write_answer_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    intervals: Sequence[Sequence[Intervals]],
    *,
    ink: Ink = PLAIN,
) -> str:
    """Write an answer: keys, and each noisy number with its error bar beside it.

    A cell that holds several values takes a line for each, and the rest of its row stands on the first of them.
    """
    if not rows:
        return "No rows."
    cells, heights = split_cells(rows, intervals)
    made: list[TextColumn] = []
    for j, name in enumerate(columns):
        column = [[*row[j], *[None] * (height - len(row[j]))] for row, height in zip(cells, heights, strict=True)]
        every = [line for part in column for line in part]
        made += _build_answer_columns(clean(name), every, labelled=has_labels([row[j] for row in rows]))
    return write_table(made, ink=ink)


def write_error_column(values: Sequence[Any], spans: Sequence[Interval]) -> TextColumn:
    """Return the column of error bars: plain half-widths under ±, or under `interval` where some are ranges."""
    shown = [show_error(value, span) for value, span in zip(values, spans, strict=True)]
    pairs = zip(values, spans, strict=True)
    if all(span is None or is_centred(value, span) for value, span in pairs):
        return TextColumn("±", tuple(align_points([text.removeprefix("± ") for text in shown])), right=True)
    bars = iter(align_points([text for text in shown if text.startswith("±")]))
    return TextColumn("interval", tuple(next(bars) if t.startswith("±") else t for t in shown), right=True)


def write_legend(values: Sequence[Any], spans: Sequence[Interval], confidence: float) -> str:
    """Describe how to read the error bars of these numbers; nothing where there are none."""
    kinds = {is_centred(value, span) for value, span in zip(values, spans, strict=True) if span is not None}
    what = f"{100 * confidence:g} % interval for the bounded truth"
    if kinds == {True}:
        return f"± is half the width of a {what}."
    if kinds == {False}:
        return f"low … high is a {what}."
    return f"± is half the width of a {what}; low … high is one that is off centre." if kinds else ""


def write_facts(pairs: Sequence[tuple[str, str]], *, indent: int = 2, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write labelled facts, with the labels in one column and long facts wrapped beside them.

    A label that would take more than half of the line has one of its own, above its fact.
    """
    if not pairs:
        return ""
    short = [reach for label, _ in pairs if (reach := cell_width(label)) <= width // 2]
    reach = max(short, default=0)
    margin = " " * (indent + reach + 2)
    lines = []
    for label, fact in pairs:
        wrapped = textwrap.wrap(fact, max(width - len(margin), 1), break_on_hyphens=False) or [""]
        if cell_width(label) > reach:
            lines.append(" " * indent + ink.faint(label))
        beside = "" if cell_width(label) > reach else label
        lines.append(" " * indent + ink.faint(_pad(beside, reach)) + "  " + wrapped[0])
        lines += [margin + line for line in wrapped[1:]]
    return "\n".join(line.rstrip() for line in lines)


def align_points(texts: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand under each other; leave words alone.

    Example:
        >>> align_points(["1,690", "16.1", "NULL"])
        ['1,690  ', '16.1', 'NULL']
    """
    tails = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    longest = max(tails, default=0)
    return [
        text + " " * (longest - tail) if text[-1:].isdigit() else text
        for text, tail in zip(texts, tails, strict=True)
    ]


def _build_answer_columns(name: str, every: list[CellLine | None], *, labelled: bool) -> list[TextColumn]:
    """Return the columns of one output, over all lines; None is an empty place."""
    held = [line for line in every if line is not None]
    made = _build_number_columns(
        "value" if labelled else name, [line.value for line in held], [line.interval for line in held]
    )
    labels = [clean(show_key(line.label)) for line in held]
    numeric = all(is_number(line.label) for line in held)
    made = [TextColumn(name, tuple(labels), right=numeric), *made] if labelled else made
    return [_spread_cells(column, every) for column in made]


def _build_number_columns(name: str, values: list[Any], spans: list[Interval]) -> list[TextColumn]:
    if all(span is None for span in spans):
        numeric = all(is_number(v) for v in values)
        return [TextColumn(name, tuple(clean(show_key(v)) for v in values), right=numeric)]
    widths = [half_width(span) for span in spans]
    shown = [show_number(v, w) for v, w in zip(values, widths, strict=True)]
    return [TextColumn(name, tuple(align_points(shown)), right=True), write_error_column(values, spans)]


def _spread_cells(column: TextColumn, every: list[CellLine | None]) -> TextColumn:
    """Put the cells of a column where there is a line, and nothing elsewhere."""
    cells = iter(column.cells)
    return TextColumn(column.heading, tuple("" if line is None else next(cells) for line in every), column.right)


def _join_cells(cells: list[str]) -> str:
    return _GAP.join(cells).rstrip()


def _pad(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - cell_width(text))
    return space + text if right else text + space


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
