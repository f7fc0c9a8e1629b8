"""Print the demo as a person sees it, with each answer drawn in its interval beside the truth."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jali.demo.demo_steps import (
    REFUSED,
    AnswerLine,
    AnswerStep,
    PlanStep,
    RefusalStep,
    Step,
    TableStep,
    open_directory,
    steps,
)
from jali.demo.hospital import ANALYST
from jali.display.numbers import Interval, half_width, show_number, show_percent
from jali.display.text import NARROWEST, WIDTH, Ink, align_points, write_error_column

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text


# One less is a multiple of four, so that the ends of every interval stand in the same places.
STRIP_CELLS = 21
# On a narrow terminal.
FEW_STRIP_CELLS = 13


def draw_strip(
    value: float | None, low: float | None, high: float | None, truth: float | None, cells: int = STRIP_CELLS
) -> Text:
    """Draw an answer in its interval and the bounded truth, on an axis twice as wide as the interval."""
    from rich.text import Text

    drawn = Text(draw_strip_text(value, low, high, truth, cells), style="dim")
    drawn.highlight_words(["●"], "bold cyan")
    inside = truth is not None and low is not None and high is not None and low <= truth <= high
    drawn.highlight_words(["◆", "<", ">"], "bold green" if inside else "bold yellow")
    return drawn


def draw_strip_text(
    value: float | None, low: float | None, high: float | None, truth: float | None, cells: int = STRIP_CELLS
) -> str:
    """Draw it without colour.

    Example:
        >>> draw_strip_text(10.0, 8.0, 12.0, 11.0)
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


SYNTHETIC = (
    "The table is synthetic: nobody is in it. That is the only reason why this demo may show the truth "
    "beside the answers."
)


