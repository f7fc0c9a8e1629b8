"""Answers as pages show them: a table with error bars, a chart, the cost, and the plan as a tree.

The tree of a plan has branches for the question, its rows, the contribution bound, groups, releases, and what is
computed afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from jali.answer import Answer
from jali.batch import BatchAnswer
from jali.display.html import find_position, find_scale, place_in_bar
from jali.display.numbers import Interval, half_width, is_number, show_key, show_number
from jali.display.text import write_legend
from jali.display.view_models import CellLine, flatten_cells, has_labels, split_lines
from jali.errors import QueryError
from jali.execution.reservation import ReleasedAnswer
from jali.explain import AggregateNote, Explanation, KeyNote, ReleaseNote, TableNote, explain_plan
from jali.explain.labelled_facts import release_facts, selection_facts, show_remark, subject, write_forecasts
from jali.planner import PLANS, Plan
from jali.server.auth import Caller
from jali.server.pages.charts import BarChart, build_bar_chart, write_error_bar
from jali.server.pages.rendering import write_phrase
from jali.server.state import AppState

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PlanNode:
    """One branch of a tree.

    Attributes:
        title: What it is.
        remark: The most important about it.
        facts: Labelled sentences.
        branches: What it is made of.
        code: Text for the engine.
    """

    title: str
    remark: str = ""
    facts: Facts = ()
    branches: tuple[PlanNode, ...] = ()
    code: str = ""


def read_plan_tree(plan: str) -> PlanNode:
    """Return the tree of a plan as the ledger keeps it."""
    known: Plan = PLANS.decode(plan)
    return build_plan_tree(explain_plan(known))


def build_plan_tree(note: Explanation) -> PlanNode:
    """Return the tree of an explained plan."""
    branches = (
        _build_rows_node(note),
        PlanNode("Contribution bound", note.contribution),
        _build_groups_node(note),
        _build_releases_node(note),
        _build_answers_node(note),
        *([_build_afterwards_node(note)] if note.afterwards else []),
        *(
            PlanNode("Engine query", "exact integers, read after the reservation", code=q.sql)
            for q in note.queries
        ),
    )
    facts = (("loss", f"{note.loss} for the whole answer: {note.split}"), ("neighbours", note.neighbours))
    return PlanNode(f"Question on {subject(note)}", note.loss, facts, branches)


def _build_rows_node(note: Explanation) -> PlanNode:
    labelled = [("rows", step) for step in note.steps]
    labelled += [("filter", note.where)] if note.where is not None else []
    labelled += [("clamped", clamp) for clamp in note.clamps]
    labelled += [("part", line) for line in note.part]
    public = tuple(PlanNode(name, "public: nobody's rows, never charged") for name in note.public)
    return PlanNode(
        "Tables and rows",
        subject(note),
        tuple(labelled),
        (*(_build_table_node(table) for table in note.tables), *public),
    )


def _build_table_node(table: TableNote) -> PlanNode:
    facts = [
        ("unit", table.unit or "each row is a person"),
        *([] if table.via is None else [("reached by", table.via)]),
        ("adjacency", table.adjacency),
        ("rows per person", f"at most {table.max_rows:,}"),
        ("changes", f"{table.changes}: {table.because}"),
        ("charged", table.loss),
    ]
    return PlanNode(table.name, table.loss, tuple(facts))


def _build_groups_node(note: Explanation) -> PlanNode:
    keys = tuple(_build_key_node(key) for key in note.keys)
    sets = tuple(("set", f"{columns}: {count:,} groups") for columns, count in note.sets)
    if note.selection is not None:
        chosen = PlanNode("Partition selection", note.selection.loss, tuple(selection_facts(note.selection)))
        return PlanNode("Groups", note.selection.sizes, sets, (*keys, chosen))
    count = f"{note.groups:,}, known before the data is read" if keys and note.groups else "one: all rows"
    return PlanNode("Groups", count, sets, keys)


def _build_key_node(key: KeyNote) -> PlanNode:
    shown = ", ".join(key.shown)
    more = f", … ({key.count:,} in all)" if key.count is not None and key.count > len(key.shown) else ""
    return PlanNode(key.expression, f"{shown}{more}", (("meaning", key.meaning),))


def _build_releases_node(note: Explanation) -> PlanNode:
    count = len(note.measures)
    noise = "1 noisy number per group" if count == 1 else f"{count} noisy numbers per group"
    return PlanNode(
        "Releases", noise, (), tuple(_build_release_node(i, one) for i, one in enumerate(note.measures, 1))
    )


def _build_release_node(place: int, note: ReleaseNote) -> PlanNode:
    return PlanNode(f"[{place}] {note.name}", note.loss, tuple(release_facts(note)))


def _build_answers_node(note: Explanation) -> PlanNode:
    each = tuple(_build_answer_node(one) for one in note.aggregates)
    return PlanNode("Answers", f"forecast with {note.confidence:.0%} confidence", (), each)


def _build_answer_node(note: AggregateNote) -> PlanNode:
    remark = show_remark(note)
    facts = [("made of", note.formula), *(("forecast", line) for line in write_forecasts(note))]
    return PlanNode(
        note.name, "; ".join(write_forecasts(note)), (*facts, *((("note", remark),) if remark else ()))
    )


def _build_afterwards_node(note: Explanation) -> PlanNode:
    return PlanNode("Afterwards", "on noisy values, free", tuple(("then", line) for line in note.afterwards))


# The rest of a longer answer is downloaded.
MOST_ROWS = 500
# More rows than this are scrolled.
_LONG = 20
_CONFIDENCE = 0.95
_BAR = 120
_NONE = Markup()


@dataclass(frozen=True)
class GridCell:
    """One cell of a table: a text with its error, or a bar; it may reach over several lines."""

    text: str
    error: str = ""
    bar: Markup = _NONE
    number: bool = False
    rows: int = 1
    strip: bool = False


@dataclass(frozen=True)
class GridHeading:
    """A heading of a table."""

    text: str
    number: bool = False
    strip: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: headings, and lines of cells."""

    heads: tuple[GridHeading, ...]
    lines: tuple[tuple[GridCell, ...], ...]
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
class AnswerView:
    """One answer, ready for a template."""

    grid: Grid
    chart: BarChart | None
    drawn: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class AnswerCard:
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
    answers: tuple[AnswerView, ...]
    left: tuple[tuple[str, str], ...]
    plan: PlanNode | None
    batch: bool = False


