"""The demo as a person sees it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jali.demo.report import AnswerStep, Line, PlanStep, RefusalStep, Step, TableStep, steps, workplace
from jali.demo.strip import strip
from jali.display.ink import Ink
from jali.display.numbers import half_width, show_number, show_percent, show_width
from jali.display.text import on_point

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

WIDTH = 100
SYNTHETIC = (
    "The table is synthetic: nobody is in it. That is the only reason why this demo may show the truth "
    "beside the answers."
)


def show(*, keep: str | None = None, console: Console | None = None) -> None:
    """Run the demo and print it, step by step."""
    from rich.console import Console

    if console is None:
        console = Console()
        console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    began, number = time.monotonic(), 0
    with workplace(keep) as directory:
        for step in _watched(directory, console):
            number += isinstance(step, AnswerStep)
            for part in _parts(step, number):
                console.print(part, highlight=False)
    _close(console, time.monotonic() - began, keep)


def _watched(directory: Path, console: Console) -> Iterator[Step]:
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


def _parts(step: Step, number: int) -> Iterable[RenderableType]:
    if isinstance(step, TableStep):
        return _table_parts(step)
    if isinstance(step, AnswerStep):
        return _answer_parts(step, number)
    if isinstance(step, PlanStep):
        return _plan_parts(step)
    return _refusal_parts(step)


def _table_parts(step: TableStep) -> list[RenderableType]:
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
        ("Budget", f"{step.table_budget} for the table, {step.grant} for the analyst {step.analyst}"),
    ):
        grid.add_row(label, fact)
    grid.add_row("", "")
    grid.add_row("[bold yellow]Mind[/]", f"[yellow]{SYNTHETIC}[/]")
    title = "[bold]Jali[/]: a private statistical database"
    return [Panel(grid, title=title, title_align="left", border_style="cyan", padding=(1, 2))]


def _answer_parts(step: AnswerStep, number: int) -> list[RenderableType]:
    from rich.text import Text

    foot = Text.assemble(
        ("  cost ", "dim"),
        (step.cost, "bold"),
        ("  ·  left for ana ", "dim"),
        (f"epsilon {step.left}", "bold"),
        (f"  ·  on the table epsilon {step.table_left}  ·  receipt {step.receipt[:8]}…", "dim"),
    )
    return [*_heading(f"{number}  {step.title}", step.sql), _answer_table(step), foot]


def _heading(title: str, sql: str) -> list[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    return ["", Rule(Text(title, style="bold"), align="left", style="cyan"), Text(f"  {sql}", style="green"), ""]


def _answer_table(step: AnswerStep) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=True, padding=(0, 2, 0, 0), header_style="dim")
    if step.lines[0].key is not None:
        table.add_column("  ward")
    for name in ("  answer", "±"):
        table.add_column(name, justify="right")
    table.add_column("interval", justify="center")
    for name in ("bounded truth", "raw truth", _effect(step)):
        table.add_column(name, justify="right")
    answers = on_point(["  " + show_number(line.value, _width(line)) for line in step.lines])
    bars = on_point([show_width(_width(line)).removeprefix("± ") for line in step.lines])
    bounded = on_point([_truth(line.bounded, line) for line in step.lines])
    raw = on_point([_truth(line.raw, line) for line in step.lines])
    for i, line in enumerate(step.lines):
        table.add_row(
            *([] if line.key is None else [f"  {line.key}"]),
            Text(answers[i], style="bold cyan"),
            bars[i],
            strip(line.value, line.low, line.high, line.bounded),
            bounded[i],
            raw[i],
            _removed(line, step),
        )
    return table


def _truth(value: float | None, line: Line) -> str:
    return "no rows" if value is None else show_number(value, _width(line))


def _width(line: Line) -> float | None:
    return None if line.low is None or line.high is None else half_width((line.low, line.high))


def _is_mean(step: AnswerStep) -> bool:
    return "AVG(" in step.sql


def _effect(step: AnswerStep) -> str:
    return "moved by bounding" if _is_mean(step) else "lost to bounding"


def _removed(line: Line, step: AnswerStep) -> str:
    """Counts and sums lose a share; a mean moves."""
    if line.raw is None or line.bounded is None:
        return "-"
    if _is_mean(step):
        return f"{line.bounded - line.raw:+.2f}"
    return "-" if line.removed is None else show_percent(line.removed)


def _plan_parts(step: PlanStep) -> list[RenderableType]:
    from rich.text import Text

    from jali.planner.explain import explain

    return [
        *_heading("Why does the mean age cost what it costs?", f"jali explain: {step.sql}"),
        Text.from_ansi(explain(step.plan, ink=Ink(colour=True))),
    ]


def _refusal_parts(step: RefusalStep) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(justify="right")
    for label, fact in step.error.facts:
        grid.add_row(f"  {label}", Text(fact, style="bold red" if label == "Difference" else "bold"))
    return [
        *_heading(f"6  {step.title}", step.sql),
        f"  [bold red]Refused:[/] the budget of [bold]{step.error.account}[/] does not cover this question.",
        "",
        grid,
        "",
        f"  {step.error.remedy} Nothing was spent and no data was read.",
    ]


def _close(console: Console, seconds: float, keep: str | None) -> None:
    console.print(f"\n[dim]All of this took {seconds:.1f} s.[/]", highlight=False)
    if keep is not None:
        console.print(f"The database is kept. Next: jali ledger {keep}/hospital.jali", highlight=False)
