"""Answers as pages show them: a table with error bars, a chart, what it cost, and how it came about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from jali.answer import Answer
from jali.batch import BatchAnswer
from jali.database.asking import Found
from jali.display.axes import place, position, scale_of
from jali.display.cells import Line, flat, has_labels, lines
from jali.display.numbers import Interval, half_width, is_number, show_key, show_number
from jali.display.text import legend
from jali.errors import QueryError
from jali.server.house import House
from jali.server.pages.bars import Chart, chart_of, error_of
from jali.server.pages.tree import Node, tree_of
from jali.server.pages.words import on_page
from jali.server.people.caller import Caller

# The rest of a longer answer is downloaded.
MOST_ROWS = 500
# More rows than this are scrolled.
_LONG = 20
_CONFIDENCE = 0.95
_BAR = 120
_NONE = Markup()


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a text with its error, or a bar; it may reach over several lines."""

    text: str
    error: str = ""
    bar: Markup = _NONE
    number: bool = False
    rows: int = 1
    strip: bool = False


@dataclass(frozen=True)
class Head:
    """A heading of a table."""

    text: str
    number: bool = False
    strip: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: headings, and lines of cells."""

    heads: tuple[Head, ...]
    lines: tuple[tuple[Cell, ...], ...]
    left_out: int = 0

    @property
    def long(self) -> bool:
        """Whether it is scrolled in a box of its own, below what is drawn."""
        return len(self.lines) > _LONG

    @property
    def plain(self) -> bool:
        """Whether every line has a cell for each heading, so that a phone can show it as a card."""
        return all(cell.rows == 1 for line in self.lines for cell in line)

    @property
    def columns(self) -> int:
        """How many columns there are, but for the strips that draw an interval."""
        return sum(not head.strip for head in self.heads)


@dataclass(frozen=True)
class Shown:
    """One answer, ready for a template."""

    grid: Grid
    chart: Chart | None
    drawn: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Card:
    """What a receipt stands for: one answer, or those of a batch.

    Attributes:
        receipt: Of all of them.
        cost: What was charged.
        cached: Whether it had been answered before.
        answers: Each of them.
        left: What is left of each table to whoever looks.
        plan: How it came about; nothing for a batch.
        batch: Whether it is one, which has no table to download.
    """

    receipt: str
    cost: str
    cached: bool
    answers: tuple[Shown, ...]
    left: tuple[tuple[str, str], ...]
    plan: Node | None
    batch: bool = False


def card_of(house: House, caller: Caller, found: Found[Any], column: str | None = None) -> Card:
    """Return what a page shows of an answer. Nothing is read or spent.

    Args:
        house: The server.
        caller: Who looks.
        found: The answer.
        column: Which column is drawn; by default the first that can be.
    """
    answer: Answer | BatchAnswer = found.answer
    batch = isinstance(answer, BatchAnswer)
    each = answer.answers if isinstance(answer, BatchAnswer) else (answer,)
    left = tuple((table, _left(house, caller, table)) for table, _ in answer.costs)
    return Card(
        answer.receipt,
        str(answer.cost),
        answer.cached,
        tuple(shown(one, column) for one in each),
        left,
        None if batch else tree_of(found.plan),
        batch,
    )


def _left(house: House, caller: Caller, table: str) -> str:
    return on_page(house.database.remaining(table, analyst=caller.analyst).phrase)


def shown(answer: Answer, column: str | None = None) -> Shown:
    """Return the table and the chart of one answer."""
    spans = answer.interval()
    said = legend(*flat(answer.rows, spans), _CONFIDENCE)
    grid = grid_of(answer.columns, answer.shown_rows[:MOST_ROWS], spans[:MOST_ROWS])
    drawn = tuple(name for name in answer.columns if _can_be_drawn(answer, name)) if answer.rows else ()
    chosen = column if column in drawn else drawn[0] if drawn else None
    return Shown(
        replace(grid, left_out=max(0, len(answer.rows) - MOST_ROWS)),
        None if chosen is None else chart_of(chosen, answer.plot_data(chosen)),
        drawn,
        tuple(line for line in (said, *answer.remarks) if line),
    )


def _can_be_drawn(answer: Answer, column: str) -> bool:
    try:
        points = answer.plot_data(column)
    except QueryError:
        return False
    return any(is_number(value) for _, value, _ in points)


def grid_of(columns: Sequence[str], rows: Sequence[Sequence[Any]], spans: Sequence[Sequence[Any]]) -> Grid:
    """Set rows with their intervals; a cell that holds several values takes a line for each."""
    cells = [[lines(*pair) for pair in zip(row, held, strict=True)] for row, held in zip(rows, spans, strict=True)]
    heights = [max(1, *(len(cell) for cell in row)) for row in cells]
    made = [
        _column(name, [row[j] for row in cells], heights, labelled=has_labels([row[j] for row in rows]))
        for j, name in enumerate(columns)
    ]
    heads = tuple(head for part, _ in made for head in part)
    body = tuple(
        tuple(cell for _, stacks in made for cell in stacks[i][k])
        for i, height in enumerate(heights)
        for k in range(height)
    )
    return Grid(heads, body)


def _column(
    name: str, cells: list[list[Line]], heights: list[int], *, labelled: bool
) -> tuple[list[Head], list[list[list[Cell]]]]:
    """Return the headings of an output, and per row of the answer its cells, line by line."""
    every = [line for cell in cells for line in cell]
    noisy = any(line.interval is not None for line in every)
    numeric = noisy and all(is_number(line.value) or line.value is None for line in every)
    scale = scale_of(line.interval for line in every)
    width = labelled + 1 + noisy
    stacks = [
        _filled(
            [_cells(line, scale, labelled=labelled, noisy=noisy, numeric=numeric) for line in cell], height, width
        )
        for cell, height in zip(cells, heights, strict=True)
    ]
    heads = [Head(name), Head("value", numeric)] if labelled else [Head(name, numeric)]
    return [*heads, *([Head("", strip=True)] if noisy else [])], stacks


def _cells(line: Line, scale: tuple[float, float], *, labelled: bool, noisy: bool, numeric: bool) -> list[Cell]:
    made = [Cell(show_key(line.label))] if labelled else []
    if not noisy:
        return [*made, Cell(show_key(line.value))]
    text = show_number(line.value, half_width(line.interval))
    value = Cell(text, error_of(line.value, line.interval), number=numeric)
    return [*made, value, Cell("", bar=interval_bar(line.value, line.interval, scale), strip=True)]


def _filled(stack: list[list[Cell]], height: int, width: int) -> list[list[Cell]]:
    """Let the last line of a cell reach down to the end of its row."""
    stack = stack or [[Cell("")] * width]
    rest = height - len(stack)
    last = [replace(cell, rows=rest + 1) for cell in stack[-1]]
    return [*stack[:-1], last, *([[]] * rest)]


def interval_bar(value: Any, span: Interval, scale: tuple[float, float]) -> Markup:
    """Draw an interval as a line and its value as a dot. Only numbers are written."""
    if span is None or not math.isfinite(position(value)) or any(math.isnan(position(x)) for x in span):
        return _NONE
    left, right, dot = (place(x, scale, _BAR) for x in (*span, value))
    return Markup(
        f'<svg class="span" width="{_BAR}" height="14" aria-hidden="true">'
        f'<line class="span-line" x1="{left:.1f}" y1="7" x2="{right:.1f}" y2="7"/>'
        f'<circle class="span-dot" cx="{dot:.1f}" cy="7" r="3.2"/></svg>'
    )