def build_answer_card(
    state: AppState, caller: Caller, found: ReleasedAnswer[Any], column: str | None = None
) -> AnswerCard:
    """Return what a page shows of an answer. Nothing is read or spent.

    Args:
        state: The state of the server.
        caller: Who looks.
        found: The answer.
        column: Which column is drawn; by default the first that can be.
    """
    answer: Answer | BatchAnswer = found.answer
    batch = isinstance(answer, BatchAnswer)
    each = answer.answers if isinstance(answer, BatchAnswer) else (answer,)
    left = tuple((table, _describe_remaining(state, caller, table)) for table, _ in answer.costs)
    return AnswerCard(
        answer.receipt,
        str(answer.cost),
        answer.cached,
        tuple(build_answer_view(one, column) for one in each),
        left,
        None if batch else read_plan_tree(found.plan),
        batch,
    )


def _describe_remaining(state: AppState, caller: Caller, table: str) -> str:
    return write_phrase(state.database.remaining(table, analyst=caller.analyst).phrase)


def build_answer_view(answer: Answer, column: str | None = None) -> AnswerView:
    """Return the table and the chart of one answer."""
    spans = answer.interval()
    legend = write_legend(*flatten_cells(answer.rows, spans), _CONFIDENCE)
    grid = build_grid(answer.columns, answer.shown_rows[:MOST_ROWS], spans[:MOST_ROWS])
    drawn = tuple(name for name in answer.columns if _can_be_drawn(answer, name)) if answer.rows else ()
    chosen = column if column in drawn else drawn[0] if drawn else None
    return AnswerView(
        replace(grid, left_out=max(0, len(answer.rows) - MOST_ROWS)),
        None if chosen is None else build_bar_chart(chosen, answer.plot_data(chosen)),
        drawn,
        tuple(line for line in (legend, *answer.remarks) if line),
    )


