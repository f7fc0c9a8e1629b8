"""The demo as a person sees it."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jali.demo.hospital import ANALYST
from jali.demo.report import REFUSED, AnswerStep, Line, PlanStep, RefusalStep, Step, TableStep, steps, workplace
from jali.demo.strip import CELLS, FEW_CELLS, strip
from jali.display.ink import Ink
from jali.display.numbers import Interval, half_width, show_number, show_percent
from jali.display.text import NARROWEST, WIDTH, errors, on_point

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

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
    with workplace(keep) as directory:
        for step in _watched(directory, console):
            number += isinstance(step, AnswerStep)
            for part in _parts(step, number, console.width):
                console.print(part, highlight=False)
    for line in _closing(time.monotonic() - began, keep):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


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


def _parts(step: Step, number: int, width: int) -> Iterable[RenderableType]:
    if isinstance(step, TableStep):
        return _table_parts(step)
    if isinstance(step, AnswerStep):
        return _answer_parts(step, number, width)
    if isinstance(step, PlanStep):
        return _plan_parts(step, width)
    return _refusal_parts(step, width)


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


def _answer_parts(step: AnswerStep, number: int, width: int) -> list[RenderableType]:
    from rich.text import Text

    foot = Text.assemble(
        ("  cost ", "dim"),
        (step.cost, "bold"),
        (" · left for ana ", "dim"),
        (step.left, "bold"),
        (f", on the table {step.table_left} · receipt {step.receipt[:8]}…", "dim"),
    )
    cells = CELLS if width >= WIDTH else FEW_CELLS
    return [*_heading(f"{number}  {step.title}", step.sql), _answer_table(step, cells), foot]


def _heading(title: str, sql: str) -> list[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    return ["", Rule(Text(title, style="bold"), align="left", style="cyan"), Text(f"  {sql}", style="green"), ""]


def _answer_table(step: AnswerStep, cells: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    bars = errors([line.value for line in step.lines], [_span(line) for line in step.lines])
    if step.lines[0].key is not None:
        table.add_column("\n  ward", no_wrap=True)
    margin = "  " if step.lines[0].key is None else ""
    for name in (f"\n{margin}answer", f"\n{bars.heading}"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("\n" + "├──●──┤".center(cells), no_wrap=True)
    for name in ("bounded\ntruth", "raw\ntruth", _effect(step)):
        table.add_column(name, justify="right", no_wrap=True)
    answers = on_point([margin + show_number(line.value, _width(line)) for line in step.lines])
    bounded = on_point([_truth(line.bounded, line) for line in step.lines])
    raw = on_point([_truth(line.raw, line) for line in step.lines])
    for i, line in enumerate(step.lines):
        table.add_row(
            *([] if line.key is None else [f"  {line.key}"]),
            Text(answers[i], style="bold cyan"),
            bars.cells[i],
            strip(line.value, line.low, line.high, line.bounded, cells),
            bounded[i],
            raw[i],
            _removed(line, step),
        )
    return table


def _truth(value: float | None, line: Line) -> str:
    return "no rows" if value is None else show_number(value, _width(line))


def _span(line: Line) -> Interval:
    return None if line.low is None or line.high is None else (line.low, line.high)


def _width(line: Line) -> float | None:
    return half_width(_span(line))


def _is_mean(step: AnswerStep) -> bool:
    return "AVG(" in step.sql


def _effect(step: AnswerStep) -> str:
    return "moved by\nbounding" if _is_mean(step) else "lost to\nbounding"


def _removed(line: Line, step: AnswerStep) -> str:
    """Counts and sums lose a share; a mean moves."""
    if line.raw is None or line.bounded is None:
        return "-"
    if _is_mean(step):
        return f"{line.bounded - line.raw:+.2f}"
    return "-" if line.removed is None else show_percent(line.removed)


def _plan_parts(step: PlanStep, width: int) -> list[RenderableType]:
    from rich.text import Text

    from jali.planner.explain import explain

    return [
        *_heading("Why does the mean age cost what it costs?", f"jali explain: {step.sql}"),
        Text.from_ansi(explain(step.plan, ink=Ink(colour=True), width=width, engine_query=False)),
        Text("`jali explain` shows the engine's query too.", style="dim"),
    ]


def _refusal_parts(step: RefusalStep, width: int) -> list[RenderableType]:
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
        _indented(f"{step.error.remedy} Nothing was spent and no data was read.", width),
    ]


def _indented(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _closing(seconds: float, keep: str | None) -> list[str]:
    """Say what to do next, with the program under the name that the reader's shell finds."""
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