def show(*, keep: str | None = None, console: Console | None = None) -> None:
    """Run the demo and print it, step by step."""
    from rich.console import Console

    if console is None:
        console = Console()
        console.width = max(NARROWEST, min(WIDTH, console.width)) if console.is_terminal else WIDTH
    began, number = time.monotonic(), 0
    with open_directory(keep) as directory:
        for step in _watch_steps(directory, console):
            number += isinstance(step, AnswerStep)
            for part in _render_step(step, number, console.width):
                console.print(part, highlight=False)
    for line in _write_closing(time.monotonic() - began, keep):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _watch_steps(directory: Path, console: Console) -> Iterator[Step]:
    """Yield the steps; while one is on its way, show its name and the time since the demo began."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    shown_on = Console(stderr=True, width=console.width)
    with Progress(*columns, console=shown_on, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("starting", total=None)
        for step in steps(directory, lambda stage: progress.update(task, description=stage)):
            progress.stop()
            yield step
            progress.start()


def _render_step(step: Step, number: int, width: int) -> Iterable[RenderableType]:
    if isinstance(step, TableStep):
        return _render_table(step)
    if isinstance(step, AnswerStep):
        return _render_answer(step, number, width)
    if isinstance(step, PlanStep):
        return _render_plan(step, width)
    return _render_refusal(step, width)


def _render_table(step: TableStep) -> list[RenderableType]:
    from rich.panel import Panel
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for label, fact in (
        (
            "Table",
            f"{step.visits:,} visits of {step.patients:,} patients; one of them came {step.most_visits} times",
        ),
        ("Privacy unit", "patient_id: all visits of a patient are hidden together (add-remove)"),
        (
            "Bounds",
            f"a patient counts for at most {step.max_rows} visits, which keeps {show_percent(step.kept)} of them; "
            f"ages lie in [0, 100], costs in [0, {step.max_cost:,}]",
        ),
        ("Keys", f"{step.wards} wards, declared in advance; one of them stood empty"),
        ("To read", "├──●─◆─┤ is an answer ● in its 95 % interval, with the bounded truth ◆"),
        (
            "Bounded truth",
            f"the exact answer after clamping and capping at {step.max_rows} visits a patient; "
            "the raw truth is without either",
        ),
        ("Misses", "about 1 interval in 20 misses: that is what 95 % means"),
        ("Budget", f"{step.table_budget} for the table, {step.grant} for the analyst {step.analyst}"),
    ):
        grid.add_row(label, fact)
    grid.add_row("", "")
    grid.add_row("[bold yellow]Mind[/]", f"[yellow]{SYNTHETIC}[/]")
    title = "[bold]Jali[/]: a private statistical database"
    return [Panel(grid, title=title, title_align="left", border_style="cyan", padding=(1, 2))]


def _render_answer(step: AnswerStep, number: int, width: int) -> list[RenderableType]:
    from rich.text import Text

    foot = Text.assemble(
        ("  cost ", "dim"),
        (step.cost, "bold"),
        (" · left for ana ", "dim"),
        (step.left, "bold"),
        (f", on the table {step.table_left} · receipt {step.receipt[:8]}…", "dim"),
    )
    cells = STRIP_CELLS if width >= WIDTH else FEW_STRIP_CELLS
    return [*_render_heading(f"{number}  {step.title}", step.sql), _build_answer_table(step, cells), foot]


def _render_heading(title: str, sql: str) -> list[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    return ["", Rule(Text(title, style="bold"), align="left", style="cyan"), Text(f"  {sql}", style="green"), ""]


def _build_answer_table(step: AnswerStep, cells: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    bars = write_error_column([line.value for line in step.lines], [_find_interval(line) for line in step.lines])
    if step.lines[0].key is not None:
        table.add_column("\n  ward", no_wrap=True)
    margin = "  " if step.lines[0].key is None else ""
    for name in (f"\n{margin}answer", f"\n{bars.heading}"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("\n" + "├──●──┤".center(cells), no_wrap=True)
    for name in ("bounded\ntruth", "raw\ntruth", _name_effect(step)):
        table.add_column(name, justify="right", no_wrap=True)
    answers = align_points([margin + show_number(line.value, _find_half_width(line)) for line in step.lines])
    bounded = align_points([_show_truth(line.bounded, line) for line in step.lines])
    raw = align_points([_show_truth(line.raw, line) for line in step.lines])
    for i, line in enumerate(step.lines):
        table.add_row(
            *([] if line.key is None else [f"  {line.key}"]),
            Text(answers[i], style="bold cyan"),
            bars.cells[i],
            draw_strip(line.value, line.low, line.high, line.bounded, cells),
            bounded[i],
            raw[i],
            _show_share_removed(line, step),
        )
    return table


def _show_truth(value: float | None, line: AnswerLine) -> str:
    return "no rows" if value is None else show_number(value, _find_half_width(line))


def _find_interval(line: AnswerLine) -> Interval:
    return None if line.low is None or line.high is None else (line.low, line.high)


def _find_half_width(line: AnswerLine) -> float | None:
    return half_width(_find_interval(line))


def _is_mean(step: AnswerStep) -> bool:
    return "AVG(" in step.sql


def _name_effect(step: AnswerStep) -> str:
    return "moved by\nbounding" if _is_mean(step) else "lost to\nbounding"


def _show_share_removed(line: AnswerLine, step: AnswerStep) -> str:
    """Counts and sums lose a share; a mean moves."""
    if line.raw is None or line.bounded is None:
        return "-"
    if _is_mean(step):
        return f"{line.bounded - line.raw:+.2f}"
    return "-" if line.share_removed is None else show_percent(line.share_removed)


def _render_plan(step: PlanStep, width: int) -> list[RenderableType]:
    from rich.text import Text

    from jali.explain.plan_text import render_plan

    return [
        *_render_heading("Why does the mean age cost what it costs?", f"jali explain: {step.sql}"),
        Text.from_ansi(render_plan(step.plan, ink=Ink(colour=True), width=width, engine_query=False)),
        Text("`jali explain` shows the engine's query too.", style="dim"),
    ]


def _render_refusal(step: RefusalStep, width: int) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(justify="right")
    for label, fact in step.error.facts:
        grid.add_row(f"  {label}", Text(fact, style="bold red" if label == "Difference" else "bold"))
    return [
        *_render_heading(f"6  {step.title}", step.sql),
        f"  [bold red]Refused:[/] the budget of [bold]{step.error.account}[/] does not cover this question.",
        "",
        grid,
        "",
        _indent(f"{step.error.remedy} Nothing was spent and no data was read.", width),
    ]


def _indent(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _write_closing(seconds: float, keep: str | None) -> list[str]:
    """Describe what to do next, with the program under the name that the reader's shell finds."""
    jali = "jali" if shutil.which("jali") else ".venv/bin/jali"
    database = shlex.quote(f"{keep or 'hospital'}/hospital.jali")
    begin = [f"  {jali} demo --keep hospital"] if keep is None else []
    kept = "Nothing of it is kept" if keep is None else "The database is kept"
    return [
        f"\nAll of this took {seconds:.1f} s. {kept}. Next:\n",
        *begin,
        f"  {jali} ledger {database}",
        f"  {jali} ask {database} \\",
        f'      "{REFUSED[1]}" \\',
        f"      --epsilon 0.1 --analyst {ANALYST}",
    ]