def _can_be_drawn(answer: Answer, column: str) -> bool:
    try:
        points = answer.plot_data(column)
    except QueryError:
        return False
    return any(is_number(value) for _, value, _ in points)


def build_grid(columns: Sequence[str], rows: Sequence[Sequence[Any]], spans: Sequence[Sequence[Any]]) -> Grid:
    """Set rows with their intervals; a cell that holds several values takes a line for each."""
    cells = [
        [split_lines(*pair) for pair in zip(row, held, strict=True)] for row, held in zip(rows, spans, strict=True)
    ]
    heights = [max(1, *(len(cell) for cell in row)) for row in cells]
    made = [
        _build_column(name, [row[j] for row in cells], heights, labelled=has_labels([row[j] for row in rows]))
        for j, name in enumerate(columns)
    ]
    heads = tuple(head for part, _ in made for head in part)
    body = tuple(
        tuple(cell for _, stacks in made for cell in stacks[i][k])
        for i, height in enumerate(heights)
        for k in range(height)
    )
    return Grid(heads, body)


def _build_column(
    name: str, cells: list[list[CellLine]], heights: list[int], *, labelled: bool
) -> tuple[list[GridHeading], list[list[list[GridCell]]]]:
    """Return the headings of an output, and per row of the answer its cells, line by line."""
    every = [line for cell in cells for line in cell]
    noisy = any(line.interval is not None for line in every)
    numeric = noisy and all(is_number(line.value) or line.value is None for line in every)
    scale = find_scale(line.interval for line in every)
    width = labelled + 1 + noisy
    stacks = [
        _fill_rows(
            [_build_cells(line, scale, labelled=labelled, noisy=noisy, numeric=numeric) for line in cell],
            height,
            width,
        )
        for cell, height in zip(cells, heights, strict=True)
    ]
    heads = [GridHeading(name), GridHeading("value", numeric)] if labelled else [GridHeading(name, numeric)]
    return [*heads, *([GridHeading("", strip=True)] if noisy else [])], stacks


def _build_cells(
    line: CellLine, scale: tuple[float, float], *, labelled: bool, noisy: bool, numeric: bool
) -> list[GridCell]:
    made = [GridCell(show_key(line.label))] if labelled else []
    if not noisy:
        return [*made, GridCell(show_key(line.value))]
    text = show_number(line.value, half_width(line.interval))
    value = GridCell(text, write_error_bar(line.value, line.interval), number=numeric)
    return [*made, value, GridCell("", bar=draw_interval(line.value, line.interval, scale), strip=True)]


def _fill_rows(stack: list[list[GridCell]], height: int, width: int) -> list[list[GridCell]]:
    """Let the last line of a cell reach down to the end of its row."""
    stack = stack or [[GridCell("")] * width]
    rest = height - len(stack)
    last = [replace(cell, rows=rest + 1) for cell in stack[-1]]
    return [*stack[:-1], last, *([[]] * rest)]


def draw_interval(value: Any, span: Interval, scale: tuple[float, float]) -> Markup:
    """Draw an interval as a line and its value as a dot. Only numbers are written."""
    if span is None or not math.isfinite(find_position(value)) or any(math.isnan(find_position(x)) for x in span):
        return _NONE
    left, right, dot = (place_in_bar(x, scale, _BAR) for x in (*span, value))
    return Markup(
        f'<svg class="span" width="{_BAR}" height="14" aria-hidden="true">'
        f'<line class="span-line" x1="{left:.1f}" y1="7" x2="{right:.1f}" y2="7"/>'
        f'<circle class="span-dot" cx="{dot:.1f}" cy="7" r="3.2"/></svg>'
    )
