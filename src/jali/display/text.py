"""Aligned text for a terminal of any kind. No library is needed."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jali.display.ink import PLAIN, Ink
from jali.display.numbers import half_width, show_number, show_width

Interval: TypeAlias = tuple[float, float] | None
WIDTH = 100
_GAP = "  "


@dataclass(frozen=True)
class TextColumn:
    """A column that is ready to be set: its heading, its cells and its side."""

    heading: str
    cells: tuple[str, ...]
    right: bool = False

    @property
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
    return sum(_char_width(c) for c in text)


def table(columns: Sequence[TextColumn], *, ink: Ink = PLAIN) -> str:
    """Set columns side by side under their headings."""
    heads = [ink.strong(_padded(c.heading, c.width, right=c.right)) for c in columns]
    rules = [ink.faint("─" * c.width) for c in columns]
    lines = [_joined(heads), _joined(rules)]
    padded = [[_padded(cell, c.width, right=c.right) for cell in c.cells] for c in columns]
    return "\n".join([*lines, *(_joined(list(row)) for row in zip(*padded, strict=True))])


def answer_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    intervals: Sequence[Sequence[Interval]],
    *,
    ink: Ink = PLAIN,
) -> str:
    """Write an answer: keys, and each noisy number with its error bar beside it."""
    if not rows:
        return "No rows."
    made: list[TextColumn] = []
    for j, name in enumerate(columns):
        made += _answer_columns(clean(name), [row[j] for row in rows], [spans[j] for spans in intervals])
    return table(made, ink=ink)


def facts(pairs: Sequence[tuple[str, str]], *, indent: int = 2, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write labelled facts, with the labels in one column and long facts wrapped beside them."""
    if not pairs:
        return ""
    reach = max(cell_width(label) for label, _ in pairs)
    margin = " " * (indent + reach + 2)
    lines = []
    for label, fact in pairs:
        wrapped = textwrap.wrap(fact, width - len(margin), break_on_hyphens=False) or [""]
        lines.append(" " * indent + ink.faint(_padded(label, reach)) + "  " + wrapped[0])
        lines += [margin + line for line in wrapped[1:]]
    return "\n".join(line.rstrip() for line in lines)


def on_point(texts: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand under each other; leave words alone.

    Example:
        >>> on_point(["1,690", "16.1", "NULL"])
        ['1,690  ', '16.1', 'NULL']
    """
    tails = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    longest = max(tails, default=0)
    return [
        text + " " * (longest - tail) if text[-1:].isdigit() else text
        for text, tail in zip(texts, tails, strict=True)
    ]


def _answer_columns(name: str, values: list[Any], spans: list[Interval]) -> list[TextColumn]:
    if all(span is None for span in spans):
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        return [TextColumn(name, tuple(clean(show_number(v)) for v in values), right=numeric)]
    widths = [half_width(span) for span in spans]
    shown = [show_number(v, w) for v, w in zip(values, widths, strict=True)]
    bars = [_bar(w, span) for w, span in zip(widths, spans, strict=True)]
    return [
        TextColumn(name, tuple(on_point(shown)), right=True),
        TextColumn("±", tuple(on_point(bars)), right=True),
    ]


def _bar(width: float | None, span: Interval) -> str:
    if span is None:
        return ""
    return "∞" if width is None else show_width(width).removeprefix("± ")


def _joined(cells: list[str]) -> str:
    return _GAP.join(cells).rstrip()


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - cell_width(text))
    return space + text if right else text + space


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
